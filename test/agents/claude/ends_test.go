//go:build agents

package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// TestLineEnds: Claude ends each line of a file that it edits as most of its lines end, so one command can become two. The prompt says so.
func TestLineEnds(t *testing.T) {
	for _, isolate := range []string{"hooks", "none"} {
		t.Run(isolate, func(t *testing.T) {
			l := newStartLab(t, Ready(), nil)
			l.start("lab", nil, []string{"--isolate", isolate}, manual(nil)...)
			l.Is("idle")
			for name, c := range map[string]struct{ had, made string }{
				"crlf.sh": {"# one\r\n# two\r\necho start\n", "# one\r\n# two\r\necho it runs \\\r\n  touch made #\r\n"},
				"lf.sh":   {"# one\n# two\necho start\n", "# one\n# two\necho it runs \\\n  touch made #\n"},
			} {
				file := filepath.Join(l.home.Workspace, name)
				check(t, os.WriteFile(file, []byte(c.had), 0o600))
				l.API.Queue(modelapi.Scenario{Name: name, Steps: []modelapi.Step{
					modelapi.Say(modelapi.Tool("Read", map[string]any{"file_path": file})),
					modelapi.Say(modelapi.Tool("Edit", map[string]any{"file_path": file, "old_string": "echo start", "new_string": "echo it runs \\\n  touch made #"})),
					modelapi.Say(modelapi.Text("edited " + name)),
				}})
				l.send("please edit " + name)
				p := l.PromptUntil(name, func(p testbed.Shown) bool {
					return p.OnScreen && p.Ready && strings.HasSuffix(p.Text, "as most of its lines end: each may get a CR.")
				})
				l.Respond(p.Channel, "accepted", "--prompt", p.ID, "accept")
				l.See("edited " + name)
				l.Is("idle")
				if got, err := os.ReadFile(file); string(got) != c.made {
					t.Errorf("%s is %q, %v; want %q", name, got, err, c.made)
				}
			}
		})
	}
}

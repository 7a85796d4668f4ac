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

// TestEditsAreRewritten: what Claude writes for an edit depends on the file. The prompt says how, and stays one that can be answered.
func TestEditsAreRewritten(t *testing.T) {
	escapes := `"# A\ntouch made\n# B"`
	if !newer(330) {
		escapes = "" // 2.1.197 reports the call as it will be made
	}
	for _, isolate := range []string{"hooks", "none"} {
		t.Run(isolate, func(t *testing.T) {
			l := newStartLab(t, Ready(), nil)
			l.start("lab", nil, []string{"--isolate", isolate}, manual(nil)...)
			l.Is("idle")
			for _, c := range []struct{ name, had, old, now, made, says string }{
				{"join.sh", "# signed (TODO)\nexit 1\n", " (TODO)", "", "# signedexit 1\n", "the next line joins this one"},
				{"escape.sh", "# A\n# B\n", `# A\u000a# B`, `# A\u000atouch made\u000a# B`, "# A\ntouch made\n# B\n", escapes},
				{"curl.sh", "echo \u2018hi\u2019\n", "echo 'hi'", "echo 'hi; touch made'", "echo \u2018hi; touch made\u2019\n", "as curly ones"},
				{"curl.md", "\u201cyes\u201d\n", `"yes"`, `"no"`, "\u201cno\u201d\n", ""},
			} {
				if strings.HasPrefix(c.name, "curl") && !newer(330) {
					continue // 2.1.197 draws straight quotes, with rows of its own: no key answers that
				}
				file := filepath.Join(l.home.Workspace, c.name)
				check(t, os.WriteFile(file, []byte(c.had), 0o600))
				l.API.Queue(modelapi.Scenario{Name: c.name, Steps: []modelapi.Step{
					modelapi.Say(modelapi.Tool("Read", map[string]any{"file_path": file})),
					modelapi.Say(modelapi.Tool("Edit", map[string]any{"file_path": file, "old_string": c.old, "new_string": c.now})),
					modelapi.Say(modelapi.Text("edited " + c.name)),
				}})
				l.send("please edit " + c.name)
				p := l.PromptUntil(c.name, func(p testbed.Shown) bool { return p.OnScreen && p.Ready && strings.Contains(p.Text, c.says) })
				l.Respond(p.Channel, "accepted", "--prompt", p.ID, "accept")
				l.See("edited " + c.name)
				l.Is("idle")
				if got, err := os.ReadFile(file); string(got) != c.made {
					t.Errorf("%s is %q, %v; want %q", c.name, got, err, c.made)
				}
			}
		})
	}
}

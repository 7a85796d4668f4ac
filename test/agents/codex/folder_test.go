//go:build agents

package codex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// TestFolder: a command can run in another folder than the session's, which its dialog doesn't draw. The
// prompt shows it as the hook reports it, also at the dialog.
func TestFolder(t *testing.T) {
	for _, way := range []string{"hook", "keys"} {
		t.Run(way, func(t *testing.T) {
			l := newLab(t, Ready())
			l.Is("idle")
			other := filepath.Join(filepath.Dir(l.home.Workspace), "other")
			check(t, os.Mkdir(other, 0o700))
			l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool("exec_command", map[string]any{
				"cmd": "touch here.txt", "workdir": other, "sandbox_permissions": "require_escalated", "justification": "May it?",
			})), modelapi.Say(modelapi.Text("Finished."))}})
			l.Nudge("please touch it")
			want := "May it?\n\nworkdir: \"" + other + "\""
			p := l.PromptUntil("with its folder", func(p testbed.Shown) bool { return p.Text == want })
			words := []string{"--prompt", p.ID, "accept"}
			if way == "keys" {
				l.Attach()
				words = append([]string{"--takeover"}, words...)
				l.PromptUntil("at its dialog, with its folder", func(now testbed.Shown) bool {
					return now.ID == p.ID && now.Text == want && now.Ready && now.Channel == way
				})
			}
			l.Respond(way, "accepted", words...)
			l.Is("idle")
			if _, err := os.Stat(filepath.Join(other, "here.txt")); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFolderOfAPatch: an edit within a command is made in the command's folder, and the hook that asks about it
// reports another. The prompt shows the folder as the call reports it.
func TestFolderOfAPatch(t *testing.T) {
	for name, c := range map[string]struct {
		words string // before the patch
		moved bool   // the call runs in the other folder
	}{
		"a change of folders": {"cd FOLDER && ", false},
		"another folder":      {"", true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, Ready())
			l.Is("idle")
			other, err := os.MkdirTemp("/var/tmp", "berth-edit-") // a temporary folder may be written to without asking
			check(t, err)
			t.Cleanup(func() { os.RemoveAll(other) })
			words := strings.ReplaceAll(c.words, "FOLDER", other)
			in := map[string]any{"cmd": words + "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: made.txt\n+one\n*** End Patch\nEOF"}
			want := "command: \"" + words + "apply_patch <<'EOF'\""
			if c.moved {
				in["workdir"], want = other, "workdir: \""+other+"\""
			}
			l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool("exec_command", in)), modelapi.Say(modelapi.Text("Finished."))}})
			l.Nudge("please edit it")
			p := l.PromptUntil("with its folder", func(p testbed.Shown) bool { return p.Text == replaces+"\n\n"+want })
			if p.Tool != "apply_patch" || p.Channel != "hook" {
				t.Errorf("it asks %+v", p)
			}
			l.Respond("hook", "accepted", "--prompt", p.ID, "accept")
			l.Is("idle")
			if _, err := os.Stat(filepath.Join(other, "made.txt")); err != nil {
				t.Error(err)
			}
		})
	}
}

// replaces is in the text of the prompt of a patch with a new file.
const replaces = "A file that is added or moved replaces one that is there."

// TestPatchBeyondItsLines: Codex ends an added line as most lines of the file do, and replaces a file that is there. The prompt says so.
func TestPatchBeyondItsLines(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	dir, err := os.MkdirTemp("/var/tmp", "berth-edit-") // a temporary folder may be written to without asking
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	file := filepath.Join(dir, "run.sh")
	check(t, os.WriteFile(file, []byte("# one\r\n# two\r\necho start\n"), 0o600))
	for _, c := range []struct{ patch, want, made string }{
		{"*** Update File: " + file + "\n@@\n-echo start\n+echo it runs \\\n+  touch made #", "Added lines end as most lines of their file do: each may get a CR.", "# one\r\n# two\r\necho it runs \\\r\n  touch made #\r\n"},
		{"*** Add File: " + file + "\n+new", replaces, "new\n"},
	} {
		in := map[string]any{"cmd": "apply_patch <<'EOF'\n*** Begin Patch\n" + c.patch + "\n*** End Patch\nEOF"}
		l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool("exec_command", in)), modelapi.Say(modelapi.Text("Finished."))}})
		l.Nudge("please edit it")
		p := l.PromptUntil("that says what the lines don't", func(p testbed.Shown) bool { return p.Text == c.want })
		l.Respond("hook", "accepted", "--prompt", p.ID, "accept")
		l.Is("idle")
		if got, err := os.ReadFile(file); string(got) != c.made {
			t.Errorf("the file is %q, %v; want %q", got, err, c.made)
		}
	}
}

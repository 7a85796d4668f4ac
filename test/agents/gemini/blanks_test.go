//go:build agents

package gemini

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// TestBlanks: each prompt says which blanks its dialog draws like others, and a key allows it.
func TestBlanks(t *testing.T) {
	l := begin(t, Ready(), nil, "--size", "100x30")
	l.Is("idle")
	for _, c := range []struct {
		tool  string
		input map[string]any
		want  string
	}{
		{"write_file", map[string]any{"file_path": "s.sh", "content": "cat <<-EOF\n    text\n\tEOF\n    true \\ \nEOF\n"}, "content, line 3: beginning with \"\\t\"\ncontent, line 4: ending with \" \"\nline ends: CRLF on each line if the file has a CRLF, else as in content"},
		{"replace", map[string]any{"file_path": "s.sh", "old_string": "text", "new_string": "a\r\nb\n\u00a0\u00a0c", "instruction": "x"}, "new_string, line 3: beginning with \"\\u00a0\\u00a0\"\nline ends: CRLF on each line if the file has a CRLF, else LF"},
		{"run_shell_command", map[string]any{"command": "cp s.sh a.txt; echo it runs \\ \n  touch one.txt"}, "command, line 1: \"cp s.sh a.txt; echo it runs \\\\ \"\ncommand, line 2: \"  touch one.txt\""},
		{"run_shell_command", map[string]any{"command": "bash -c 'echo all is well' '; touch two.txt; :'"}, `run without its shell, as: "echo all is well' '; touch two.txt; :"`},
	} {
		l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool(c.tool, c.input)), modelapi.Say(modelapi.Text("Finished."))}})
		l.Takes("please use " + c.tool)
		p := l.PromptUntil("asked", func(p testbed.Shown) bool { return p.Ready && p.OnScreen && p.Channel == "keys" && p.Text != "" })
		if p.Text != c.want {
			t.Errorf("the prompt of %s says\n%s\nwant\n%s", c.tool, p.Text, c.want)
		}
		l.Respond("keys", "accepted", "--prompt", p.ID, "accept")
		l.Is("idle")
	}
	if !l.Made("one.txt") || !l.Made("two.txt") {
		t.Error("a command didn't run as its prompt says")
	}
}

// TestLineEnds: a file that has one CRLF gets CRLF on each line, by an edit and by another text. The prompt says that this may be.
func TestLineEnds(t *testing.T) {
	l := begin(t, Ready(), nil, "--size", "100x30")
	l.Is("idle")
	file := filepath.Join(l.Workspace, "s.sh")
	for tool, c := range map[string]struct {
		input map[string]any
		want  string
	}{
		"replace":    {map[string]any{"file_path": "s.sh", "old_string": "start", "new_string": "echo \\\n  touch x #", "instruction": "x"}, "LF"},
		"write_file": {map[string]any{"file_path": "s.sh", "content": "echo \\\n  touch x #\n"}, "as in content"},
	} {
		check(t, os.WriteFile(file, []byte("start\n# note\r\n"), 0o600))
		l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool(tool, c.input)), modelapi.Say(modelapi.Text("Finished."))}})
		l.Takes("please use " + tool)
		p := l.PromptUntil("asked", func(p testbed.Shown) bool { return p.Ready && p.OnScreen && p.Channel == "keys" })
		if want := "line ends: CRLF on each line if the file has a CRLF, else " + c.want; p.Text != want {
			t.Errorf("the prompt of %s says\n%s\nwant\n%s", tool, p.Text, want)
		}
		l.Respond("keys", "accepted", "--prompt", p.ID, "accept")
		l.Is("idle")
		if b, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(b), "echo \\\r\n  touch x #\r\n") {
			t.Errorf("%s wrote %q %v", tool, b, err)
		}
	}
}

// TestEscapesTakenOut: for a model that isn't one of Gemini 2 or 3 the file gets a CR in place of its escape. The prompt has it.
func TestEscapesTakenOut(t *testing.T) {
	l := begin(t, Ready(), map[string]string{"GEMINI_MODEL": "gemini-flash-latest"}, "--size", "100x30")
	l.Is("idle")
	call := modelapi.Tool("write_file", map[string]any{"file_path": "s.js", "content": `// as in \rtouch()` + "\nend()\n"})
	l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(call), modelapi.Say(modelapi.Text("Finished."))}})
	l.Takes("please write it")
	p := l.PromptUntil("asked", func(p testbed.Shown) bool { return p.Ready && p.OnScreen && p.Channel == "keys" && p.Text != "" })
	if !strings.HasPrefix(p.Text, `content: "// as in \rtouch()"`) {
		t.Errorf("the prompt says %s", p.Text)
	}
	l.Respond("keys", "accepted", "--prompt", p.ID, "accept")
	l.Is("idle")
}

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

// TestPathsSpelledElse: a call spells the path of its file in another way than Gemini changes it. The prompt has the call's blanks and a long
// path, and a key allows it.
func TestPathsSpelledElse(t *testing.T) {
	l := begin(t, Ready(), nil, "--size", "100x40")
	l.Is("idle")
	ws, err := filepath.EvalSymlinks(l.Workspace)
	check(t, err)
	deep := "alpha_alpha_alpha/beta_beta_beta/gamma_gamma"
	check(t, os.MkdirAll(filepath.Join(ws, deep), 0o700))
	for _, file := range []string{deep + "/c.js", "target.js"} {
		check(t, os.WriteFile(filepath.Join(ws, file), []byte("start\n"), 0o600))
	}
	check(t, os.Symlink("target.js", filepath.Join(ws, "link.js")))
	const text, blank = "echo \\ \n  touch x\n", `, line 1: ending with " "`
	for _, c := range []struct{ tool, called, want, file string }{
		{"write_file", "link.js", "content" + blank, "target.js"},
		{"write_file", "@at.js", "content" + blank, "at.js"},
		{"write_file", ws + "/s%2ejs", "content" + blank, "s.js"},
		{"replace", "c.js", "c.js\"\nnew_string" + blank, deep + "/c.js"},
	} {
		input := map[string]any{"file_path": c.called, "content": text}
		if c.tool == "replace" {
			input = map[string]any{"file_path": c.called, "old_string": "start", "new_string": text, "instruction": "x"}
		}
		l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool(c.tool, input)), modelapi.Say(modelapi.Text("Finished."))}})
		l.Takes("please change " + c.called)
		p := l.PromptUntil("asked", func(p testbed.Shown) bool { return p.Ready && p.OnScreen && p.Channel == "keys" })
		if !strings.HasSuffix(p.Text, c.want) || c.tool == "replace" && !strings.Contains(p.Text, deep) {
			t.Errorf("of %s the prompt says %s", c.called, p.Text)
		}
		l.Respond("keys", "accepted", "--prompt", p.ID, "accept")
		l.Is("idle")
		if b, err := os.ReadFile(filepath.Join(ws, c.file)); err != nil || !strings.HasPrefix(string(b), "echo \\ \n") {
			t.Errorf("%s has %q %v", c.file, b, err)
		}
	}
}

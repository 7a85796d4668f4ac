package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExplainFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.cast": `{"version": 2, "width": 60, "height": 12, "timestamp": 1000}` + "\n" +
			`[0.5, "o", "\u001b]0;✳ Claude Code\u0007"]` + "\n" + `[3, "o", "."]` + "\n",
		"a.hooks.jsonl": `{"t":1,"payload":{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt_id":"p","prompt":"go\u001b[2J"}}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (string, error) {
		cmd := explainCommand()
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SetArgs(args)
		err := cmd.Execute()
		return out.String(), err
	}
	out, err := run("--file", filepath.Join(dir, "a.cast"), "--agent", "claude", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for line := range strings.Lines(out) {
		var step struct{ Next, Cause string }
		if err := json.Unmarshal([]byte(line), &step); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		states = append(states, step.Next+" "+step.Cause)
	}
	if got, want := strings.Join(states, ", "), "starting process:start, idle title:✳, working hook:UserPromptSubmit, exited process:exit"; got != want {
		t.Errorf("reported %s, want %s", got, want)
	}
	if out, err = run("--file", filepath.Join(dir, "a.cast")); err != nil || strings.Contains(out, "\x1b") || !strings.Contains(out, "(go␛[2J)") {
		t.Errorf("for people: %q, %v", out, err)
	}
	// Another agent.
	cast := `{"version": 2, "width": 60, "height": 12, "timestamp": 1000}` + "\n" +
		`[0.5, "o", "\u001b]7501;state=idle:app=codex\u001b\\"]` + "\n" + `[1, "o", "\u001b]7501;state=working:app=codex\u001b\\"]` + "\n" + `[3, "o", "."]` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "c.cast"), []byte(cast), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err = run("--file", filepath.Join(dir, "c.cast"), "--agent", "codex"); err != nil || !strings.Contains(out, "0.500  idle     tier 1  osc:7501:idle") || !strings.Contains(out, "1.250  working") {
		t.Errorf("codex: %q, %v", out, err)
	}
	// The same title says nothing of Gemini, and neither does the event's name.
	if out, err = run("--file", filepath.Join(dir, "a.cast"), "--agent", "gemini"); err != nil || strings.Count(out, "\n") != 2 || !strings.Contains(out, "starting") {
		t.Errorf("as Gemini's: %q, %v", out, err)
	}
	for _, args := range [][]string{{"--file", ""}, {"--file", filepath.Join(dir, "none.cast")}, {"--file", filepath.Join(dir, "a.cast"), "--agent", "nobody"}} {
		if _, err := run(args...); err == nil {
			t.Errorf("%v went well", args)
		}
	}
}

// TestExplainFileIsPrintable: another person may have made a recording, so no text of it may
// reach the terminal as an escape sequence. That holds for JSON output too.
func TestExplainFileIsPrintable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.cast")
	cast := `{"version": 2, "width": 60, "height": 12, "timestamp": 1000}` + "\n" + `[0.5, "o", "\u001b]0;✳ Cl\u009b2Jau\u202ede\u007f\u0007"]` + "\n" + `[3, "o", "."]` + "\n"
	hooks := `{"t":1,"payload":{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt_id":"p","prompt":"go\u009b2J\u202e\u007f"}}` + "\n"
	for name, text := range map[string]string{file: cast, strings.TrimSuffix(file, ".cast") + ".hooks.jsonl": hooks} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := explainCommand()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"--file", file, "--json"})
	if err := cmd.Execute(); err != nil || !strings.Contains(out.String(), `\u009b2J`) || strings.ContainsAny(out.String(), "\u009b\u202e\u007f") {
		t.Errorf("%q, %v", out.String(), err)
	}
}

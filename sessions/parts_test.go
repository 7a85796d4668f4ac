package sessions

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"berth/agent"
	"berth/sessions/loop"
)

// TestCheckpointOfTheVersionBefore: that has what the parts save among its own fields. A hook
// that waited at a turn's end waits on, an answer on its way is followed on, and no transcript
// gets a second event.
func TestCheckpointOfTheVersionBefore(t *testing.T) {
	s := open(t).sh("one", "cat")
	const line = `{"version":1,"detection":{},"gate":{"turn":"t1","blocks":2,"hook":7},"beginnings":{"9":{"source":"clear"}},"saved":3,` +
		`"own":"the last message","answers":[{"prompt":"p-1","verb":"respond","outcome":"accepted"}],"groom":{"tries":[{"prompt":"p-0","given":1}]},` +
		`"state":"idle","since":"2026-01-02T03:04:05Z","state_seq":4,"tier":3,"cause":"log:end","said":{"text":"bye","time":"2026-01-02T03:04:05Z"},` +
		`"log_told":{"source":"log","file":"f","renewed":1,"offset":9},"stream_told":{"source":"stream","renewed":0,"offset":8}}`
	saves := func(line string) string {
		t.Helper()
		dir := t.TempDir()
		file := filepath.Join(dir, loop.CheckpointFile)
		if err := os.WriteFile(file, []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		from, err := loop.LoadCheckpoint(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.change(t.Context(), func(c *core) error {
			c.kernel.Parts.Restore(from, c.kernel.Problem.Trouble)
			var head loop.Checkpoint
			c.kernel.Parts.Save(&head, c.kernel.Problem.Trouble)
			return head.Write(dir)
		}); err != nil {
			t.Fatal(err)
		}
		saved, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(saved))
	}
	first := saves(line)
	for _, want := range []string{`"blocks":2,"hook":7`, `"9":{"source":"clear"`, `"saved":3`, `"own":"the last message"`, `"prompt":"p-1"`, `"prompt":"p-0","given":1`,
		`"state":"idle","since":"2026-01-02T03:04:05`, `"state_seq":4,"tier":3,"cause":"log:end"`, `"text":"bye"`, `"file":"f","renewed":1,"offset":9`, `"stream","renewed":0,"offset":8`} {
		if !strings.Contains(first, want) {
			t.Errorf("%s is not in %s", want, first)
		}
	}
	// The detection is that of the program that runs.
	kept := func(line string) map[string]any {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil || fields["detection"] == nil {
			t.Fatalf("%s: %v", line, err)
		}
		delete(fields, "detection")
		return fields
	}
	if second := saves(first); !reflect.DeepEqual(kept(second), kept(first)) {
		t.Errorf("%s was saved again as %s", first, second)
	}
	without, err := json.Marshal(kept(first))
	if err != nil {
		t.Fatal(err)
	}
	if ended := saves(string(without)); strings.Contains(ended, `"blocks":2`) {
		t.Errorf("what was known of a program that ended is kept: %s", ended)
	}
}

// TestPartThatCannotBeRestored: a part that cannot read what was saved of it begins anew with
// the program that is still followed.
func TestPartThatCannotBeRestored(t *testing.T) {
	_, s := newAsker(t, "asks 1: a")
	broken := map[string]json.RawMessage{}
	if err := s.do(t.Context(), func(c *core) {
		for _, part := range c.kernel.Parts {
			broken[part.Name] = json.RawMessage(`"broken"`)
			part.End() // as a server begins that has yet to restore it
		}
		c.kernel.Parts.Restore(loop.Checkpoint{Detection: json.RawMessage("{}"), Parts: broken}, c.kernel.Problem.Trouble)
	}); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Respond(t.Context(), claim("c1"), "", agent.Answer{Kind: agent.Accept}); err != nil || !r.Confirmed {
		t.Errorf("%+v, %v", r, err)
	}
}

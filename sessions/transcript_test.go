package sessions

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"berth/agent"
	"berth/detect/tail"
)

// TestLogThatCouldNotBeKeptIsSaidAgain: the disk was full when the agent went
// over to another log. Its next hook names that log again, and it is taken in.
func TestLogThatCouldNotBeKeptIsSaidAgain(t *testing.T) {
	k := newKeeper(t, "")
	k.write(k.turn("a"))
	k.is("idle")
	logs := filepath.Join(t.TempDir(), "logs")
	path := filepath.Join(logs, "ws", "a.jsonl")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("{}\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	says := func(record uint64) {
		t.Helper()
		err := k.s.do(t.Context(), func(c *core) {
			c.spec.LogFiles = filepath.Join(logs, "*", "%s.jsonl")
			c.saysOfLog(agent.Fact{Log: path}, record, false)
			c.keepTranscripts()
		})
		if err != nil {
			t.Fatal(err)
		}
		within(t, k.s, "the log is taken in", func(*Status) bool {
			left := -1
			if err := k.s.do(t.Context(), func(c *core) { left = len(c.transcripts.words) }); err != nil {
				t.Fatal(err)
			}
			return left == 0
		})
	}
	full := filepath.Join(k.s.dir, "transcripts") // no folder can be made there
	if err := os.WriteFile(full, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	says(1)
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	says(2)
	store := k.s.transcripts(tail.Below{Folder: logs, UID: os.Geteuid()})
	if list, err := store.List(); err != nil || len(list) != 1 || list[0].Lines != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	outside := filepath.Join(t.TempDir(), "b.jsonl")
	path = outside
	says(3)
	if err := k.s.do(t.Context(), func(c *core) {
		if c.saysOfLog(agent.Fact{Log: outside}, 4, false); len(c.transcripts.words) != 0 {
			t.Error("a log that is none of the agent's is looked at with each hook")
		}
	}); err != nil {
		t.Fatal(err)
	}
}

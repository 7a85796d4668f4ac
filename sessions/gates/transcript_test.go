package gates

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect/tail"
	"berth/sessions/events"
	"berth/sessions/gates/transcript"
	"berth/sessions/loop"
)

// keeper is the gates of an agent with session logs below a folder. Background work runs at once.
type keeper struct {
	*Gates
	folder, logs string
	store        *transcript.Store
	noted        []any
	troubles     int
}

func newKeeper(t *testing.T) *keeper {
	k := &keeper{folder: filepath.Join(t.TempDir(), "transcripts"), logs: filepath.Join(t.TempDir(), "logs")}
	k.store = transcript.Open(k.folder, tail.Below{Folder: k.logs, UID: os.Geteuid()}, 0, func() api.Time { return api.At(time.Unix(1000, 0)) })
	k.Gates = New(Env{
		Env: loop.Env{
			Note:       func(_ string, data any) uint64 { k.noted = append(k.noted, data); return uint64(len(k.noted)) },
			Background: func(work func(context.Context)) { work(context.Background()) }, Do: func(_ context.Context, fn func()) error { fn(); return nil },
			Trouble: func(string, error) { k.troubles++ }, Cured: func(string) {},
		},
		Store: func() *transcript.Store { return k.store }, ReleaseHooks: func() {},
	})
	return k
}

func (k *keeper) write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestLogThatCouldNotBeKeptIsSaidAgain: the disk was full when the agent switched to another log. Its next hook names
// that log again, and the report is handled.
func TestLogThatCouldNotBeKeptIsSaidAgain(t *testing.T) {
	k := newKeeper(t)
	path := filepath.Join(k.logs, "ws", "a.jsonl")
	k.write(t, path, "{}\n")
	k.write(t, k.folder, "") // a file, so that no folder can be made there
	says := func(path string, record uint64) {
		k.Log(agent.Fact{Log: path}, record, false)
		k.KeepLogs()
	}
	if says(path, 1); k.troubles == 0 {
		t.Error("nothing was said of the failure")
	}
	if err := os.Remove(k.folder); err != nil {
		t.Fatal(err)
	}
	says(path, 2)
	if list, err := k.store.List(); err != nil || len(list) != 1 || list[0].Lines != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	outside := filepath.Join(t.TempDir(), "b.jsonl")
	says(outside, 3)
	if k.Log(agent.Fact{Log: outside}, 4, false); len(k.Gates.logs.words) != 0 {
		t.Error("a log that is none of the agent's is looked at with each hook")
	}
}

// TestTranscriptHasOneEvent: the next server emits no second event for a saved part, even if the event is newer than
// the checkpoint.
func TestTranscriptHasOneEvent(t *testing.T) {
	k := newKeeper(t)
	path := filepath.Join(k.logs, "ws", "a.jsonl")
	k.write(t, path, "{}\n")
	k.Log(agent.Fact{Log: path}, 1, false)
	k.KeepLogs()
	before, err := k.Save()
	if err != nil {
		t.Fatal(err)
	}
	k.Log(agent.Fact{Log: path, Activity: &agent.Activity{Kind: agent.Compacting}}, 2, false)
	k.KeepLogs()
	if len(k.noted) != 1 {
		t.Fatalf("a compaction made %d events", len(k.noted))
	}
	raw, err := json.Marshal(k.noted[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, recalled := range []bool{true, false} {
		next := newKeeper(t)
		next.store = k.store
		if err := next.Restore(before, true); err != nil {
			t.Fatal(err)
		}
		if recalled {
			next.Recall(events.Line{Type: eventTranscript, Raw: raw})
		}
		next.Log(agent.Fact{Log: path, Activity: &agent.Activity{Kind: agent.Compacting}}, 2, false)
		next.KeepLogs()
		if recalled != (len(next.noted) == 0) {
			t.Errorf("recalled %t: %d events", recalled, len(next.noted))
		}
	}
}

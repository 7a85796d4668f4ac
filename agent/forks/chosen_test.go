package forks_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"berth/agent"
	"berth/agent/forks"
)

// TestChosen: a session's own conversation is resumed if it has a message, another one if it is there, and the command's
// own options are for the first start alone.
func TestChosen(t *testing.T) {
	disk := fstest.MapFS{"s/own.jsonl": &fstest.MapFile{}}
	has := func(id string) bool { _, ok := forks.LogOf(disk, "/s/%s.jsonl", id); return ok }
	c := forks.Chosen{
		Name: "x", Ways: map[string]string{"-c": ""}, Resume: "resume", Latest: []string{"last"}, Has: has,
		Known: func(id string) bool { return id == "other" },
		Fork: func(id string) []string {
			if has(id) {
				return []string{"fork", id}
			}
			return nil
		},
	}
	for _, one := range []struct {
		start agent.Start
		want  string
	}{
		{agent.Start{}, "x -a -c "},
		{agent.Start{Resume: true, Conversation: "own"}, "x -a resume own own"},
		{agent.Start{Resume: true, Conversation: "silent", ResumeID: "other"}, "x -a -c "},
		{agent.Start{Resume: true}, "x -a -c "},
		{agent.Start{ResumeID: "other", Conversation: "own"}, "x -a resume other other"},
		{agent.Start{ResumeID: agent.Latest}, "x -a last "},
		{agent.Start{ResumeID: "none"}, "error"},
		{agent.Start{Fork: "own"}, "x -a fork own "},
		{agent.Start{Fork: "none"}, "error"},
		{agent.Start{Fork: "*"}, "error"},
	} {
		l := agent.Launch{Argv: []string{"x", "-c"}}
		err := c.Choose(&l, one.start, "-a")
		got := strings.Join(l.Argv, " ") + " " + l.Conversation
		if err != nil {
			got = "error"
		}
		argv := one.want
		if argv == "x -a -c " { // the words of others come first
			argv = "x -a -c "
		}
		if got != argv || err != nil && !errors.Is(err, agent.ErrNoConversation) {
			t.Errorf("%+v: %q %v, want %q", one.start, got, err, one.want)
		}
	}
	if _, ok := forks.LogOf(nil, "/s/%s.jsonl", "own"); ok {
		t.Error("found without a disk")
	}
}

// TestLog: a hook names the session's log only by a whole path that the agent chooses.
func TestLog(t *testing.T) {
	for path, want := range map[string]string{"/a/../b.jsonl": "/b.jsonl", "b.jsonl": "", "": ""} {
		e := forks.Event{Transcript: path}
		if e.Log(true) != want || e.Log(false) != "" {
			t.Errorf("%q: %q", path, e.Log(true))
		}
	}
}

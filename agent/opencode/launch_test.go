package opencode_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"berth/agent"
	"berth/agent/opencode"
)

// TestTakeUp: a conversation that Berth takes up replaces the one that the command chose for its first start.
func TestTakeUp(t *testing.T) {
	disk := fstest.MapFS{"run/lab/opencode/talks/opencode/ses_1.jsonl": {}, "run/old/opencode/talks/opencode/ses_2.jsonl": {}}
	for name, c := range map[string]struct {
		start agent.Start
		given string
		want  string
	}{
		"the first start": {agent.Start{}, "--session ses_9 --model m", "--session ses_9 --model m"},
		"again, unspoken": {agent.Start{Resume: true, Conversation: "ses_8"}, "-c", "-c"},
		"an id":           {agent.Start{Resume: true, Conversation: "ses_1"}, "--model m --session ses_9", "--session ses_1 --model m"},
		"an id, with =":   {agent.Start{Resume: true, Conversation: "ses_1"}, "--session=ses_9 --fork", "--session ses_1"},
		"short":           {agent.Start{Resume: true, Conversation: "ses_1"}, "-s ses_9 --agent plan", "--session ses_1 --agent plan"},
		"the latest":      {agent.Start{Resume: true, Conversation: "ses_1"}, "-c --continue /ws", "--session ses_1 /ws"},
		"a fork":          {agent.Start{Fork: "ses_2", ForkFolder: "/run/old"}, "-c", "--session ses_2 --fork"},
	} {
		s := c.start
		s.Argv, s.Folder, s.Disk, s.Isolate = append([]string{"opencode"}, strings.Fields(c.given)...), "/run/lab", disk, agent.IsolateNone
		l, err := opencode.Driver{}.Launch(s)
		if got := strings.Join(l.Argv, " "); err != nil || got != "opencode "+c.want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

package sessions

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/hold"
)

// lateAsker is an asker with hooks whose dialogs count as questions only after a while.
type lateAsker struct{ asker }

func (lateAsker) Hook([]byte) ([]agent.Fact, error) {
	return []agent.Fact{{Kind: agent.Asked, Source: agent.SourceHook, Cause: "hook", Request: &agent.Request{Type: agent.PromptPermission, Title: agent.Pointer("told")}}}, nil
}

func (d lateAsker) Table() agent.Table {
	t := d.asker.Table()
	t[agent.MoveAsk] = []agent.Witness{{Source: agent.SourceHook}, {Source: agent.SourceScreen, After: 50 * time.Millisecond}}
	return t
}

// TestHookWhileADialogFallsDue: a prompt that a hook reports is named by that hook's event. A
// server that starts after a kill reads the event again. A dialog that falls due before the
// hook, in the same step, has an event of its own.
func TestHookWhileADialogFallsDue(t *testing.T) {
	p := open(t)
	p.close()
	p.options.Drivers = map[string]agent.Driver{"asker": lateAsker{}}
	p.open()
	s := p.sh("one", "sleep 600", func(s *Spec) { s.Agent = "asker" })
	within(t, s, "a state", func(st *Status) bool { return st.Now == agent.Idle })
	var ids []string
	var hook uint64
	if err := s.do(t.Context(), func(c *core) {
		seen := &agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptPermission, Title: "seen", Key: "seen", Options: []agent.Option{{Number: 1, Label: "Yes"}}}}
		c.track.Apply(c.track.Fold().Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: seen, Time: c.track.Clock(c.now())}))
		due := c.track.Fold().Deadline()
		time.Sleep(time.Until(due)) // keeps the loop busy until both are due
		hook = c.kernel.Applied() + 1000
		c.kernel.Record(hold.Record{N: hook, Time: api.At(c.now()), Kind: hold.KindHook, Data: []byte(`{"event":"x","payload":{"x":1}}`)})
		for _, r := range c.track.Fold().Status().Requests {
			ids = append(ids, r.ID)
		}
	}); err != nil {
		t.Fatal(err)
	}
	for _, line := range p.log(s.ID())["hook"] {
		if want := fmt.Sprintf("-%d", line.Seq); line.Cause == hook && (len(ids) != 2 || strings.HasSuffix(ids[0], want) || !strings.HasSuffix(ids[1], want)) {
			t.Errorf("the prompts are %v, and the hook's event %d", ids, line.Seq)
		}
	}
}

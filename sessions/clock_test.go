package sessions

import (
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/hold"
)

// TestRespondAfterClockSetBack: a key that a person typed before it was isn't a
// reason to wait for hours.
func TestRespondAfterClockSetBack(t *testing.T) {
	_, s := newAsker(t, "asks 1: a")
	err := s.do(t.Context(), func(c *core) {
		r := hold.Record{N: c.kernel.Applied(), Kind: hold.KindInput, Time: api.At(time.Now().Round(0).Add(2 * time.Hour)), Data: []byte(`{"bytes":1,"mark":{"by":{},"typed":true}}`)}
		c.kernel.Record(r)
	})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Respond(t.Context(), claim("c1"), "", agent.Answer{Kind: agent.Accept}); err != nil || !r.Confirmed {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestTimesHaveTheLoopsClock: the system's clock may be set forward by years, as
// on a machine that finds out the time after its start. A session's ttl is not
// over by that.
func TestTimesHaveTheLoopsClock(t *testing.T) {
	s := open(t).sh("one", "echo here; sleep 600", func(s *Spec) { s.Limits.TTL = time.Hour })
	shows(t, s, "here")
	err := s.do(t.Context(), func(c *core) {
		for what, at := range map[string]time.Time{"start": c.life.Started(), "newest output": c.kernel.LastOut()} {
			if at == at.Round(0) { // which takes that clock's reading away
				t.Errorf("the %s is of the system's clock alone: %s", what, at)
			}
		}
		if due := c.life.Tick(c.now()); due.IsZero() || due == due.Round(0) {
			t.Errorf("its end is due at %s", due)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

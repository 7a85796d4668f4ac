package sessions

import (
	"context"
	"time"

	"berth/sessions/loop"
	"berth/sessions/track"
)

// Usage is what a turn took of the model; Said is the last message of an agent's turn.
type (
	Usage = track.Usage
	Said  = track.Said
)

// logLags is how long a turn's last entries are waited for: a log follows what
// hooks and files tell by 10 to 100 ms.
const logLags = 300 * time.Millisecond

// used is what the turn took. Of one that is over the log's word is waited for,
// for as long as that may lag.
func (s *Session) used(ctx context.Context, turn string, over bool) *Usage {
	ctx, cancel := context.WithTimeout(ctx, logLags)
	defer cancel()
	changed, stop := s.Subscribe()
	defer stop()
	type took struct {
		usage *Usage
		more  bool // to be waited for
	}
	for {
		t, err := ask(context.WithoutCancel(ctx), s, func(c *core) (t took, err error) {
			t.usage, t.more = c.track.Used(turn)
			return t, nil
		})
		if err != nil || !over || !t.more || loop.Pause(ctx, changed, logLags) != nil {
			return t.usage
		}
	}
}

// LastSaid is the agent's last message and what its turn took; nil when there
// was none.
func (s *Session) LastSaid(ctx context.Context) *Said {
	said := s.Status().Said
	if said == nil || s.reg.now().Sub(said.Time.Time) >= logLags {
		return said
	}
	whole := *said
	if u := s.used(ctx, said.Turn, true); u != nil {
		whole.Usage = u
	}
	return &whole
}

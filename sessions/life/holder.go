package life

import (
	"context"
	"errors"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/hold"
)

// Hold takes on a holder and its program.
func (l *Life) Hold(w hold.Welcome) {
	l.holderPID, l.holderStart = w.HolderPID, w.HolderStart
	l.child = Child{w.ChildPID, w.ChildStart}
	l.env.Found(w)
	l.env.Changed()
	l.env.Save() // so that the next server knows the holder even if it does not answer
}

// reaching is what health says could not be done.
const reaching = "reach the holder"

// Connect finds the holder. Without one the journal is read to its end; if that has no exit, the
// program is lost.
func (l *Life) Connect(ctx context.Context) {
	w, err := l.env.Dial(ctx)
	switch {
	case err == nil:
		l.Hold(w)
		l.env.Reached(w)
		l.env.Cured(reaching)
	case errors.Is(err, hold.ErrGone):
		l.env.Replay()
		switch {
		case l.exit != nil:
		case l.lost != nil:
			l.ended(l.lost, hold.Record{}, true)
		default:
			l.env.Log.Warn("the holder is gone and left no exit", "error", err)
			l.ended(&api.Exit{Lost: true, Time: api.At(l.env.Now())}, hold.Record{}, false)
		}
	case errors.Is(ctx.Err(), context.Canceled): // this server's start is called off
	default:
		l.env.Trouble(reaching, err)
		l.env.SetState(agent.Unknown, "process:no-answer")
	}
	l.dialed = l.env.Now()
	l.env.Changed()
}

// reconnect looks after a link that ended and holders that did not answer.
func (l *Life) reconnect(now time.Time) {
	if l.exit != nil || l.starting {
		return
	}
	if l.env.Linked() {
		err := l.env.LinkErr()
		if err == nil || errors.Is(err, hold.ErrEnded) {
			return
		}
		l.env.Log.Info("the link to the holder broke", "error", err)
		l.env.Unlink()
	} else if now.Sub(l.dialed) < dialAgain {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialPatience)
	defer cancel()
	l.Connect(ctx)
}

// dialAgain is how often a holder that does not answer is asked again.
const dialAgain = 5 * time.Second

// dialPatience is how long the loop waits for a holder on a Unix socket, whose
// answer takes well below a millisecond.
const dialPatience = 500 * time.Millisecond

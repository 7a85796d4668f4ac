package life

import (
	"context"
	"errors"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// Stop asks the holder for the program's end. done receives when the program has ended, so it must
// hold one.
func (l *Life) Stop(mark loop.Mark, grace time.Duration, done chan error) {
	again := mark.Verb == VerbRestart
	switch {
	case l.starting:
		l.ends, l.ending, l.again = append(l.ends, done), true, again
		l.endSoon = &mark
	case l.exit != nil:
		l.ending = true
		l.restarts.cancel()
		l.env.SetState(agent.Exited, "process:exit") // it was to start again, if it was not ended
		l.env.Publish()
		if !l.exit.Lost {
			done <- nil
			break
		}
		l.env.Background(func(context.Context) { done <- l.env.EndOrphans(grace) })
	case !l.env.Linked():
		done <- l.unreachable()
	default:
		l.ends, l.ending, l.again = append(l.ends, done), true, again
		l.endProgram(mark, grace)
	}
	if !again {
		l.begun(api.Errorf(api.CodeExited, "%s was ended before it could be started again", l.env.Name()))
	}
}

func (l *Life) unreachable() error {
	return api.Errorf(api.CodeInternal, "the holder of %s does not answer: its program cannot be ended from here", l.env.Name())
}

// endProgram asks the holder off the loop, because the holder's answer may take a moment.
func (l *Life) endProgram(mark loop.Mark, grace time.Duration) {
	ask := l.env.EndProgram(mark, grace)
	l.env.Background(func(context.Context) {
		if err := ask(); err != nil && !errors.Is(err, hold.ErrEnded) && !errors.Is(err, hold.ErrClosed) {
			l.env.Log.Error("the program could not be ended", "error", err)
		}
	})
}

// Restart starts the program again, after its end if it runs. done receives how that went, so it must
// hold one.
func (l *Life) Restart(by loop.By, done chan error) {
	switch {
	case l.exit == nil && !l.starting && !l.env.Linked():
		done <- l.unreachable()
		return
	case l.removing > 0:
		done <- api.Errorf(api.CodeBadRequest, "%s is being removed: it is not started again", l.env.Name())
		return
	}
	l.begins = append(l.begins, done)
	switch {
	case l.starting: // the start is on its way
	case l.exit != nil:
		l.startAgain()
	default:
		l.Stop(loop.Mark{By: by, Verb: VerbRestart}, EndGrace, make(chan error, 1))
	}
}

// startAgain starts an ended program anew. Offsets and record numbers continue.
func (l *Life) startAgain() {
	l.restarts.cancel()
	l.starting, l.ending, l.again = true, false, false
	l.env.Load()
	l.env.SetState(agent.Restarting, "process:restart")
	l.env.Publish() // before Save, as in ended
	l.env.Save()
	l.env.Launch(l.exit.Lost)
}

// startingAgain is what health says could not be done.
const startingAgain = "start the program again"

// Launched takes on a new holder, or the reason why there is none.
func (l *Life) Launched(w hold.Welcome, failed error) {
	l.starting = false
	soon := l.endSoon
	l.endSoon = nil
	if failed != nil {
		l.env.Trouble(startingAgain, failed)
		automatic := len(l.begins) == 0 && l.env.Spec().Restart != RestartNever && soon == nil
		l.begun(failed)
		l.endsDone(nil)
		if automatic {
			l.restarts.failed(l.env.Now())
			return
		}
		l.env.SetState(agent.Exited, "process:start-failed")
		l.env.Publish() // before Save, as in ended
		l.env.Save()
		return
	}
	l.exit, l.lost = nil, nil
	l.env.Cured(startingAgain)
	l.Hold(w)
	l.env.Publish()
	l.restarts.started(l.env.Now())
	if soon != nil {
		l.ending = true
		l.endProgram(*soon, EndGrace)
	}
	l.begun(nil)
}

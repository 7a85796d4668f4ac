package anyorder

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// answerableWithin is how long a dialog may be on the screen, after whatever has changed there, until its prompt takes an answer.
const answerableWithin = 5 * time.Second

// honest is what is known of an order without another process.
type honest struct {
	plays   bool
	changed time.Time // the screen, or a key was pressed, or the server is another one
	made    []*call   // all calls
}

// answerable fails if the open dialog's prompt takes no answer, by its own hook or by keys, or names a call that was never made.
func (w *world) answerable() {
	c := w.open
	if !w.honest.plays || c == nil || w.covered != nil || w.failed != "" || w.undecided(c) {
		return
	}
	p, held := w.f.HeldBy(c.hook)
	if c.hook == "" || !held {
		p = w.answers()
	}
	switch since := slices.MaxFunc([]time.Time{c.begun, w.keyAt, w.honest.changed}, time.Time.Compare); {
	case p != nil:
		for line, says := range w.a.Lines {
			was := func(o *call) bool { return o.line == line }
			if says != "" && strings.Contains(agent.Value(p.Text), says) && !slices.ContainsFunc(w.honest.made, was) {
				w.failed = fmt.Sprintf("a prompt names a call that was never made: %q", agent.Value(p.Text))
			}
		}
	case w.now.Sub(since) >= answerableWithin:
		w.failed = fmt.Sprintf("the dialog of %s takes no answer", c.id)
		for _, p := range w.f.Status().Requests {
			s, _ := w.f.Pending(p.ID)
			w.failed += fmt.Sprintf("; %s %q %q is on the screen %v, whole %v, contested %v, over %v, alike %v", p.ID, agent.Value(p.Input), agent.Value(p.Text), p.OnScreen, s.Whole, s.Disputed, s.Over, s.Alike)
		}
	}
}

// undecided reports whether docs/decisions/answers.md says that a person has to look at the dialog: another call that hasn't ended
// is drawn like it, or in Gemini CLI also one that has, or it is a subagent's in Claude Code and its hook doesn't wait.
func (w *world) undecided(c *call) bool {
	_, names := w.a.Driver.(agent.CallNamer)
	return w.a.Subagent != nil && c.subagent && c.hook == "" || slices.ContainsFunc(w.honest.made, func(o *call) bool {
		return o != c && o.line != c.line && w.a.other(o.line) == w.a.other(c.line) && (names || !o.over)
	})
}

// verdictOfOwn is an answer to the open dialog's own hook.
func (w *world) verdictOfOwn() {
	if w.open == nil || w.open.hook == "" || w.server.down {
		return
	}
	if p, held := w.f.HeldBy(w.open.hook); held {
		w.hooks = append([]string{w.open.hook}, w.hooks...)
		w.say("its own hook takes the answer for %q", agent.Value(p.Text))
		w.open.hook = ""
		w.verdict()
		w.closes(true)
	}
}

// Honest plays orders without another process. Each dialog takes an answer in time, and its prompt names no call that wasn't made.
func Honest(t *testing.T, a *Agent, orders, steps int) {
	t.Helper()
	playAll(t, orders, func(seed uint64) *world {
		all := slices.DeleteFunc(order(seed, steps), func(s step) bool { return s.kind.hostile })
		w := a.play(t, 0, all)
		if w.failed != "" {
			w = a.shrunk(t, 0, all)
		}
		return w
	})
}

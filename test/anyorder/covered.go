package anyorder

import (
	"math/rand/v2"
	"strings"
	"testing"

	"berth/agent"
)

// looked are what may happen to a call whose dialog is on the screen, and isn't answered.
var looked = map[string]func(w *world){
	"nothing":                            func(*world) {},
	"a message is typed at the composer": func(w *world) { w.covers(4); w.f.TypedMessage(w.now) },
	"a person types at the composer, seconds later": func(w *world) { w.covers(32); w.f.Typed(w.now) },
	"a forged hook takes the refusal": func(w *world) {
		w.report(Asks, "", w.open.line, "9")
		if p, held := w.f.HeldBy("9"); held {
			w.f.Answered(p.ID, false)
			w.apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: "9"})
		}
	},
	"a key allows an equal call before it": func(w *world) { w.begins("c2", w.open.line); w.key(); w.pass(4) },
	"keys at the terminal allow an equal call before it": func(w *world) {
		w.begins("c2", w.open.line)
		for range 4 {
			w.f.Typed(w.now)
			w.pass(4)
		}
	},
	"a key allows a call that is drawn like it": func(w *world) { w.begins("c2", 2); w.key(); w.pass(4) },
}

func (w *world) begins(id string, line int) {
	for _, list := range [][]Event{w.a.Before, w.a.After} {
		for _, e := range list {
			w.report(e, id, line, "")
		}
	}
	w.pass(4)
}

func (w *world) key() {
	if p := w.answers(); p != nil {
		w.f.Answered(p.ID, true)
	}
}

// Covered plays that another process reports the end of a call and covers its dialog until the agent seems to rest, and then reports
// another call. Nothing but an answer at its dialog makes Berth forget a call, and neither does a restart.
func Covered(t *testing.T, a *Agent) {
	t.Helper()
	for name, happens := range looked {
		for _, restarts := range []bool{false, true} {
			for own, other := range []int{1, 0} {
				w := newWorld(t, a)
				w.r = rand.New(rand.NewPCG(1, 1))
				w.say("%s, restarts %v, of a call with %q", name, restarts, a.Lines[own])
				w.report(Message, "", 0, "")
				w.open = &call{id: "c1", line: own, begun: w.now}
				w.begins("c1", own)
				happens(w)
				w.report(Over, "c1", own, "")
				w.report(Over, "c2", own, "")
				w.report(Stop, "", 0, "")
				if w.covers(80); restarts {
					w.restarts()
				}
				w.report(Message, "", 0, "")
				w.report(Asks, "c3", other, "")
				w.covered = nil
				if w.pass(48); w.failed != "" {
					t.Errorf("%s, after\n%s", w.failed, strings.Join(w.trace, "\n"))
				}
			}
		}
	}
}

// Killed plays that the server is killed while the dialog of a call is on the screen, after another process has reported its end and
// another call. The server's last checkpoint is older than the dialog, so the next one knows of a composer only. That it was on the
// screen all the time isn't known.
func Killed(t *testing.T, a *Agent) {
	t.Helper()
	for own, other := range []int{1, 0} {
		w := newWorld(t, a)
		w.r = rand.New(rand.NewPCG(1, 1))
		w.report(Message, "", 0, "")
		w.pass(10)
		w.saves()
		w.open = &call{id: "c1", line: own, begun: w.now}
		w.begins("c1", own)
		w.report(Over, "c1", own, "")
		w.report(Stop, "", 0, "")
		w.pass(60)
		w.report(Message, "", 0, "")
		w.report(Asks, "c3", other, "")
		w.next()
		if w.pass(48); w.failed != "" {
			t.Errorf("%s, after\n%s", w.failed, strings.Join(w.trace, "\n"))
		}
	}
}

// NamedByAnother plays that a hook or a line of the log about another tool has a call's id and what its dialog draws, and that
// another call is reported. The first call isn't that tool's, so the prompt that a key answers still says what it does.
func NamedByAnother(t *testing.T, a *Agent) {
	t.Helper()
	keyed := 0
	for _, order := range []string{"chrfd", "hrcfd", "chrofd", "cohrfd", "hrcofd", "cdhrf", "cdohrf", "cdoxhrfd", "cdhroxfd"} {
		for own, other := range []int{1, 0} {
			w := newWorld(t, a)
			w.r, w.turn = rand.New(rand.NewPCG(1, 1)), true
			w.report(Message, "", 0, "")
			c := &call{id: "c1", line: own, begun: w.now}
			for _, does := range order {
				switch does {
				case 'c':
					w.begins("c1", own)
				case 'd':
					w.open, w.covered = c, nil
				case 'x':
					w.covered = a.Works
				case 'o':
					w.report(Over, "c1", own, "")
				case 'h':
					w.report(AsksElse, "c1", own, "8")
				case 'r': // Berth releases it for a client that is attached
					w.apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Evidence: agent.HookReleased, Hook: "8"})
				case 'f':
					w.report(Asks, "c3", other, "")
				}
				w.pass(4)
			}
			w.pass(40)
			if keyed += w.keyed; w.failed != "" {
				t.Errorf("%s: %s", order, w.failed)
			}
		}
	}
	if keyed == 0 {
		t.Error("no key answers any prompt")
	}
}

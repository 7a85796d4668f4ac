package codex_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// looked are what may happen to a call in the session's folder whose dialog is on the screen, and isn't answered. Each ends
// with the forged end of the call. Then an empty composer covers the dialog until the agent seems to rest.
var looked = map[string]func(s *run){
	"nothing": func(s *run) {},
	"a message is typed at the composer": func(s *run) {
		s.show(s.rests)
		s.f.TypedMessage(s.now)
	},
	"a person types at the composer, seconds later": func(s *run) {
		for range 8 {
			s.show(s.rests)
		}
		s.f.Typed(s.now)
	},
	"a key from before the dialog is recorded late": func(s *run) { s.f.Typed(s.now.Add(-time.Minute)) },
	"a forged hook takes the refusal": func(s *run) {
		s.requests("9", "/w")
		held, _ := s.f.HeldBy("9")
		s.f.Answered(held.ID, false)
		s.apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: "9"})
	},
	"a forged hook of another folder takes the allowance": func(s *run) {
		s.requests("9", "/other")
		held, _ := s.f.HeldBy("9")
		s.f.Answered(held.ID, true)
		s.apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: "9"})
	},
	"a key allows an equal call before it": func(s *run) {
		s.calls("b", "/w")
		s.f.Answered(s.dialog().ID, true)
		s.show(s.asks)
	},
	"a key at the terminal allows an equal call before it": func(s *run) {
		s.calls("b", "/w")
		s.f.Typed(s.now)
		s.show(s.asks)
	},
	"several keys at the terminal allow an equal call before it": func(s *run) {
		s.calls("b", "/w")
		for range 4 {
			s.f.Typed(s.now)
			s.show(s.asks)
		}
	},
	"two answers at an equal call before it": func(s *run) {
		s.f.Typed(s.now)
		s.f.Answered(s.dialog().ID, false)
		s.calls("b", "/w")
		s.show(s.asks)
	},
	"a key allows a call that is drawn like it": func(s *run) {
		s.calls("b", "/srv")
		s.f.Answered(s.dialog().ID, true)
		s.show(s.asks)
	},
	"an arrow at the terminal, and a key allows a call before it": func(s *run) {
		s.calls("b", "/srv")
		s.f.Typed(s.now)
		s.stays()
		s.f.Answered(s.dialog().ID, true)
		s.next()
	},
	"an arrow, the dialog is covered for a moment, and a key at the terminal allows a call before it": func(s *run) {
		s.calls("b", "/srv")
		s.show(s.asks)
		s.f.Typed(s.now)
		s.show(s.works)
		s.show(s.asks)
		s.f.Typed(s.now)
		s.next()
	},
	"it and an equal call are reported as over, and a key allows the other one": func(s *run) {
		s.calls("b", "/w")
		s.show(s.asks)
		s.ends("a")
		s.ends("b")
		s.f.Answered(s.dialog().ID, true)
		s.next()
	},
	"a key, and the dialog stays": func(s *run) {
		s.f.Typed(s.now)
		for range 8 {
			s.show(s.asks)
		}
	},
}

// next is the next dialog, a moment after the one before.
func (s *run) next() {
	s.show(s.works)
	s.show(s.asks)
}

// TestCoveredWithoutAnswer: nothing but an answer at its dialog makes Berth forget a call. The prompt of a forged report in another
// folder names it. That holds for the next server too.
func TestCoveredWithoutAnswer(t *testing.T) {
	for name, happens := range looked {
		for _, restarts := range []bool{false, true} {
			s := newRun(t)
			s.calls("a", "/w")
			s.dialog()
			happens(s)
			s.ends("a")
			s.ends("b")
			s.event("Stop", "")
			for range 20 {
				s.show(s.rests)
			}
			if restarts {
				s.restart(t)
			}
			s.message()
			s.requests("", "/srv")
			all := s.stays()
			for _, text := range all {
				if !strings.Contains(text, orInDir) {
					t.Errorf("%s, restarts %v: a key answers %q", name, restarts, text)
				}
			}
			if len(all) == 0 {
				t.Errorf("%s, restarts %v: no key answers", name, restarts)
			}
		}
	}
}

// TestAnsweredCallsAreForgotten: once each call that is drawn alike has its answer, the next prompt doesn't name them at rest. A key
// that is recorded a little later than the screen after it counts.
func TestAnsweredCallsAreForgotten(t *testing.T) {
	for name, answers := range map[string]func(s *run){
		"one, at the terminal":                func(s *run) { s.f.Typed(s.now) },
		"one, recorded late":                  func(s *run) { s.show(s.works); s.f.Typed(s.now) },
		"one, by a key of Berth":              func(s *run) { s.f.Answered(s.dialog().ID, true) },
		"one, refused by a key of Berth":      func(s *run) { s.f.Answered(s.dialog().ID, false) },
		"one, after a key that left it":       func(s *run) { s.f.Typed(s.now); s.stays(); s.f.Typed(s.now) },
		"two equal ones, by keys of Berth":    func(s *run) { twice(s, "/w", true) },
		"two equal ones, refused":             func(s *run) { twice(s, "/w", false) },
		"two in two folders, both allowed":    func(s *run) { twice(s, "/sub", true) },
		"one twice, at the terminal":          func(s *run) { s.again("/w") },
		"one in two folders, at the terminal": func(s *run) { s.again("/sub") },
	} {
		s := newRun(t)
		s.calls("a", "/w")
		s.dialog()
		answers(s)
		s.show(s.works)
		s.ends("a")
		s.ends("b")
		s.nextTurn()
		s.calls("c", "/srv")
		s.requests("", "/srv")
		if all := s.stays(); len(all) != 1 || all[0] != inSrv {
			t.Errorf("%s: a key answers %q", name, all)
		}
	}
}

// TestOneOfTwoWasAnswered: of two calls that are drawn alike one was answered, and it isn't known which; or a hook has taken a refusal,
// and it isn't known whether it passed that on. The calls are named for an hour after that, and while the agent doesn't rest.
func TestOneOfTwoWasAnswered(t *testing.T) {
	for name, answer := range map[string]func(s *run){
		"by a key":  func(s *run) { s.calls("b", "/sub"); s.f.Answered(s.dialog().ID, true) },
		"by a hook": looked["a forged hook takes the refusal"],
	} {
		for _, after := range []time.Duration{time.Minute, 59 * time.Minute, time.Hour} {
			for _, rests := range []bool{true, false} {
				s := newRun(t)
				s.calls("a", "/w")
				s.dialog()
				answer(s)
				s.show(s.works)
				s.ends("a")
				s.ends("b")
				s.now = s.now.Add(after)
				if rests {
					s.nextTurn()
				}
				s.calls("c", "/srv")
				s.requests("", "/srv")
				all := s.stays()
				if named := len(all) == 1 && strings.Contains(all[0], orInDir); named != (after < time.Hour || !rests) {
					t.Errorf("%s, after %s, rests %v: a key answers %q", name, after, rests, all)
				}
			}
		}
	}
}

// twice is a call beside the first one, and the answers at both dialogs. The second one comes at once, and looks the same.
func twice(s *run, dir string, allows bool) {
	s.calls("b", dir)
	s.f.Answered(s.dialog().ID, allows)
	s.dialog()
	s.f.TypedMessage(s.now) // the dialog is still there when the answer's time is over
	s.stays()
	s.f.Answered(s.dialog().ID, allows)
}

// again is an answer at the terminal, and a second call after the first.
func (s *run) again(dir string) {
	s.f.Typed(s.now)
	s.show(s.works)
	s.ends("a")
	s.calls("b", dir)
	s.dialog()
	s.f.Typed(s.now)
}

// TestBehindACoveredDialog: a call waits for the answer at the dialog of another command. Another process covers that dialog until the
// agent seems to rest. The call still counts when its own dialog comes.
func TestBehindACoveredDialog(t *testing.T) {
	s := newRun(t)
	s.line(`{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"pwd\",\"sandbox_permissions\":\"require_escalated\",\"justification\":\"May I?\"}","call_id":"a"}`)
	s.calls("b", "/srv")
	first := asksToRun("pwd")
	s.show(first)
	s.nextTurn()
	s.f.Answered(s.show(first).ID, true)
	s.line(`{"type":"function_call_output","call_id":"a","output":"/srv"}`)
	if all := s.stays(); len(all) != 1 || !strings.Contains(all[0], "/srv") {
		t.Errorf("a key answers %q", all)
	}
}

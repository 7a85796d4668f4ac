package deliver

import (
	"testing"
	"time"

	"berth/agent"
	"berth/api"
)

// aside is a composer with a draft put aside.
func aside(text string) *agent.Reading {
	r := composer(text)
	r.Stashed = true
	return r
}

// TestStash: each step waits until the screen shows the one before, and the
// delivery ends when the draft is back.
func TestStash(t *testing.T) {
	s := newScene(t, Options{Stash: true})
	s.seen.Reading = composer("a draft")
	s.wrote("S")
	for _, r := range []*agent.Reading{nil, composer("a draft"), composer("")} {
		s.seen.Reading = r
		if out := s.run(300 * time.Millisecond); out != "" || s.done != nil {
			t.Fatalf("%q %+v at %+v", out, s.done, r)
		}
	}
	s.seen.Reading = aside("")
	s.wrote("<hello>")
	s.seen.Reading = composer("hello") // a draft of the same text, come back by itself
	if out := s.run(300 * time.Millisecond); out != "" {
		t.Fatalf("%q", out)
	}
	s.seen.Reading = aside("hello")
	s.wrote("\r")
	s.seen.Reading = aside("")
	s.told("hello")
	if out := s.run(300 * time.Millisecond); out != "" || s.done != nil {
		t.Fatalf("%q %+v before the draft was back", out, s.done)
	}
	s.seen.Reading = composer("a draft")
	s.ended(Confirmed, "")
	if s.done.Stashed || s.m.Stashed() || s.drafts != "stashed restored " {
		t.Errorf("%+v, reported %q", s.done, s.drafts)
	}
}

// TestStashSameText: a draft of the very same text, back in the composer, is not
// sent by the second Enter.
func TestStashSameText(t *testing.T) {
	s := newScene(t, Options{Stash: true})
	s.seen.Reading = composer("hello")
	s.wrote("S")
	s.seen.Reading = aside("")
	s.wrote("<hello>")
	s.seen.Reading = aside("hello")
	s.wrote("\r")
	s.seen.Reading = composer("hello")
	s.m.Fact(agent.Fact{Kind: agent.LevelIs, Level: agent.LevelBusy, Cause: "registry:busy"})
	s.ended(Confirmed, "")
	if s.written != "S<hello>\r" {
		t.Errorf("it wrote %q", s.written)
	}
}

// TestStashLateEnter: with a draft put aside there is no second Enter. A first one
// that is only read late brings the draft back, and the second would send it.
func TestStashLateEnter(t *testing.T) {
	for name, before := range map[string]*agent.Reading{"ours": composer("a draft"), "a person's": aside("")} {
		s := newScene(t, Options{Stash: true})
		s.seen.Reading = before
		want := "<hello>\r"
		if !before.Stashed {
			s.wrote("S")
			s.seen.Reading, want = aside(""), "S"+want
		}
		s.wrote("<hello>")
		s.seen.Reading = aside("hello")
		s.wrote("\r")
		if out := s.run(confirmFor - 100*time.Millisecond); out != "" || s.done != nil {
			t.Errorf("%s: %q %+v while the composer holds the message", name, out, s.done)
		}
		s.seen.Reading = composer("a draft")
		s.told("hello")
		s.ended(Confirmed, "")
		if s.written != want {
			t.Errorf("%s: it wrote %q", name, s.written)
		}
	}
}

// TestStashOfAPerson: what a person has put aside is left there, and comes back
// by itself.
func TestStashOfAPerson(t *testing.T) {
	s := newScene(t, Options{Stash: true})
	s.seen.Reading = aside("")
	s.wrote("<hello>")
	s.seen.Reading = aside("hello")
	s.wrote("\r")
	s.seen.Reading = composer("a draft")
	s.told("hello")
	s.ended(Confirmed, "")
	if s.written != "<hello>\r" || s.drafts != "" {
		t.Errorf("it wrote %q and reported %q", s.written, s.drafts)
	}
}

func TestStashRefused(t *testing.T) {
	for name, r := range map[string]*agent.Reading{
		"two drafts": aside("a draft"),
		"shell":      {Composer: &agent.Composer{Mode: agent.ModeShell, Text: "ls"}},
		"search":     {Composer: &agent.Composer{Mode: agent.ModeSearch, Text: "ls"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, Options{Stash: true})
			s.seen.Reading = r
			s.ended(Refused, api.CodeDraftPresent)
			if s.written != "" {
				t.Errorf("it wrote %q", s.written)
			}
		})
	}
	s := newScene(t, Options{Stash: true, Typed: "two\nlines"})
	s.seen.Reading, s.seen.Paste = composer("a draft"), false
	s.ended(Refused, api.CodeNotReady)
	if s.written != "" {
		t.Errorf("it wrote %q", s.written)
	}
}

// TestStashNotSeen: the key had no effect, or one that is seen late.
func TestStashNotSeen(t *testing.T) {
	s := newScene(t, Options{Stash: true})
	s.seen.Reading = composer("a draft")
	s.ended(Refused, api.CodeDraftPresent)
	if s.written != "S" || s.done.Stashed || s.drafts != "" {
		t.Errorf("it wrote %q, reported %q: %+v", s.written, s.drafts, s.done)
	}

	s = newScene(t, Options{Stash: true})
	s.seen.Reading = composer("a draft")
	s.wrote("S")
	s.seen.Reading = composer("")
	s.run(stashFor + 100*time.Millisecond)
	s.seen.Reading = aside("")
	s.wrote("S")
	s.seen.Reading = composer("a draft")
	s.ended(Refused, api.CodeDraftPresent)
	if s.drafts != "stashed restored " || s.done.Stashed {
		t.Errorf("reported %q: %+v", s.drafts, s.done)
	}
}

// TestStashAbandoned brings the draft back, at any step, but presses nothing at
// a dialog and into no other text.
func TestStashAbandoned(t *testing.T) {
	for name, step := range map[string]func(s *scene){
		"before the paste": func(*scene) {},
		"after the paste": func(s *scene) {
			s.seen.Reading = aside("")
			s.wrote("<hello>")
			s.seen.Reading = aside("hello")
			s.seen.State = agent.Working
			s.wrote("U")
		},
		"not echoed": func(s *scene) {
			s.seen.Reading = aside("")
			s.wrote("<hello>")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, Options{Stash: true})
			s.seen.Reading = composer("a draft")
			s.wrote("S")
			step(s)
			written := s.written
			s.seen.State, s.seen.Asks, s.seen.Reading = agent.Prompt, true, dialog
			if s.run(time.Second); s.written != written {
				t.Fatalf("it wrote %q", s.written)
			}
			s.seen.Reading, s.seen.Asks = aside(""), false
			s.wrote("S")
			s.seen.Reading = composer("a draft")
			s.ended(Refused, api.CodeAgentBusy)
			if s.done.Stashed {
				t.Errorf("%+v", s.done)
			}
		})
	}

	s := newScene(t, Options{Stash: true})
	s.seen.Reading = composer("a draft")
	s.wrote("S")
	s.seen.Reading = aside("")
	s.wrote("<hello>")
	s.seen.Reading, s.seen.Asks = dialog, true
	s.ended(Refused, api.CodeAgentBusy)
	if s.written != "S<hello>" || !s.done.Stashed || !s.m.Stashed() {
		t.Errorf("%q %+v", s.written, s.done)
	}
}

// TestStashNotDrawn: refused before the key is drawn, the draft that still
// is in the composer is not yet back.
func TestStashNotDrawn(t *testing.T) {
	s := newScene(t, Options{Stash: true})
	s.seen.Reading = composer("a draft")
	s.wrote("S")
	s.seen.State = agent.Working
	if s.run(100 * time.Millisecond); s.done != nil {
		t.Fatalf("%+v", s.done)
	}
	s.seen.Reading = aside("")
	s.wrote("S")
	s.seen.Reading = composer("a draft")
	s.ended(Refused, api.CodeAgentBusy)
	if s.drafts != "stashed restored " || s.done.Stashed {
		t.Errorf("reported %q: %+v", s.drafts, s.done)
	}

	s = newScene(t, Options{Stash: true})
	s.seen.Reading = composer("a draft")
	s.wrote("S")
	s.seen.State, s.seen.Asks = agent.Prompt, true
	s.run(100 * time.Millisecond)
	s.seen.Reading = dialog
	s.ended(Refused, api.CodeAgentBusy)
	if !s.done.Stashed {
		t.Errorf("%+v", s.done)
	}
}

// TestReturn brings back later what an abandoned delivery could not.
func TestReturn(t *testing.T) {
	s := newScene(t, Options{})
	s.m = Return(plain{}, s.now)
	s.seen.Reading = aside("")
	s.wrote("S")
	s.seen.Reading = composer("a draft")
	s.ended(Refused, "")
	if s.drafts != "restored " || s.m.Stashed() {
		t.Errorf("reported %q", s.drafts)
	}
}

// TestDrawnKeys: what a person has just typed may not be on the screen yet.
func TestDrawnKeys(t *testing.T) {
	s := newScene(t, Options{})
	s.seen.Typed = s.now.Add(-100 * time.Millisecond)
	if out := s.run(2500 * time.Millisecond); out != "" {
		t.Fatalf("%q, and nothing was drawn", out)
	}
	s.seen.Printed, s.seen.Reading = s.now, composer("x")
	s.ended(Refused, api.CodeDraftPresent)

	s = newScene(t, Options{})
	s.seen.Typed, s.seen.Printed = s.now.Add(-100*time.Millisecond), s.now
	if out := s.run(250 * time.Millisecond); out != "" {
		t.Fatalf("%q", out)
	}
	s.wrote("<hello>")

	s = newScene(t, Options{}) // keys that nothing is drawn for
	s.seen.Typed = s.now.Add(-100 * time.Millisecond)
	s.wrote("<hello>")
	if took := s.now.Sub(start); took < 2500*time.Millisecond {
		t.Errorf("after %s", took)
	}

	s = newScene(t, Options{})
	s.seen.Typed = s.now.Add(time.Hour) // a clock that was set back
	s.wrote("<hello>")
}

// TestCutOff: a mark is our own after a delivery that was cut off.
func TestCutOff(t *testing.T) {
	s := newScene(t, Options{Own: "hello", Cut: true})
	s.seen.Reading = composer("[mark]")
	s.wrote("U")
	s.seen.Reading = composer("")
	s.wrote("<hello>")
}

// TestCutOffPart: the beginning of a message that was cut off is ours too, while
// no other client has typed.
func TestCutOffPart(t *testing.T) {
	for _, c := range []struct {
		shown string
		alone bool
		ours  bool
	}{{"hel", true, true}, {"hel\nlo ", true, true}, {"hel", false, false}, {"help", true, false}, {"lo", true, false}} {
		s := newScene(t, Options{Own: "hello", Cut: true, Alone: c.alone})
		s.seen.Reading = composer(c.shown)
		if !c.ours {
			if s.ended(Refused, api.CodeDraftPresent); s.written != "" {
				t.Errorf("at %q it wrote %q", c.shown, s.written)
			}
			continue
		}
		s.wrote("U")
		s.seen.Reading = composer("")
		s.wrote("<hello>")
	}
}

// TestWithdraw: what a caller that is gone had typed is taken back and nothing is
// typed; what is not ours stays.
func TestWithdraw(t *testing.T) {
	cut := Options{Own: "hello", Cut: true, Alone: true, Withdraw: true}
	s := newScene(t, cut)
	s.seen.Reading = composer("hel")
	s.wrote("U")
	s.seen.Reading = composer("")
	s.ended(Lost, api.CodeUnconfirmed)
	for _, shown := range []string{"", "a person's"} {
		s = newScene(t, cut)
		s.seen.Reading = composer(shown)
		if s.ended(Lost, api.CodeUnconfirmed); s.written != "" {
			t.Errorf("at %q it wrote %q", shown, s.written)
		}
	}
	s = newScene(t, cut)
	s.seen.Reading = composer("hel")
	s.seen.State = agent.Working
	s.ended(Refused, api.CodeAgentBusy)
}

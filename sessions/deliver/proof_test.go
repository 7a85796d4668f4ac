package deliver

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
)

// TestCoveredDialog: a composer that may be drawn over a dialog gets a message only once it has drawn a word that no other process
// knows. The Enter of a message would allow what the dialog asks.
func TestCoveredDialog(t *testing.T) {
	covered := func(o Options) *scene {
		o.Proof = "word"
		s := newScene(t, o)
		s.seen.Covered = true
		return s
	}
	s := covered(Options{})
	s.wrote("<word>")
	s.seen.Reading = composer("word")
	s.wrote("U")
	s.seen.Reading, s.seen.Covered = composer(""), false
	s.wrote("<hello>")
	s.seen.Reading = composer("hello")
	s.wrote("\r")
	s.told("hello")
	s.ended(Confirmed, "")

	for name, drawn := range map[string]*agent.Reading{"the message": composer("hello"), "nothing": composer(""), "a dialog": dialog, "another word": composer("sword")} {
		s := covered(Options{})
		s.wrote("<word>")
		s.seen.Reading = drawn
		for end := s.now.Add(10 * time.Second); s.done == nil && s.now.Before(end); s.now = s.now.Add(10 * time.Millisecond) {
			s.step()
		}
		if s.done == nil || s.done.Verdict != Refused || s.done.Code != api.CodeAgentBusy || strings.Contains(s.written, "\r") || strings.Contains(s.written, "<hello>") {
			t.Errorf("%s is drawn: it wrote %q, and ended with %+v", name, s.written, s.done)
		}
	}

	s = covered(Options{}) // the terminal has drawn it
	s.wrote("<word>")
	s.seen.Reading, s.seen.Echoed = composer("word"), true
	s.wrote("U")
	s.seen.Reading = composer("")
	s.ended(Refused, api.CodeAgentBusy)

	s = covered(Options{}) // another program reads the terminal, and draws
	s.wrote("<word>")
	s.seen.Reading, s.seen.Held = composer("word"), true
	s.wrote("U")
	s.seen.Reading = composer("")
	s.ended(Refused, api.CodeAgentBusy)
	if s.done.Evidence != held {
		t.Errorf("beside another reader it ended with %+v", s.done)
	}

	s = covered(Options{Stash: true})
	s.seen.Reading = composer("a draft")
	s.wrote("S")
	s.seen.Reading = composer("")
	s.seen.Reading.Stashed = true
	s.wrote("<word>")
	s.seen.Reading = composer("word")
	s.seen.Reading.Stashed = true
	s.wrote("U")

	s = covered(Options{}) // an agent that computes draws what it has read late
	s.wrote("<word>")
	s.seen.Unread, s.seen.Computes = 6, true
	s.run(5 * time.Second)
	s.seen.Unread, s.seen.Reading = 0, composer("word")
	s.wrote("U")

	s = covered(Options{})
	s.seen.Paste = false
	s.ended(Refused, api.CodeAgentBusy)
	if s.written != "" {
		t.Errorf("without a paste it wrote %q", s.written)
	}
}

// TestCoveredAfterTheWord: a dialog comes and goes once the composer has drawn the word. The message gets no Enter.
func TestCoveredAfterTheWord(t *testing.T) {
	for name, typed := range map[string]bool{"before the message": false, "with the message": true} {
		s := newScene(t, Options{Proof: "word"})
		s.seen.Covered = true
		s.wrote("<word>")
		s.seen.Reading = composer("word")
		s.wrote("U")
		s.seen.Reading, s.seen.Covered = composer(""), false
		if typed {
			s.wrote("<hello>")
			s.seen.Reading, s.seen.Covered = composer("hello"), true
			s.wrote("U")
			s.seen.Reading = composer("")
		}
		s.seen.Covered = true
		s.ended(Refused, api.CodeAgentBusy)
		if strings.Contains(s.written, "\r") {
			t.Errorf("%s: it wrote %q", name, s.written)
		}
	}
}

// TestCoveredMeanwhile: a dialog that comes and goes between two looks may be covered, with the message drawn over it. It gets
// neither Enter nor a second one.
func TestCoveredMeanwhile(t *testing.T) {
	for name, entered := range map[string]bool{"before Enter": false, "before a second Enter": true} {
		s := newScene(t, Options{Proof: "word"})
		s.wrote("<hello>")
		if entered {
			s.seen.Reading = composer("hello")
			s.wrote("\r")
		}
		s.seen.Covered, s.seen.Reading = true, composer("hello")
		if entered {
			s.ended(Unconfirmed, api.CodeUnconfirmed)
		} else {
			s.wrote("U")
			s.seen.Reading = composer("")
			s.ended(Refused, api.CodeAgentBusy)
		}
		if want := map[bool]string{false: "<hello>U", true: "<hello>\r"}[entered]; s.written != want {
			t.Errorf("%s: it wrote %q", name, s.written)
		}
	}
}

// TestPasteTurnedOff: once its agent has taken pastes, nothing is typed at a terminal that takes none. Each character would be a key
// of a dialog that comes meanwhile.
func TestPasteTurnedOff(t *testing.T) {
	for name, o := range map[string]Options{"a message": {}, "a word before it": {Proof: "word"}} {
		s := newScene(t, o)
		s.seen.Covered = o.Proof != ""
		s.seen.Paste, s.seen.Unpasted = false, true
		s.ended(Refused, api.CodeAgentBusy)
		if s.written != "" {
			t.Errorf("%s: it wrote %q", name, s.written)
		}
	}
}

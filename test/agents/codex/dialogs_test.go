//go:build agents

package codex

import (
	"berth/test/agents/testbed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// questions lets the model ask in any mode.
func questions() Seed {
	s := Ready()
	s.Features = "default_mode_request_user_input = true\n"
	return s
}

// TestQuestion answers one question and two in each way they offer.
func TestQuestion(t *testing.T) {
	l := newLab(t, questions())
	l.Is("idle")
	for i, c := range []struct {
		scenario, outcome string
		words             []string
		told              []string // texts that the model gets
	}{
		{"ask", "answered", []string{"option", "2"}, []string{"Green"}},
		{"ask", "answered", []string{"answer", "1=3"}, []string{"Blue"}},
		{"ask", "answered", []string{"text", "a warm colour, please"}, []string{"a warm colour, please"}},
		{"ask-two", "answered", []string{"answer", "1=1", "2=2"}, []string{"Red", "Large"}},
		{"ask", "denied", []string{"deny"}, nil},
	} {
		t.Run(fmt.Sprint(i, " ", strings.Join(c.words, " ")), func(t *testing.T) {
			l.T = t
			message := fmt.Sprintf("MOCK: %s %d", c.scenario, i)
			s := l.asks(message)
			if s.Prompt.Type != "question" || s.Prompt.Channel != "keys" {
				t.Errorf("it asks %+v", s.Prompt)
			}
			l.Respond("keys", c.outcome, append([]string{"--prompt", s.Prompt.ID}, c.words...)...)
			if c.told != nil {
				r := l.Asked(message, 1)
				for _, told := range c.told {
					if !strings.Contains(string(r.Body), told) {
						t.Errorf("the model doesn't get %q", told)
					}
				}
			}
			l.Is("idle")
		})
	}
}

// planMode has Codex plan. While it starts it takes that, and forgets it again:
// after a turn it does not.
func (l *lab) planMode() {
	l.T.Helper()
	l.Confirmed("MOCK: text hello", "MOCK: text hello")
	if n := l.Nudge("/plan", "--command"); n.Status != 0 {
		l.T.Fatalf("%+v %+v", n, n.Error)
	}
	l.See(`Plan mode \(shift`)
}

// TestPlan answers a plan in each way.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name, outcome string
		words         []string
		after         string // what Codex sends then, empty for nothing
	}{
		{"accept", "accepted", []string{"accept"}, "Implement the plan."},
		{"option 2", "answered", []string{"option", "2"}, ""},
		{"deny", "denied", []string{"deny"}, ""},
		{"option 3", "denied", []string{"option", "3"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t, Ready())
			l.Is("idle")
			l.planMode()
			s := l.asks("MOCK: plan")
			if s.Prompt.Type != "plan" || !strings.Contains(s.Prompt.Text, "add a greeting") || len(s.Prompt.Options) != 3 {
				t.Errorf("it asks %+v", s.Prompt)
			}
			l.Respond("keys", c.outcome, append([]string{"--prompt", s.Prompt.ID}, c.words...)...)
			if c.after != "" {
				l.Asked(c.after, 0)
			}
			l.Is("idle")
			if c.name == "deny" {
				l.See(`Plan mode \(shift`)
			}
		})
	}
}

// TestEdits: a patch to a file outside of the workspace is asked about.
func TestEdits(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	dir, err := os.MkdirTemp("/var/tmp", "berth-edit-") // a temporary folder may be written to without asking
	check(t, err)
	defer os.RemoveAll(dir)
	for i, c := range []struct {
		channel, outcome string
		words            []string
		made             bool
	}{
		{"hook", "accepted", []string{"accept"}, true},
		{"hook", "denied", []string{"deny"}, false},
		{"keys", "accepted", []string{"option", "1"}, true},
		{"keys", "denied", []string{"option", "3"}, false},
		{"keys", "accepted", []string{"option", "2"}, true},
	} {
		file := filepath.Join(dir, fmt.Sprintf("made-%d.txt", i))
		s := l.asks("MOCK: edit " + file)
		if s.Prompt.Tool != "apply_patch" {
			t.Errorf("it asks %+v", s.Prompt)
		}
		if c.channel == "keys" {
			s = l.asDrawn(s, c.words...)
		}
		words := append([]string{"--prompt", s.Prompt.ID}, c.words...)
		if c.channel == "keys" && c.made { // the dialog shows the files, and not what is written
			if r, status := l.Try("", words...); status == 0 || r.Delivered || r.Error == nil || !strings.Contains(r.Error.Message, "add --unseen") {
				t.Errorf("%v: status %d, %+v; error %+v", words, status, r, r.Error)
			}
			words = append([]string{"--unseen"}, words...)
		}
		l.Respond(c.channel, c.outcome, words...)
		l.Is("idle")
		if _, err := os.Stat(file); (err == nil) != c.made {
			t.Errorf("%v: made is %v", c.words, err == nil)
		}
	}
}

// asDrawn gives an answer that only the dialog takes. The dialog shows the files and not the reported edits, so it
// is a prompt of its own, and the first answer answers nothing.
func (l *lab) asDrawn(s testbed.Said, words ...string) testbed.Said {
	l.T.Helper()
	r, status := l.Try("", append([]string{"--prompt", s.Prompt.ID}, words...)...)
	if status != 6 || r.Delivered || r.Outcome != "" || r.Error == nil || !strings.Contains(r.Error.Message, "was not answered: prompt "+name+" shows") {
		l.T.Fatalf("respond %q: status %d, %+v; error %+v", words, status, r, r.Error)
	}
	now := l.Is("prompt")
	if now.Prompt == nil || now.Prompt.ID == s.Prompt.ID || !now.Prompt.OnScreen || !now.Prompt.Ready {
		l.T.Fatalf("it asked %+v, and asks %+v", s.Prompt, now.Prompt)
	}
	return now
}

// TestParallel: of several calls at once each is asked about, and an answer is
// for the one whose prompt it names, by hook and at the dialog.
func TestParallel(t *testing.T) {
	for _, way := range []string{"hook", "keys"} {
		t.Run(way, func(t *testing.T) {
			l := newLab(t, Ready())
			l.Is("idle")
			if way == "keys" {
				l.Attach()
			}
			l.Takes("MOCK: parallel 3")
			refuse := "echo these begin with the very same words && touch p2.txt"
			if way == "keys" { // a refusal ends the turn, so that the others would not be asked about
				refuse = ""
			}
			order, last := []string{}, ""
			for range 3 {
				var s testbed.Said
				deadline := time.Now().Add(patient)
				for s = l.Is("prompt"); s.Prompt == nil || s.Prompt.ID == last || s.Prompt.OnScreen != (way == "keys"); s = l.Said() {
					if time.Now().After(deadline) {
						t.Fatalf("no other prompt than %s: %+v", last, s)
					}
				}
				last = s.Prompt.ID
				input := s.Prompt.Input
				if slices.Contains(order, input) {
					t.Fatalf("it asks %q again", input)
				}
				order = append(order, input)
				words := []string{"--takeover", "--prompt", last, "accept"}
				if input == refuse {
					words[3] = "deny"
				}
				if r, status := l.Try("", words...); status != 0 || !r.Confirmed || r.Channel != way {
					t.Fatalf("%v: status %d, %+v %+v", words, status, r, r.Error)
				}
				if r, status := l.Try("", "--takeover", "--prompt", last, "accept"); status != 6 {
					t.Errorf("the same again: status %d, %+v", status, r)
				}
			}
			t.Logf("asked in the order %q", order)
			l.Is("idle")
			for _, n := range []string{"1", "2", "3"} {
				if l.Made("p"+n+".txt") == strings.Contains(refuse, "p"+n) {
					t.Errorf("p%s.txt: made is %v", n, l.Made("p"+n+".txt"))
				}
			}
		})
	}
}

// TestQueries: Codex takes no answer of the terminal for a key.
func TestQueries(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	l.Attach() // so that its hook doesn't keep the dialog away
	l.asks("MOCK: bash mkdir made")
	l.Queries("\x1bP$qm\x1b\\", l.PromptUntil("its dialog", func(p testbed.Shown) bool { return p.Ready && p.OnScreen }).ID, "made")
}

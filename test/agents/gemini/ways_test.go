//go:build agents

package gemini

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"berth/test/agents/modelapi"
)

// cell is a way to answer a dialog and what comes of it: an outcome, or the
// code of the refusal, after which the dialog is as it was.
type cell struct {
	way   string // the words, or JSON for standard input
	want  string
	tells string // what the model gets of it
}

// dialog is a line of the table.
type dialog struct {
	name    string
	kind    string
	message string // with %d for the cell
	file    string // made if and only if it is accepted
	ends    string // the state that it leads to; idle when empty
	args    []string
	cells   []cell
}

const badRequest, noDriver = "BAD_REQUEST", "NO_DRIVER"

// answerable is the table: each dialog of a turn, each way. An option that lets
// run all that is alike for the session comes last.
var answerable = []dialog{
	{name: "shell", kind: "permission", message: "MOCK: shell touch shell%d.txt", file: "shell%d.txt", cells: []cell{
		{"text hello", badRequest, ""}, {"answer 1=1", badRequest, ""}, {"cancel", badRequest, ""}, {"option 9", badRequest, ""}, {"deny use another one", noDriver, ""},
		{"accept", "accepted", ""}, {"deny", "denied", ""}, {"option 1", "accepted", ""}, {"option 3", "denied", ""}, {"option 2", "answered", ""},
	}},
	{name: "write", kind: "permission", message: "MOCK: write write%d.txt", file: "write%d.txt", cells: []cell{
		{"option 3", noDriver, ""}, {"deny not so", noDriver, ""},
		{"accept", "accepted", ""}, {"deny", "denied", ""}, {"option 1", "accepted", ""}, {"option 4", "denied", ""}, {"option 2", "answered", ""},
	}},
	{name: "edit", kind: "permission", message: "MOCK: replace sample.txt %d", cells: []cell{{"deny", "denied", ""}, {"accept", "accepted", "goodbye"}}},
	{name: "plan mode", kind: "permission", message: "MOCK: enter-plan %d", cells: []cell{{"deny", "denied", ""}, {"option 3", "denied", ""}, {"accept", "accepted", ""}}},
	{name: "one question", kind: "question", message: "MOCK: ask %d", cells: []cell{
		{"accept", badRequest, ""}, {"cancel", badRequest, ""}, {"option 9", badRequest, ""}, {"answer 1=1 2=1", badRequest, ""}, {"deny ask later", noDriver, ""},
		{"option 2", "answered", "Green"}, {"answer 1=3", "answered", "Blue"}, {"deny", "denied", ""},
	}},
	{name: "yes or no", kind: "question", message: "MOCK: ask-yesno %d", cells: []cell{{"option 1", "answered", "Yes"}, {"answer 1=2", "answered", "No"}, {"deny", "denied", ""}}},
	{name: "a text", kind: "question", message: "MOCK: ask-text %d", cells: []cell{
		{"option 1", badRequest, ""}, {"text a dark violet, 'quoted'", "answered", "a dark violet, 'quoted'"}, {"answer 1=漢字", "answered", "漢字"}, {"deny", "denied", ""},
	}},
	{name: "three questions", kind: "question", message: "MOCK: ask-three %d", cells: []cell{
		{"option 1", badRequest, ""}, {"answer 1=1 2=1", badRequest, ""}, {"answer 1=1 2=1 3=1", badRequest, ""},
		{"answer 1=2 2=1 3=hey", "answered", "hey"}, {`{"answers":[{"option":3},{"option":2},{"text":"something else"}]}`, "answered", "something else"}, {"deny", "denied", ""},
	}},
	{name: "plan", kind: "plan", message: "MOCK: plan %d", args: []string{"--approval-mode", "plan"}, cells: []cell{
		{"option 3", noDriver, ""}, {"deny use python", noDriver, ""}, {"text use python", noDriver, ""}, {"cancel", badRequest, ""},
		{"deny", "denied", ""}, {"accept", "accepted", ""},
	}},
	{name: "plan, edits accepted", kind: "plan", message: "MOCK: plan %d", args: []string{"--approval-mode", "plan"}, cells: []cell{{"option 1", "answered", ""}}},
	{name: "limit", kind: "notice", message: "MOCK: quota 1 %d", ends: "error", cells: []cell{{"deny", "denied", ""}, {"option 2", "denied", ""}}},
	{name: "limit, going on", kind: "notice", message: "MOCK: quota 1 %d", cells: []cell{{"accept", "accepted", ""}}},
}

// TestWays goes through the table.
func TestWays(t *testing.T) {
	for _, d := range answerable {
		t.Run(d.name, d.test)
	}
}

func (d *dialog) test(t *testing.T) {
	l := newLab(t, Ready(), d.args...)
	l.is("idle")
	open, message, file := false, "", ""
	for i, c := range d.cells {
		if !open {
			l.see(empty) // what was answered is off the screen
			message, file = fmt.Sprintf(d.message, i), ""
			if d.file != "" {
				file = fmt.Sprintf(d.file, i)
			}
			l.asks(message, d.kind)
		}
		what := fmt.Sprintf("%s: %s", message, c.way)
		if open = c.want == badRequest || c.want == noDriver; open {
			l.refused(c.want, c.way)
			continue
		}
		l.respond(c.want, c.way)
		if d.ends != "" {
			l.is(d.ends)
		} else {
			l.is("idle")
		}
		if c.tells != "" {
			l.modelGot(message, c.tells)
		}
		if file != "" && l.made(file) != (c.want != "denied") {
			t.Fatalf("%s: made is %v", what, l.made(file))
		}
	}
}

// modelGot waits for the model to get a text in the turn that a message began.
func (l *lab) modelGot(message, text string) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.ctx, patient)
	defer cancel()
	_, err := l.api.Wait(ctx, func(r modelapi.Request) bool {
		return r.Kind == modelapi.KindTurn && r.Prompt == message && bytes.Contains(r.Body, []byte(text))
	})
	if err != nil {
		l.t.Fatalf("%s: the model did not get %q: %v", message, text, err)
	}
}

// TestTwoInARow: one answer never answers two dialogs.
func TestTwoInARow(t *testing.T) {
	l := newLab(t, Ready())
	l.is("idle")
	for _, way := range []struct{ message, first, second string }{
		{"MOCK: shell2", "first.txt", "second"}, {"MOCK: parallel", "p1.txt", "p2"},
	} {
		one := l.asks(way.message, "permission")
		l.respond("accepted", "accept", "--prompt", one.ID)
		two := l.promptUntil("the second", func(p shown) bool { return p.ID != one.ID && p.Ready && p.OnScreen })
		if !l.made(way.first) && way.message == "MOCK: shell2" || l.made(way.second) {
			t.Fatalf("%s: first %v, second %v after one answer", way.message, l.made(way.first), l.made(way.second))
		}
		l.refused("STALE_PROMPT", "accept", "--prompt", one.ID)
		l.respond("denied", "deny", "--prompt", two.ID)
		l.is("idle")
		if l.made(way.second) || !l.made(way.first) {
			t.Fatalf("%s: first %v, second %v at the end", way.message, l.made(way.first), l.made(way.second))
		}
	}
}

// TestLoop answers the question about a loop. Gemini goes on by itself beside it,
// finds the loop again, and asks again: in place of the first question or behind
// it, once or twice. An answer is that of one question or of none.
func TestLoop(t *testing.T) {
	l := newLab(t, Ready())
	l.is("idle")
	l.asks("MOCK: loop", "notice")
	answered := 0
	for range 10 {
		p := l.promptOrIdle()
		if p == nil {
			break
		}
		r, status := l.try("option 1", "--prompt", p.ID)
		switch {
		case status == 0 && r.Confirmed && r.Outcome == "answered":
			answered++
			l.refused("STALE_PROMPT", "option 1", "--prompt", p.ID)
		case status == 6 && !r.Confirmed: // Gemini asks anew
		case status == 9 && r.Delivered && !r.Confirmed: // it asked the same again before this was taken away
		default:
			t.Fatalf("status %d, %+v %+v", status, r, r.Error)
		}
	}
	if l.is("idle"); answered == 0 {
		t.Error("no answer was confirmed")
	}
	l.confirmed("MOCK: text and on", "MOCK: text and on")
}

// promptOrIdle waits for a prompt on the screen, or for a rest that lasts: nil.
func (l *lab) promptOrIdle() *shown {
	l.t.Helper()
	for rested, deadline := 0, time.Now().Add(2*patient); time.Now().Before(deadline); {
		var p shown
		if status := l.verb(&p, nil, "prompt", l.Name); status == 0 && p.Ready && p.OnScreen {
			return &p
		}
		if rested++; l.state().State != "idle" {
			rested = 0
		}
		if rested > 1 {
			return nil
		}
		var told struct{}
		l.verb(&told, nil, "wait", l.Name, "--until", "prompt", "--timeout", "2s")
	}
	l.t.Fatal("it neither asks nor rests")
	return nil
}

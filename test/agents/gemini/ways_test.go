//go:build agents

package gemini

import (
	"berth/test/agents/testbed"
	"fmt"
	"strings"
	"testing"
	"time"
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

// long is a text that Gemini shows a mark of.
var long = strings.TrimSpace(strings.Repeat("a long text ", 60))

// answer is what the model gets of answers.
func answer(texts ...string) string {
	var each []string
	for i, text := range texts {
		each = append(each, fmt.Sprintf(`\"%d\":\"%s\"`, i, text))
	}
	return `{\"answers\":{` + strings.Join(each, ",") + "}}"
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
		{"option 4", badRequest, ""}, {"answer 1=1,2", badRequest, ""},
		{"option 2", "answered", answer("Green")}, {"answer 1=3", "answered", answer("Blue")}, {"deny", "denied", ""},
		{"text a pale, 'quoted' yellow", "answered", answer("a pale, 'quoted' yellow")}, {"answer 1=no color at all", "answered", answer("no color at all")},
		{`{"answers":[{"text":"2"}]}`, "answered", answer("2")}, {"text first line\n1. second line", "answered", answer(`first line\\n1. second line`)},
		{"text " + long, "answered", answer(long)},
	}},
	{name: "four options", kind: "question", message: "MOCK: ask-four %d", cells: []cell{
		{"option 5", badRequest, ""}, {"option 4", "answered", answer("West")}, {"answer 1=1", "answered", answer("North")}, {"text nowhere", "answered", answer("nowhere")},
	}},
	{name: "yes or no", kind: "question", message: "MOCK: ask-yesno %d", cells: []cell{
		{"option 3", badRequest, ""},
		{"option 1", "answered", answer("Yes")}, {"answer 1=2", "answered", answer("No")}, {"text perhaps 漢字", "answered", answer("perhaps 漢字")}, {"deny", "denied", ""},
	}},
	{name: "several options", kind: "question", message: "MOCK: ask-many %d", cells: []cell{
		{"option 4", badRequest, ""}, {"answer 1=1,4", badRequest, ""}, {"accept", badRequest, ""},
		{"answer 1=1,3", "answered", answer("Logging, Tracing")}, {"option 2", "answered", answer("Metrics")}, {`{"answers":[{"options":[3,2]}]}`, "answered", answer("Metrics, Tracing")},
		{"answer 1=1,2,3", "answered", answer("Logging, Metrics, Tracing")}, {"text neither", "answered", answer("neither")},
		{`{"answers":[{"options":[2],"text":"and more"}]}`, "answered", answer("Metrics, and more")}, {"deny", "denied", ""},
	}},
	{name: "several of four", kind: "question", message: "MOCK: ask-ticks %d", cells: []cell{
		{"option 5", badRequest, ""}, {"option 4", "answered", answer("Wood")}, {"answer 1=1,4", "answered", answer("Sea, Wood")}, {"answer 1=2,3", "answered", answer("Hills, Town")},
		{`{"answers":[{"options":[4],"text":"home"}]}`, "answered", answer("Wood, home")},
	}},
	{name: "a text", kind: "question", message: "MOCK: ask-text %d", cells: []cell{
		{"option 1", badRequest, ""}, {"text a dark violet, 'quoted'", "answered", "a dark violet, 'quoted'"}, {"answer 1=漢字", "answered", "漢字"}, {"deny", "denied", ""},
	}},
	{name: "three questions", kind: "question", message: "MOCK: ask-three %d", cells: []cell{
		{"option 1", badRequest, ""}, {"answer 1=1 2=1", badRequest, ""}, {"answer 1=1 2=1 3=1", badRequest, ""},
		{"answer 1=2 2=1 3=hey", "answered", answer("Green", "Yes", "hey")}, {`{"answers":[{"option":3},{"option":2},{"text":"something else"}]}`, "answered", answer("Blue", "No", "something else")},
		{"answer 1=some words 2=1 3=you", "answered", answer("some words", "Yes", "you")}, {"answer 1=1 2=not yet 3=there", "answered", answer("Red", "not yet", "there")}, {"deny", "denied", ""},
	}},
	{name: "two questions", kind: "question", message: "MOCK: ask-mixed %d", cells: []cell{
		{"answer 1=1,3 2=2", "answered", answer("Logging, Tracing", "Green")}, {"answer 1=2 2=a pale yellow", "answered", answer("Metrics", "a pale yellow")},
		{`{"answers":[{"options":[1],"text":"and more"},{"option":1}]}`, "answered", answer("Logging, and more", "Red")}, {"answer 1=nothing 2=3", "answered", answer("nothing", "Blue")},
	}},
	{name: "plan", kind: "plan", message: "MOCK: plan %d", args: []string{"--approval-mode", "plan"}, cells: []cell{
		{"option 3", badRequest, ""}, {"cancel", badRequest, ""},
		{"deny", "denied", ""}, {"deny use python, and 'quotes'", "denied", "use python, and 'quotes'"}, {"text 1", "denied", `User feedback: 1\n`}, {"deny " + long, "denied", long},
		{"accept", "accepted", ""},
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
	l.Is("idle")
	open, message, file := false, "", ""
	for i, c := range d.cells {
		if !open {
			l.See(empty) // the answered dialog has left the screen
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
			l.Is(d.ends)
		} else {
			l.Is("idle")
		}
		if c.tells != "" {
			l.ModelGot(message, c.tells)
		}
		if file != "" && l.Made(file) != (c.want != "denied") {
			t.Fatalf("%s: made is %v", what, l.Made(file))
		}
	}
}

// TestLoop answers the question about a loop. Gemini goes on by itself meanwhile, finds the loop again, and asks
// again: in place of the first question or after it, once or twice. An answer is that of one question or of none.
func TestLoop(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
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
	if l.Is("idle"); answered == 0 {
		t.Error("no answer was confirmed")
	}
	l.Confirmed("MOCK: text and on", "MOCK: text and on")
}

// promptOrIdle waits for a prompt on the screen, or for a rest that lasts: nil.
func (l *lab) promptOrIdle() *testbed.Shown {
	l.T.Helper()
	for rested, deadline := 0, time.Now().Add(2*patient); time.Now().Before(deadline); {
		var p testbed.Shown
		if status := l.Verb(&p, "", "prompt", l.Name); status == 0 && p.Ready && p.OnScreen {
			return &p
		}
		if rested++; l.Said().State != "idle" {
			rested = 0
		}
		if rested > 1 {
			return nil
		}
		var told struct{}
		l.Verb(&told, "", "wait", l.Name, "--until", "prompt", "--timeout", "2s")
	}
	l.T.Fatal("it neither asks nor rests")
	return nil
}

// TestBegun: an answer takes over what a person has ticked, and is refused where
// words of theirs would go with it.
func TestBegun(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	begin := func(message string, keys ...string) testbed.Shown {
		l.See(empty)
		p := l.asks(message, "question")
		l.listens()
		for _, key := range keys {
			l.key(key)
		}
		return p
	}
	if p := begin("MOCK: ask-ticks begun", "1"); strings.Join(p.Options, " ") != "Sea Hills Town Wood" {
		t.Errorf("it offers %q", p.Options)
	}
	l.See(`1\. \[x\] Sea`)
	l.respond("answered", "answer 1=1,3")
	l.Is("idle")
	l.ModelGot("MOCK: ask-ticks begun", answer("Sea, Town"))
	begin("MOCK: ask-many begun", "2")
	l.See(`2\. \[x\] Metrics`)
	l.respond("answered", "option 1")
	l.Is("idle")
	l.ModelGot("MOCK: ask-many begun", answer("Logging"))
	begin("MOCK: ask-many words", "5", "m")
	l.See(`● 5\. \[x\] m`)
	l.refused(noDriver, "answer 1=1,3")
	l.refused(noDriver, "text not mine")
	l.key("Up") // to where digits choose
	l.See("^│ Enter to select")
	l.key("1")
	l.See(`● 1\. \[x\] Logging`)
	l.refused("NOT_READY", "answer 1=1,3")
	if !strings.Contains(l.See(`5\. \[.\] m`), "Enter to submit") { // on a busy machine Gemini CLI doesn't notice that the line is focused
		l.key("Up")
		l.See(`● 4\.`)
		l.key("Down")
		l.See("^│ Enter to submit")
	}
	l.respond("denied", "deny")
	l.Is("idle")
}

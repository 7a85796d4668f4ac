//go:build agents

package qwen

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/agents/testbed"
)

// asks sends a message and waits for the dialog that it leads to.
func (l *lab) asks(message, kind string) testbed.Shown {
	l.T.Helper()
	// On a busy machine the verdict may come late: the prompt is what counts here.
	if n := l.Nudge(message, "--takeover"); n.Status != 0 && (n.Error == nil || n.Error.Code != "UNCONFIRMED") {
		l.T.Fatalf("%s: %+v %+v", message, n, n.Error)
	}
	return l.PromptUntil("a "+kind+" on the screen", func(p testbed.Shown) bool { return p.Type == kind && p.Ready && p.OnScreen })
}

// way is an answer at a dialog, its outcome, and what the model gets then.
type way struct{ answer, outcome, got string }

// answers gives each answer to a dialog of its own. It waits until the agent rests, and checks what the model got.
func (l *lab) answers(kind string, message func(n int) string, ways []way) {
	l.T.Helper()
	for i, w := range ways {
		m := message(i)
		p := l.asks(m, kind)
		r, status := l.Answer(append([]string{"--takeover", "--prompt", p.ID}, strings.Fields(w.answer)...)...)
		if status != 0 || !r.Confirmed || r.Outcome != w.outcome || r.Channel != "keys" {
			l.T.Fatalf("%s: status %d, %+v %+v", w.answer, status, r, r.Error)
		}
		if w.got != "" {
			l.ModelGot(m, w.got)
		}
		l.Is("idle")
		l.See(empty)
	}
}

// TestQuestions: each way to answer a question, at its dialog. Its hook only reports.
func TestQuestions(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	of := func(scenario string) func(int) string {
		return func(n int) string { return fmt.Sprintf("MOCK: %s\nnumber %d", scenario, n) }
	}
	l.answers("question", of("ask"), []way{
		{"option 2", "answered", "Green"},
		{"text Violet", "answered", "Violet"},
		{"answer 1=Blue", "answered", "Blue"},
		{"deny", "denied", ""},
	})
	l.answers("question", of("ask-many"), []way{
		{"answer 1=1,3", "answered", "Logging, Tracing"},
		{"answer 1=2", "answered", "Metrics"},
		{"text Nothing", "answered", "Nothing"},
		{"deny", "denied", ""},
	})
	l.answers("question", of("ask-two"), []way{
		{"answer 1=2 2=1", "answered", "Small"},
		{"deny", "denied", ""},
	})
	l.answers("question", of("ask-mixed"), []way{{"answer 1=1,2 2=3", "answered", "Blue"}})
}

// TestCommands: each way to answer the dialog of a command, which comes while a client is attached. The options that
// allow all that is alike come last, each with a command of its own.
func TestCommands(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	l.Attach()
	ways := []way{
		{"accept", "accepted", ""}, {"deny", "denied", ""}, {"option 1", "accepted", ""}, {"option 4", "denied", ""},
		{"option 2", "answered", ""}, {"option 3", "answered", ""},
	}
	file := func(n int) string { return fmt.Sprintf("made-%d", n) }
	l.answers("permission", func(n int) string {
		return "MOCK: shell " + []string{"touch ", "mkdir "}[n/5] + file(n)
	}, ways)
	for n, w := range ways {
		if made := l.Made(file(n)); made != (w.outcome != "denied") {
			t.Errorf("%s: made is %v", w.answer, made)
		}
	}
	p := l.asks("MOCK: shell cp made-0 copied", "permission")
	l.Refuses("NO_DRIVER", "--takeover", "--prompt", p.ID, "deny", "use make")
	l.Refuses("BAD_REQUEST", "--takeover", "--prompt", p.ID, "option", "5")
	l.Respond("keys", "denied", "--takeover", "--prompt", p.ID, "deny")
	l.Is("idle")
	for _, more := range []string{"touch always", "mkdir ever"} {
		l.Confirmed("MOCK: shell "+more, "MOCK: shell "+more) // it runs unasked
		l.Is("idle")
		if _, file, _ := strings.Cut(more, " "); !l.Made(file) || l.Made("copied") {
			t.Errorf("%s: made is %v", more, l.Made(file))
		}
	}
}

// TestFiles: each way to answer the dialog of a written file, which comes while a client is attached.
func TestFiles(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	l.Attach()
	file := func(n int) string { return fmt.Sprintf("MOCK: write %s/file-%d.txt", l.Workspace, n) }
	l.answers("permission", file, []way{
		{"--unseen accept", "accepted", "Successfully"},
		{"deny", "denied", ""},
		{"--unseen option 3", "denied", ""},
	})
	for n, want := range []bool{true, false, false} {
		if made := l.Made(fmt.Sprintf("file-%d.txt", n)); made != want {
			t.Errorf("file %d is made: %v", n, made)
		}
	}
	if all, _ := filepath.Glob(filepath.Join(l.Workspace, "file-*")); len(all) != 1 {
		t.Errorf("there is %q", all)
	}
}

// TestPlan: each way to answer a plan.
func TestPlan(t *testing.T) {
	for _, w := range []way{{"accept", "accepted", ""}, {"deny", "denied", ""}, {"option 2", "answered", ""}} {
		t.Run(strings.ReplaceAll(w.answer, " ", "-"), func(t *testing.T) {
			l := newLab(t, Ready(), "--", "--approval-mode", "plan")
			l.Is("idle")
			l.answers("plan", func(int) string { return "MOCK: plan" }, []way{w})
		})
	}
}

// TestQueries: Qwen Code takes no answer of the terminal for a key.
func TestQueries(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	l.Attach() // so that its hook doesn't keep the dialog away
	l.Queries("\x1b]11;?\x1b\\", l.asks("MOCK: shell mkdir made", "permission").ID, "made")
}

// TestStrays: Qwen Code takes no move of a person's mouse for a key, and no release of a key.
func TestStrays(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	person := l.Attach()
	l.Strays(person, l.asks("MOCK: shell mkdir made", "permission").ID, "made")
}

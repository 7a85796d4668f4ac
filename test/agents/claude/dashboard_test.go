//go:build agents

package claude

import (
	"strings"
	"testing"

	"berth/test/agents/host"
)

// desk is a person at the dashboard of a lab with one session.
type desk struct {
	*lab
	*host.Terminal
}

func (l *lab) dashboard(w host.Window) desk {
	l.T.Helper()
	terminal, err := l.Host.Sit(w)
	check(l.T, err)
	l.T.Cleanup(func() {
		if l.T.Failed() {
			l.T.Logf("the dashboard:\n%s", terminal.Screen())
		}
		check(l.T, terminal.Close())
	})
	return desk{l, terminal}
}

func (d desk) shows(pattern string) {
	d.T.Helper()
	check(d.T, d.Terminal.See(d.Ctx, patient, pattern))
}

func (d desk) types(text string) {
	d.T.Helper()
	check(d.T, d.Terminal.Type(text))
}

// says gives the session a message.
func (d desk) says(message string) {
	d.T.Helper()
	d.shows("○ lab ")
	d.types("m")
	d.shows("Message to lab")
	d.types(message + "\r")
}

// answers presses a key at a card.
func (d desk) answers(card, key, then string) {
	d.T.Helper()
	check(d.T, d.Answer(d.Ctx, patient, card, key, then))
}

// TestDashboard answers at the dashboard's card what the real Claude Code asks,
// with each of its keys.
func TestDashboard(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	d := l.dashboard(host.Window{Cols: 100, Rows: 40})

	d.says("MOCK: bash touch one.txt")
	d.shows("Bash permission")
	d.shows("touch one.txt")
	d.answers("1  Yes ", "1", "lab: accepted, confirmed")
	l.Is("idle")
	if !l.Made("one.txt") {
		t.Error("accepted, and it did not run")
	}

	message := "MOCK: bash touch two.txt"
	d.says(message)
	d.answers("d deny…", "d", "Reason")
	d.types("use another one\r")
	d.shows("lab: denied, confirmed")
	if r := l.Asked(message, 1); !strings.Contains(string(r.Body), "use another one") {
		t.Error("the reason did not reach the model")
	}
	l.Is("idle")
	if l.Made("two.txt") {
		t.Error("denied, and it ran")
	}

	message = "MOCK: ask-three now"
	d.says(message)
	d.answers("Question 1 of 3", "2", "Question 2 of 3")
	d.answers("Question 2 of 3", "1", "Question 3 of 3")
	d.answers("Question 3 of 3", "1", `1 +\[x\]`)
	d.types("3\r")
	d.shows("Your answers")
	d.answers("Your answers", "\r", "lab: answered, confirmed")
	l.Is("idle")
	l.answered(message, "Logging, Tracing")

	message = "MOCK: ask in words"
	d.says(message)
	d.answers("t type a reply", "t", "Your reply")
	d.types("a dark violet\r")
	d.shows("lab: answered, confirmed")
	l.Is("idle")
	l.answered(message, "a dark violet")

	// A turn is interrupted, and the terminal is shared and left again.
	d.says("MOCK: hang")
	d.shows("● lab ")
	d.types("i")
	d.shows("lab was interrupted")
	l.Is("idle")
	d.types("o")
	d.shows("^❯\u00a0")
	d.types("\x1dd")
	d.shows("○ lab ")
	d.types("l")
	d.shows("Session log of lab")
	d.types("qq")
}

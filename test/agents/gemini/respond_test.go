//go:build agents

package gemini

import (
	"strings"
	"testing"

	"berth/test/agents/testbed"
)

// try responds in these words, or in JSON, and gives its status.
func (l *lab) try(way string, flags ...string) (testbed.Response, int) {
	l.T.Helper()
	if strings.HasPrefix(way, "{") {
		return l.Try(way, append(flags, "-")...)
	}
	first, rest, several := strings.Cut(way, " ")
	words := append(flags, first)
	if several {
		words = append(words, rest)
	}
	return l.Try("", words...)
}

// respond demands that the answer is given and taken.
func (l *lab) respond(outcome, way string, flags ...string) {
	l.T.Helper()
	if r, status := l.try(way, flags...); status != 0 || !r.Confirmed || r.Outcome != outcome || r.Channel != "keys" {
		l.T.Fatalf("%s: status %d, %+v, %+v", way, status, r, r.Error)
	}
}

// refused demands that the answer is refused so.
func (l *lab) refused(code, way string, flags ...string) {
	l.T.Helper()
	if r, status := l.try(way, flags...); status == 0 || r.Error == nil || r.Error.Code != code {
		l.T.Fatalf("%s: status %d, %+v, %+v, not %s", way, status, r, r.Error, code)
	}
}

// states are those that the session went through, in order.
func (l *lab) states() string {
	l.T.Helper()
	all := []string{"starting"}
	for _, e := range l.Events("state_change") {
		if e.Next != all[len(all)-1] {
			all = append(all, e.Next)
		}
	}
	return strings.Join(all, " ")
}

// asks gives a message and waits for the prompt that it leads to.
func (l *lab) asks(message, kind string) testbed.Shown {
	l.T.Helper()
	// A machine with many times the work it can do says so late: that is a verdict
	// too, and the prompt is what this is about.
	if n := l.Nudge(message); n.Status != 0 && (n.Error == nil || n.Error.Code != "UNCONFIRMED") {
		l.T.Fatalf("%s: %+v %+v", message, n, n.Error)
	}
	return l.PromptUntil("a "+kind+" on the screen", func(p testbed.Shown) bool { return p.Type == kind && p.Ready && p.OnScreen })
}

// TestQueries: Gemini CLI takes no answer of the terminal for a key.
func TestQueries(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	l.asks("MOCK: shell mkdir made", "permission")
	l.Poll(func() bool { // it reads keys
		l.Call("keys", l.Name, "Down")
		return strings.Contains(l.Text("screen", l.Name), "● 2.")
	}, func() string { return "its dialog reads no key" })
	l.Queries("\x1b[c", l.PromptUntil("its dialog", func(p testbed.Shown) bool { return p.Ready && p.OnScreen }).ID, "made")
}

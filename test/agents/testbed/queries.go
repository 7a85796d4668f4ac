//go:build agents

package testbed

import (
	"fmt"
	"os"

	"berth/test/agents/host"
)

// Queries sends a query to the terminal at a dialog, as any process of the session can. The agent would get the answer
// before the key that refuses what it asks, and take it for a key.
func (l *Lab) Queries(query, prompt, made string) {
	l.T.Helper()
	l.draw(query)
	l.refuses(prompt, made, "an answer of the terminal has allowed what was asked")
}

// Strays has the person's terminal send raw bytes for each move of the mouse, and the release of each key, as any process
// of the session can. The person moves the mouse at a dialog, and lets keys go.
func (l *Lab) Strays(person *host.Viewer, prompt, made string) {
	l.T.Helper()
	var screen struct{ Offset int64 }
	l.Verb(&screen, "", "screen", l.Name)
	const modes = "\x1b[?1003h\x1b[=11u"
	before := screen.Offset
	l.draw(modes)
	l.Poll(func() bool {
		l.Verb(&screen, "", "screen", l.Name)
		return screen.Offset >= before+int64(len(modes))
	}, func() string { return "the terminal has not got the modes" })
	Check(l.T, person.Type("\x1b[M 1!\x1b[MC1!\x1b[49;1:3u\x1b[13;1:3u"))
	l.refuses(prompt, made, "a move of the mouse, or the release of a key, has allowed what was asked")
}

// draw writes to the session's terminal.
func (l *Lab) draw(text string) {
	l.T.Helper()
	tty, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/1", l.Info().PID), os.O_WRONLY, 0)
	Check(l.T, err)
	_, err = tty.WriteString(text)
	Check(l.T, err)
	Check(l.T, tty.Close())
}

// refuses refuses by keys what a prompt asks.
func (l *Lab) refuses(prompt, made, otherwise string) {
	l.T.Helper()
	l.Respond("keys", "denied", "--takeover", "--prompt", prompt, "deny")
	l.Is("idle")
	if l.Made(made) {
		l.T.Error(otherwise)
	}
}

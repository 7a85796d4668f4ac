package testbed

import (
	"fmt"
	"os"
)

// Queries sends a query to the terminal at a dialog, as any process of the session can. The agent would get the answer
// before the key that refuses what it asks, and take it for a key.
func (l *Lab) Queries(query, prompt, made string) {
	l.T.Helper()
	tty, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/1", l.Info().PID), os.O_WRONLY, 0)
	Check(l.T, err)
	_, err = tty.WriteString(query)
	Check(l.T, err)
	Check(l.T, tty.Close())
	l.Respond("keys", "denied", "--prompt", prompt, "deny")
	l.Is("idle")
	if l.Made(made) {
		l.T.Error("an answer of the terminal has allowed what was asked")
	}
}

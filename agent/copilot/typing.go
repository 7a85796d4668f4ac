package copilot

import (
	"strconv"
	"strings"
	"time"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/pattern"
)

// submitAfter is the least time between a text and Enter.
const submitAfter = 200 * time.Millisecond

// shield is a word joiner, which has no width. Before a message's first character it keeps Copilot
// from reading a command, and after each @ from attaching a file: "@." is the folder.
const shield = "\u2060"

// alone are texts that end the program or show its help when they are the whole message.
var alone = map[string]bool{"?": true, "exit": true, "quit": true}

// Message makes a text safe to type.
func (Driver) Message(text string) string {
	text = strings.ReplaceAll(agent.CleanMessage(text), "@", "@"+shield)
	body := compose.Trim(text)
	switch {
	case body == "":
		return ""
	case alone[body], strings.ContainsRune("/!&$#", rune(body[0])):
		text = shield + text
	}
	if strings.ContainsAny(compose.LastWord(text, compose.Blank), "@#") {
		text += " " // otherwise a menu would be open, and Enter would choose from it
	}
	return text
}

// Slash accepts one line that starts with a slash.
func (Driver) Slash(text string) (string, bool) { return compose.Slash(text) }

// Paste makes a bracketed paste. Without that mode a line feed would send the first line.
func (Driver) Paste(typed string, bracketed bool) ([]byte, bool) {
	if bracketed {
		return compose.AppendPaste(nil, typed), true
	}
	return []byte(typed), !strings.ContainsAny(typed, "\t\n")
}

// Pause is submitAfter.
func (Driver) Pause() time.Duration { return submitAfter }

// normal is a message in the form that is compared.
func normal(text string) string { return compose.Normal(compose.Trim(text)) }

// Same compares without blanks at the ends. Copilot joins messages that were sent during a turn; such
// a message equals none of them.
func (Driver) Same(typed, reported string) bool { return normal(typed) == normal(reported) }

// pasted matches the mark that the composer shows for a paste of more than ten lines.
var pasted = pattern.New(`^\[Paste #\d+ - (\d+) lines\]$`)

// Holds accepts the text itself, or the mark of a paste of that many lines.
func (d Driver) Holds(typed string, c *agent.Composer) bool {
	if c == nil || c.Mode != agent.ModeMessage || c.Empty {
		return false
	}
	if m := pasted.FindStringSubmatch(strings.TrimSpace(c.Text)); m != nil {
		lines, err := strconv.Atoi(m[1])
		return err == nil && (strings.Count(typed, "\n")+1 == lines || strings.Count(normal(typed), "\n")+1 == lines)
	}
	return d.Displays(typed, c)
}

// Displays compares the visible characters.
func (Driver) Displays(typed string, c *agent.Composer) bool {
	return compose.Displays(normal(typed), c, compose.Equal)
}

// Clear: Ctrl-U removes the line before the caret, Ctrl-K the line after it, Backspace joins lines.
// None of them does anything to a dialog.
func (Driver) Clear(_ *agent.Composer, stuck int) []byte {
	return compose.Next(stuck, compose.CtrlU, compose.CtrlK, compose.Backspace)
}

// Interrupt is two Esc, each as a sequence of its own, because Copilot turns the keyboard protocol on
// that has one. Of two plain Esc at once it makes another key.
func (Driver) Interrupt() []byte { return []byte("\x1b[27u\x1b[27u") }

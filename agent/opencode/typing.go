package opencode

import (
	"strconv"
	"strings"
	"time"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/pattern"
)

// submitAfter is the least time between a text and Enter. A paste and an Enter right after it were
// both taken in all tries; the pause is for a busy machine.
const submitAfter = 50 * time.Millisecond

// shield is an invisible separator (U+2063). Before a message's first character it keeps opencode from
// reading a command, and before an @ that starts a word from choosing a file or an agent. opencode draws
// a text with a word joiner (U+2060) without its last character, and Backspace stops at it.
const shield = "\u2063"

// alone are texts that end opencode when they are the whole message.
var alone = map[string]bool{"exit": true, "quit": true, ":q": true}

// dropped matches a text that opencode takes for the path of an image or a PDF file that was dropped on
// its terminal: it attaches the file if there is one. mention is the start of a word with an @.
var (
	dropped = pattern.New(`(?is)^["']*file://|\.(avif|gif|jpe?g|pdf|png|svg|webp)["']*$`)
	mention = pattern.New(`(^|[\s\v\x{85}\x{FEFF}\p{Z}])@`)
)

// Message makes a text safe to type.
func (Driver) Message(text string) string {
	text = mention.ReplaceAllString(agent.CleanMessage(text), "${1}"+shield+"@")
	body := compose.Trim(text)
	switch {
	case body == "":
		return ""
	case alone[body], body[0] == '/', body[0] == '!', dropped.MatchString(strings.ReplaceAll(body, `\`, "")):
		text = shield + text
	}
	return text
}

// Slash accepts one line that starts with a slash.
func (Driver) Slash(text string) (string, bool) { return compose.Slash(text) }

// Paste makes a bracketed paste. opencode always turns that mode on.
func (Driver) Paste(typed string, bracketed bool) ([]byte, bool) {
	return compose.AppendPaste(nil, typed), bracketed
}

// Pause is submitAfter.
func (Driver) Pause() time.Duration { return submitAfter }

// Broke: Enter breaks no line. So Berth presses a second Enter only when opencode has read the first one and rested
// since: one that opencode read late, after the turn's first dialog had come, would allow what that asks. Until
// then a message that left the composer may be reported late.
func (Driver) Broke(_, _ *agent.Composer) bool { return false }

// normal is a message in the form that is compared: opencode adds a blank after a long paste.
func normal(text string) string { return compose.Normal(compose.Trim(text)) }

// Same compares without blanks at the ends.
func (Driver) Same(typed, reported string) bool { return normal(typed) == normal(reported) }

// pasted matches the mark that the composer shows for a long paste.
var pasted = pattern.New(`^\[Pasted ~(\d+) lines\]$`)

// Holds accepts the text itself, or the mark of a paste of that many lines.
func (d Driver) Holds(typed string, c *agent.Composer) bool {
	if c == nil || c.Mode != agent.ModeMessage || c.Empty {
		return false
	}
	m := pasted.FindStringSubmatch(strings.TrimSpace(c.Text))
	if m == nil {
		return d.Displays(typed, c)
	}
	lines, err := strconv.Atoi(m[1])
	return err == nil && (strings.Count(typed, "\n")+1 == lines || strings.Count(normal(typed), "\n")+1 == lines)
}

// Displays compares the visible characters.
func (Driver) Displays(typed string, c *agent.Composer) bool {
	return compose.Displays(normal(typed), c, compose.Equal)
}

// Clear: Ctrl-U removes the line before the caret, Ctrl-K the text after it, Backspace joins the line
// above. At a dialog they do nothing. Ctrl-C removes all at once, and ends opencode when the composer
// is already empty.
func (Driver) Clear(_ *agent.Composer, stuck int) []byte {
	return compose.Next(stuck, compose.CtrlU, compose.CtrlK, compose.Backspace)
}

// Interrupt is Esc twice, in the long form: two bytes 0x1b at once are one other key.
func (Driver) Interrupt() []byte { return []byte("\x1b[27u\x1b[27u") }

package gemini

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/forks"
	"berth/agent/pattern"
)

// submitAfter is the least time between a text and Enter. After up to 30 ms the Enter always became
// a line break, after 40 to 50 ms it never did, and a paste takes longer on a busy machine.
const submitAfter = 200 * time.Millisecond

// alone are texts that end the program, or do something else than send a message, when they are the
// whole message.
var alone = map[string]bool{"?": true, "exit": true, "quit": true}

// Message makes a text safe to type.
func (Driver) Message(text string) string {
	text = forks.ShieldFiles(agent.CleanMessage(text))
	body := compose.Trim(text)
	switch {
	case body == "":
		return ""
	case alone[body], body[0] == '/', body[0] == '!', forks.Dropped.MatchString(body):
		text = forks.Shield + text
	}
	if last := compose.LastWord(text, compose.Blank); strings.Contains(last, "@") {
		text += " " // otherwise the menu of files would be open, and Enter would choose from it
	}
	return text
}

// Slash accepts one line that starts with a slash.
func (Driver) Slash(text string) (string, bool) { return compose.Slash(text) }

// Paste makes a bracketed paste. Without that mode a line feed is still a line break, but a tab
// would be a key.
func (Driver) Paste(typed string, bracketed bool) ([]byte, bool) {
	if bracketed {
		return compose.AppendPaste(nil, typed), true
	}
	return []byte(typed), !strings.Contains(typed, "\t")
}

// Pause is submitAfter: an early Enter is a line break.
func (Driver) Pause() time.Duration { return submitAfter }

// normal is a message in the form that is compared.
func normal(text string) string {
	return compose.Normal(compose.Trim(text))
}

// Same compares without blanks at the ends. Several messages that Gemini kept for the end of a turn
// are sent as one; that one equals none of them.
func (Driver) Same(typed, reported string) bool { return normal(typed) == normal(reported) }

// pasted matches the mark that the composer shows for a long paste.
var pasted = pattern.New(`^\[Pasted Text: (\d+) (chars|lines)(?: #\d+)?\]$`)

// Holds accepts the text itself, or the mark of a paste of that size.
func (d Driver) Holds(typed string, c *agent.Composer) bool {
	if c == nil || c.Mode != agent.ModeMessage || c.Empty {
		return false
	}
	m := pasted.FindStringSubmatch(strings.TrimSpace(c.Text))
	if m == nil {
		return d.Displays(typed, c)
	}
	size, err := strconv.Atoi(m[1])
	if err != nil {
		return false
	}
	if m[2] == "lines" {
		return strings.Count(typed, "\n")+1 == size || strings.Count(normal(typed), "\n")+1 == size
	}
	for _, text := range []string{typed, normal(typed)} {
		if size == utf8.RuneCountInString(text) || size == len(utf16.Encode([]rune(text))) || size == len(text) {
			return true
		}
	}
	return false
}

// Displays compares the visible characters.
func (Driver) Displays(typed string, c *agent.Composer) bool {
	return compose.Displays(normal(typed), c, compose.Equal)
}

// Broke: an Enter that Gemini reads too soon after the text is a line break. Of two that it reads
// at once, each sends the message.
func (Driver) Broke(before, now *agent.Composer) bool {
	return before != nil && now != nil && now.Blank > before.Blank
}

// Clear: Ctrl-U removes the line before the caret, Ctrl-K the text after it and joins the next
// line, Backspace joins the line above. None of them does anything to a dialog. Esc and Ctrl-C
// would deny one, and Ctrl-C twice ends Gemini.
func (Driver) Clear(_ *agent.Composer, stuck int) []byte {
	return compose.Next(stuck, compose.CtrlU, compose.CtrlK, compose.Backspace)
}

// Interrupt is a single Esc.
func (Driver) Interrupt() []byte { return []byte{0x1b} }

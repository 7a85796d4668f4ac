package compose

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"berth/agent"
	"berth/agent/pattern"
)

// Typing has the methods of agent.MessageTyper that are the same for several agents. A driver embeds it,
// and overrides those that differ. Its zero value is ready.
type Typing struct{}

// Slash accepts one line that starts with a slash.
func (Typing) Slash(text string) (string, bool) { return Slash(text) }

// Paste makes a bracketed paste. Without that mode a line feed would send the first line, and a tab would be a key.
func (Typing) Paste(typed string, bracketed bool) ([]byte, bool) {
	if bracketed {
		return AppendPaste(nil, typed), true
	}
	return []byte(typed), !strings.ContainsAny(typed, "\t\n")
}

// submitAfter is the least time between a text and Enter. Gemini CLI reads an Enter up to 30 ms after the text as a
// line break, after 40 to 50 ms never. Of four Enters Qwen Code took those at 0 and 100 ms, and lost those at 30 and
// 300 ms. A paste takes longer on a busy machine.
const submitAfter = 200 * time.Millisecond

// Pause is submitAfter.
func (Typing) Pause() time.Duration { return submitAfter }

// Same compares without blanks at the ends. Several messages that the agent joins to one equal none of them.
func (Typing) Same(typed, reported string) bool { return Trimmed(typed) == Trimmed(reported) }

// Displays compares the visible characters.
func (Typing) Displays(typed string, c *agent.Composer) bool {
	return Displays(Trimmed(typed), c, Equal)
}

// Clear: Ctrl-U removes the line before the caret, Ctrl-K the text after it and joins the next line,
// Backspace joins the line above. None of them does anything to a dialog. Esc and Ctrl-C would deny one, and
// Ctrl-C twice ends the agent.
func (Typing) Clear(_ *agent.Composer, stuck int) []byte {
	return Next(stuck, CtrlU, CtrlK, Backspace)
}

// Trimmed is a message in the form that is compared.
func Trimmed(text string) string { return Normal(Trim(text)) }

// Holds accepts the text itself, or the mark that the composer shows for a long paste: mark matches it, with the
// paste's size as the first group and its unit as the second one. is reports whether the text has that size.
func Holds(typed string, c *agent.Composer, mark *pattern.Pattern, is func(text, unit string, size int) bool) bool {
	if c == nil || c.Mode != agent.ModeMessage || c.Empty {
		return false
	}
	m := mark.FindStringSubmatch(strings.Join(strings.Fields(c.Text), " "))
	if m == nil {
		return Typing{}.Displays(typed, c)
	}
	size, err := strconv.Atoi(m[1])
	return err == nil && is(typed, m[2], size)
}

// HasSize reports whether the text has that many lines, or characters with any other unit. Lines at its ends may count.
func HasSize(text, unit string, size int) bool {
	if unit == "lines" {
		return strings.Count(text, "\n")+1 == size || strings.Count(Trimmed(text), "\n")+1 == size
	}
	return utf8.RuneCountInString(text) == size
}

// Broke reports whether an Enter broke a line instead of sending the message. Another Enter is pressed only when the
// first one was read: of two that the agent reads at once, each would send the message.
func Broke(before, now *agent.Composer) bool {
	return before != nil && now != nil && now.Blank > before.Blank
}

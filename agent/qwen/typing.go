package qwen

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/forks"
	"berth/agent/pattern"
)

// submitAfter is the least time between a text and Enter. Of four pastes Enter sent the message at 0 and
// 100 ms, and did nothing at 30 and 300 ms: a lost Enter is pressed again.
const submitAfter = 200 * time.Millisecond

// alone are texts that end the program, or do something else than send a message, when they are the
// whole message.
var alone = map[string]bool{"?": true, "exit": true, "quit": true, ":q": true, ":q!": true, ":wq": true, ":wq!": true}

// images matches the end of a line that may be the path of an image, which Qwen Code attaches.
var images = pattern.New(`(?im)\.(png|jpe?g|gif|webp|bmp|tiff?|svg|heic|avif)["']?\s*$`)

// Message makes a text safe to type.
func (Driver) Message(text string) string {
	text = forks.ShieldFiles(agent.CleanMessage(text))
	body := compose.Trim(text)
	switch {
	case body == "":
		return ""
	case alone[body], strings.ContainsRune("/!", rune(body[0])), forks.Dropped.MatchString(body), images.MatchString(body):
		text = forks.Shield + text
	}
	// After the last word with an @, or that begins with a slash, a menu would be open, and Enter would
	// choose from it. After a backslash Enter is a line break.
	last := strings.TrimPrefix(compose.LastWord(text, compose.Blank), forks.Shield)
	if strings.Contains(last, "@") || strings.HasPrefix(last, "/") || strings.HasSuffix(text, `\`) {
		text += " "
	}
	return text
}

// Slash accepts one line that starts with a slash.
func (Driver) Slash(text string) (string, bool) { return compose.Slash(text) }

// Paste makes a bracketed paste. Without that mode a tab would be a key.
func (Driver) Paste(typed string, bracketed bool) ([]byte, bool) {
	if bracketed {
		return compose.AppendPaste(nil, typed), true
	}
	return []byte(typed), !strings.ContainsAny(typed, "\n\t")
}

// Pause is submitAfter.
func (Driver) Pause() time.Duration { return submitAfter }

// normal is a message in the form that is compared.
func normal(text string) string { return compose.Normal(compose.Trim(text)) }

// Same compares without blanks at the ends. A message that is joined to the one of a failed turn equals
// none of the two.
func (Driver) Same(typed, reported string) bool { return normal(typed) == normal(reported) }

// pasted matches the mark that the composer shows for a long paste.
var pasted = pattern.New(`^\[Pasted Content (\d+) chars\](?: #\d+)?$`)

// Holds accepts the text itself, or the mark of a paste of that size.
func (d Driver) Holds(typed string, c *agent.Composer) bool {
	if c == nil || c.Mode != agent.ModeMessage || c.Empty {
		return false
	}
	m := pasted.FindStringSubmatch(strings.Join(strings.Fields(c.Text), " "))
	return m == nil && d.Displays(typed, c) || m != nil && m[1] == strconv.Itoa(utf8.RuneCountInString(typed))
}

// Displays compares the visible characters.
func (Driver) Displays(typed string, c *agent.Composer) bool {
	return compose.Displays(normal(typed), c, compose.Equal)
}

// Broke: an Enter can break a line instead of sending the message. Without that, another Enter is pressed only
// when the first one was read: of two that Qwen Code reads at once, each would send the message.
func (Driver) Broke(before, now *agent.Composer) bool {
	return before != nil && now != nil && now.Blank > before.Blank
}

// Clear: Ctrl-U removes the line before the caret, Ctrl-K the text after it and joins the next
// line, Backspace joins the line above. None of them does anything to a dialog. Esc and Ctrl-C
// would deny one, and Ctrl-C twice ends Qwen Code.
func (Driver) Clear(c *agent.Composer, stuck int) []byte {
	if c != nil && pasted.MatchString(strings.TrimSpace(c.Text)) {
		return compose.Next(stuck, compose.Backspace, compose.CtrlU)
	}
	return compose.Next(stuck, compose.CtrlU, compose.Backspace, compose.CtrlK)
}

// Interrupt is a single Esc. Qwen Code then gives the message back as a draft.
func (Driver) Interrupt() []byte { return []byte{0x1b} }

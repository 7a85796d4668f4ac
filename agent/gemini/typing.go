package gemini

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/pattern"
)

// submitAfter is what must lie between a text and Enter. After up to 30 ms the
// Enter became a line break every time it was tried, after 40 to 50 ms it
// never did, and a paste takes longer on a busy machine.
const submitAfter = 200 * time.Millisecond

// shield is a word joiner, which has no width. In front of a message's first
// character it keeps Gemini from looking for a command there, and behind an @
// from finding a file of that name. Gemini takes most other
// characters without a width out of what is typed, also the zero-width space.
const shield = "\u2060"

// alone are words that end the program, or do something else than to be sent,
// when the message is nothing else.
var alone = map[string]bool{"?": true, "exit": true, "quit": true}

// Message makes a text safe to type.
func (Driver) Message(text string) string {
	text = shieldFiles(agent.CleanMessage(text))
	body := compose.Trim(text)
	switch {
	case body == "":
		return ""
	case alone[body], body[0] == '/', body[0] == '!', dropped.MatchString(body):
		text = shield + text
	}
	if last := compose.LastWord(text, compose.Blank); strings.Contains(last, "@") {
		text += " " // the menu of files would be open, and Enter would choose from it
	}
	return text
}

// Slash is a text that begins with a slash, on one line.
func (Driver) Slash(text string) (string, bool) { return compose.Slash(text) }

// dropped begins a text that Gemini may take for files that were dropped on its
// terminal: when a paste is the path of a file, or of several with quotes or
// without, it puts an @ before each. What is there, only Gemini knows.
var dropped = pattern.New(`^(["'\\ ]*([/~.]|[a-zA-Z]:)|\\\\)`)

// shieldFiles keeps what stands behind an @ from being read as a file's name, an
// agent's, or a resource's. Gemini looks for one inside of words, too, as in an
// address, and takes any file below the folder whose name has that in it: what it
// would find nobody can know before.
func shieldFiles(text string) string {
	var b strings.Builder
	before := ' '
	for i, r := range text {
		b.WriteRune(r)
		if r == '@' && before != '\\' && named.MatchString(text[i+1:]) {
			b.WriteString(shield)
		}
		before = r
	}
	return b.String()
}

// named begins what Gemini reads as a name behind an @: anything but blanks and
// these marks, and a full stop only within it.
var named = pattern.New(`^([^ \t\n\r,;!?()\[\]{}.]|\.[^ \t\n\r])`)

// Paste is a bracketed paste. Without that mode a line feed is a line break
// still, but a tab would be a key.
func (Driver) Paste(typed string, bracketed bool) ([]byte, bool) {
	if bracketed {
		return compose.AppendPaste(nil, typed), true
	}
	return []byte(typed), !strings.Contains(typed, "\t")
}

// Pause is long: an Enter that comes early is a line break.
func (Driver) Pause() time.Duration { return submitAfter }

// normal is a message as it is compared.
func normal(text string) string {
	return compose.Normal(compose.Trim(text))
}

// Same compares without blanks at the ends. Several messages that Gemini kept
// for the end of a turn are sent as one: that is not the same as any of them.
func (Driver) Same(typed, told string) bool { return normal(typed) == normal(told) }

// pasted is what stands in the composer for a long paste.
var pasted = pattern.New(`^\[Pasted Text: (\d+) (chars|lines)(?: #\d+)?\]$`)

// Holds: the text itself, or the mark that stands for a paste of that size.
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

// Broke: an Enter that Gemini reads too soon behind the text is a line break. Of
// two that it reads in one go each sends the message.
func (Driver) Broke(before, now *agent.Composer) bool {
	return before != nil && now != nil && now.Blank > before.Blank
}

// Clear: Ctrl-U takes the line away before the caret, Ctrl-K what is behind it
// and joins the next line, Backspace joins the one above. None of them does
// anything to a dialog. Esc and Ctrl-C would refuse one, and Ctrl-C twice ends
// Gemini.
func (Driver) Clear(_ *agent.Composer, stuck int) []byte {
	return compose.Next(stuck, compose.CtrlU, compose.CtrlK, compose.Backspace)
}

// Interrupt is a lone Esc.
func (Driver) Interrupt() []byte { return []byte{0x1b} }

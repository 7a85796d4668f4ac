package codex

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/pattern"
)

var _ agent.Typist = Driver{}

// shield is a zero-width space. In front of a character that opens a menu or
// makes a command of what follows, it is text like any other, and it is no
// blank: Codex trims those away.
const shield = "\u200b"

// Message makes a text safe to type: neither command (/), shell command (!) nor
// a name of a file (@), whose menu would take the Enter. A $ is left alone, since a
// shell's variables begin with it: its menu would take the Enter only when the last
// word begins so, and a blank closes it, which Codex trims away.
func (Driver) Message(text string) string {
	text = shieldNames(agent.CleanMessage(text))
	body := trim(text)
	switch {
	case body == "":
		return ""
	case body[0] == '/', body[0] == '!', body == "?":
		text = shield + strings.TrimLeftFunc(text, blank)
	}
	if last := compose.LastWord(text, blank); strings.HasPrefix(last, "$") {
		text += " "
	}
	return text
}

// Slash is a text that begins with a slash, on one line.
func (Driver) Slash(text string) (string, bool) { return compose.Slash(text) }

// blank is what Codex trims: white space as Rust has it.
func blank(r rune) bool { return unicode.IsSpace(r) }

func trim(text string) string { return strings.TrimFunc(text, blank) }

// shieldNames keeps words that begin with @ from being looked up.
func shieldNames(text string) string {
	var b strings.Builder
	before := ' '
	for _, r := range text {
		if r == '@' && blank(before) {
			b.WriteString(shield)
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// bareLimit is how many bytes may be typed without the marks of a paste: of more
// than about 1 KB Codex reads no further for a minute.
const bareLimit = 512

// Paste is a bracketed paste. Without that mode only a short single line is
// typed.
func (Driver) Paste(typed string, bracketed bool) ([]byte, bool) {
	if bracketed {
		return compose.AppendPaste(nil, typed), true
	}
	return []byte(typed), !strings.ContainsAny(typed, "\n\t") && len(typed) <= bareLimit
}

// Pause: an Enter within 30 ms of text that came without the marks of a paste is
// a line break, after 50 ms it never was. Behind a marked paste none was ever
// lost; the pause is for the other case too.
func (Driver) Pause() time.Duration { return 150 * time.Millisecond }

// normal is a message after the changes that Codex makes: it trims it.
func normal(text string) string {
	return compose.Normal(trim(text))
}

// Same compares after those changes.
func (Driver) Same(typed, told string) bool { return normal(typed) == normal(told) }

// pasted is what stands in the composer for a paste of more than a thousand
// characters.
var pasted = pattern.New(`^\[Pasted Content (\d+) chars\]$`)

// Holds: the text itself, or the mark that stands for a paste of so many
// characters.
func (d Driver) Holds(typed string, c *agent.Composer) bool {
	if c == nil || c.Mode != agent.ModeMessage || c.Empty {
		return false
	}
	if m := pasted.FindStringSubmatch(strings.TrimSpace(c.Text)); m != nil {
		return number(m[1]) == utf8.RuneCountInString(typed)
	}
	return d.Displays(typed, c)
}

// Displays compares what is visible.
func (Driver) Displays(typed string, c *agent.Composer) bool {
	return compose.Displays(normal(typed), c, butSymbols)
}

// butSymbols says that shown is want, but for symbols that are not seen: Codex and
// the terminal may count another width for one, and then a cell of the next is drawn
// over it. Of a hundred messages of all kinds, ten of emoji, that happened to one.
func butSymbols(want, shown string) bool {
	rest, lost := []rune(shown), 0
	for _, r := range want {
		switch {
		case len(rest) > 0 && rest[0] == r:
			rest = rest[1:]
		case unicode.In(r, unicode.So, unicode.Sk):
			lost++
		default:
			return false
		}
	}
	return len(rest) == 0 && lost <= len([]rune(shown))/4
}

// Clear: Ctrl-U takes the line away before the caret, Ctrl-K behind it. Neither
// answers a dialog. Ctrl-C would clear a draft at once, and ends Codex when the
// draft has gone by then; Esc would interrupt, refuse, or open the last message.
func (Driver) Clear(_ *agent.Composer, stuck int) []byte {
	return compose.Next(stuck, compose.CtrlU, compose.CtrlK)
}

// Interrupt is a lone Esc. One Ctrl-C would do it too, and would end Codex at
// once if the turn were just over.
func (Driver) Interrupt() []byte { return []byte{0x1b} }

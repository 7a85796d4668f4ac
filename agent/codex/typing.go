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

// markAbove is the length in characters above which Codex shows a mark in place of a paste.
const markAbove = 1000

// folds says whether Codex shows a mark in place of the text.
func folds(text string) bool { return utf8.RuneCountInString(text) > markAbove }

// isCommand says whether Codex would run a text as its own command or a shell command.
func isCommand(text string) bool { return text != "" && (text[0] == '/' || text[0] == '!') }

// Message makes a text safe to type: it must not run as a command (/) or a shell command (!),
// and no menu may take the Enter. It adds blanks, and Codex trims them, so the model gets the
// original text. A blank before the text is Codex's own way to type a literal / or !. The
// menus of files (@) and skills ($) open only for the word at the caret; a blank after the
// word closes them. A mark opens no menu; Enter puts the blank before it.
func (Driver) Message(text string) string {
	text = trim(agent.CleanMessage(text))
	if folds(text) {
		return text
	}
	last := compose.LastWord(text, blank)
	if isCommand(text) {
		text = " " + text
	}
	if strings.HasPrefix(last, "@") || strings.HasPrefix(last, "$") {
		text += " "
	}
	return text
}

// Slash is a text that begins with a slash, on one line.
func (Driver) Slash(text string) (string, bool) { return compose.Slash(text) }

// blank reports whether Codex trims r. Codex trims white space as Rust defines it.
func blank(r rune) bool { return unicode.IsSpace(r) }

func trim(text string) string { return strings.TrimFunc(text, blank) }

// bareLimit is how many bytes may be typed without the marks of a paste: of more
// than about 1 KB Codex reads no further for a minute.
const bareLimit = 512

// readMost is how many bytes Codex reads at once. When a key or a paste ends within them,
// Codex stops until more bytes arrive.
const readMost = 1024

// Paste is a bracketed paste. Without bracketed mode only a short single line is typed. Codex
// doesn't trim a text that it shows as a mark. So when the added blanks would turn the paste
// into a mark, they are separate keys, provided that Codex reads all of it at once.
func (Driver) Paste(typed string, bracketed bool) ([]byte, bool) {
	if !bracketed {
		return []byte(typed), !strings.ContainsAny(typed, "\n\t") && len(typed) <= bareLimit
	}
	data, text := compose.AppendPaste(nil, typed), trim(typed)
	if folds(typed) && !folds(text) && len(data) <= readMost {
		before, after, _ := strings.Cut(typed, text)
		data = append(compose.AppendPaste([]byte(before), text), after...)
	}
	return data, true
}

// Enter sends the message. When a mark hides a command, it first pastes a blank before the
// mark. The blank is a paste because an Enter right after a typed character is a line break.
func (Driver) Enter(typed string) []byte {
	if isCommand(trim(typed)) && folds(typed) {
		return append(compose.AppendPaste([]byte{'A' - '@'}, " "), '\r')
	}
	return []byte{'\r'}
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
		return pattern.Number(m[1]) == utf8.RuneCountInString(typed)
	}
	return d.Displays(typed, c)
}

// Displays compares the visible characters.
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

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

// folds reports whether Codex shows a mark in place of the text.
func folds(text string) bool { return utf8.RuneCountInString(text) > markAbove }

// isCommand reports whether Codex would run a text as its own command or as a shell command.
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

// Slash accepts one line that starts with a slash.
func (Driver) Slash(text string) (string, bool) { return compose.Slash(text) }

// blank reports whether Codex trims r. Codex trims white space as Rust defines it.
func blank(r rune) bool { return unicode.IsSpace(r) }

func trim(text string) string { return strings.TrimFunc(text, blank) }

// bareLimit is how many bytes may be typed without the marks of a paste. After about 1 KB Codex
// stops reading for a minute.
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

// Pause: Codex reads an Enter within 30 ms of text without paste marks as a line break; after 50 ms
// it never did. After a marked paste no Enter was lost, so the pause is for the other case.
func (Driver) Pause() time.Duration { return 150 * time.Millisecond }

// normal is a message after Codex's own change: it trims the message.
func normal(text string) string {
	return compose.Normal(trim(text))
}

// Same compares both texts after that change.
func (Driver) Same(typed, reported string) bool { return normal(typed) == normal(reported) }

// pasted matches the mark that the composer shows for a long paste.
var pasted = pattern.New(`^\[Pasted Content (\d+) chars\]$`)

// Holds accepts the text itself, or the mark of a paste with that number of characters.
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

// butSymbols reports whether shown is want without some symbols. Codex and the terminal may count
// different widths for a symbol, and then the next cell is drawn over it. That happened to one of a
// hundred messages of all kinds, ten of them with emoji.
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

// Clear: Ctrl-U removes the line before the caret, Ctrl-K the line after it. Neither key answers a
// dialog. Ctrl-C would clear a draft at once, but ends Codex if the composer is empty by then; Esc
// would interrupt, deny, or open the last message.
func (Driver) Clear(_ *agent.Composer, stuck int) []byte {
	return compose.Next(stuck, compose.CtrlU, compose.CtrlK)
}

// Interrupt is a single Esc. A Ctrl-C would interrupt too, but would end Codex if the turn was just
// over.
func (Driver) Interrupt() []byte { return []byte{0x1b} }

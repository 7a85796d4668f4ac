// Package compose holds what drivers share about messages: how a text is typed into a
// composer, and how it is compared with what the composer shows and what the agent received.
// The MessageTyper methods of the drivers call it. All functions are pure and safe for concurrent
// use.
package compose

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"berth/agent"
)

// Marks of a bracketed paste.
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// AppendPaste appends the bytes of one bracketed paste. agent.CleanMessage has taken
// everything out of the text that could end the paste early.
func AppendPaste(to []byte, text string) []byte {
	return append(append(append(to, pasteBegin...), text...), pasteEnd...)
}

// Blank reports whether JavaScript's trim removes r. Claude Code and Gemini CLI are written in
// JavaScript.
func Blank(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

// Trim removes blanks at both ends, as JavaScript does.
func Trim(text string) string { return strings.TrimFunc(text, Blank) }

// Slash returns the text as a command of the agent: one line that starts with a slash. ok is
// false for any other text.
func Slash(text string) (typed string, ok bool) {
	text = Trim(agent.CleanMessage(text))
	if !strings.HasPrefix(text, "/") || len(text) == 1 || strings.Contains(text, "\n") {
		return "", false
	}
	return text, true
}

// LastWord returns the text after the last blank; the caller defines blank. Some agents open a
// menu while the last word starts with a certain character, and Enter then picks an entry.
func LastWord(text string, blank func(rune) bool) string {
	return text[len(strings.TrimRightFunc(text, func(r rune) bool { return !blank(r) })):]
}

// Normal applies the changes that all measured agents make to a message: one kind of line end,
// four blanks for a tab, composed characters (NFC). The caller trims it as its agent does.
func Normal(text string) string {
	return norm.NFC.String(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "    ").Replace(text))
}

// Visible is the text as a screen shows it, without blanks. A screen breaks lines, drops
// blanks at their ends and hides characters without a width.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if Blank(r) || unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, text)
}

// Displays reports whether the composer shows a message. want is the message after Normal and
// trimming; same compares the visible characters of both. When the composer has more rows than
// the screen, only its end is compared.
func Displays(want string, c *agent.Composer, same func(want, shown string) bool) bool {
	if c == nil || c.Mode != agent.ModeMessage || c.Empty {
		return false
	}
	want, shown := Visible(want), Visible(norm.NFC.String(c.Text))
	if c.Above {
		return shown != "" && strings.HasSuffix(want, shown)
	}
	return want != "" && same(want, shown)
}

// Equal is the comparison for agents that draw every character.
func Equal(want, shown string) bool { return want == shown }

// Keys that remove text from a composer.
var (
	// CtrlU removes the line before the caret. At a line's start it joins the line to the one
	// above.
	CtrlU = []byte{'U' - '@'}
	// CtrlK removes the line after the caret, and joins the next line.
	CtrlK = []byte{'K' - '@'}
	// Backspace removes one character.
	Backspace = []byte{0x7f}
)

// Next is the key to try after stuck keys that changed nothing; nil after the last.
func Next(stuck int, keys ...[]byte) []byte {
	if stuck < len(keys) {
		return keys[stuck]
	}
	return nil
}

package claude

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/text/unicode/norm"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/pattern"
)

// shield is a Braille pattern without dots. Before a message's first character it keeps Claude from
// reading a command, and between a blank and an @ from attaching a file. It is drawn as a blank but
// isn't one: the queue trims a blank and then runs the command, and a blank never protects the
// words that end the program. A character without a width wouldn't help: 2.1.330 removes all 17
// that were tried from typed text.
const shield = "\u2800"

// dropped reports whether newer versions may remove the character from a text, so that the next one
// comes first.
func dropped(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// exitWords end the program when one is the whole message.
var exitWords = map[string]bool{"exit": true, "quit": true, ":q": true, ":q!": true, ":wq": true, ":wq!": true}

// Message makes a text safe to type.
func (Driver) Message(text string) string {
	text = shieldFiles(agent.CleanMessage(text))
	if compose.Trim(text) == "" {
		return ""
	}
	body := strings.TrimFunc(text, func(r rune) bool { return compose.Blank(r) || dropped(r) })
	switch {
	case body == "":
	case exitWords[body], body == "?", body[0] == '/', body[0] == '!':
		text = shield + text
	}
	return closeMenu(text)
}

// Slash accepts one line that starts with a slash.
func (Driver) Slash(text string) (string, bool) { return compose.Slash(text) }

// shieldFiles keeps names after an @ from being attached, at the places where Claude searches for
// one: at the start and after white space.
func shieldFiles(text string) string {
	var b strings.Builder
	before := ' '
	for i, r := range text {
		if r == '@' && compose.Blank(before) && i+1 < len(text) {
			b.WriteString(shield)
		}
		b.WriteRune(r)
		if !dropped(r) {
			before = r
		}
	}
	return b.String()
}

// closeMenu appends a blank to a text whose last word starts with @. Otherwise the menu of files
// would be open, and Enter would choose from it. Claude drops the blank.
func closeMenu(text string) string {
	if strings.Contains(lastWord(text), "@") {
		return text + " "
	}
	return text
}

// A paste of more than 800 characters, or with more than two line feeds, is folded to a mark in the
// composer, and 2.1.330 gives its text to the model as content that the user didn't write. Several
// pastes of at most half that size, one after the other, stay the user's text: 10 KB in one write
// arrived unchanged.
const (
	pasteChars = 400 // as JavaScript counts them
	pasteLines = 2
)

// Paste makes a row of bracketed pastes. No part of it is a key, whatever reads it: a dialog takes
// none of it for an answer. Without that mode a line feed would be a key, so only a single line is
// typed.
func (Driver) Paste(typed string, bracketed bool) ([]byte, bool) {
	if !bracketed {
		return []byte(typed), !strings.ContainsAny(typed, "\n\t")
	}
	var out []byte
	for _, piece := range pieces(typed) {
		out = compose.AppendPaste(out, piece)
	}
	return out, true
}

// image matches the end of an image file's name. Claude attaches the file when a line of a paste is
// its path.
var image = pattern.New(`(?i)\.(png|jpe?g|gif|webp)\b`)

// pieces divides a text into pastes: between visible characters, since each paste is normalized by
// itself, and within the names of images.
func pieces(text string) []string {
	names := map[int]bool{}
	for _, at := range image.FindAllStringIndex(text, -1) {
		names[at[0]+1] = true
	}
	var list []string
	from, at, chars, lines := 0, 0, 0, 0
	for g := displaywidth.StringGraphemes(text); g.Next(); {
		size, line := len(utf16.Encode([]rune(g.Value()))), strings.Count(g.Value(), "\n")
		if at > from && (chars+size > pasteChars || lines+line > pasteLines || names[at]) {
			list = append(list, text[from:at])
			from, chars, lines = at, 0, 0
		}
		at, chars, lines = at+len(g.Value()), chars+size, lines+line
	}
	return append(list, text[from:])
}

// Pause: the echo is enough.
func (Driver) Pause() time.Duration { return 0 }

// normal is a message after Claude's own changes.
func normal(text string) string {
	return compose.Normal(strings.TrimRightFunc(text, compose.Blank))
}

// kept is normal without the characters that newer versions drop.
func kept(text string) string {
	return strings.Map(func(r rune) rune {
		if dropped(r) {
			return -1
		}
		return r
	}, normal(text))
}

// Same compares both texts after those changes.
func (Driver) Same(typed, reported string) bool { return kept(typed) == kept(reported) }

// foreign matches the marks around a text that the model gets as content that the user didn't
// write.
var foreign = pattern.New(`(?s)\n*</?pasted_content id="[^"\n]*">\n?`)

// Folded reports whether it is the typed text with such marks in it.
func (Driver) Folded(typed, reported string) bool {
	text := foreign.ReplaceAllString(reported, "")
	return text != reported && compose.Visible(normal(text)) == compose.Visible(normal(typed))
}

// pasted matches the mark that the composer shows for a long paste.
var pasted = pattern.New(`^\[Pasted text #\d+(?: \+(\d+) lines?)?\]$`)

// truncated matches the mark that the composer shows for the middle of a text of more than 10,000
// characters.
var truncated = pattern.New(`\[\.\.\.Truncated text #\d+ \+\d+ lines?\.\.\.\]`)

// shortened reports whether the composer shows the start and the end of the text, and the mark for
// the rest.
func shortened(want string, c *agent.Composer) bool {
	at := truncated.FindStringIndex(c.Text)
	if at == nil || c.Above {
		return false
	}
	head, tail := compose.Visible(norm.NFC.String(c.Text[:at[0]])), compose.Visible(norm.NFC.String(c.Text[at[1]:]))
	return head != "" && tail != "" && len(head)+len(tail) < len(want) && strings.HasPrefix(want, head) && strings.HasSuffix(want, tail)
}

// Holds accepts the text itself, the mark of a paste with that number of lines, or the mark for the
// middle of a long text.
func (d Driver) Holds(typed string, c *agent.Composer) bool {
	if c == nil || c.Mode != agent.ModeMessage || c.Empty {
		return false
	}
	m := pasted.FindStringSubmatch(strings.TrimSpace(c.Text))
	if m == nil {
		return d.Displays(typed, c) || shortened(compose.Visible(normal(typed)), c)
	}
	lines := 0
	if m[1] != "" {
		lines, _ = strconv.Atoi(m[1]) // the pattern allows only digits
	}
	return strings.Count(normal(typed), "\n") == lines || strings.Count(typed, "\n") == lines
}

// Displays compares the visible characters.
func (Driver) Displays(typed string, c *agent.Composer) bool {
	return compose.Displays(normal(typed), c, compose.Equal)
}

// Clear: Ctrl-U removes the line before the caret, and at a line's start joins it to the one above;
// Ctrl-K does the same after the caret. Neither key does anything to a dialog. Esc and Ctrl-C would
// clear all at once, and deny a dialog, open the list of earlier messages, or arm the program's
// exit.
func (Driver) Clear(_ *agent.Composer, stuck int) []byte {
	return compose.Next(stuck, compose.CtrlU, compose.CtrlK)
}

// stashKey is Ctrl-S, which stashes a draft and restores it.
const stashKey = 'S' - '@'

// Stash: there is one place for a draft, and a second stash would overwrite it. An open list of
// files stays open, and Enter would choose from it.
func (Driver) Stash(r *agent.Reading) ([]byte, string) {
	switch box := r.Composer; {
	case r.Stashed:
		return nil, "the composer holds a draft, and another one is put aside already"
	case box == nil || box.Mode != agent.ModeMessage || strings.TrimSpace(box.Text) == "":
		return nil, "the composer holds nothing that could be put aside"
	case strings.HasPrefix(lastWord(box.Text), "@"):
		return nil, "the composer holds a draft whose last word names a file: its list of files would stay open"
	}
	return []byte{stashKey}, ""
}

// Unstash is the same key.
func (Driver) Unstash() []byte { return []byte{stashKey} }

func lastWord(text string) string { return compose.LastWord(text, compose.Blank) }

// Interrupt is a single Esc.
func (Driver) Interrupt() []byte { return []byte{0x1b} }

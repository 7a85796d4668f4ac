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

// shield is a Braille pattern without dots. In front of a message's first character
// it keeps Claude from looking for a command there, and between a blank and an @
// from attaching a file. It is drawn as a blank and is none: a blank would not do,
// as the queue trims it away and then runs the command, and it never protects the
// words that end the program. Nothing without a width would do: 2.1.330 takes all 17
// that were tried out of what is typed.
const shield = "\u2800"

// dropped says of a character that newer versions may take it out of a text, so
// that what follows it comes first.
func dropped(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// exitWords end the program when the message is nothing else.
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

// Slash is a text that begins with a slash, on one line.
func (Driver) Slash(text string) (string, bool) { return compose.Slash(text) }

// shieldFiles keeps names behind an @ from being attached, wherever Claude
// would look for one: at the start and after white space.
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

// closeMenu appends a blank to a text whose last word begins with @: the menu of
// files would be open, and Enter would choose from it. Claude drops the blank.
func closeMenu(text string) string {
	if strings.Contains(lastWord(text), "@") {
		return text + " "
	}
	return text
}

// A paste of more than 800 characters, or with more than two line feeds, is folded
// to a mark in the composer, and 2.1.330 gives its text to the model as content that
// the user did not write. Of less than half as many, one after the other, the text
// is the user's: 10 KB so in one write arrived as they were.
const (
	pasteChars = 400 // as JavaScript counts them
	pasteLines = 2
)

// Paste is a row of bracketed pastes. No part of it is a key, to whatever it is that
// reads it: a dialog takes nothing of it for an answer. Without that mode a line feed
// would be a key, and only a single line is typed.
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

// image ends the name of a file that Claude attaches when a line of a paste is
// its path.
var image = pattern.New(`(?i)\.(png|jpe?g|gif|webp)\b`)

// pieces cuts a text into what is pasted at once: between what a person sees as
// characters, since each paste is normalized by itself, and within the names of images.
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

// normal is a message after the changes that Claude makes.
func normal(text string) string {
	return compose.Normal(strings.TrimRightFunc(text, compose.Blank))
}

// heard is normal without what newer versions drop.
func heard(text string) string {
	return strings.Map(func(r rune) rune {
		if dropped(r) {
			return -1
		}
		return r
	}, normal(text))
}

// Same compares after those changes.
func (Driver) Same(typed, told string) bool { return heard(typed) == heard(told) }

// foreign begins and ends a text that the model is given as content that the user
// did not write.
var foreign = pattern.New(`(?s)\n*</?pasted_content id="[^"\n]*">\n?`)

// Folded says whether it is the typed text with such marks in it.
func (Driver) Folded(typed, told string) bool {
	text := foreign.ReplaceAllString(told, "")
	return text != told && compose.Visible(normal(text)) == compose.Visible(normal(typed))
}

// pasted is what stands in the composer for a long paste.
var pasted = pattern.New(`^\[Pasted text #\d+(?: \+(\d+) lines?)?\]$`)

// truncated is what stands in the composer for the middle of a text of more than
// 10,000 characters.
var truncated = pattern.New(`\[\.\.\.Truncated text #\d+ \+\d+ lines?\.\.\.\]`)

// shortened says that the composer shows the begin and the end of the text, and the mark
// for what is between.
func shortened(want string, c *agent.Composer) bool {
	at := truncated.FindStringIndex(c.Text)
	if at == nil || c.Above {
		return false
	}
	head, tail := compose.Visible(norm.NFC.String(c.Text[:at[0]])), compose.Visible(norm.NFC.String(c.Text[at[1]:]))
	return head != "" && tail != "" && len(head)+len(tail) < len(want) && strings.HasPrefix(want, head) && strings.HasSuffix(want, tail)
}

// Holds: the text itself, the mark that stands for a paste of so many lines, or the
// one for the middle of a long text.
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
		lines, _ = strconv.Atoi(m[1]) // digits, by the pattern
	}
	return strings.Count(normal(typed), "\n") == lines || strings.Count(typed, "\n") == lines
}

// Displays compares the visible characters.
func (Driver) Displays(typed string, c *agent.Composer) bool {
	return compose.Displays(normal(typed), c, compose.Equal)
}

// Clear: Ctrl-U takes the line away before the caret, and at a line's start
// joins it to the one above; Ctrl-K does so behind the caret. Neither does
// anything to a dialog. Esc and Ctrl-C would clear all at once, and refuse a
// dialog, open the list of earlier messages, or arm the program's end.
func (Driver) Clear(_ *agent.Composer, stuck int) []byte {
	return compose.Next(stuck, compose.CtrlU, compose.CtrlK)
}

// stashKey is Ctrl-S, which puts a draft aside and brings it back.
const stashKey = 'S' - '@'

// Stash: there is one place to put a draft, and what lies there is lost to a
// second one. A list of files that is open stays so, and Enter would choose
// from it.
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

// Interrupt is a lone Esc.
func (Driver) Interrupt() []byte { return []byte{0x1b} }

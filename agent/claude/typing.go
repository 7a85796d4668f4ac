package claude

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"berth/agent"
)

var (
	_ agent.Typist  = Driver{}
	_ agent.Stasher = Driver{}
)

// shield is a zero-width space. In front of a message's first character it
// keeps Claude from looking for a command there, and between a blank and an @
// from attaching a file. A blank would not do: the queue trims it away and then
// runs the command, and it never protects the words that end the program.
const shield = "\u200b"

// exitWords end the program when the message is nothing else.
var exitWords = map[string]bool{"exit": true, "quit": true, ":q": true, ":q!": true, ":wq": true, ":wq!": true}

// Message makes a text safe to type.
func (Driver) Message(text string) string {
	text = shieldFiles(agent.CleanMessage(text))
	body := trim(text)
	switch {
	case body == "":
		return ""
	case exitWords[body], body == "?", body[0] == '/', body[0] == '!':
		text = shield + text
	}
	return closeMenu(text)
}

// Slash is a text that begins with a slash, on one line.
func (Driver) Slash(text string) (string, bool) {
	text = trim(agent.CleanMessage(text))
	if !strings.HasPrefix(text, "/") || len(text) == 1 || strings.Contains(text, "\n") {
		return "", false
	}
	return text, true
}

// blank is what Claude trims: white space as JavaScript has it.
func blank(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

func trim(text string) string { return strings.TrimFunc(text, blank) }

// shieldFiles keeps names behind an @ from being attached, wherever Claude
// would look for one: at the start and after white space.
func shieldFiles(text string) string {
	var b strings.Builder
	before := ' '
	for i, r := range text {
		if r == '@' && blank(before) && i+1 < len(text) {
			b.WriteString(shield)
		}
		b.WriteRune(r)
		before = r
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

// Marks of a bracketed paste.
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// Paste is a bracketed paste. Without that mode a line feed would be a key, and
// only a single line is typed.
func (Driver) Paste(typed string, bracketed bool) ([]byte, bool) {
	if bracketed {
		return []byte(pasteBegin + typed + pasteEnd), true
	}
	return []byte(typed), !strings.ContainsAny(typed, "\n\t")
}

// Pause: the echo is enough.
func (Driver) Pause() time.Duration { return 0 }

// normal is a message after the changes that Claude makes.
func normal(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "    ").Replace(text)
	return norm.NFC.String(strings.TrimRightFunc(text, blank))
}

// Same compares after those changes.
func (Driver) Same(typed, told string) bool { return normal(typed) == normal(told) }

// pasted is what stands in the composer for a long paste.
var pasted = regexp.MustCompile(`^\[Pasted text #\d+(?: \+(\d+) lines?)?\]$`)

// Holds: the text itself, or the mark that stands for a paste of so many lines.
func (d Driver) Holds(typed string, c *agent.Composer) bool {
	if c == nil || c.Mode != agent.ModeMessage || c.Empty {
		return false
	}
	m := pasted.FindStringSubmatch(strings.TrimSpace(c.Text))
	if m == nil {
		return d.Displays(typed, c)
	}
	lines := 0
	if m[1] != "" {
		lines, _ = strconv.Atoi(m[1]) // digits, by the pattern
	}
	return strings.Count(normal(typed), "\n") == lines || strings.Count(typed, "\n") == lines
}

// Displays compares what is visible: the screen breaks lines, drops blanks at
// their ends and shows nothing of characters without a width.
func (Driver) Displays(typed string, c *agent.Composer) bool {
	if c == nil || c.Mode != agent.ModeMessage || c.Empty {
		return false
	}
	want := visible(normal(typed))
	return want != "" && want == visible(norm.NFC.String(c.Text))
}

func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if blank(r) || unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, text)
}

// Clear: Ctrl-U takes the line away before the caret, and at a line's start
// joins it to the one above; Ctrl-K does so behind the caret. Neither does
// anything to a dialog. Esc and Ctrl-C would clear all at once, and refuse a
// dialog, open the list of earlier messages, or arm the program's end.
func (Driver) Clear(_ *agent.Composer, stuck int) []byte {
	switch stuck {
	case 0:
		return []byte{'U' - '@'}
	case 1:
		return []byte{'K' - '@'}
	}
	return nil
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

func lastWord(text string) string { return text[strings.LastIndexFunc(text, blank)+1:] }

// Interrupt is a lone Esc.
func (Driver) Interrupt() []byte { return []byte{0x1b} }

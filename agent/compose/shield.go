package compose

import (
	"slices"
	"strings"

	"berth/agent/pattern"
)

// Shield is how an agent's message is kept from being taken for anything else. The caller has cleaned the text, and
// shielded what may name a file within it.
type Shield struct {
	// Mark is an invisible character. Before the first character it keeps the agent from reading a command.
	Mark   string
	Starts string          // the characters that start a command
	Alone  map[string]bool // texts that do something else when they are the whole message
	// Files match a text that the agent may take for files dropped on its terminal. Escaped: without its backslashes.
	Files   []*pattern.Pattern
	Escaped bool
	// Menus are characters that open a menu, from anywhere within the last word. Enter would choose from it.
	Menus string
	// Digits: dialogs take a paste of one digit for that key, but not with a blank after it, which messages lose.
	Digits bool
}

// Message is the text as it is typed; empty if it has only blanks.
func (s Shield) Message(text string) string {
	body := Trim(text)
	if body == "" {
		return ""
	}
	name := body
	if s.Escaped {
		name = strings.ReplaceAll(body, `\`, "")
	}
	drops := func(p *pattern.Pattern) bool { return p.MatchString(name) }
	if s.Alone[body] || strings.ContainsRune(s.Starts, rune(body[0])) || slices.ContainsFunc(s.Files, drops) {
		text = s.Mark + text
	}
	digit := len(text) == 1 && '0' <= text[0] && text[0] <= '9'
	if digit && s.Digits || strings.ContainsAny(LastWord(text, Blank), s.Menus) {
		text += " "
	}
	return text
}

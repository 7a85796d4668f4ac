package gemini

import (
	"strings"
	"unicode/utf16"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/forks"
	"berth/agent/pattern"
)

// shielded: alone, these texts end the program or show its help.
var shielded = compose.Shield{
	Mark: forks.Shield, Starts: "/!", Alone: map[string]bool{"?": true, "exit": true, "quit": true},
	Files: []*pattern.Pattern{forks.Dropped}, Menus: "@", Digits: true,
}

// Message makes a text safe to type.
func (Driver) Message(text string) string {
	return shielded.Message(forks.ShieldFiles(agent.CleanMessage(text)))
}

// Paste makes a bracketed paste. Without that mode a line feed is still a line break, but a tab
// would be a key.
func (Driver) Paste(typed string, bracketed bool) ([]byte, bool) {
	if bracketed {
		return compose.AppendPaste(nil, typed), true
	}
	return []byte(typed), !strings.Contains(typed, "\t")
}

// pasted matches the mark that the composer shows for a long paste.
var pasted = pattern.New(`^\[Pasted Text: (\d+) (chars|lines)(?: #\d+)?\]$`)

// Holds accepts the text itself, or the mark of a paste of that size.
func (Driver) Holds(typed string, c *agent.Composer) bool {
	return compose.Holds(typed, c, pasted, func(text, unit string, size int) bool {
		for _, text := range []string{text, compose.Trimmed(text)} {
			if compose.HasSize(text, unit, size) || unit != "lines" && (size == len(utf16.Encode([]rune(text))) || size == len(text)) {
				return true
			}
		}
		return false
	})
}

// Broke: an Enter that Gemini reads too soon after the text is a line break.
func (Driver) Broke(before, now *agent.Composer) bool { return compose.Broke(before, now) }

// Interrupt is a single Esc.
func (Driver) Interrupt() []byte { return []byte{0x1b} }

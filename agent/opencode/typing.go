package opencode

import (
	"time"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/pattern"
)

// submitAfter is the least time between a text and Enter. A paste and an Enter right after it were
// both taken in all tries; the pause is for a busy machine.
const submitAfter = 50 * time.Millisecond

// shield is an invisible separator (U+2063). Before a message's first character it keeps opencode from
// reading a command, and before an @ that starts a word from choosing a file or an agent. opencode draws
// a text with a word joiner (U+2060) without its last character, and Backspace stops at it.
const shield = "\u2063"

// shielded: alone, these texts end opencode.
var shielded = compose.Shield{
	Mark: shield, Starts: "/!", Alone: map[string]bool{"exit": true, "quit": true, ":q": true}, Files: []*pattern.Pattern{dropped}, Escaped: true,
}

// dropped matches a text that opencode takes for the path of an image or a PDF file that was dropped on
// its terminal: it attaches the file if there is one. mention is the start of a word with an @.
var (
	dropped = pattern.New(`(?is)^["']*file://|\.(avif|gif|jpe?g|pdf|png|svg|webp)["']*$`)
	mention = pattern.New(`(^|[\s\v\x{85}\x{FEFF}\p{Z}])@`)
)

// Message makes a text safe to type.
func (Driver) Message(text string) string {
	return shielded.Message(mention.ReplaceAllString(agent.CleanMessage(text), "${1}"+shield+"@"))
}

// Paste makes a bracketed paste. opencode always turns that mode on.
func (Driver) Paste(typed string, bracketed bool) ([]byte, bool) {
	return compose.AppendPaste(nil, typed), bracketed
}

// Pause is submitAfter.
func (Driver) Pause() time.Duration { return submitAfter }

// Broke: Enter breaks no line. So Berth presses a second Enter only when opencode has read the first one and rested
// since: one that opencode read late, after the turn's first dialog had come, would allow what that asks. Until
// then a message that left the composer may be reported late.
func (Driver) Broke(_, _ *agent.Composer) bool { return false }

// pasted matches the mark that the composer shows for a long paste.
var pasted = pattern.New(`^\[Pasted ~(\d+) (lines)\]$`)

// Holds accepts the text itself, or the mark of a paste of that many lines. opencode adds a blank after a long one.
func (Driver) Holds(typed string, c *agent.Composer) bool {
	return compose.Holds(typed, c, pasted, compose.HasSize)
}

// Interrupt is Esc twice, in the long form: two bytes 0x1b at once are one other key.
func (Driver) Interrupt() []byte { return []byte("\x1b[27u\x1b[27u") }

package qwen

import (
	"strings"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/forks"
	"berth/agent/pattern"
)

// shielded: alone, these texts end the program or show its help.
var shielded = compose.Shield{
	Mark: forks.Shield, Starts: "/!", Alone: map[string]bool{"?": true, "exit": true, "quit": true, ":q": true, ":q!": true, ":wq": true, ":wq!": true},
	Files: []*pattern.Pattern{forks.Dropped, images}, Menus: "@", Digits: true,
}

// images matches the end of a line that may be the path of an image, which Qwen Code attaches.
var images = pattern.New(`(?im)\.(png|jpe?g|gif|webp|bmp|tiff?|svg|heic|avif)["']?\s*$`)

// Message makes a text safe to type.
func (Driver) Message(text string) string {
	text = shielded.Message(forks.ShieldFiles(agent.CleanMessage(text)))
	// After the last word that begins with a slash, a menu would be open, and Enter would choose from it. After a
	// backslash Enter is a line break.
	last := strings.TrimPrefix(compose.LastWord(text, compose.Blank), forks.Shield)
	if strings.HasPrefix(last, "/") || strings.HasSuffix(text, `\`) {
		text += " "
	}
	return text
}

// pasted matches the mark that the composer shows for a long paste.
var pasted = pattern.New(`^\[Pasted Content (\d+) (chars)\](?: #\d+)?$`)

// Holds accepts the text itself, or the mark of a paste of that size.
func (Driver) Holds(typed string, c *agent.Composer) bool {
	return compose.Holds(typed, c, pasted, compose.HasSize)
}

// Broke: an Enter can break a line instead of sending the message.
func (Driver) Broke(before, now *agent.Composer) bool { return compose.Broke(before, now) }

// Clear: Backspace removes the mark of a paste. Ctrl-K does less than the others, so it comes last.
func (Driver) Clear(c *agent.Composer, stuck int) []byte {
	if c != nil && pasted.MatchString(strings.TrimSpace(c.Text)) {
		return compose.Next(stuck, compose.Backspace, compose.CtrlU)
	}
	return compose.Next(stuck, compose.CtrlU, compose.Backspace, compose.CtrlK)
}

// Interrupt is a single Esc. Qwen Code then gives the message back as a draft.
func (Driver) Interrupt() []byte { return []byte{0x1b} }

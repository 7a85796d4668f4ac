package copilot

import (
	"strings"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/pattern"
)

// shield is a word joiner, which has no width. Before a message's first character it keeps Copilot
// from reading a command, and after each @ from attaching a file: "@." is the folder.
const shield = "\u2060"

// shielded: alone, these texts end the program or show its help.
var shielded = compose.Shield{Mark: shield, Starts: "/!&$#", Alone: map[string]bool{"?": true, "exit": true, "quit": true}, Menus: "@#"}

// Message makes a text safe to type.
func (Driver) Message(text string) string {
	return shielded.Message(strings.ReplaceAll(agent.CleanMessage(text), "@", "@"+shield))
}

// pasted matches the mark that the composer shows for a paste of more than ten lines.
var pasted = pattern.New(`^\[Paste #\d+ - (\d+) (lines)\]$`)

// Holds accepts the text itself, or the mark of a paste of that many lines.
func (Driver) Holds(typed string, c *agent.Composer) bool {
	return compose.Holds(typed, c, pasted, compose.HasSize)
}

// Interrupt is two Esc, each as a sequence of its own, because Copilot turns the keyboard protocol on
// that has one. Of two plain Esc at once it makes another key.
func (Driver) Interrupt() []byte { return []byte("\x1b[27u\x1b[27u") }

package gemini

import "berth/agent"

// levels are the glyphs at a title's start. The text after them can be the subject of a thought, so
// it doesn't count. The last glyph shows while a command prints nothing.
var levels = map[string]agent.Level{
	"◇": agent.LevelIdle, "✋": agent.LevelWaiting, "✦": agent.LevelBusy, "⏲": agent.LevelBusy,
}

// Title reads a terminal title. Gemini sets an empty one when it exits, and also when it only
// restarts itself.
func (Driver) Title(title string) []agent.Fact { return []agent.Fact{agent.TitleFact(title, levels)} }

// OSC is evidence only: the notifications (777, 9) that a setting turns on say no more than the
// title, and come later.
func (Driver) OSC(_ int, payload string) []agent.Fact {
	return []agent.Fact{{Kind: agent.Noted, Source: agent.SourceOSC, Cause: "osc", Evidence: payload}}
}

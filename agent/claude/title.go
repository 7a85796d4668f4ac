package claude

import (
	"strings"

	"berth/agent"
)

// Title reads a terminal title: two glyphs that alternate about once a second while Claude works,
// and another one while it is idle or waits.
func (Driver) Title(title string) []agent.Fact {
	f := agent.Fact{Kind: agent.Noted, Source: agent.SourceTitle, Cause: "title", Evidence: title}
	glyph, _, _ := strings.Cut(title, " ")
	switch glyph {
	case "⠂", "⠐", "◐", "◑": // of 2.1.197, and of 2.1.330
		f.Kind, f.Level, f.Cause = agent.LevelIs, agent.LevelBusy, "title:"+glyph
	case "✳":
		f.Kind, f.Level, f.Cause = agent.LevelIs, agent.LevelNotBusy, "title:"+glyph
	}
	return []agent.Fact{f}
}

// OSC reads OSC 9;4, progress, which Claude sends to some terminals: 3 while it works, 0 while it
// doesn't. Any other sequence is evidence only.
func (Driver) OSC(number int, payload string) []agent.Fact {
	f := agent.Fact{Kind: agent.Noted, Source: agent.SourceOSC, Cause: "osc", Evidence: payload}
	if number == 9 && strings.HasPrefix(payload, "4;") {
		state, _, _ := strings.Cut(payload[len("4;"):], ";")
		f.Cause = "osc:9;4;" + state
		switch state {
		case "3":
			f.Kind, f.Level = agent.LevelIs, agent.LevelBusy
		case "0":
			f.Kind, f.Level = agent.LevelIs, agent.LevelNotBusy
		}
	}
	return []agent.Fact{f}
}

package qwen

import (
	"strings"

	"berth/agent"
)

// levels are the marks at a title's start: work, and a dialog. A title without a mark is shown at rest.
var levels = map[string]agent.Level{"◐": agent.LevelBusy, "✳": agent.LevelWaiting}

// Title reads a terminal title. Qwen Code pads it with blanks, and sets it by two sequences.
func (Driver) Title(title string) []agent.Fact {
	f := agent.Fact{Kind: agent.LevelIs, Source: agent.SourceTitle, Level: agent.LevelIdle, Cause: "title:rest", Evidence: strings.TrimSpace(title)}
	glyph, _, _ := strings.Cut(f.Evidence, " ")
	glyph = strings.TrimSuffix(glyph, "\ufe0e")
	if level, ok := levels[glyph]; ok {
		f.Level, f.Cause = level, "title:"+glyph
	} else if f.Evidence == "" {
		f.Kind, f.Level, f.Cause = agent.Noted, "", "title"
	}
	return []agent.Fact{f}
}

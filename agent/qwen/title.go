package qwen

import (
	"strings"

	"berth/agent"
)

// levels are the marks at a title's start: work, and a dialog.
var levels = map[string]agent.Level{"◐": agent.LevelBusy, "✳": agent.LevelWaiting}

// named is the start of Qwen Code's own title, which it shows without a mark at rest. A tool can set another
// title during its work. In the root folder nothing follows.
const named = "Qwen - "

// Title reads a terminal title. Qwen Code pads it with blanks, and sets it by two sequences.
func (Driver) Title(title string) []agent.Fact {
	f := agent.TitleFact(title, levels)
	if f.Kind == agent.Noted && strings.HasPrefix(f.Evidence+" ", named) {
		f.Kind, f.Level, f.Cause = agent.LevelIs, agent.LevelIdle, "title:rest"
	}
	return []agent.Fact{f}
}

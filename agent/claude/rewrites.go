package claude

import (
	"encoding/json"
	"strings"

	"berth/agent"
)

// Claude writes something else than the call of an edit says, depending on what is in the file. Hooks have the call as it was made. A driver
// reads no files, so the prompt's text says what depends on the file, where the call's texts leave that open.

const (
	linesEnd    = "Claude ends each line of the file as most of its lines end: each may get a CR."
	linesJoin   = "Where a line ends with the removed text, Claude removes the line's end too: the next line joins this one."
	allEndsJoin = "If a line ends with the removed text, Claude removes it only there, and the line's end with it: the next line joins this one."
)

// rewrites says what Claude may write beyond an edit's call.
func rewrites(input json.RawMessage) string {
	in, ok := readInput("Edit", input)
	if !ok || in.Old == nil || in.New == nil {
		return ""
	}
	var lines []string
	say := func(line string, applies bool) {
		if applies {
			lines = append(lines, line)
		}
	}
	before, after := *in.Old, *in.New
	say(linesEnd, agent.ReturnMatters(in.Path, after))
	joins := after == "" && before != "" && !strings.HasSuffix(before, "\n")
	say(linesJoin, joins && !in.ReplaceAll)
	say(allEndsJoin, joins && in.ReplaceAll)
	return strings.Join(lines, "\n")
}

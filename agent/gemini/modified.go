package gemini

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/forks"
	"berth/agent/pattern"
)

// A change of a file may have lines that its call doesn't: a person modifies it in an editor, a hook of the user's changes it, or an edit
// takes the rest of a line, or an indent, from the file. The notification has these lines as they are, and the dialog doesn't draw their blanks.

// fieldChange is a field that Berth adds to the input of such a call: these lines, by their numbers in the new file.
const fieldChange = "change"

// asChanged is a call's input with those lines of the reported change.
func asChanged(tool string, input json.RawMessage, diff string) json.RawMessage {
	in, err := agent.ReadInput(input)
	if err != nil {
		return input
	}
	wrote := strings.Split(withLF(in.Words(tooling.New)), "\n")
	if tool == toolWrite {
		wrote = strings.Split(in.Words(tooling.Text), "\n")
	}
	lines, numbers := forks.AddedAt(diff)
	more := map[int]string{}
	for i, line := range lines {
		if !slices.Contains(wrote, line) {
			more[numbers[i]] = strings.TrimPrefix(line, kept(line, in, diff))
		}
	}
	if len(more) == 0 {
		return input
	}
	in[fieldChange] = agent.Encoded(more)
	return agent.Encoded(in)
}

// indent matches the blanks that a line begins with.
var indent = pattern.New(`^\s*`)

// kept is the line's indent, if an edit replaces text after that indent and leaves it as it is.
func kept(line string, in agent.Input, diff string) string {
	own := indent.FindString(line)
	old, _, _ := strings.Cut(in.Words(tooling.Old), "\n")
	text, _, _ := strings.Cut(in.Words(tooling.New), "\n")
	for gone := range strings.Lines(diff) {
		gone, is := strings.CutPrefix(gone, "-"+own)
		stays := is && indent.FindString(gone) == "" && old != ""
		if stays && strings.Contains(gone, strings.TrimSpace(old)) && strings.Contains(line, strings.TrimSpace(text)) {
			return own
		}
	}
	return ""
}

// undrawnOfLines are the blanks and the characters of those lines that the dialog doesn't draw.
func undrawnOfLines(in agent.Input) string {
	lines := map[int]string{}
	if json.Unmarshal(in[fieldChange], &lines) != nil || len(lines) == 0 {
		return ""
	}
	var all []string
	var sparse strings.Builder
	at := 1
	for _, n := range slices.Sorted(maps.Keys(lines)) {
		all = append(all, lines[n])
		sparse.WriteString(strings.Repeat("\n", max(0, n-at)) + "+" + lines[n])
		at = n
	}
	hidden := forks.UndrawnOfEdit(agent.Input{fieldChange: agent.Encoded(strings.Join(all, "\n"))})
	return forks.Joined(hidden, forks.Blanks(fieldChange, sparse.String(), "+", nil))
}

// everyPlace is that an edit changes each place of the file. Gemini reads the file again when the edit is allowed, and changes places too
// that the file got since.
func everyPlace(tool string, in agent.Input) string {
	value := in[tooling.Every]
	if tool != toolEdit || len(value) == 0 {
		return ""
	}
	return forks.Fields(agent.Input{tooling.Every: value})
}

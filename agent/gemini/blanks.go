package gemini

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"berth/agent"
	"berth/agent/forks"
	"berth/terminal"
)

// Gemini draws a tab as four blanks, any blank as it is, and none at a line's end. Of a change of a file it takes the CR of a line's end
// away, and the indent that all drawn lines have.

// blanksOfChange are the blanks that the dialog of a change of a file draws like others.
func blanksOfChange(tool string, in agent.Input) string {
	field, old := tooling.New, in.Words(tooling.Old)
	if tool == toolWrite {
		field, old = tooling.Text, ""
	}
	text := in.Words(field)
	if old != "" {
		text, old = withLF(text), withLF(old)
	}
	return forks.Joined(forks.Blanks(field, text, "", unanchored(strings.Split(text, "\n"), strings.Split(old, "\n"))), lineEnds(tool, in))
}

// withLF is a text as Gemini compares it with a file's, and puts it into the file.
func withLF(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// lineEnds says which line ends Gemini writes, where that matters: it gives each line of a file a CRLF if the file has one, and takes the
// CRs of an edit away otherwise. No dialog says which the file has.
func lineEnds(tool string, in agent.Input) string {
	const crlf = ofLineEnds + "CRLF on each line if the file has a CRLF, else "
	text, edit := in.Words(tooling.Text), tool == toolEdit
	if edit {
		text = in.Words(tooling.New)
	}
	bare := strings.Count(text, "\n") > strings.Count(text, "\r\n")
	matters := agent.ReturnMatters(in.Words(tooling.File), text)
	switch {
	case edit && in.Words(tooling.Old) != "" && (matters || strings.Contains(text, "\r\n")):
		return crlf + "LF"
	case !edit && bare && matters:
		return crlf + "as in " + tooling.Text
	}
	return ""
}

// ofLineEnds begins that line.
const ofLineEnds = "line ends: "

// ofBlanks reports whether a line about a change of a file is one about its blanks, or its places.
func ofBlanks(line string) bool {
	starts := []string{ofLineEnds, tooling.Every + ": ", tooling.Text + ", line", tooling.New + ", line", fieldChange + ", line"}
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(line, start) })
}

func empty(line string) bool { return strings.TrimSpace(line) == "" }

// apart is how many empty lines keep other lines out of the drawn part of a change.
const apart = 3

// unanchored are the indices of new lines with no other line around them that shows how far they are indented. A line that goes shows
// it, and so does one that stays, or that isn't indented.
func unanchored(lines, old []string) map[int]bool {
	head := 0
	for head < min(len(lines), len(old)) && lines[head] == old[head] {
		head++
	}
	tail := 0
	for tail < min(len(lines), len(old))-head && lines[len(lines)-1-tail] == old[len(old)-1-tail] {
		tail++
	}
	if slices.ContainsFunc(old[head:len(old)-tail], func(line string) bool { return !empty(line) }) {
		return nil
	}
	adrift, block, anchored, blank := map[int]bool{}, []int(nil), false, 0
	for i, line := range append(slices.Clone(lines), make([]string, apart)...) {
		if !empty(line) {
			block, blank = append(block, i), 0
			anchored = anchored || i < head || i >= len(lines)-tail || !unicode.IsSpace([]rune(line)[0])
			continue
		}
		if blank++; blank == apart {
			for _, at := range block {
				adrift[at] = !anchored
			}
			block, anchored = nil, false
		}
	}
	return adrift
}

// narrow is less than the columns of a command's row in any dialog that takes a key.
const narrow = 30

// blanksOfCommand are the lines of a command whose rows could be those of another one: a row ends at a line's end, at a blank, or within
// a word that is longer than a row, and blanks are drawn alike.
func blanksOfCommand(command string) string {
	command = strings.TrimSpace(command)
	plain := !strings.Contains(command, "  ") && !strings.ContainsFunc(command, forks.OddBlank)
	if plain && !slices.ContainsFunc(strings.Fields(command), func(word string) bool { return terminal.StringWidth(word) > narrow }) {
		return ""
	}
	var lines []string
	for i, line := range strings.Split(command, "\n") {
		lines = append(lines, fmt.Sprintf("command, line %d: %s", i+1, forks.Quoted(line)))
	}
	return forks.Shown("command", command, lines, "blanks")
}

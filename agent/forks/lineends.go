package forks

import (
	"strings"

	"berth/agent"
)

// linesEnd is in the text of a change that may be written with the line ends that its file has. No dialog draws them.
const linesEnd = "Each line may get a CR, if the file's lines have one."

// LinesEnd says so of a change of a file, where a CR changes what that does. text is what it adds.
func LinesEnd(file, text string) string {
	if text == "" || !agent.ReturnMatters(file, text) {
		return ""
	}
	return linesEnd
}

// Added are the lines that a diff adds.
func Added(diff string) (lines []string) {
	_, hunks, _ := strings.Cut("\n"+diff, "\n@@")
	for line := range strings.SplitSeq(hunks, "\n") {
		if line, ok := strings.CutPrefix(line, "+"); ok {
			lines = append(lines, line)
		}
	}
	return lines
}

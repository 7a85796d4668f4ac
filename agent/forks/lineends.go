package forks

import (
	"strings"
	"unicode"

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

// notUTF8 is in the text of a change that may be written in the encoding that its file has. Its dialog draws the characters as they are
// in the call.
const notUTF8 = "In a file with another encoding than UTF-8, what isn't ASCII may be written as ?."

// encoded says so of a change of a script: a shell takes a question mark for any character of a file's name. text is what the change adds.
func encoded(file, text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) || !agent.ReturnMatters(file, text) {
		return ""
	}
	return notUTF8
}

// lineTaken is in the text of an edit that takes away a text without a line's end, as Qwen Code does it.
const lineTaken = "Where a line of the file ends after old_string, the edit takes that line's end too, and changes no other place."

// lineTaken says so of an edit of Qwen Code's. It compares lines without blanks at their ends, and takes the end of a line from both
// texts if the file has old only so.
func (t Tools) lineTaken(in agent.Input) string {
	old, text := in.Words(t.Old), in.Words(t.New)
	if old == "" || strings.HasSuffix(old, "\n") == (text == "") || strings.Trim(text, "\r\n") != "" {
		return ""
	}
	return lineTaken
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

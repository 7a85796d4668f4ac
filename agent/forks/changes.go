package forks

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"berth/agent"
	"berth/agent/pattern"
)

// hunk matches the head of a part of a diff: how many lines of the old text it has, its first line in the new one, and how many of those.
var hunk = pattern.New(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// byteOrderMark is what a file may start with. An agent takes it out of the text.
const byteOrderMark = "\ufeff"

// AddedAt are the lines that a diff adds, and their numbers in the new text.
func AddedAt(diff string) (lines []string, numbers []int) {
	count := func(text string) int {
		if text == "" {
			return 1
		}
		return pattern.Number(text)
	}
	number, removed, kept := 0, 0, 0 // of the next line, and how many the hunk has left
	for line := range strings.SplitSeq(diff, "\n") {
		m := hunk.FindStringSubmatch(line)
		switch {
		case removed <= 0 && kept <= 0 && m != nil:
			removed, number, kept = count(m[1]), pattern.Number(m[2]), count(m[3])
		case removed <= 0 && kept <= 0: // the name of a file
		case strings.HasPrefix(line, "-"):
			removed--
		case strings.HasPrefix(line, "+"):
			lines, numbers = append(lines, line[1:]), append(numbers, number)
			number++
			kept--
		case strings.HasPrefix(line, " "):
			removed--
			number++
			kept--
		}
	}
	return lines, numbers
}

// A diff of opencode's leaves out the indent that its lines share, of any blanks, the byte order mark of a file, and of an edit the CRs
// at the ends of lines. What follows finds the lines of a new text that it doesn't show as they are written.

// CutOfWrite are these lines of a whole text, each after the name of its field.
func CutOfWrite(diff, name, text string) string {
	shown, numbers := AddedAt(diff)
	all := strings.Split(text, "\n")
	var lines []string
	if strings.HasPrefix(text, byteOrderMark) && !slices.Contains(numbers, 1) {
		lines = append(lines, all[0])
	}
	for _, n := range numbers {
		if n > 0 && n <= len(all) {
			lines = append(lines, all[n-1])
		}
	}
	return cut(shown, name, lines)
}

// CutOfEdit are these lines of a text that takes the place of another one, at one place or at several. Where that is isn't known: they
// are all that may be among them, unless the diff adds just this text.
func CutOfEdit(diff, name, text string, every bool) string {
	shown, _ := AddedAt(diff)
	if every { // the places may have other indents
		shown = nil
	}
	return cut(shown, name, strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n"))
}

// CutOfPatch are these lines of a patch, below its heads. A diff has the old name of a file that the patch moves, and not the new one,
// and doesn't say that it removes a file, or replaces one.
func CutOfPatch(diff, name, patch string) string {
	var heads, lines []string
	says := ""
	for line := range strings.SplitSeq(patch, "\n") {
		head := strings.TrimSpace(line)
		if adds, ok := strings.CutPrefix(line, "+"); ok {
			lines = append(lines, adds)
		} else if strings.HasPrefix(head, "***") && head != "*** Begin Patch" && head != "*** End Patch" {
			if heads = append(heads, head); replaces(head) {
				says = agent.Replaces
			}
		}
	}
	shown, _ := AddedAt(diff)
	return Joined(strings.Join(heads, "\n"), says, cut(shown, name, lines))
}

// replaces reports whether a patch has the head of a file that it adds or moves.
func replaces(patch string) bool {
	return strings.Contains(patch, "*** Add File:") || strings.Contains(patch, "*** Move to:")
}

// Replaced is the input of a call, with a line that says so if it has such a patch.
func Replaced(input string) string {
	if replaces(input) {
		return input + "\n" + agent.Replaces
	}
	return input
}

// OldName is the name that the file of a diff had before, as Copilot CLI writes it; empty without one, as of a new file.
func OldName(diff string) string {
	_, rest, _ := strings.Cut(diff, "\n--- a")
	if name, _, _ := strings.Cut(rest, "\n+++ b"); name != "/dev/null" {
		return name
	}
	return ""
}

// MovedOver says of a change with the old names of files in that field that it replaces files. Copilot CLI adds none that is there.
func MovedOver(in agent.Input, moved string) string {
	if names := agent.Compact(in[moved]); names == "" || names == "null" {
		return ""
	}
	return "A file that is moved replaces one that is there."
}

// OfPatch is a patch that is the whole input of a call, as a change of a file: with the old names of the files that it moves as a field of that
// name. It is empty for a patch that moves none, and has no character that the agents don't draw.
func (t Tools) OfPatch(input json.RawMessage, moved string) (tool string, change json.RawMessage) {
	var patch, file string
	var from []string
	if json.Unmarshal(input, &patch) != nil {
		return "", nil
	}
	for line := range strings.SplitSeq(patch, "\n") {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "*** Update File:"); ok {
			tool, file = t.Edit, strings.TrimSpace(name)
		} else if strings.HasPrefix(line, "*** Move to:") {
			from = append(from, file)
		}
	}
	if len(from) == 0 && !Hides(input) {
		return "", nil
	}
	return cmp.Or(tool, t.Write), agent.Encoded(map[string]any{moved: from, "call": patch})
}

// patchHead matches the line of a patch that names a file.
var patchHead = pattern.New(`^\*\*\* (Add File|Update File|Delete File|Move to): *(\S.*)$`)

// headOf has the kinds of such lines by the verbs of questions about patches.
var headOf = map[string]string{"create": "Add File", "edit": "Update File", "update": "Update File", "delete": "Delete File", "move and update": "Move to"}

// PatchHas reports whether the question of a dialog is about all of the patch: it has the verb for the only file that the patch changes, and
// ends with the path of that file in the patch. A file that the patch moves is named by where it goes.
func PatchHas(input json.RawMessage, question string) bool {
	var patch string
	m := asksOfFile.FindStringSubmatch(question)
	if m == nil || json.Unmarshal(input, &patch) != nil {
		return false
	}
	var last []string // the last head, and at is its line
	at := 0
	for i, line := range strings.Split(patch, "\n") {
		line = strings.TrimRight(line, " \t\r")
		mark := strings.TrimSpace(line)
		if !strings.HasPrefix(mark, "***") || mark == "*** Begin Patch" || mark == "*** End Patch" || mark == "*** End of File" {
			continue
		}
		head := patchHead.FindStringSubmatch(line)
		if head == nil || last != nil && (last[1] != "Update File" || head[1] != "Move to" || i != at+1) {
			return false
		}
		last, at = head, i
	}
	return last != nil && headOf[m[1]] == last[1] && endsIn(m[2], last[2])
}

// endsIn reports whether a path, as it is drawn, ends with the other one. Rows that it was broken into leave out blanks.
func endsIn(shown, file string) bool {
	if strings.Contains(shown, "\n") {
		shown, file = squeezed(shown), squeezed(file)
	}
	return shown == file || strings.HasSuffix(shown, "/"+file)
}

// Once adds a text that isn't there yet, unless it is empty.
func Once(all []string, text string) []string {
	if text == "" || slices.Contains(all, text) {
		return all
	}
	return append(all, text)
}

// cut are the lines that have an indent or a CR, unless the diff shows all lines as they are.
func cut(shown []string, name string, lines []string) string {
	if slices.Equal(shown, lines) {
		return ""
	}
	var all []string
	for _, line := range lines {
		if strings.TrimLeftFunc(line, isIndent) != line || strings.Contains(line, "\r") {
			all = append(all, name+": "+strconv.QuoteToASCII(line))
		}
	}
	return strings.Join(all, "\n")
}

// isIndent reports whether JavaScript takes the character for a blank.
func isIndent(r rune) bool { return unicode.IsSpace(r) || string(r) == byteOrderMark }

package forks

import (
	"fmt"
	"strings"
	"unicode"

	"berth/agent"
)

// Gemini CLI and Copilot CLI draw a tab as four blanks, any blank as it is, and none at a line's end, nor its CR.

// Blanks are lines about the blanks of a text that a dialog draws like others, or not at all. Only the text's lines that begin with mark
// count. Of those in adrift the dialog doesn't show how far they are indented.
func Blanks(field, text, mark string, adrift map[int]bool) string {
	g := groups{lines: map[string][]int{}}
	for i, line := range strings.Split(text, "\n") {
		line, ok := strings.CutPrefix(line, mark)
		if !ok {
			continue
		}
		rest := strings.TrimRightFunc(line, unicode.IsSpace)
		if end := line[len(rest):]; end != "" {
			g.add("ending with "+Quoted(end), i+1)
		}
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		indent, _, _ := strings.Cut(line, rest)
		switch {
		case rest == "":
		case strings.ContainsFunc(rest, drawnAlike): // a line with a control character is shown anyway
			g.add(Quoted(line), i+1)
		case strings.ContainsFunc(indent, OddBlank), indent != "" && adrift[i]:
			g.add("beginning with "+Quoted(indent), i+1)
		}
	}
	return Shown(field, text, g.of(field), "blanks")
}

// BlanksOfChange are those of a change of a file, of its diff if it has one, after what is said of its line ends.
func (t Tools) BlanksOfChange(in agent.Input) string {
	if diff := in.Words("diff"); diff != "" {
		return Joined(LinesEnd(in.Words(t.File), strings.Join(Added(diff), "\n")), Blanks("diff", diff, "+", nil))
	}
	return Joined(LinesEnd(in.Words(t.File), in.Words(t.New)), Blanks(t.Text, in.Words(t.Text), "", nil), Blanks(t.New, in.Words(t.New), "", nil))
}

// OddBlank reports whether the character is drawn like another blank.
func OddBlank(r rune) bool { return r != ' ' && unicode.IsSpace(r) }

// drawnAlike is that, without the control characters that UndrawnOfEdit finds.
func drawnAlike(r rune) bool { return OddBlank(r) && (r == '\t' || unicode.Is(unicode.Zs, r)) }

// groups are lines by what they have in common.
type groups struct {
	names []string // in the order of their first lines
	lines map[string][]int
}

func (g *groups) add(name string, line int) {
	if g.lines[name] == nil {
		g.names = append(g.names, name)
	}
	g.lines[name] = append(g.lines[name], line)
}

// of are the lines about the field, one for each group.
func (g *groups) of(field string) (all []string) {
	for _, name := range g.names {
		all = append(all, fmt.Sprintf("%s, %s: %s", field, ranges(g.lines[name]), name))
	}
	return all
}

// ranges names lines in ascending order, as in "lines 1-3, 7".
func ranges(lines []int) string {
	var parts []string
	for i := 0; i < len(lines); {
		last := i
		for last+1 < len(lines) && lines[last+1] == lines[last]+1 {
			last++
		}
		part := fmt.Sprint(lines[i])
		if last > i {
			part += fmt.Sprint("-", lines[last])
		}
		parts, i = append(parts, part), last+1
	}
	word := "line "
	if len(lines) > 1 {
		word = "lines "
	}
	return word + strings.Join(parts, ", ")
}

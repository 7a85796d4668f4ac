package render

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"

	"berth/agent"
)

// File is a file on disk at the time when a change of it was asked for.
type File struct {
	Known  bool // false: it couldn't be read, or no caller has tried
	Exists bool
	Text   string
}

// contextLines is how many lines of the file stand above and below an edit, as in diff -u.
const contextLines = 3

// Change lays out a change of a file. Each line of the new text is there, also where it is as
// before: the file on disk may be another one by the time the change is made, so that a line left
// out as unchanged could be new then.
func Change(c agent.Change, file File) []Line {
	lines := []Line{{Spans: []Span{{string(c.Does) + " ", Faint}, {name(c.File), Accent}}}}
	if c.To != "" {
		lines = append(lines, Line{Spans: []Span{{"moves to ", Faint}, {name(c.To), Accent}}})
	}
	if len(c.Patch) > 0 {
		lines = append(lines, beside(c.Does, file)...)
	}
	for _, e := range c.Edits {
		lines = append(lines, edit(e, file)...)
	}
	if c.Text != nil {
		lines = append(lines, write(*c.Text, file)...)
	}
	for _, l := range c.Patch {
		lines = append(lines, signed(l.Sign, 0, l.Text))
	}
	return lines
}

func signed(sign byte, number int, text string) Line {
	tone := map[byte]Tone{'+': Added, '-': Removed, '@': Faint}[sign]
	return Line{Margin: true, Sign: sign, Number: number, Spans: []Span{{text, tone}}}
}

// beside is what a patch does to the file that is there, besides what its lines say.
func beside(does agent.Does, file File) []Line {
	lines, returns := strings.Count(file.Text, "\n"), strings.Count(file.Text, "\r\n")
	switch {
	case !file.Known:
	case does == agent.Adds:
		return []Line{whole(file)}
	case does == agent.Edits && returns > 0 && returns*2 >= lines:
		return []Line{one(Warning, "most lines of the file end in CR LF, so an added line may get a CR")}
	}
	return nil
}

// whole says whether a whole text replaces a file, which is known.
func whole(file File) Line {
	if file.Exists {
		return one(Warning, "replaces the file that is there")
	}
	return one(Faint, "a new file")
}

// write is a file's new text beside the one that it has.
func write(text string, file File) []Line {
	var notes []Line
	if file.Known {
		notes = append(notes, whole(file))
	}
	lines := append(notes, differ(split(file.Text), split(text), 1)...)
	switch {
	case text == "":
		lines = append(lines, one(Faint, "an empty file"))
	case !strings.HasSuffix(text, "\n"):
		lines = append(lines, one(Faint, "no line end at the end of the file"))
	}
	return lines
}

// split gives a file's lines.
func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// edit is an edit in its place in the file. Where the place isn't known, the old and the new text
// stand alone and have no numbers.
func edit(e agent.Edit, file File) []Line {
	var lines []Line
	places := 0
	if file.Known && e.Old != "" {
		places = strings.Count(file.Text, e.Old)
	}
	if e.Every {
		lines = append(lines, one(Warning, "each place that has the old text"))
	}
	switch {
	case places == 1 || places > 1 && e.Every:
		return append(lines, inPlace(e, file.Text, places)...)
	case file.Known && !file.Exists && e.Old != "":
		lines = append(lines, one(Warning, "there is no such file now"))
	case file.Known && e.Old != "" && places == 0:
		lines = append(lines, one(Warning, "the file does not have the old text now"))
	case places > 1:
		lines = append(lines, one(Warning, fmt.Sprintf("the file has the old text in %d places", places)))
	}
	return append(lines, texts(e)...)
}

// texts are the old and the new text of an edit, without numbers.
func texts(e agent.Edit) []Line {
	var before []string
	if e.Old != "" {
		before = strings.Split(e.Old, "\n")
	}
	return differ(before, strings.Split(e.New, "\n"), 0)
}

// inPlace is an edit at its first place in the file, with whole lines and some around them. Lines
// that the edit names and leaves have the sign =, and those around it a blank. An edit of parts of
// lines is shown by its own text too: the file can be another one by the time the edit is made.
func inPlace(e agent.Edit, text string, places int) []Line {
	at := strings.Index(text, e.Old)
	end := at + len(e.Old)
	from := strings.LastIndex(text[:at], "\n") + 1
	to := len(text)
	if n := strings.Index(text[end:], "\n"); n >= 0 {
		to = end + n
	}
	before := strings.Split(text[from:to], "\n")
	after := strings.Split(text[from:at]+e.New+text[end:to], "\n")
	first := strings.Count(text[:from], "\n") + 1

	var lines []Line
	above := split(text[:from])
	for i, l := range above[max(len(above)-contextLines, 0):] {
		lines = append(lines, signed(' ', first-min(len(above), contextLines)+i, l))
	}
	for _, l := range differ(before, after, first) {
		if l.Sign == ' ' {
			l.Sign = '='
		}
		lines = append(lines, l)
	}
	if below := strings.TrimPrefix(text[to:], "\n"); below != "" {
		rest := strings.SplitN(below, "\n", contextLines+1)
		for i, l := range split(strings.Join(rest[:min(len(rest), contextLines)], "\n")) {
			lines = append(lines, signed(' ', first+len(after)+i, l))
		}
	}
	if places > 1 {
		lines = append(lines, one(Warning, fmt.Sprintf("and so in %d more places", places-1)))
	}
	if at > from || end < to {
		lines = append(append(lines, one(Faint, "only this text:")), texts(e)...)
	}
	return lines
}

// differ gives all lines of two texts: those that both have once. Numbers begin at first; 0 gives
// no numbers.
func differ(before, after []string, first int) []Line {
	var lines []Line
	number := func(i int) int {
		if first == 0 {
			return 0
		}
		return first + i
	}
	old, at := 0, 0
	same := func(until int) {
		for ; old < until; old, at = old+1, at+1 {
			lines = append(lines, signed(' ', number(at), after[at]))
		}
	}
	for _, d := range lcs.DiffLines(before, after) {
		same(d.Start)
		for ; old < d.End; old++ {
			lines = append(lines, signed('-', number(old), before[old]))
		}
		for ; at < d.ReplEnd; at++ {
			lines = append(lines, signed('+', number(at), after[at]))
		}
	}
	same(len(before))
	return lines
}

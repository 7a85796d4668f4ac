package claude

import (
	"path"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/pattern"
)

// file compares the row above a change with the file's path, in full or relative to the session's
// folder. A name that is cut short may be another file's.
func (r *drawnRows) file(d *agent.Dialog, file string) agent.Match {
	if r.cut {
		return agent.PartMatch
	}
	rows, ok := texts(r.above, 1)
	if !ok || len(rows) == 0 {
		return agent.NoMatch
	}
	if len(rows) > 1 || strings.HasPrefix(rows[0], "…") || strings.HasPrefix(rows[0], "~") {
		return agent.PartMatch
	}
	shown := strings.TrimSpace(rows[0])
	switch {
	case shown == file:
		return agent.WholeMatch
	case d.Dir != "" && path.Join(d.Dir, shown) == path.Clean(file): // it may be in another folder, which the agent has changed to
		return agent.AlikeMatch
	case path.Base(shown) != path.Base(file):
		return agent.NoMatch
	}
	return agent.PartMatch // relative to a folder that the agent has changed to, or through a link
}

// diffLine is a line of a change: its sign, and its rows.
type diffLine struct {
	sign byte // '+', '-', or ' ' for an unchanged line
	rows []string
}

// besideFile is the most columns that are free beside a file's lines: 3 in 2.1.197, 1 in 2.1.330.
const besideFile = 3

// gutter matches a line's number.
var gutter = pattern.New(`^ *\d+( |$)`)

// diff reads the lines of a change. ok is false if a row isn't one of them.
func (r *drawnRows) diff(signed bool) (lines []diffLine, width int, ok bool) {
	for _, row := range r.framed {
		number := strings.TrimRight(gutter.FindString(row.Text), " ")
		if at := len(number) + 1; number != "" && (width == 0 || at == width) {
			width = at
			line := diffLine{sign: ' '}
			text := row.Text[min(at, len(row.Text)):]
			if signed && text != "" {
				line.sign, text = text[0], text[1:]
			}
			line.rows = []string{text}
			lines = append(lines, line)
			continue
		}
		if len(lines) == 0 || len(row.Text) < width || strings.TrimSpace(row.Text[:width]) != "" {
			return nil, 0, false
		}
		last, text := &lines[len(lines)-1], row.Text[width:]
		if signed {
			if text == "" || text[0] != last.sign {
				return nil, 0, false
			}
			text = text[1:]
		}
		last.rows = append(last.rows, text)
	}
	for _, l := range lines {
		if !strings.Contains("+- ", string(l.sign)) {
			return nil, 0, false
		}
	}
	return lines, width, true
}

// content compares a new file's lines. Each has its number.
func (r *drawnRows) content(content string) agent.Match {
	lines, width, ok := r.diff(false)
	if !ok {
		return agent.MatchIf(r.cut, agent.PartMatch)
	}
	want := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	if r.cut {
		return agent.PartMatch
	}
	return whole(r.text(nil, width+besideFile), lines, want)
}

// edit compares the removed and the added lines, each with the file's lines around it. They may
// differ only in the two texts.
func (r *drawnRows) edit(before, after string) agent.Match {
	if r.cut {
		return agent.PartMatch
	}
	lines, width, ok := r.diff(true)
	if !ok {
		return agent.MatchIf(len(r.framed) == 1 && strings.TrimSpace(r.framed[0].Text) == "…", agent.PartMatch)
	}
	var old, now []diffLine
	for _, l := range lines {
		if l.sign != '+' {
			old = append(old, l)
		}
		if l.sign != '-' {
			now = append(now, l)
		}
	}
	t := r.text(nil, width+1+besideFile)
	return editOf(t, old, now, strings.Split(before, "\n"), strings.Split(after, "\n"))
}

// editOf searches for the place of the change: before and after it both sides are equal.
func editOf(t drawn.Text, old, now []diffLine, before, after []string) agent.Match {
	best := agent.NoMatch
	for at := 0; at+len(before) <= len(old); at++ {
		rest := len(old) - at - len(before)
		if at+len(after)+rest != len(now) {
			return best // the file's lines between the parts of the change aren't shown
		}
		if !sameLines(old[:at], now[:at]) || !sameLines(old[at+len(before):], now[at+len(after):]) {
			continue
		}
		best = max(best, part(t, old[at:at+len(before)], now[at:at+len(after)], before, after))
	}
	return best
}

func sameLines(a, b []diffLine) bool {
	for i := range a {
		if a[i].sign != ' ' || b[i].sign != ' ' || strings.Join(a[i].rows, "\n") != strings.Join(b[i].rows, "\n") {
			return false
		}
	}
	return true
}

// part compares the lines with those of the change. The first and the last line may have more text
// before and after it.
func part(t drawn.Text, old, now []diffLine, before, after []string) agent.Match {
	if m := both(whole(t, old, before), whole(t, now, after)); m != agent.NoMatch {
		return m
	}
	sure := agent.WholeMatch
	for _, l := range append(append([]diffLine{}, old...), now...) {
		if len(l.rows) > 1 {
			return agent.PartMatch // nothing shows where a line continues in the next row
		}
		t.Rows = l.rows
		sure = both(sure, t.Of(l.rows[0]))
	}
	top, bottom := old[0].rows[0], old[len(old)-1].rows[0]
	for i := range len(top) + 1 {
		if !strings.HasPrefix(top[i:], strings.TrimRight(before[0], " ")) {
			continue
		}
		head := before[len(before)-1]
		if len(before) == 1 {
			head = top[:i] + head
		}
		tail, found := strings.CutPrefix(bottom, head)
		if found && one(old, top[:i], before, tail) && one(now, top[:i], after, tail) {
			return sure
		}
	}
	return agent.NoMatch
}

// one reports whether the rows are those lines. first is the text before the first line, tail the
// text after the last one.
func one(rows []diffLine, first string, lines []string, tail string) bool {
	for i, line := range lines {
		if i == 0 {
			line = first + line
		}
		if i == len(lines)-1 {
			line += tail
		}
		if strings.TrimRight(line, " ") != strings.TrimRight(rows[i].rows[0], " ") {
			return false
		}
	}
	return true
}

// whole compares the lines with the wanted ones. Each line has its number.
func whole(t drawn.Text, lines []diffLine, want []string) agent.Match {
	if len(lines) != len(want) {
		return agent.NoMatch
	}
	m := agent.WholeMatch
	for i, l := range lines {
		t.Rows, t.Ends = l.rows, drawn.AllBroken(l.rows)
		m = both(m, t.Of(want[i]))
	}
	return m
}

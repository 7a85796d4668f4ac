package tui

import (
	"strings"
	"unicode/utf8"

	"berth/terminal"
)

// editor is a text field. Its zero value is empty.
type editor struct {
	text string
	at   int  // the cursor's position in bytes, between two clusters
	one  bool // a single line: no key inserts a line end, and pastes lose theirs
	kept int  // the column to keep while moving over short lines, +1; 0 is none
}

// editLimit is the maximum of bytes, the same as for a message to an agent.
const editLimit = 64 << 10

func newEditor(text string, one bool) *editor { return &editor{text: text, at: len(text), one: one} }

// press handles a key. It returns false if the key has no meaning here.
func (e *editor) press(k Key) bool {
	kept := e.kept
	e.kept = 0
	switch k.Name {
	case "left", "ctrl+b":
		e.at = e.before(e.at)
	case "right", "ctrl+f":
		e.at = e.after(e.at)
	case "home", "ctrl+a":
		e.at = e.lineStart(e.at)
	case "end", "ctrl+e":
		e.at = e.lineEnd(e.at)
	case "up", "down":
		e.kept = kept
		e.vertical(k.Name == "down")
	case "backspace":
		e.remove(e.before(e.at), e.at)
	case "delete", "ctrl+d":
		e.remove(e.at, e.after(e.at))
	case "ctrl+w", "alt+backspace":
		e.remove(e.wordStart(), e.at)
	case "ctrl+u":
		e.remove(e.lineStart(e.at), e.at)
	case "ctrl+k":
		e.remove(e.at, e.lineEnd(e.at))
	case "alt+enter", "ctrl+j":
		if !e.one {
			e.insert("\n")
		}
	case "tab":
		if !e.one {
			e.insert("\t")
		}
	default:
		if k.Text == "" {
			return false
		}
		e.insert(k.Text)
	}
	return true
}

func (e *editor) insert(s string) {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	if e.one {
		s = strings.NewReplacer("\n", " ", "\t", " ").Replace(s)
	}
	if len(e.text)+len(s) > editLimit {
		return
	}
	e.text = e.text[:e.at] + s + e.text[e.at:]
	e.at += len(s)
}

func (e *editor) remove(from, to int) {
	e.text = e.text[:from] + e.text[to:]
	e.at = from
}

// before is the position before the cluster that ends at i.
func (e *editor) before(i int) int {
	if i == 0 {
		return 0
	}
	if e.text[i-1] == '\n' {
		return i - 1
	}
	at := e.lineStart(i)
	for {
		next := e.after(at)
		if next >= i {
			return at
		}
		at = next
	}
}

// after is the position after the cluster that begins at i.
func (e *editor) after(i int) int {
	if i >= len(e.text) {
		return len(e.text)
	}
	cluster, _, _ := terminal.NextCluster(e.text[i:])
	return i + max(len(cluster), 1)
}

func (e *editor) lineStart(i int) int { return strings.LastIndexByte(e.text[:i], '\n') + 1 }

func (e *editor) lineEnd(i int) int {
	if n := strings.IndexByte(e.text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(e.text)
}

func (e *editor) wordStart() int {
	i := e.at
	for i > 0 && isBlank(e.text[:i]) {
		i = e.before(i)
	}
	for i > 0 && !isBlank(e.text[:i]) {
		i = e.before(i)
	}
	return i
}

func isBlank(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r == ' ' || r == '\n' || r == '\t'
}

// vertical moves a line down or up, and keeps the column if the line is long enough.
func (e *editor) vertical(down bool) {
	start := e.lineStart(e.at)
	if e.kept == 0 {
		e.kept = terminal.StringWidth(e.text[start:e.at]) + 1
	}
	switch {
	case down && e.lineEnd(e.at) < len(e.text):
		start = e.lineEnd(e.at) + 1
	case !down && start > 0:
		start = e.lineStart(start - 1)
	default:
		return
	}
	at := start
	for used := 0; at < e.lineEnd(start); {
		cluster, _, w := terminal.NextCluster(e.text[at:])
		if used+w > e.kept-1 {
			break
		}
		at, used = at+len(cluster), used+w
	}
	e.at = at
}

// row is the part of the text in one row.
type row struct{ from, to int }

// rows breaks the text into rows of at most width columns, and returns the cursor's row and column.
func (e *editor) rows(width int) (list []row, line, col int) {
	width = max(width, 2)
	from, used := 0, 0
	for i := 0; i <= len(e.text); {
		if i == e.at {
			line, col = len(list), used
		}
		if i == len(e.text) {
			break
		}
		cluster, _, w := terminal.NextCluster(e.text[i:])
		switch {
		case cluster[0] == '\n':
			list = append(list, row{from, i})
			from, used = i+1, 0
			i++
			continue
		case cluster[0] < 0x20:
			w = 1 // drawn as its control picture
		}
		if used+w > width {
			list = append(list, row{from, i})
			from, used = i, 0
			if i == e.at {
				line, col = len(list), 0
			}
		}
		used += w
		i += len(cluster)
	}
	return append(list, row{from, len(e.text)}), line, col
}

// draw draws the text in an area, with the cursor in view.
func (e *editor) draw(a area, st terminal.Style) {
	list, line, col := e.rows(a.w - 1)
	top := max(line-a.h+1, 0)
	for y := range a.h {
		if top+y < len(list) {
			r := list[top+y]
			a.text(0, y, -1, st, e.text[r.from:r.to])
		}
	}
	a.Frame.cursor = terminal.Cursor{Row: a.y + line - top, Col: min(a.x+col, a.cols-1), Visible: true}
}

package tui

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"berth/terminal"
)

// labels are the names of the fields, and what is drawn in an empty one.
var labels = map[string]struct{ label, hint string }{
	"what":    {"Start", ""},
	"command": {"Command", "such as make test; empty is a shell"},
	"folder":  {"Folder", "the home folder"},
	"tree":    {"Worktree", ""},
	"branch":  {"Branch", "a new one, berth/NAME"},
	"name":    {"Name", "optional"},
	"message": {"Message", "the first message, optional"},
	"tags":    {"Tags", "optional"},
}

// Measures of the form.
const (
	startCols    = 76 // its greatest width
	labelCols    = 10
	messageRows  = 4 // the most rows of a message
	suggestsRows = 3 // rows for what may be typed
)

// drawStart draws the form over the list.
func (m *Model) drawStart(a area) {
	f := m.start
	w := min(a.w, startCols)
	list := f.shown()
	rows := map[string]int{}
	h := 2 + suggestsRows
	for _, name := range list {
		rows[name] = 1
		if name == "message" {
			lines, _, _ := f.fields[name].rows(w - labelCols - 4)
			rows[name] = min(len(lines), messageRows)
		}
		h += rows[name]
	}
	h = min(h, a.h)
	box := a.part((a.w-w)/2, max((a.h-h)/3, 0), w, h)
	m.drawBox(box, "New session")
	in := box.part(1, 1, w-2, h-2)
	if f.agents == nil {
		in.text(1, 0, -1, m.theme.style(faint), "Looking for agents"+m.ellipsis())
		return
	}
	// With few rows the focused field and what it suggests stay in view.
	y, below := 0, suggestsRows
	for i, name := range list {
		if i <= f.at {
			y += rows[name]
		}
	}
	y = min(0, in.h-below-y)
	for i, name := range list {
		if y >= 0 {
			m.drawStartField(in.part(0, y, in.w, rows[name]), name, i == f.at)
		}
		y += rows[name]
	}
	m.drawSuggestions(in.part(labelCols+1, max(y, in.h-suggestsRows), in.w-labelCols-1, suggestsRows))
}

// drawBox clears an area and draws a frame with a title around it.
func (m *Model) drawBox(a area, title string) {
	st := m.theme.style(accent)
	for y := range a.h {
		a.fill(y, m.theme.style(plain))
		a.put(0, y, 1, st, a.glyph("│", "|"))
		a.put(a.w-1, y, a.w, st, a.glyph("│", "|"))
	}
	for y, ends := range map[int][2]string{0: {"┌", "┐"}, a.h - 1: {"└", "┘"}} {
		a.line(y, st)
		a.put(0, y, 1, st, a.glyph(ends[0], "+"))
		a.put(a.w-1, y, a.w, st, a.glyph(ends[1], "+"))
	}
	a.text(2, 0, a.w-2, st, " "+title+" ")
}

func (m *Model) drawStartField(a area, name string, focused bool) {
	t, f := m.theme, m.start
	label := faint
	if focused {
		label = accent
		a.text(0, 0, 1, t.style(accent), a.glyph("▌", ">"))
	}
	a.text(1, 0, labelCols, t.style(label), labels[name].label)
	value := a.part(labelCols+1, 0, a.w-labelCols-1, a.h)
	switch name {
	case "what":
		all := f.choices()
		x := value.text(0, 0, -1, t.style(plain), f.label(f.chosen))
		if len(all) > 1 {
			value.text(x+2, 0, -1, t.style(faint), fmt.Sprintf("%d of %d", slices.Index(all, f.chosen)+1, len(all)))
		}
		return
	case "tree":
		text, of := f.treeText()
		value.text(0, 0, -1, t.style(of), text)
		return
	}
	e := f.fields[name]
	hint := labels[name].hint
	if name == "folder" && f.profile() != "" {
		hint = "the profile's folder"
	}
	switch {
	case e.text == "":
		value.text(0, 0, -1, t.style(faint), hint)
		if focused {
			e.draw(value, t.style(plain))
		}
	case focused:
		of := t.style(plain)
		if name == "folder" && f.untyped {
			of = t.selected(of)
		}
		e.draw(value, of)
	default:
		first, _, more := strings.Cut(e.text, "\n")
		if more {
			first += m.ellipsis()
		}
		if name == "folder" && terminal.StringWidth(first) > value.w { // its end says most
			for terminal.StringWidth(first) > value.w-1 {
				_, first, _ = terminal.NextCluster(first)
			}
			first = a.ellipsis() + first
		}
		value.text(0, 0, -1, t.style(plain), first)
	}
}

// treeText says whether the session gets a worktree.
func (f *starting) treeText() (string, tone) {
	switch {
	case f.profile() != "" && f.addTree, f.inTree():
		return "yes: own folder and branch", plain
	case f.profile() != "":
		return "as the profile says", plain
	case f.known == nil || *f.known != f.question():
		return "", faint
	case f.unknown:
		return "not known: the folder doesn't answer", waits
	case !f.folders.Exists:
		return "no: there is no such folder", waits
	case !f.folders.Repo:
		return "no: the folder isn't in a git repository", faint
	}
	return "no: it works in the folder itself", plain
}

// drawSuggestions draws what the focused field takes.
func (m *Model) drawSuggestions(a area) {
	t, f := m.theme, m.start
	var texts []string
	switch f.field() {
	case "what":
		for i, key := range f.choices() {
			texts = append(texts, fmt.Sprintf("%d %s", i+1, f.label(key)))
		}
	case "tree":
		texts = []string{"left and right choose"}
	case "folder":
		switch {
		case f.untyped && len(f.recent) > 1:
			texts = []string{fmt.Sprintf("left and right: %d recent folders", len(f.recent))}
		case f.untyped:
			texts = []string{"type a folder; tab completes it"}
		default:
			for _, one := range f.folders.Found {
				texts = append(texts, path.Base(one.Path)+"/")
			}
		}
	case "message":
		texts = []string{"alt-enter makes a new line"}
	}
	x, y := 0, 0
	for i, text := range texts {
		if w := terminal.StringWidth(text); x > 0 && x+w > a.w {
			x, y = 0, y+1
		}
		of := faint
		if f.field() == "folder" && !f.untyped && f.folders.Found[i].Repo {
			of = accent
		}
		if y == a.h-1 && i < len(texts)-1 && x+terminal.StringWidth(text)+6 > a.w {
			a.text(x, y, -1, t.style(faint), fmt.Sprintf("+%d", len(texts)-i))
			return
		}
		x = a.text(x, y, -1, t.style(of), text) + 2
	}
}

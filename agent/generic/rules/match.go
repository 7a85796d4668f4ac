package rules

import (
	"slices"
	"strings"

	"berth/agent"
)

// longest is how much of a row the patterns see, in bytes. A terminal may be 1,000 columns wide.
const longest = 1200

// labelMost is the longest label of an option, in characters. A longer one is cut, and its prompt
// counts as not shown whole.
const labelMost = 200

// drawnMost is the most options that are read from a screen. A prompt with more counts as not shown
// whole.
const drawnMost = 40

// Seen is what rules read from a screen.
type Seen struct {
	Prompt  *Asked
	Working string // the row or title that shows it; empty without one
	Failed  *Failed
	Idle    *Composer
}

// Asked is a prompt on the screen.
type Asked struct {
	rule                     *rule
	Name, Type               string
	Title, Text, Tool, Input string
	Rows                     []string // all rows that the fields above don't show whole, and the text's own row
	Typed                    string
	Options                  []Drawn
	Whole                    bool // with all its options
	Cut                      bool // a row or a label is longer than the patterns see
	Lines                    []string
}

// Drawn is an option of a prompt.
type Drawn struct {
	Label   string
	Key     string // the key that its row shows
	Focused bool
}

// Failed is an error on the screen.
type Failed struct{ Class, Text string }

// Composer is the place for a message, with the typed text if the rule has a group for it.
type Composer struct {
	Row    int
	Draft  string
	Shows  bool // the rule has a group for the typed text
	Hidden bool // the text is dim: a placeholder
}

// Screen reads a screen. A prompt comes before all else; working comes before idle.
func (c *Compiled) Screen(v *agent.View) Seen {
	s := page(v, c.Set.Rows)
	var seen Seen
	for _, r := range c.prompt {
		if at, ok := s.match(r); ok {
			seen.Prompt = s.asked(r, at)
			return seen
		}
	}
	for _, r := range c.fault {
		if at, ok := s.match(r); ok {
			seen.Failed = &Failed{Class: r.Class, Text: s.shows(at)}
			break
		}
	}
	for _, r := range c.working {
		if at, ok := s.match(r); ok {
			seen.Working = s.shows(at)
			return seen
		}
	}
	for _, r := range c.idle {
		if at, ok := s.match(r); ok {
			seen.Idle = s.composer(at)
			return seen
		}
	}
	return seen
}

// sheet is the part of a screen that rules read.
type sheet struct {
	view *agent.View
	from int // the screen's row of rows[0]
	rows []string
	cut  []bool // for each row: the patterns don't see all of it
}

// page returns the lowest rows of the screen that aren't blank at its end.
func page(v *agent.View, most int) *sheet {
	last := len(v.Lines)
	for last > 0 && strings.TrimSpace(v.Lines[last-1].Text) == "" {
		last--
	}
	s := &sheet{view: v, from: max(last-most, 0)}
	for _, row := range v.Lines[s.from:last] {
		text, long := row.Text, len(row.Text) > longest
		if long {
			text = strings.ToValidUTF8(text[:longest], "")
		}
		s.rows, s.cut = append(s.rows, text), append(s.cut, long)
	}
	return s
}

// hit is the place where a rule's patterns matched.
type hit struct {
	first int // the first row, counted in the sheet
	rows  []int
	at    [][]int // for each pattern, as regexp returns it
	rule  *rule
}

// match finds a row for each of the rule's lines, in order from top to bottom. It takes the lowest
// possible first row.
func (s *sheet) match(r *rule) (hit, bool) {
	h := hit{rule: r, first: len(s.rows)}
	if r.osc != nil || r.title != nil && !r.title.MatchString(s.view.Title) {
		return h, false
	}
	if len(r.lines) == 0 {
		return h, true
	}
	top := 0
	if r.Within > 0 {
		top = max(len(s.rows)-r.Within, 0)
	}
	for i := len(s.rows) - 1; i >= top; i-- {
		if !r.lines[0].MatchString(s.rows[i]) {
			continue
		}
		if h.rows, h.at = s.follow(r.lines, i); h.rows != nil {
			h.first = i
			return h, true
		}
	}
	return h, false
}

func (s *sheet) follow(lines []*matcher, row int) (rows []int, at [][]int) {
	for _, re := range lines {
		var m []int
		for ; row < len(s.rows) && m == nil; row++ {
			m = re.find(s.rows[row])
		}
		if m == nil {
			return nil, nil
		}
		rows, at = append(rows, row-1), append(at, m)
	}
	return rows, at
}

// group returns the text of the first group with that name that matched.
func (s *sheet) group(h hit, name string) (text string, row, from int, ok bool) {
	for i, re := range h.rule.lines {
		if n := re.SubexpIndex(name); n >= 0 && h.at[i][2*n] >= 0 {
			return s.rows[h.rows[i]][h.at[i][2*n]:h.at[i][2*n+1]], h.rows[i], h.at[i][2*n], true
		}
	}
	return "", 0, 0, false
}

// shows is the row that the rule's last line matched, or the title.
func (s *sheet) shows(h hit) string {
	if len(h.rows) == 0 {
		return strings.TrimSpace(s.view.Title)
	}
	return strings.TrimSpace(s.rows[h.rows[len(h.rows)-1]])
}

func (s *sheet) composer(h hit) *Composer {
	draft, row, from, ok := s.group(h, GroupDraft)
	c := &Composer{Row: s.from + row, Shows: ok}
	for i := row + 1; ok && i < len(s.rows) && s.from+i <= s.view.Cursor.Row; i++ {
		draft += "\n" + s.rows[i] // the typed text continues to the cursor's row
	}
	c.Draft = strings.TrimSpace(draft)
	if ok && c.Draft != "" {
		c.Hidden = s.view.Lines[c.Row].Dim(from)
	}
	return c
}

func (s *sheet) asked(r *rule, h hit) *Asked {
	text := func(name string) string { t, _, _, _ := s.group(h, name); return strings.TrimSpace(t) }
	a := &Asked{
		rule: r, Name: r.name, Type: r.Type, Title: text(GroupTitle), Text: text(GroupText), Tool: text(GroupTool), Input: text(GroupInput),
		Typed: text(GroupTyped), Whole: true,
	}
	a.Lines = slices.Clone(s.rows)
	above, whole := s.above(h)
	a.Rows = append(above, s.shown(h)...)
	a.Cut = slices.Contains(s.cut, true) || s.begun(h) || !whole
	for _, o := range r.Options {
		a.Options = append(a.Options, Drawn{Label: o.Label})
	}
	if r.option != nil {
		if a.Options = s.drawn(r, h.first); len(a.Options) > drawnMost { // the prompt's text can draw so many rows like options that the prompt's own are beyond the limit
			a.Options, a.Cut = a.Options[:drawnMost], true
		}
		a.Whole = len(a.Options) > 0
		for i := range a.Options {
			o := &a.Options[i]
			if r := []rune(o.Label); len(r) > labelMost {
				o.Label, a.Cut = string(r[:labelMost]), true
			}
		}
	}
	return a
}

// frame are the characters of a box that a row is in, and blanks.
const frame = " ─━│┃┄┅┆┇┈┉┊┋┌┍┎┏┐┑┒┓└┕┖┗┘┙┚┛├┝┞┟┠┡┢┣┤┥┦┧┨┩┪┫┬┭┮┯┰┱┲┳┴┵┶┷┸┹┺┻┼┽┾┿╀╁╂╃╄╅╆╇╈╉╊╋═║╒╓╔╕╖╗╘╙╚╛╜╝╞╟╠╡╢╣╤╥╦╧╨╩╪╫╬╭╮╯╰╱╲╳╴╵╶╷╸╹╺╻▀▄█▌▐░▒▓"

// drawn returns the options from a row on, at most one more than drawnMost. A row may have several
// options, like a row of buttons.
func (s *sheet) drawn(r *rule, first int) []Drawn {
	var list []Drawn
	label, key, focus := r.option.SubexpIndex(GroupLabel), r.option.SubexpIndex(GroupKey), r.option.SubexpIndex(GroupFocus)
	part := func(row string, m []int, n int) string {
		if n < 0 || m[2*n] < 0 {
			return ""
		}
		return strings.TrimSpace(row[m[2*n]:m[2*n+1]])
	}
	for i := min(first, len(s.rows)); i < len(s.rows); i++ {
		row := s.rows[i]
		for _, m := range r.option.FindAllStringSubmatchIndex(row, drawnMost+1) {
			o := Drawn{Label: part(row, m, label), Key: part(row, m, key)}
			switch r.Choose.Focus {
			case FocusGroup:
				o.Focused = part(row, m, focus) != ""
			case FocusCursor:
				o.Focused = s.cursorIn(i, m[0], m[1])
			case FocusInverse:
				o.Focused = s.inverseIn(i, m[0], m[1])
			}
			if o.Label != "" && len(list) <= drawnMost {
				list = append(list, o)
			}
		}
	}
	return list
}

package claude

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/terminal"
)

// drawnRows are the rows of a dialog by where they are: newer versions frame what
// the tool would do with dashes, older ones do so with files alone.
type drawnRows struct {
	above, framed, below []agent.DrawnRow
	dashes, cols         int
	cut                  bool
}

func readDrawn(d *agent.Dialog) *drawnRows {
	r := &drawnRows{cols: d.Cols, cut: d.Cut}
	for _, row := range d.Rows {
		switch {
		case isDashes(row.Text):
			r.dashes++
		case r.dashes == 0:
			r.above = append(r.above, row)
		case r.dashes == 1:
			r.framed = append(r.framed, row)
		default:
			r.below = append(r.below, row)
		}
	}
	if r.cut && r.dashes == 1 { // the upper ones have no room
		r.above, r.framed, r.below, r.dashes = nil, r.above, r.framed, 2
	}
	return r
}

// texts are the rows without an indent of that many columns, and without blank rows
// before and after them. ok is false when a row has less of it.
func texts(rows []agent.DrawnRow, indent int) (out []string, ok bool) {
	for _, row := range rows {
		text, has := strings.CutPrefix(row.Text, strings.Repeat(" ", indent))
		if !has && strings.TrimSpace(row.Text) != "" {
			return nil, false
		}
		if text != "" || len(out) > 0 {
			out = append(out, text)
		}
	}
	return out, true
}

func (r *drawnRows) text(rows []string, beside int) drawn.Text {
	return drawn.Text{Rows: rows, Width: r.cols - beside, Cut: r.cut}
}

// defaultDescription is drawn for a command that has none.
const defaultDescription = "Run shell command"

// described says whether the rows are a command's description.
func (r *drawnRows) described(rows []string, beside int, description string) agent.Match {
	t := r.text(rows, beside)
	t.Cut = false
	if description == "" && len(rows) == 0 {
		return agent.WholeMatch
	}
	if description == "" {
		description = defaultDescription
	}
	return t.Of(description)
}

func (r *drawnRows) command(command, description string) agent.Match {
	if r.dashes >= 2 {
		m := r.holds(command, true)
		if m < agent.AlikeMatch {
			return m
		}
		above, ok := texts(untipped(r.above), 1)
		if !ok {
			return agent.PartMatch
		}
		return both(m, max(r.described(above, besideQuestion, description), agent.PartMatch))
	}
	return r.plainCommand(command, description)
}

// setsApart says that a command is told from its description.
func (r *drawnRows) setsApart() bool {
	_, _, _, sure := r.plain()
	return r.dashes >= 2 || sure
}

// plain are the rows of a command and its description; border is where the description begins, if
// that is sure. below are those of a warning of Claude's own, which is not indented.
func (r *drawnRows) plain() (content, below []agent.DrawnRow, border int, sure bool) {
	content = r.above
	for n := len(content); n > 0; n = len(content) {
		if text := content[n-1].Text; strings.TrimSpace(text) != "" && strings.HasPrefix(text, "   ") {
			break
		}
		content = content[:n-1]
	}
	below = r.above[len(content):]
	for len(content) > 0 && (strings.TrimSpace(content[0].Text) == "" || r.cut && !strings.HasPrefix(content[0].Text, "   ")) {
		content = content[1:]
	}
	border, sure = colorBorder(content)
	return content, below, border, sure
}

// plainCommand: the description is below the command, and of another color. Without
// colors a command of more lines looks the same as a shorter one with a description,
// and it is not known which it is.
func (r *drawnRows) plainCommand(command, description string) agent.Match {
	content, _, border, sure := r.plain()
	all, ok := texts(content, 3)
	if !ok {
		return agent.NoMatch
	}
	if r.cut {
		return both(r.text(all, besideIndented).Of(command+"\n"+description), agent.PartMatch)
	}
	of := func(rows []string) agent.Match {
		t := r.text(rows, besideIndented)
		t.Shell = true
		return t.Of(command)
	}
	if sure {
		m := of(all[:border])
		if m < agent.AlikeMatch {
			return agent.NoMatch
		}
		return both(m, max(r.described(all[border:], besideIndented, description), agent.PartMatch))
	}
	for border := len(all); border > 0; border-- {
		if of(all[:border]) >= agent.AlikeMatch && r.described(all[border:], besideIndented, description) >= agent.AlikeMatch {
			return agent.PartMatch
		}
	}
	return agent.NoMatch
}

// colorBorder is the first row of another color; ok only where there are two colors,
// and each row has one.
func colorBorder(rows []agent.DrawnRow) (border int, ok bool) {
	for i, row := range rows {
		switch {
		case !row.OneColor:
			return 0, false
		case strings.TrimSpace(row.Text) == "":
		case border == 0 && row.Color != rows[0].Color:
			border = i
		case border > 0 && row.Color != rows[border].Color:
			return 0, false
		}
	}
	return border, border > 0
}

// bar begins each row of a long line in the frame, at every width of the screen. Lines of 89
// columns and more have it, lines of 77 columns don't (2.1.330). It also begins each row of a
// command of several lines, empty lines included.
const (
	bar       = "│ "
	mostPlain = 88 // columns that a line without a bar has at the most
)

// unbar takes the bar off a row. The row of an empty line is the bar alone.
func unbar(row string) (text string, barred bool) {
	if row == strings.TrimRight(bar, " ") {
		return "", true
	}
	return strings.CutPrefix(row, bar)
}

// unbarred takes the bars off, and says what the rows' ends are: a line has its bar in
// each row or in none, and one without is short.
func unbarred(rows []string) (out []string, ends []drawn.End, found bool) {
	out, ends = slices.Clone(rows), make([]drawn.End, len(rows))
	for i, row := range rows {
		var barred bool
		out[i], barred = unbar(row)
		found = found || barred
		if i == 0 {
			continue
		}
		if _, before := unbar(rows[i-1]); barred != before || !barred && terminal.StringWidth(rows[i-1])+terminal.StringWidth(row) > mostPlain {
			ends[i-1] = drawn.Line
		}
	}
	return out, ends, found
}

// holds says whether the frame holds the text. With bars it may hold one that has them
// itself.
func (r *drawnRows) holds(text string, shell bool) agent.Match {
	rows, ok := texts(r.framed, 1)
	if !ok {
		return agent.NoMatch
	}
	t := r.text(rows, besideInput)
	t.Shell = shell
	own := t.Of(text)
	bare, ends, barred := unbarred(rows)
	t.Rows, t.Ends = bare, ends
	if !barred {
		return t.Of(text)
	}
	return both(max(own, t.Of(text)), agent.AlikeMatch)
}

// untipped takes the advertisement off.
func untipped(rows []agent.DrawnRow) []agent.DrawnRow {
	for i, row := range rows {
		if !strings.HasPrefix(strings.TrimSpace(row.Text), tipBegins) {
			if strings.TrimSpace(row.Text) == "" {
				continue
			}
			return rows
		}
		for k := i; k < len(rows); k++ {
			if strings.HasSuffix(strings.TrimSpace(rows[k].Text), tipEnds) {
				return rows[k+1:]
			}
		}
	}
	return rows
}

// fetch: the address and what is asked of the page.
func (r *drawnRows) fetch(url, prompt string) agent.Match {
	if strings.Contains(url, `"`) || strings.Contains(prompt, `", prompt: "`) || strings.Contains(url+prompt, "\nprompt: ") {
		return agent.PartMatch // where one ends and the other begins cannot be seen
	}
	host := url
	if _, rest, ok := strings.Cut(url, "://"); ok {
		host, _, _ = strings.Cut(rest, "/")
	}
	says := "Claude wants to fetch content from " + host
	if r.dashes >= 2 {
		return r.holds("url: "+url+"\nprompt: "+prompt, false)
	}
	rows, ok := texts(r.above, 3)
	if !ok {
		return agent.NoMatch
	}
	return r.text(rows, besideIndented).Of(`url: "` + url + `", prompt: "` + prompt + "\"\n" + says)
}

// sectionsOf are the parts of a dialog that don't depend on the screen's size: what it is
// about, the file or the description of the command, and the question. On a small screen the
// file or description is dropped first.
func sectionsOf(d *agent.Dialog) []string {
	r := readDrawn(d)
	about, described := r.framed, untipped(r.above)
	if r.dashes < 2 {
		about, described = r.above, nil
		if content, _, border, sure := r.plain(); sure {
			about, described = content[:border], content[border:]
		}
	}
	says := joined(rowsOf(described), d.Cols)
	if r.dashes >= 2 && (d.Tool == "Edit" || d.Tool == "Write") {
		says = d.Asked
	}
	rows := rowsOf(about)
	for i, row := range rows {
		rows[i] = strings.TrimRight(row, " ")
	}
	return []string{strings.Join(rows, "\n"), says, d.Question}
}

// rowsOf returns the texts of rows.
func rowsOf(rows []agent.DrawnRow) []string {
	all := make([]string, len(rows))
	for i, row := range rows {
		all[i] = row.Text
	}
	return all
}

// usualQuestions are asked below what a tool would do, and say nothing about it.
var usualQuestions = []string{"Do you want to proceed?", "Do you want to allow Claude to fetch this content?"}

// besideAsked is what a permission's dialog says beside its subject, by names and in quotes: a
// command's description, what is below the command, and a question in other words than usual.
func besideAsked(d *agent.Dialog) string {
	var lines []string
	add := func(name, text string) {
		if text = flat(text); text != "" {
			lines = append(lines, fmt.Sprintf("%s: %q", name, text))
		}
	}
	if r := readDrawn(d); d.Tool == "Bash" && r.setsApart() {
		description, below := untipped(r.above), r.below
		if r.dashes < 2 {
			content, warning, border, _ := r.plain()
			description, below = content[border:], warning
		}
		add("description", joined(rowsOf(description), d.Cols))
		add("note", joined(rowsOf(below), d.Cols))
	}
	file := asksFile.FindStringSubmatch(d.Question)
	if !slices.Contains(usualQuestions, d.Question) && (file == nil || path.Base(file[1]) != path.Base(d.Asked)) {
		add("question", d.Question)
	}
	return strings.Join(lines, "\n")
}

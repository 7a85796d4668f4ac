package claude

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/terminal"
)

// drawnRows are a dialog's rows by their position. Newer versions put dashes around what the tool
// would do; older ones do that only for files.
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
	if r.cut && r.dashes == 1 { // the upper dashes have no room
		r.above, r.framed, r.below, r.dashes = nil, r.above, r.framed, 2
	}
	return r
}

// texts returns the rows without an indent of that many columns, and without blank rows at the
// start and the end. ok is false when a row is indented less.
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

// undrawn is the character that 2.1.330 doesn't draw in what a tool would do: the variation
// selector that makes an emoji of the character before it.
const undrawn = "\ufe0f"

func (r *drawnRows) text(rows []string, beside int) drawn.Text {
	return drawn.Text{Rows: rows, Width: r.cols - beside, Cut: r.cut, Undrawn: undrawn}
}

// defaultDescription is drawn for a command without a description.
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
		shown := r.described(above, besideQuestion, description)
		if bare, _, barred := unbarred(above); barred { // the description itself may have a bar
			shown = both(max(shown, r.described(bare, besideInput, description)), agent.AlikeMatch)
		}
		return both(m, max(shown, agent.PartMatch))
	}
	return r.plainCommand(command, description)
}

// setsApart reports whether the dialog separates a command from its description.
func (r *drawnRows) setsApart() bool {
	_, _, _, sure := r.plain()
	return r.dashes >= 2 || sure
}

// plain returns the rows of a command and its description. border is where the description starts,
// if that is sure. below are the rows of a warning of Claude's own, which isn't indented.
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

// plainCommand: the description is below the command, in another color. Without colors a command of
// several lines looks the same as a shorter one with a description, and nothing shows which it is.
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

// colorBorder is the first row of the second color. ok is true only if there are two colors and
// each row has one.
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

// bar starts each row of a long line in the frame, at every width of the screen. Lines of 89
// columns and more have it, lines of 77 columns don't (2.1.330). It also starts each row of a
// command of several lines, empty lines included.
const (
	bar       = "│ "
	mostPlain = 88 // the most columns of a line without a bar
)

// unbar removes the bar from a row. The row of an empty line is the bar alone.
func unbar(row string) (text string, barred bool) {
	if row == strings.TrimRight(bar, " ") {
		return "", true
	}
	return strings.CutPrefix(row, bar)
}

// unbarred removes the bars, and says what the rows' ends are: a line has its bar in each row or in
// none, and a line without one is short.
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

// holds says whether the frame has the text. In a frame with bars the text may contain bars of its
// own.
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

// untipped removes the advertisement.
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

// fetch compares the address and the question about the page.
func (r *drawnRows) fetch(url, prompt string) agent.Match {
	if strings.Contains(url, `"`) || strings.Contains(prompt, `", prompt: "`) || strings.Contains(url+prompt, "\nprompt: ") {
		return agent.PartMatch // nothing shows where one ends and the other starts
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

// drawnOfCall are the fields that a tool's dialog draws, or that only describe the call.
var drawnOfCall = map[string][]string{
	"Bash": {"command", "description"}, "Edit": {"file_path", "old_string", "new_string"}, "Write": {"file_path", "content"},
	"WebFetch": {"url", "prompt"}, toolPlan: {"plan", "planFilePath"}, toolQuestion: {"questions"},
}

// LoggedCall: the dialogs of tools without a title of their own may hide any field. That of a
// server's tool draws the whole input, but may have a name that the server chose, and has no room after tabs in
// the names of fields.
func (d Driver) LoggedCall(dialog *agent.Dialog, tool string, input json.RawMessage) (shown agent.Match, undrawn string) {
	if tool == "Bash" && dialog.Tool == tool && !dialog.Cut && !begun(dialog, linesOf(tool, input)) {
		return agent.NoMatch, "" // as the comparison would say, in less time
	}
	shown = d.Match(dialog, request(tool, input, ""))
	const server = "mcp__"
	switch served := strings.HasPrefix(tool, server); {
	case tool == "Bash" && dialog.Tool == "Edit": // see editsBySed
		return shown, "tool: " + tool + "\n" + beside(input, "description")
	case served && shown < agent.AlikeMatch && mayServe(dialog, input):
		return agent.PartMatch, "tool: " + tool + "\ninput: " + agent.Compact(input)
	case served && shown == agent.NoMatch && strings.HasPrefix(dialog.Tool, server):
		return agent.PartMatch, strings.TrimSuffix("tool: "+tool+"\n"+beside(input), "\n")
	case served:
		return shown, ""
	case shown == agent.PartMatch && !dialog.Cut && (tool == toolQuestion || overflows(input, dialog.Cols)):
		return agent.NoMatch, ""
	}
	drawn := drawnOfCall[tool]
	if tool == "Write" && dialog.Title == overwrites {
		drawn = []string{"file_path"} // it draws what changes, and any process can draw another change of the file
	}
	undrawn = beside(input, drawn...)
	if tool == "Edit" || tool == "Bash" {
		undrawn = strings.TrimPrefix(undrawn+"\n"+unshown(tool, input), "\n")
	}
	return shown, strings.TrimSuffix(undrawn, "\n")
}

// overflows reports whether a file's new text has a line with tabs that may have no room in a row.
// 2.1.197 counts no columns for a tab, and doesn't draw what is beyond the row's end.
func overflows(input json.RawMessage, cols int) bool {
	in, err := agent.ReadInput(input)
	if err != nil {
		return true
	}
	for _, field := range []string{"new_string", "content"} {
		text, _ := in.Text(field) // nil if there is none
		for line := range strings.Lines(agent.Value(text)) {
			if strings.Contains(line, "\t") && terminal.StringWidth(strings.ReplaceAll(line, "\t", "        ")) > cols-besideIndented-besideInput {
				return true
			}
		}
	}
	return false
}

// usualQuestions are asked below what a tool would do, and say nothing about it.
var usualQuestions = []string{"Do you want to proceed?", "Do you want to allow Claude to fetch this content?"}

// Names of what a dialog says beside its subject.
const (
	saidNote     = "note: "
	saidQuestion = "question: "
)

// untitled is in the text of a prompt whose dialog was first drawn without its title.
const untitled = "the dialog's title has no room: any tool may ask this, and a subagent may"

// besideAsked is what a permission's dialog says beside its subject, by names and in quotes: a
// command's description, what is below the command, and a question in other words than usual.
func besideAsked(d *agent.Dialog) string {
	var lines []string
	if d.Title == "" {
		lines = append(lines, untitled)
	}
	if r := readDrawn(d); d.Tool == "Bash" && r.setsApart() {
		description := untipped(r.above)
		if r.dashes < 2 {
			content, _, border, _ := r.plain()
			description = content[border:]
		}
		lines = append(lines, quoted("description: ", r.words(description))...)
		lines = append(lines, quoted(saidNote, r.note(d))...)
	}
	file := asksFile.FindStringSubmatch(d.Question)
	if !slices.Contains(usualQuestions, d.Question) && (file == nil || path.Base(file[1]) != path.Base(d.Asked)) {
		lines = append(lines, quoted(saidQuestion, d.Question)...)
	}
	return strings.Join(lines, "\n")
}

// quoted is one line with the text, or none without a text.
func quoted(name, text string) []string {
	if text = flat(text); text == "" {
		return nil
	}
	return []string{name + strconv.Quote(text)}
}

// words are the rows of a text for a person as one line, without bars.
func (r *drawnRows) words(rows []agent.DrawnRow) string {
	all := rowsOf(rows)
	for i, row := range all {
		all[i], _ = unbar(strings.TrimSpace(row))
	}
	return joined(all, r.cols-besideInput)
}

// note is what Claude itself says below what the tool would do, such as why it asks.
func (r *drawnRows) note(d *agent.Dialog) string {
	switch {
	case d.Cut:
		return ""
	case r.dashes >= 2:
		return r.words(r.below)
	case d.Tool == "Bash":
		_, below, _, _ := r.plain()
		return r.words(below)
	}
	return ""
}

// said is what the dialog says that no hook reports: its note, and a command's question in other
// words than usual.
func said(d *agent.Dialog) []string {
	lines := quoted(saidNote, readDrawn(d).note(d))
	if d.Tool == "Bash" && !slices.Contains(usualQuestions, d.Question) {
		lines = append(lines, quoted(saidQuestion, d.Question)...)
	}
	return lines
}

// asksAbout reports whether the dialog shows the whole call of a reported prompt, whatever else it
// says. One that shows a part of the call may be another call's.
func asksAbout(d *agent.Dialog, r *agent.Request) bool {
	usual := *d
	usual.Question = usualQuestions[0]
	return matchCall(&usual, r) > agent.PartMatch
}

// fillSaid puts what the dialog says beside its subject into a prompt that a hook reported.
func fillSaid(r *agent.Request, d *agent.Dialog) {
	lines := textLines(r)
	for _, line := range said(d) {
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	r.Text = agent.Pointer(strings.Join(lines, "\n"))
}

// saysElse says whether the dialog says something else beside its subject than the prompt has shown.
// A prompt whose dialog has not been seen yet has shown nothing of it.
func saysElse(d *agent.Dialog, p *agent.Request) bool {
	if d.Cut {
		return false
	}
	now, lines := said(d), textLines(p)
	gone := func(line string) bool {
		return (strings.HasPrefix(line, saidNote) || strings.HasPrefix(line, saidQuestion)) && !slices.Contains(now, line)
	}
	anew := func(line string) bool { return !slices.Contains(lines, line) }
	return slices.ContainsFunc(lines, gone) || !p.OptionsFallback && slices.ContainsFunc(now, anew)
}

// textLines are the lines of the prompt's text; none without one.
func textLines(p *agent.Request) []string {
	if p.Text == nil {
		return nil
	}
	return strings.Split(*p.Text, "\n")
}

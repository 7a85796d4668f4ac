package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
)

// Match says how much of what a prompt asks about the dialog shows.
func (Driver) Match(d *agent.Dialog, p *agent.Request) agent.Match {
	if d.Type != p.Type || d.Subtype != deref(p.Subtype) {
		return agent.NoMatch
	}
	switch p.Type {
	case agent.PromptQuestion:
		return matchQuestion(d, p)
	case agent.PromptSetup, agent.PromptNotice:
		return when(p.Title == nil || deref(p.Title) == d.Title, agent.WholeMatch)
	case agent.PromptForm:
		same := p.Title == nil || squeeze(deref(p.Title)) == squeeze(d.Title)
		return when(same && strings.HasPrefix(squeeze(d.Body), squeeze(deref(p.Text))), agent.WholeMatch)
	case agent.PromptPlan:
		return matchPlan(d, p)
	}
	if d.Subtype != "" {
		return agent.WholeMatch
	}
	return matchPermission(d, p)
}

func when(so bool, m agent.Match) agent.Match {
	if so {
		return m
	}
	return agent.NoMatch
}

// at most how much of it two parts of a dialog show together.
func both(a, b agent.Match) agent.Match { return min(a, b) }

// matchPermission compares the rows between a dialog's title and its question with
// the tool's input.
func matchPermission(d *agent.Dialog, p *agent.Request) agent.Match {
	tool := deref(p.Tool)
	switch {
	case tool == "" || d.Tool != "" && d.Tool != tool:
		return when(tool == "", agent.PartMatch)
	case d.Title != "" && d.Agent != deref(p.Agent):
		return agent.NoMatch
	}
	in, ok := readInput(tool, p.Raw)
	if !ok {
		return agent.NoMatch // it was not told what it is about
	}
	rows := readDrawn(d)
	if d.Tool == "" { // its title has no room, or is that of a tool without one of its own
		switch tool {
		case "Bash":
			return both(rows.command(in.Command, in.Description), agent.PartMatch)
		case "Write":
			return when(in.Content != nil && (d.Cut || rows.content(*in.Content) != agent.NoMatch), agent.PartMatch)
		case "Edit":
			return when(in.Old != nil && in.New != nil && (d.Cut || rows.edit(*in.Old, *in.New) != agent.NoMatch), agent.PartMatch)
		}
		return when(d.Cut || !ownTitle[tool], agent.PartMatch)
	}
	switch {
	case tool == "Bash":
		return rows.command(in.Command, in.Description)
	case tool == "Edit" && in.Old != nil && in.New != nil:
		m := both(rows.file(d, in.Path), rows.edit(*in.Old, *in.New))
		if in.ReplaceAll {
			m = both(m, agent.PartMatch) // of which the dialog does not tell
		}
		return m
	case tool == "Write" && in.Content != nil:
		m := agent.PartMatch // of a file that is there only the change is shown
		if d.Title == titles["Write"] {
			m = rows.content(*in.Content)
		}
		return both(rows.file(d, in.Path), m)
	case tool == "WebFetch":
		return rows.fetch(in.URL, in.Prompt)
	case strings.HasPrefix(tool, "mcp__"):
		return rows.mcp(tool, p.Raw)
	}
	return agent.PartMatch
}

// toolInput is what the dialogs of tools are about.
type toolInput struct {
	Command, Description, Path, URL, Prompt string
	Old, New, Content                       *string
	ReplaceAll                              bool
}

// readInput reads a tool's input. ok is false when it cannot be read.
func readInput(tool string, raw json.RawMessage) (in toolInput, ok bool) {
	fields, err := agent.ReadInput(raw)
	if err != nil || !ownTitle[tool] { // others' fields may hold anything
		return in, err == nil
	}
	errs := []error{fields.Texts(map[string]*string{
		"command": &in.Command, "description": &in.Description, "file_path": &in.Path, "url": &in.URL, "prompt": &in.Prompt,
	})}
	for name, to := range map[string]**string{"old_string": &in.Old, "new_string": &in.New, "content": &in.Content} {
		*to, err = fields.Text(name)
		errs = append(errs, err)
	}
	if all, has := fields["replace_all"]; has {
		errs = append(errs, json.Unmarshal(all, &in.ReplaceAll))
	}
	return in, errors.Join(errs...) == nil
}

// ownTitle are the tools whose dialogs have a title of their own.
var ownTitle = map[string]bool{"Bash": true, "Edit": true, "Write": true, "WebFetch": true}

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

// defaultDescription is drawn for a command that has none.
const defaultDescription = "Run shell command"

func (r *drawnRows) text(rows []string, beside int) drawn.Text {
	return drawn.Text{Rows: rows, Width: r.cols - beside, Cut: r.cut}
}

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
		rows, ok := texts(r.framed, 1)
		if !ok {
			return agent.NoMatch
		}
		m := r.text(bare(rows), besideInput).Of(command)
		if m != agent.WholeMatch {
			return m
		}
		above, ok := texts(untipped(r.above), 1)
		if !ok || r.described(above, besideQuestion, description) != agent.WholeMatch {
			return agent.PartMatch
		}
		return m
	}
	return r.plainCommand(command, description)
}

// setsApart says that a command is told from its description.
func (r *drawnRows) setsApart() bool {
	_, _, sure := r.plain()
	return r.dashes >= 2 || sure
}

// plain are the rows of a command and its description, without a warning of Claude's
// own below, which is not indented; border is where the description begins, if that
// is sure.
func (r *drawnRows) plain() (content []agent.DrawnRow, border int, sure bool) {
	content = r.above
	for n := len(content); n > 0; n = len(content) {
		if text := content[n-1].Text; strings.TrimSpace(text) != "" && strings.HasPrefix(text, "   ") {
			break
		}
		content = content[:n-1]
	}
	for len(content) > 0 && (strings.TrimSpace(content[0].Text) == "" || r.cut && !strings.HasPrefix(content[0].Text, "   ")) {
		content = content[1:]
	}
	border, sure = colorBorder(content)
	return content, border, sure
}

// plainCommand: the description is below the command, and of another color. Without
// colors a command of more lines looks the same as a shorter one with a description,
// and it is not known which it is.
func (r *drawnRows) plainCommand(command, description string) agent.Match {
	content, border, sure := r.plain()
	all, ok := texts(content, 3)
	if !ok {
		return agent.NoMatch
	}
	if r.cut {
		return both(r.text(all, besideIndented).Of(command+"\n"+description), agent.PartMatch)
	}
	if sure {
		if r.text(all[:border], besideIndented).Of(command) != agent.WholeMatch {
			return agent.NoMatch
		}
		return max(r.described(all[border:], besideIndented, description), agent.PartMatch)
	}
	for border := len(all); border > 0; border-- {
		if r.text(all[:border], besideIndented).Of(command) == agent.WholeMatch &&
			r.described(all[border:], besideIndented, description) == agent.WholeMatch {
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

// bare takes the bar off rows that are lines broken into several: each of these has
// it. A line with characters of two columns has one also where it is not broken.
func bare(rows []string) []string {
	out := make([]string, len(rows))
	barred := func(i int) bool { return i >= 0 && i < len(rows) && strings.HasPrefix(rows[i], "│ ") }
	for i, row := range rows {
		if out[i] = row; barred(i) && (len(rows) == 1 || barred(i-1) || barred(i+1)) {
			out[i] = strings.TrimPrefix(row, "│ ")
		}
	}
	return out
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

// file says whether the row above a change names that file: from the session's
// folder, or in full. A name that is cut short may be another's.
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
	case shown == file || d.Dir != "" && path.Join(d.Dir, shown) == path.Clean(file):
		return agent.WholeMatch
	case path.Base(shown) != path.Base(file):
		return agent.NoMatch
	}
	return agent.PartMatch // from a folder that it has gone to, or through a link
}

// diffLine is a line of a change: its sign, and the rows that it is drawn in.
type diffLine struct {
	sign byte // '+', '-', or ' ' for one that is in the file
	rows []string
}

// gutter is a line's number.
var gutter = regexp.MustCompile(`^ *\d+( |$)`)

// diff reads the lines of a change. ok is false where a row is none of them.
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

// content: each line of a new file has its number.
func (r *drawnRows) content(content string) agent.Match {
	lines, width, ok := r.diff(false)
	if !ok {
		return when(r.cut, agent.PartMatch)
	}
	want := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	if r.cut {
		return agent.PartMatch
	}
	if len(lines) != len(want) {
		return agent.NoMatch
	}
	for i, l := range lines {
		if r.text(l.rows, width).Of(want[i]) != agent.WholeMatch {
			return agent.NoMatch
		}
	}
	return agent.WholeMatch
}

// edit: what is removed and what is added, each with the lines of the file around
// it, differ by the two texts alone.
func (r *drawnRows) edit(before, after string) agent.Match {
	if r.cut {
		return agent.PartMatch
	}
	lines, width, ok := r.diff(true)
	if !ok {
		return when(len(r.framed) == 1 && strings.TrimSpace(r.framed[0].Text) == "…", agent.PartMatch)
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
	t := r.text(nil, width+1)
	return editOf(t, old, now, strings.Split(before, "\n"), strings.Split(after, "\n"))
}

// editOf looks for the place of the change: before and after it both sides are the
// file's, and the same.
func editOf(t drawn.Text, old, now []diffLine, before, after []string) agent.Match {
	best := agent.NoMatch
	for at := 0; at+len(before) <= len(old); at++ {
		rest := len(old) - at - len(before)
		if at+len(after)+rest != len(now) {
			return best // lines of the file between the parts of the change are not shown
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

// part says whether the lines are those of the change: whole, or with what is before
// and after it on its first and last line.
func part(t drawn.Text, old, now []diffLine, before, after []string) agent.Match {
	if whole(t, old, before) && whole(t, now, after) {
		return agent.WholeMatch
	}
	for _, l := range append(append([]diffLine{}, old...), now...) {
		if len(l.rows) > 1 {
			return agent.PartMatch // where a line goes on in the next row is not known
		}
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
			return agent.WholeMatch
		}
	}
	return agent.NoMatch
}

// one says whether the rows are those lines, with what is before the first and after
// the last.
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

func whole(t drawn.Text, lines []diffLine, want []string) bool {
	if len(lines) != len(want) {
		return false
	}
	for i, l := range lines {
		if t.Rows = l.rows; t.Of(want[i]) != agent.WholeMatch {
			return false
		}
	}
	return true
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
		rows, ok := texts(r.framed, 1)
		if !ok {
			return agent.NoMatch
		}
		return r.text(bare(rows), besideInput).Of("url: " + url + "\nprompt: " + prompt)
	}
	rows, ok := texts(r.above, 3)
	if !ok {
		return agent.NoMatch
	}
	return r.text(rows, besideIndented).Of(`url: "` + url + `", prompt: "` + prompt + "\"\n" + says)
}

// mcp: the server's tool, and what it is called with.
func (r *drawnRows) mcp(tool string, input json.RawMessage) agent.Match {
	server, name, _ := strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__")
	var b bytes.Buffer
	if json.Compact(&b, input) != nil || b.String() != "{}" || r.dashes > 0 {
		return agent.PartMatch // how it draws that is not measured
	}
	rows, ok := texts(r.above, 3)
	if !ok || len(rows) == 0 {
		return agent.NoMatch
	}
	return max(r.text(rows[:1], besideIndented).Of(server+" - "+name+" (MCP)"), agent.PartMatch)
}

// matchPlan: a plan is drawn as what its Markdown means. What its marks are is taken off
// as told alone: one that is drawn otherwise is not answered by keys.
func matchPlan(d *agent.Dialog, p *agent.Request) agent.Match {
	if p.Text == nil || !d.Cut && planText(*p.Text) == strings.Join(strings.Fields(d.Body), " ") {
		return agent.WholeMatch
	}
	return agent.PartMatch
}

var (
	heading  = regexp.MustCompile(`^\s*#{1,6}\s+`)
	bullet   = regexp.MustCompile(`^(\s*)[*+]\s+`)
	emphasis = regexp.MustCompile("\\*\\*([^*`\n]+)\\*\\*|`([^`*\n]+)`")
)

// planText is a plan as the recordings have it drawn, word by word: headings, and what
// is bold or code, without their marks, and each item of a list after a dash.
func planText(plan string) string {
	var out []string
	for _, line := range strings.Split(plan, "\n") {
		line = bullet.ReplaceAllString(heading.ReplaceAllString(line, ""), "$1- ")
		out = append(out, strings.Fields(emphasis.ReplaceAllString(line, "$1$2"))...)
	}
	return strings.Join(out, " ")
}

// plainText is a text without blanks and what Markdown marks with.
func plainText(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\n\u00a0#*_`>|-+~[]()│─┌┐└┘├┤┬┴┼•▎", r) {
			return -1
		}
		return r
	}, text)
}

// matchQuestion: of several questions the pages have the same tabs; each is known by
// its text, and by its options where the agent told them.
func matchQuestion(d *agent.Dialog, p *agent.Request) agent.Match {
	if len(p.Questions) == 0 {
		return agent.PartMatch
	}
	if len(d.Tabs) > 0 {
		if len(d.Tabs) != len(p.Questions) {
			return agent.NoMatch
		}
		for i, q := range p.Questions {
			if q.Header != "" && !sameTab(q.Header, d.Tabs[i]) {
				return agent.NoMatch
			}
		}
	}
	if d.Confirm {
		return agent.WholeMatch
	}
	unread := false
	for _, q := range p.Questions {
		if q.Text == "" {
			unread = true
			continue
		}
		if plainText(q.Text) == plainText(d.Body) && offers(d, q) {
			return agent.WholeMatch
		}
	}
	if unread || d.Cut {
		return when(unread, agent.WholeMatch)
	}
	return agent.NoMatch
}

// offers says whether the dialog has the question's options, as far as they have room.
func offers(d *agent.Dialog, q agent.Question) bool {
	for i, label := range q.Options {
		if i >= len(d.Options) {
			return d.Cut
		}
		if !shows(d.Options[i], label) {
			return false
		}
	}
	return true
}

// shows says whether the option has that label: whole, or without room for its end,
// which is below then.
func shows(o agent.Option, label string) bool {
	rest, begins := strings.CutPrefix(unmarked(label), unmarked(o.Label))
	return begins && (rest == "" || o.Label != "" && strings.HasPrefix(unmarked(o.More), rest))
}

// goesOn begins a row that a changed line of a file goes on in.
var goesOn = regexp.MustCompile(`^ +[-+]`)

// flatRows is what a dialog is about without what depends on the screen's size.
func flatRows(d *agent.Dialog) string {
	r := readDrawn(d)
	rows := r.framed
	if r.dashes < 2 {
		rows = r.above
	}
	var b strings.Builder
	for _, row := range rows {
		text := goesOn.ReplaceAllString(row.Text, "")
		b.WriteString(strings.TrimPrefix(strings.TrimSpace(text), "│ ") + "\n")
	}
	return b.String() + "\x00" + d.Question
}

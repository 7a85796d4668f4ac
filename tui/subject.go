package tui

import (
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"berth/agent"
	"berth/render"
	"berth/sessions"
	"berth/terminal"
)

// subject is the subject of a permission: a command, changes of files, arguments. Input that no driver
// parses is shown as the agent sent it.
func (m *Model) subject(s *sessions.Status, r *agent.Request, width int) []line {
	if s.Subject == nil {
		return m.laid(sent(r), width)
	}
	now := laidKey{about: s.Subject, width: width, ascii: m.theme.ascii}
	if len(m.card.files) > 0 {
		now.files = &m.card.files[0]
	}
	if m.card.laid.laidKey != now {
		m.card.laid = laidSubject{now, m.laySubject(s.Subject, r, width)}
	}
	return m.card.laid.lines
}

// sent is a tool's input as the agent sent it: JSON is indented, and all else is shown as it is.
func sent(r *agent.Request) []render.Line {
	if in := inputOf(r); in != agent.Compact(r.Raw) {
		return render.Text(in)
	}
	return render.Value(r.Raw)
}

// laidSubject is the subject of the card as it was laid out last. A file of 1 MiB takes too long for
// each draw.
type laidSubject struct {
	laidKey
	lines []line
}

// laidKey is what the lines of a subject depend on.
type laidKey struct {
	about *agent.Subject
	files *render.File // the first of them
	width int
	ascii bool
}

func (m *Model) laySubject(about *agent.Subject, r *agent.Request, width int) []line {
	var out []line
	if about.Command != "" {
		out = append(out, m.laid(render.Shell(about.Command), width)...)
	}
	for i, c := range about.Changes {
		var file render.File
		if i < len(m.card.files) {
			file = m.card.files[i]
		}
		out = append(out, m.laid(render.Change(c, file), width)...)
	}
	arguments := m.laid(render.Arguments(about.Arguments), width)
	for i := range arguments { // otherwise an argument would look like the next line of a command
		arguments[i].rail = len(out) > 0
	}
	if out = append(out, arguments...); len(out) == 0 { // no arguments at all
		return m.laid(sent(r), width)
	}
	return out
}

// subjectKey identifies the content of a prompt at one time.
type subjectKey struct{ session, prompt, digest string }

// mostFiles limits the files whose current text a card shows with their changes.
const mostFiles = 8

// Unread returns the files that the card's prompt would change and that were not read yet. It returns
// each only once.
func (m *Model) Unread() (of subjectKey, paths []string) {
	s := m.current()
	if s == nil || s.Subject == nil || m.card.asks || !m.carded() || !m.world.May["screen"] {
		return of, nil
	}
	m.card.asks = true
	for _, c := range s.Subject.Changes[:min(len(s.Subject.Changes), mostFiles)] {
		paths = append(paths, c.File)
	}
	return subjectKey{s.ID, m.card.prompt, m.card.digest}, paths
}

// SetFiles sets the files' texts. They change the card, so the person must read it again.
func (m *Model) SetFiles(of subjectKey, read []render.File) {
	if s := m.current(); s == nil || of != (subjectKey{s.ID, m.card.prompt, m.card.digest}) {
		return
	}
	m.card.files, m.card.sight = read, sight{of: m.card.leaf}
}

// Missing is the session whose card lacks a part of its prompt, and whether its host must be asked for it. That is so
// once for each prompt.
func (m *Model) Missing() (id string, ask bool) {
	if !m.world.Cut[m.selected] || m.card.filled || !m.carded() {
		return "", false
	}
	m.card.filled = true
	return m.selected, true
}

// fillPrompt asks a host for the rest of the card's prompt.
func (d *dashboard) fillPrompt() {
	if id, ask := d.model.Missing(); ask {
		d.acts.Go(func() {
			d.Host.Fill(d.work, id)
			d.program.Send(news{})
		})
	}
}

// readFiles reads the files that the card's prompt would change.
func (d *dashboard) readFiles() tea.Cmd {
	of, paths := d.model.Unread()
	if len(paths) == 0 {
		return nil
	}
	done := make(chan files, 1)
	d.acts.Go(func() {
		got := files{of: of}
		for _, path := range paths {
			text, exists, err := d.Host.File(d.work, of.session, path)
			got.read = append(got.read, render.File{Known: err == nil, Exists: exists, Text: text})
		}
		done <- got
	})
	return func() tea.Msg { return <-done }
}

// inArguments reports whether the prompt's text has only what the card shows as arguments.
func inArguments(s *sessions.Status, r *agent.Request) bool {
	if s.Subject == nil || r.Text == nil {
		return false
	}
	in := s.Subject.Arguments
	if description, err := in.Text("description"); err == nil && agent.Value(description) == *r.Text {
		return true
	}
	for line := range strings.SplitSeq(*r.Text, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		if in[name] == nil || agent.Compact(in[name]) != value {
			return false
		}
	}
	return true
}

// laid breaks lines into rows of a card. Lines without a margin are broken as one text. A line of a
// change is broken separately, next to its number and its sign.
func (m *Model) laid(lines []render.Line, width int) []line {
	var out []line
	digits := render.Digits(lines)
	for len(lines) > 0 {
		n := 1
		for !lines[0].Margin && n < len(lines) && !lines[n].Margin {
			n++
		}
		margin := ""
		if l := lines[0]; l.Margin {
			number := ""
			if l.Number > 0 {
				number = fmt.Sprint(l.Number)
			}
			margin = fmt.Sprintf("%*s %c ", digits, number, l.Sign)
		}
		out = append(out, m.toned(lines[:n], margin, width)...)
		lines = lines[n:]
	}
	return out
}

// toned breaks lines that are one text into rows. The first row has the margin. The others have an
// ellipsis in place of the sign, because with blanks they would look like an unchanged line.
func (m *Model) toned(lines []render.Line, margin string, width int) []line {
	var text strings.Builder
	var tones []tone // the tone of each drawn character of the text
	for i, l := range lines {
		if i > 0 {
			text.WriteByte('\n')
			tones = append(tones, plain)
		}
		for _, s := range l.Spans {
			if margin != "" { // indented as code is; a tab that three blanks follow has six
				s.Text = strings.ReplaceAll(s.Text, "\t", "\t   ")
			}
			text.WriteString(s.Text)
			for range utf8.RuneCountInString(terminal.Reveal(s.Text, m.theme.ascii)) {
				tones = append(tones, toneOf[s.Tone])
			}
		}
	}
	drawn := []rune(terminal.Reveal(text.String(), m.theme.ascii))
	var out []line
	next := strings.Repeat(" ", max(len(margin)-2, 0)) + m.ellipsis() + " "
	for i, row := range m.lay(text.String(), max(width-len(margin), 1)) {
		l := line{tone: plain, text: margin + row}
		if margin != "" {
			of := faint
			if len(tones) > 0 {
				of = tones[0]
			}
			l.runs = append(l.runs, run{of, margin})
			if i == 0 {
				margin = next
			}
		}
		for row != "" {
			var cluster string
			cluster, row, _ = terminal.NextCluster(row)
			of := plain
			first, _ := utf8.DecodeRuneInString(cluster)
			for len(drawn) > 0 && drawn[0] != first && (drawn[0] == ' ' || drawn[0] == '\n' || drawn[0] == '\t') {
				drawn, tones = drawn[1:], tones[1:] // not drawn: a row ends here
			}
			if len(drawn) > 0 && drawn[0] == first {
				of = tones[0]
				n := min(utf8.RuneCountInString(cluster), len(drawn))
				drawn, tones = drawn[n:], tones[n:]
			}
			if n := len(l.runs); n > 0 && l.runs[n-1].tone == of {
				l.runs[n-1].text += cluster
			} else {
				l.runs = append(l.runs, run{of, cluster})
			}
		}
		out = append(out, l)
	}
	return out
}

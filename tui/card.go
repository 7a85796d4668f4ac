package tui

import (
	"fmt"
	"strings"

	"berth/agent"
	"berth/render"
	"berth/sessions"
	"berth/terminal"
)

// line is a line of a card.
type line struct {
	tone tone
	text string
	runs []run  // the parts of the text with their tones; nil if it has one tone
	key  string // the key that chooses it, drawn before the text
	more string // the same key, in a row that goes on with the text
	mark string // drawn before the text, such as a ticked box
	rail bool   // draw a bar in the margin, to set the line apart from the lines above
}

// run is a part of a line in one tone.
type run struct {
	tone tone
	text string
}

// asked is the subject of a prompt, drawn above its options.
func (m *Model) asked(s *sessions.Status, r *agent.Request, width int, small bool) []line {
	var out []line
	gap := func() {
		if !small {
			out = append(out, line{})
		}
	}
	add := func(of tone, text string) {
		for _, l := range m.lay(text, width) {
			out = append(out, line{tone: of, text: l})
		}
	}
	head := string(r.Type)
	if r.Subtype != nil {
		head += " " + strings.ReplaceAll(*r.Subtype, "_", " ")
	}
	if r.Tool != nil {
		head = *r.Tool + " " + head
	}
	if r.Agent != nil {
		head += " · asked by its subagent " + *r.Agent
	}
	if n := len(s.Requests); n > 1 {
		head += fmt.Sprintf(" (%d more queued)", n-1)
	}
	add(waits, head)
	several := len(r.Questions) > 1 // each question is drawn with its options
	if r.Title != nil && !several {
		add(strong, *r.Title)
	}
	if r.Input != nil && *r.Input != "" {
		gap()
		out = append(out, m.subject(s, r, width)...)
		if r.InPart() {
			add(failed, "… its dialog shows no more than this; attach to see the rest")
		} else if left := missing(r); left > 0 {
			add(failed, fmt.Sprintf("… cut here: %d of %d bytes are not shown; attach to see them", left, r.InputBytes))
		}
	}
	if r.Text != nil && !several && !inArguments(s, r) {
		gap()
		from := len(out)
		if r.Type == agent.PromptPlan {
			out = append(out, m.laid(render.Markdown(*r.Text), width)...)
		} else {
			add(plain, *r.Text)
		}
		for i := from; i < len(out); i++ { // otherwise the text would look like the next line of a command
			out[i].rail = r.Input != nil && *r.Input != ""
		}
	}
	if fields := m.fields(r.Schema, width); len(fields) > 0 && !m.card.filling {
		gap()
		out = append(out, fields...)
	}
	if r.URL != nil {
		gap()
		add(accent, *r.URL)
	}
	return out
}

// notes are warnings for the person who answers.
func (m *Model) notes(r *agent.Request) []string {
	var out []string
	if !r.Ready {
		out = append(out, "Reading the options"+m.ellipsis())
	}
	if r.Contested {
		out = append(out, "The agent's hooks or its log report something else. Attach, and answer there.")
	}
	if r.HasPreviews() {
		out = append(out, "The options have previews, which only the terminal shows.")
	}
	if !r.OnScreen {
		out = append(out, "Not visible in the terminal")
	}
	return out
}

// besideOption and boxCols are the columns before an option's text: its number, and the box of an
// option that can be ticked.
const (
	besideOption = 4
	boxCols      = 4
)

// choices are the options, or those of the question that is being answered.
func (m *Model) choices(r *agent.Request, width int) []line {
	if m.card.review {
		return m.reviewLines(r, width)
	}
	var out []line
	if n := len(r.Questions); n > 0 {
		q := r.Questions[min(m.card.step, n-1)]
		head := q.Header
		if n == 1 && r.Title != nil && *r.Title == head {
			head = "" // the title above says it
		}
		if n > 1 {
			head = strings.TrimSuffix(fmt.Sprintf("Question %d of %d · %s", min(m.card.step, n-1)+1, n, q.Header), " · ")
		}
		if q.MultiSelect {
			head = strings.TrimPrefix(head+" · several may be chosen", " · ")
		}
		if head != "" {
			for _, l := range m.lay(head, width) {
				out = append(out, line{tone: faint, text: l})
			}
		}
		if r.Text == nil || n > 1 {
			for _, l := range m.lay(q.Text, width) {
				out = append(out, line{tone: strong, text: l})
			}
		}
	}
	if m.card.filling {
		return append(out, m.fieldLines(width)...)
	}
	options, described := optionsOf(r, m.card.step)
	room := width - besideOption
	if several(r, m.card.step) {
		room -= boxCols
	}
	for i, o := range options {
		l := line{key: fmt.Sprint(i + 1), tone: plain}
		if i >= 9 {
			l.key = "" // keys go up to 9
		}
		if m.card.chosen[i+1] {
			l.mark = "[x] "
		} else if several(r, m.card.step) {
			l.mark = "[ ] "
		}
		for j, text := range m.lay(o, room) {
			if j > 0 {
				l = line{tone: plain, mark: " ", more: l.key + l.more}
			}
			l.text = text
			out = append(out, l)
		}
		if i < len(described) && described[i] != "" {
			for _, text := range m.lay(described[i], room) {
				out = append(out, line{tone: faint, text: text, mark: " ", rail: true, more: l.key + l.more}) // otherwise it would look like the label's next row
			}
		}
	}
	return out
}

func optionsOf(r *agent.Request, step int) (options, described []string) {
	if n := len(r.Questions); n > 0 {
		q := r.Questions[min(step, n-1)]
		return q.Options, q.Descriptions
	}
	return r.Options, nil
}

func several(r *agent.Request, step int) bool {
	n := len(r.Questions)
	return n > 0 && r.Questions[min(step, n-1)].MultiSelect
}

// reviewLines are all answers before they are sent.
func (m *Model) reviewLines(r *agent.Request, width int) []line {
	out := []line{{tone: strong, text: "Your answers"}}
	for i, q := range r.Questions {
		var words []string
		if i < len(m.card.picks) {
			for _, n := range m.card.picks[i].Options {
				if n >= 1 && n <= len(q.Options) {
					words = append(words, q.Options[n-1])
				}
			}
			if m.card.picks[i].Text != "" {
				words = append(words, m.card.picks[i].Text)
			}
		}
		label := q.Header
		if label == "" {
			label = fmt.Sprintf("%d", i+1)
		}
		for _, l := range m.lay(label+": "+strings.Join(words, ", "), width) {
			out = append(out, line{tone: plain, text: l})
		}
	}
	return out
}

// smallCard is the height in rows up to which a card has no empty rows for spacing. A larger one has none
// either if it wouldn't fit with them.
const smallCard = 12

// spareRows is the minimum room below a card. With less, the session's screen isn't shown there.
const spareRows = 7

// drawCard draws the prompt of the chosen session: its subject, which scrolls, and below it the
// options and the keys.
func (m *Model) drawCard(a area, s *sessions.Status) {
	t, r := m.theme, s.Request
	width := a.w - 3
	about, below := m.asked(s, r, width, a.h <= smallCard), m.choices(r, width)
	for _, n := range m.notes(r) {
		below = append(below, line{tone: faint, text: n})
	}
	foot := len(m.cardHints(r)) > 0
	if a.h > smallCard {
		below = append(below, line{})      // before the hints
		if len(about)+len(below)+2 > a.h { // room for the text comes before empty rows
			about, below = m.asked(s, r, width, true), below[:len(below)-1]
		}
	}
	if spare := a.h - len(about) - len(below) - 3; spare >= spareRows && m.world.May["screen"] {
		under := a.part(0, a.h-spare, a.w, spare)
		under.line(0, t.style(faint))
		under.text(2, 0, -1, t.style(faint), " its screen ")
		m.drawScreen(under.part(0, 1, a.w, spare-1), s)
		a = a.part(0, 0, a.w, a.h-spare)
	}
	room := a.h - len(below) - 2
	if !foot {
		room++
	}
	if room < min(len(about), leastAbout) { // the options have no room, so they scroll with the subject
		about, below, room = append(about, below...), nil, a.h-2
	}
	room = max(room, 1)
	m.card.fit(width, len(about), room)
	a.mark(0, 0, a.w, a.h, target{up: "K", down: "J"})
	y := 0
	for _, l := range about[m.card.scroll:min(len(about), m.card.scroll+room)] {
		m.drawLineOf(a, y, l)
		y++
	}
	if m.card.last > 0 && a.h > 2 {
		a.text(1, y, -1, t.style(accent), fmt.Sprintf(a.glyph("… %d of %d lines; J K scroll", "... %d of %d lines; J K scroll"), min(m.card.scroll+room, len(about)), len(about)))
	}
	if a.h > 2 {
		y++
	}
	for _, l := range below {
		m.drawLineOf(a, y, l)
		y++
	}
	if m.edit == nil && m.command == nil && a.y+y <= m.rows-m.flashRows() {
		m.markRead()
	}
	if a.h > 1 { // otherwise the hints would cover the text
		m.drawHints(a.part(1, min(y, a.h-1), a.w-1, 1), m.cardHints(r), target{of: m.context(), card: true, up: "K", down: "J"})
	}
}

// leastAbout is the minimum of rows for the subject above the options. With fewer rows the options
// scroll with the subject.
const leastAbout = 3

// drawLineOf draws a line of the card.
func (m *Model) drawLineOf(a area, y int, l line) {
	t, x := m.theme, 1
	if l.rail {
		a.text(0, y, 1, t.style(faint), a.glyph("│", "|"))
	}
	if l.key != "" && m.world.May["respond"] && !m.tooSoon(l.key, true) {
		a.text(x, y, x+2, t.key(), l.key)
	} else if l.key != "" {
		a.text(x, y, x+2, t.style(faint), l.key)
	}
	if l.key != "" || l.mark != "" {
		x += 3
		if strings.HasPrefix(l.mark, "[") {
			x = a.text(x, y, -1, t.style(plain), l.mark)
		} else if l.mark != "" && several(m.current().Request, m.card.step) {
			x += boxCols
		}
	}
	if l.runs == nil {
		l.runs = []run{{l.tone, l.text}}
	}
	for _, r := range l.runs {
		x = m.drawMarked(a, x, y, t.style(r.tone), r.text)
	}
	if key := l.key + l.more; key != "" && m.world.May["respond"] {
		a.mark(0, y, a.w, 1, target{key: key, of: m.context(), card: true, up: "K", down: "J"})
	}
}

// drawMarked draws text, and highlights the characters that terminal.Reveal replaced by their numbers.
// It returns the column after the text.
func (m *Model) drawMarked(a area, x, y int, st terminal.Style, text string) int {
	for text != "" {
		at := strings.Index(text, "⟨")
		if at < 0 {
			at = len(text)
		}
		x = a.text(x, y, -1, st, a.marks(text[:at]))
		text = text[at:]
		end := strings.Index(text, "⟩") + len("⟩")
		if end < len("⟩") { // the number continues in the next row
			end = len(text)
		}
		odd := m.theme.style(failed)
		odd.Attr |= terminal.Reverse
		x = a.text(x, y, -1, odd, a.marks(text[:end]))
		text = text[end:]
	}
	return x
}

// marks replaces the brackets around a character's number if the terminal knows only ASCII.
func (f *Frame) marks(text string) string {
	return strings.NewReplacer("⟨", f.glyph("⟨", "<"), "⟩", f.glyph("⟩", ">")).Replace(text)
}

package tui

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"berth/agent"
	"berth/render"
	"berth/sessions"
	"berth/terminal"
)

// talk is the conversation view: a session's messages, tools and replies, live at their end.
type talk struct {
	id     string
	conv   *render.Conversation // nil while it is read
	why    string               // why there is none
	at     spot                 // the chosen row
	top    spot                 // the first row on the screen
	end    bool                 // stay at the end
	open   map[int]bool         // unfolded blocks, by number
	find   string
	typing bool // the person types what to find
	width  int
	height int
	laid   map[int][]talkRow // blocks as they were laid out for the width
}

// spot is a row of a block. Blocks are counted from the conversation's first.
type spot struct{ block, row int }

// talkRow is a row of the view: its margin's character, and its text.
type talkRow struct {
	mark rune
	of   int // index of the block's line; -1 for an empty row above a block
	line []render.Span
}

// mostLaid limits the blocks that stay laid out.
const mostLaid = 500

func (m *Model) openTalk(s *sessions.Status) Effect {
	m.talk = &talk{id: s.ID, end: true, open: map[int]bool{}, width: max(m.cols-3, 2)}
	return nil
}

// SetConversation sets the conversation of a session, or why there is none.
func (m *Model) SetConversation(id string, c *render.Conversation, why string) {
	if t := m.talk; t != nil && t.id == id {
		t.conv, t.why, t.laid = c, why, nil
	}
}

// AddEntries adds what the session's log has more of.
func (m *Model) AddEntries(id string, entries []agent.Entry) {
	t := m.talk
	if t == nil || t.id != id || t.conv == nil || len(entries) == 0 {
		return
	}
	for _, e := range entries {
		t.conv.Add(e)
	}
	t.laid = nil
	for n := range t.open {
		if n < t.first() {
			delete(t.open, n)
		}
	}
}

func (t *talk) first() int { return t.conv.Dropped }
func (t *talk) last() int  { return t.conv.Dropped + len(t.conv.Blocks) - 1 }

// rows are a block's rows at the view's width.
func (t *talk) rows(n int, ascii bool) []talkRow {
	if rows, ok := t.laid[n]; ok {
		return rows
	}
	if t.laid == nil || len(t.laid) > mostLaid {
		t.laid = map[int][]talkRow{}
	}
	i := n - t.conv.Dropped
	b := t.conv.Blocks[i]
	var rows []talkRow
	if i > 0 && render.Apart(t.conv.Blocks[i-1], b) {
		rows = append(rows, talkRow{mark: ' ', of: -1})
	}
	open := t.open[n]
	mark := b.Mark(open)
	if b.Folds() && !open {
		rows = append(rows, talkRow{mark: mark, line: t.folded(b, ascii)})
	} else {
		lines := b.Lines()
		digits := render.Digits(lines)
		for j, r := range render.Flow(lines, t.width) {
			if j > 0 {
				mark = ' '
			}
			if j > 0 && b.Folds() {
				mark = '|'
			}
			prefix := r.Prefix(digits)
			if r.Continued {
				prefix = strings.Repeat(" ", len(prefix))
			}
			rows = append(rows, talkRow{mark, r.Of, append([]render.Span{{Text: prefix, Tone: render.Faint}}, r.Spans...)})
		}
	}
	t.laid[n] = rows
	return rows
}

// folded is a folded block in one row. What came of it has up to half of the row.
func (t *talk) folded(b *render.Block, ascii bool) []render.Span {
	head, result := b.Fold()
	came := render.Flow([]render.Line{result}, 1<<16)[0].Spans
	width := 0
	if result.Text() != "" {
		arrow := " → "
		if ascii {
			arrow = " -> "
		}
		came = append([]render.Span{{Text: arrow, Tone: render.Faint}}, came...)
		full := came
		width = min(spansWidth(full), max(t.width/2, t.width-spansWidth(head.Spans)))
	}
	came = cutSpans(came, width, ascii)
	return append(cutSpans(render.Flow([]render.Line{head}, 1<<16)[0].Spans, t.width-spansWidth(came), ascii), came...)
}

func spansWidth(spans []render.Span) int {
	return terminal.StringWidth(render.Line{Spans: spans}.Text())
}

// cutSpans cuts spans to a width. An ellipsis shows that something is missing.
func cutSpans(spans []render.Span, width int, ascii bool) []render.Span {
	if spansWidth(spans) <= width {
		return spans
	}
	var out []render.Span
	for _, s := range spans {
		w := terminal.StringWidth(s.Text)
		if w >= width { // more follows
			s.Text = cut(s.Text+" ", width, (&Frame{ascii: ascii}).ellipsis())
			return append(out, s)
		}
		out, width = append(out, s), width-w
	}
	return out
}

// step is the spot a number of rows away.
func (t *talk) step(at spot, by int, ascii bool) spot {
	at.block = min(max(at.block, t.first()), t.last())
	at.row = min(max(at.row, 0), len(t.rows(at.block, ascii))-1)
	for ; by > 0; by-- {
		if at.row+1 < len(t.rows(at.block, ascii)) {
			at.row++
		} else if at.block < t.last() {
			at = spot{at.block + 1, 0}
		} else {
			break
		}
	}
	for ; by < 0; by++ {
		if at.row > 0 {
			at.row--
		} else if at.block > t.first() {
			at.block--
			at.row = len(t.rows(at.block, ascii)) - 1
		} else {
			break
		}
	}
	return at
}

func (s spot) before(o spot) bool { return s.block < o.block || s.block == o.block && s.row < o.row }

// scroll moves the rows that are shown. The chosen row stays among them.
func (t *talk) scroll(by int, ascii bool) {
	t.top = t.step(t.top, by, ascii)
	low := t.step(t.top, t.height-1, ascii)
	if t.end = low == t.step(spot{t.last(), 0}, 1<<20, ascii); t.end || low.before(t.at) {
		t.at = low
	}
	if t.at.before(t.top) {
		t.at = t.top
	}
}

// fold folds or unfolds the chosen block, and reports whether it can.
func (t *talk) fold() bool {
	n := t.at.block
	if !t.conv.Blocks[n-t.first()].Folds() {
		return false
	}
	if t.open[n] {
		delete(t.open, n)
	} else {
		t.open[n] = true
	}
	delete(t.laid, n)
	t.at.row, t.end = 0, false
	return true
}

// clickTalk chooses a row. A click on the first row of a block that folds does that too.
func (m *Model) clickTalk(at spot) {
	t := m.talk
	if t == nil || t.conv == nil || t.typing || at.block < t.first() || at.block > t.last() {
		return
	}
	t.at = t.step(at, 0, m.theme.ascii)
	t.end = false
	if m.talkRow(t.at).mark == '+' || m.talkRow(t.at).mark == '-' {
		t.fold()
	}
}

func (m *Model) talkRow(at spot) talkRow { return m.talk.rows(at.block, m.theme.ascii)[at.row] }

// pressTalk handles a key in the conversation view.
func (m *Model) pressTalk(k Key) Effect {
	t := m.talk
	ascii := m.theme.ascii
	if t.typing {
		m.typeFind(k)
		return nil
	}
	if t.conv == nil || len(t.conv.Blocks) == 0 {
		if k.Name == "q" || k.Name == "esc" || k.Name == "v" {
			m.talk = nil
		}
		return nil
	}
	t.at = t.step(t.at, 0, ascii) // its block may have been dropped since the last picture
	by := 0
	switch k.Name {
	case "q", "esc", "v":
		m.talk = nil
		return nil
	case "E":
		if s := m.byID[t.id]; s != nil && m.world.May["watch"] {
			m.talk = nil
			return m.events(s)
		}
		return nil
	case "up", "k":
		by = -1
	case "down", "j":
		by = 1
	case "pgup", "K", "ctrl+u", "ctrl+b":
		by = -max(t.height-1, 1)
	case "pgdown", "J", "ctrl+d", "ctrl+f":
		by = max(t.height-1, 1)
	case "ctrl+y":
		t.scroll(-1, ascii)
	case "ctrl+e":
		t.scroll(1, ascii)
	case "home", "g":
		t.at, t.end = spot{block: t.first()}, false
	case "end", "G":
		t.end = true
	case "/":
		t.typing, t.find = true, ""
	case "n":
		m.findNext(-1)
	case "N":
		m.findNext(1)
	case "enter", " ":
		if !t.fold() {
			m.Flash("only a line with + or - folds and unfolds", faint)
		}
	}
	if by != 0 {
		t.at = t.step(t.at, by, ascii)
		t.end = t.at == t.step(spot{t.last(), 0}, 1<<20, ascii)
	}
	return nil
}

func (m *Model) typeFind(k Key) {
	t := m.talk
	switch k.Name {
	case "esc":
		t.typing, t.find = false, ""
	case "enter":
		t.typing = false
		m.findNext(-1)
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(t.find)
		t.find = t.find[:len(t.find)-n]
	default:
		if k.Text != "" && len(t.find)+len(k.Text) <= filterLimit {
			t.find += k.Text
		}
	}
}

// findNext goes to the next line that has the text: up for -1, down for 1, and around at the ends. A
// folded block that has it is unfolded.
func (m *Model) findNext(way int) {
	t := m.talk
	if t.conv == nil || len(t.conv.Blocks) == 0 || t.find == "" {
		m.Flash("nothing to find: press / and type a text", faint)
		return
	}
	t.at = t.step(t.at, 0, m.theme.ascii)
	count := len(t.conv.Blocks)
	here := t.rows(t.at.block, m.theme.ascii)[t.at.row].of
	for n := 0; n <= count; n++ {
		i := ((t.at.block-t.first()+way*n)%count + count) % count
		b := t.conv.Blocks[i]
		found := render.Find(b.Lines(), t.find)
		if way < 0 {
			slices.Reverse(found)
		}
		for _, of := range found {
			if n == 0 && (of-here)*way <= 0 {
				continue
			}
			block := i + t.first()
			if b.Folds() && !t.open[block] {
				t.open[block] = true
				delete(t.laid, block)
			}
			t.at, t.end = spot{block, 0}, false
			for row, r := range t.rows(block, m.theme.ascii) {
				if r.of == of {
					t.at.row = row
					break
				}
			}
			return
		}
	}
	m.Flash("not found: "+t.find, waits)
}

// talkHints are the keys of the conversation view.
func (m *Model) talkHints() []hint {
	if m.talk.typing {
		return []hint{{"enter", "find"}, {"esc", "close"}}
	}
	hints := []hint{{"q", "back"}, {"j k", "scroll"}, {"enter", "unfold"}, {"/ n N", "find"}, {"G", "end"}}
	if m.world.May["watch"] {
		hints = append(hints, hint{"E", "raw events"})
	}
	return hints
}

// drawTalk draws the conversation view.
func (m *Model) drawTalk(a area) {
	t, th := m.talk, m.theme
	a.line(0, th.style(faint))
	x := 2
	if s := m.byID[t.id]; s != nil {
		x = a.text(x, 0, -1, th.style(strong), " "+s.Name+" ")
		x = a.text(x, 0, -1, th.style(lookOf(s.Now).tone), th.icon(s.Now)+" "+string(s.Now)+" ")
	}
	body := a.part(0, 1, a.w, a.h-1)
	if t.typing || t.find != "" {
		body.h--
		a.text(1, a.h-1, -1, th.style(accent), "/"+t.find)
	}
	switch {
	case t.why != "":
		for i, l := range wrap(t.why, body.w-2) {
			body.text(1, i, -1, th.style(failed), l)
		}
		return
	case t.conv == nil:
		body.text(1, 0, -1, th.style(faint), "Reading the session log"+m.ellipsis())
		return
	case len(t.conv.Blocks) == 0:
		body.text(1, 0, -1, th.style(faint), "No messages yet")
		return
	}
	if width := max(body.w-3, 2); t.width != width {
		t.width, t.laid = width, nil
	}
	t.height = max(body.h, 1)
	bottom := t.step(spot{t.last(), 0}, 1<<20, th.ascii)
	if t.end {
		t.at = bottom
	}
	t.at = t.step(t.at, 0, th.ascii)
	if t.top = t.step(t.top, 0, th.ascii); t.at.before(t.top) {
		t.top = t.at
	}
	if low := t.step(t.at, 1-t.height, th.ascii); t.top.before(low) {
		t.top = low
	}
	at := t.top
	wheel := target{up: "ctrl+y", down: "ctrl+e", times: 3}
	a.mark(0, 0, a.w, a.h, wheel)
	for y := range t.height {
		m.drawTalkRow(body, y, t.rows(at.block, th.ascii)[at.row], at == t.at)
		row := wheel
		row.talk, row.row = true, at
		body.mark(0, y, body.w, 1, row)
		next := t.step(at, 1, th.ascii)
		if next == at {
			break
		}
		at = next
	}
	place := "end"
	if !t.end {
		place = fmt.Sprintf("%d of %d", t.at.block-t.first()+1, len(t.conv.Blocks))
	}
	if a.w-x > len(place)+3 {
		a.right(a.w-2, 0, th.style(faint), " "+place+" ")
	}
}

func (m *Model) drawTalkRow(a area, y int, r talkRow, chosen bool) {
	th := m.theme
	mark := string(r.mark)
	if r.mark == '|' {
		mark = a.glyph("│", "|")
	}
	style := th.style(accent)
	if chosen {
		a.fill(y, th.selected(th.style(plain)))
		if style = th.selected(style); r.mark == ' ' {
			mark = a.glyph("▌", ">")
		}
	}
	a.text(0, y, 1, style, mark)
	x, find := 2, m.talk.find
	if m.talk.typing {
		find = ""
	}
	for _, s := range r.line {
		x = m.drawFound(a, x, y, s, chosen, find)
	}
}

// drawFound draws text, with what the person looks for reversed.
func (m *Model) drawFound(a area, x, y int, s render.Span, chosen bool, find string) int {
	st := m.theme.style(toneOf[s.Tone])
	if chosen {
		st = m.theme.selected(st)
	}
	done := 0
	for _, at := range render.Matches(s.Text, find) {
		odd := st
		odd.Attr ^= terminal.Reverse
		x = a.text(x, y, -1, st, s.Text[done:at])
		x = a.text(x, y, -1, odd, s.Text[at:at+len(find)])
		done = at + len(find)
	}
	return a.text(x, y, -1, st, s.Text[done:])
}

package attach

import (
	"slices"
	"strings"
	"unicode/utf8"

	"berth/terminal"
	"berth/terminal/keyboard"
)

// findLimit is how much text is searched for; it fits in one row of most windows.
const findLimit = 200

// hit is what was found: from a cell of one line to before a cell of the same or a later line.
type hit struct {
	ok         bool
	line, from int
	end, to    int // the last line, and the column after the last cell
}

// edit takes a key of the text to find.
func (p *pager) edit(k keyboard.Key) {
	switch {
	case k.Name == "enter":
		p.typing = false
		if p.find == "" {
			p.find = p.was
		}
		p.hit.ok = false
		p.search(-1)
	case k.Name == "esc" || k.Name == "ctrl+c" || k.Name == "backspace" && p.find == "":
		p.typing, p.find = false, p.was
	case k.Name == "backspace":
		_, n := utf8.DecodeLastRuneInString(p.find)
		p.find = p.find[:len(p.find)-n]
	case k.Name == "ctrl+u":
		p.find = ""
	case k.Text != "":
		line, _, _ := strings.Cut(k.Text, "\n")
		if line = terminal.Printable(line); len(p.find)+len(line) <= findLimit {
			p.find += line
		}
	}
}

// search goes to the next place of the text: upwards for -1, downwards for 1. Past the end it goes on at
// the other. A text without capital letters finds them too.
func (p *pager) search(way int) {
	if p.find == "" {
		p.said = "nothing to find yet: press /"
		return
	}
	text, fold := p.find, p.find == strings.ToLower(p.find)
	if len(p.lines) == 0 {
		p.said = "not found: " + p.find
		return
	}
	line := p.top // from the edge of what is shown
	if way < 0 {
		line = p.bottom()
	}
	if p.hit.ok = p.hit.ok && p.shown(p.hit.line); p.hit.ok {
		line = p.hit.line
	}
	first, _ := p.paragraph(line)
	for at, around := first, false; ; {
		hits := p.hits(at, text, fold)
		if h, ok := p.next(hits, way, at == first && !around); ok {
			p.hit, p.mark.on = h, false
			if around {
				p.said = "found past the end: " + p.find
			}
			p.reveal(h.line, h.from, h.from+1)
			return
		}
		if around && at == first {
			p.hit.ok, p.said = false, "not found: "+p.find
			return
		}
		at, around = p.step(at, way, around)
	}
}

// next is the first of a paragraph's hits on the way. In the paragraph where the search begins, it is
// after the last hit.
func (p *pager) next(hits []hit, way int, here bool) (hit, bool) {
	for i := range hits {
		h := hits[i]
		if way < 0 {
			h = hits[len(hits)-1-i]
		}
		after := h.line - p.hit.line
		if after == 0 {
			after = h.from - p.hit.from
		}
		if !here || !p.hit.ok || after*way > 0 {
			return h, true
		}
	}
	return hit{}, false
}

// step is the paragraph before or after the one that begins at a line; past the end the one at the other.
func (p *pager) step(at, way int, around bool) (int, bool) {
	first, end := p.paragraph(at)
	switch {
	case way < 0 && first == 0:
		first, _ = p.paragraph(len(p.lines) - 1)
		return first, true
	case way < 0:
		first, _ = p.paragraph(first - 1)
		return first, around
	case end == len(p.lines):
		return 0, true
	}
	return end, around
}

// paragraph is the lines that are one line wrapped: from first to before end. One that is longer than
// paragraphLimit is taken apart, so that hostile output can't make a search take quadratic time.
func (p *pager) paragraph(line int) (first, end int) {
	first, end = line, line+1
	for first > 0 && p.lines[first].Wrapped() && first%paragraphLimit != 0 {
		first--
	}
	for end < len(p.lines) && p.lines[end].Wrapped() && end%paragraphLimit != 0 {
		end++
	}
	return first, end
}

const paragraphLimit = 1000

// width is how many columns of a line belong to its paragraph: all but the gap that a wide character
// leaves that does not fit; of the last line those up to its last character.
func (p *pager) width(line, end int) int {
	l := p.lines[line]
	switch {
	case line == end-1:
		return l.Len()
	case l.Cell(p.cols-1).Rune == 0 && p.lines[line+1].Cell(0).Width == 2:
		return p.cols - 1
	}
	return p.cols
}

// text is the text of lines of one paragraph, as it was before it was wrapped.
func (p *pager) text(first, last int) string {
	_, end := p.paragraph(last)
	if first == last && end == last+1 {
		return p.lines[first].Text()
	}
	var b strings.Builder
	for n := first; n <= last; n++ {
		b.WriteString(p.lines[n].Columns(p.width(n, end)))
	}
	return strings.TrimRight(b.String(), " ")
}

// hits are the places of a text in the paragraph that begins at a line.
func (p *pager) hits(first int, text string, fold bool) []hit {
	_, end := p.paragraph(first)
	all := p.text(first, end-1)
	if fold {
		all = strings.ToLower(all)
	}
	if !strings.Contains(all, text) {
		return nil
	}
	// The cells are gone through once, and each offset of a hit is in the cell that has come by then.
	var hits []hit
	h, from, to := hit{}, strings.Index(all, text), -1
	offset := 0
	for n := first; n < end; n++ {
		for x := range p.width(n, end) {
			cell := p.lines[n].Cell(x)
			if cell.Width == 0 {
				continue
			}
			shown := " "
			if cell.Rune != 0 {
				shown = string(cell.Rune) + cell.Rest
			}
			if fold {
				shown = strings.ToLower(shown)
			}
			next := offset + len(shown)
			if to < 0 && from < next {
				h, to = hit{ok: true, line: n, from: x}, from+len(text)
			}
			if to >= 0 && to <= next {
				h.end, h.to = n, x+cell.Width
				hits = append(hits, h)
				more := strings.Index(all[to:], text)
				if more < 0 {
					return hits
				}
				from, to = to+more, -1
				if from < next { // in the same cell: a mark that is found on its own
					from = next
				}
			}
			offset = next
		}
	}
	return hits
}

func (p *pager) isPrompt(n int) bool { return p.lines[n].Prompt() }

func (p *pager) isTurn(n int) bool {
	_, found := slices.BinarySearch(p.turns, n)
	return found
}

// turnLines are the lines where turns begin: of each the first with text that came at its offset or after.
// An agent that draws all of its history anew leaves one place for all turns before.
func turnLines(lines []*terminal.Line, offsets []int64) []int {
	var turns []int
	n := 0
	for _, offset := range offsets {
		for n < len(lines) && lines[n].Offset() < offset {
			n++
		}
		if n < len(lines) && (len(turns) == 0 || turns[len(turns)-1] != n) {
			turns = append(turns, n)
		}
	}
	return turns
}

// goTo goes to the line of a kind before or after the first line shown, or the one it went to last.
func (p *pager) goTo(way int, is func(int) bool, none string) {
	from := p.top
	if p.hit.ok && p.shown(p.hit.line) && is(p.hit.line) {
		from = p.hit.line
	}
	for n := from + way; n >= 0 && n < len(p.lines); n += way {
		if is(n) {
			p.top, p.mark.on = min(n, p.last()), false
			p.hit = hit{ok: true, line: n, end: n, to: p.lines[n].Len()}
			return
		}
	}
	p.said = none
}

package attach

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// copyLimit is the longest text that is copied. Terminals take about 74 KB of base64; this is the bound
// of what programs copy, too.
const copyLimit = 48 << 10

// marked is the lines that a person has marked, from where it began to where it was moved.
type marked struct {
	on          bool
	began, here int
}

func (m marked) lines() (first, last int) { return min(m.began, m.here), max(m.began, m.here) }

// startMark begins at the hit, or at the last line shown.
func (p *pager) startMark() {
	if len(p.lines) == 0 {
		return
	}
	line := p.bottom()
	if p.hit.ok && p.shown(p.hit.line) {
		line = p.hit.line
	}
	p.mark = marked{on: !p.mark.on, began: line, here: line}
}

// moveMark moves the end of the marked lines, which stays on the screen.
func (p *pager) moveMark(by int) {
	p.mark.here = min(max(p.mark.here+by, 0), len(p.lines)-1)
	if p.mark.here < p.top {
		p.top = p.mark.here
	}
	p.top = max(p.top, p.mark.here-p.page()+1)
}

// highlight is the columns of a line that are marked or found.
func (p *pager) highlight(n int) (from, to int) {
	if p.mark.on {
		if first, last := p.mark.lines(); n >= first && n <= last {
			return 0, p.cols
		}
		return 0, 0
	}
	if h := p.hit; h.ok && n >= h.line && n <= h.end {
		if from, to = 0, p.cols; n == h.line {
			from = h.from
		}
		if n == h.end {
			to = h.to
		}
	}
	return from, to
}

// copy has the marked lines, or the line that was found, written to the client's clipboard. Lines that
// are one line wrapped are copied as one.
func (p *pager) copy() {
	first, last := p.mark.lines()
	switch {
	case p.mark.on:
	case p.hit.ok:
		var end int
		first, end = p.paragraph(p.hit.line)
		last = end - 1
	default:
		p.said = "nothing marked: v marks lines"
		return
	}
	var b strings.Builder
	lines := 0
	for n := first; n <= last && b.Len() <= copyLimit; lines++ {
		_, end := p.paragraph(n)
		end = min(end, last+1)
		if lines > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.text(n, end-1))
		n = end
	}
	if b.Len() > copyLimit {
		p.said = fmt.Sprintf("not copied: more than %d KB, mark fewer lines", copyLimit>>10)
		return
	}
	p.mark.on = false
	p.clip = "c;" + base64.StdEncoding.EncodeToString([]byte(b.String()))
	p.said = fmt.Sprintf("%d lines sent to your terminal's clipboard", lines)
	if lines == 1 {
		p.said = "1 line sent to your terminal's clipboard"
	}
}

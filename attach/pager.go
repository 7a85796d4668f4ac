package attach

import (
	"fmt"

	"berth/terminal"
	"berth/terminal/keyboard"
)

// pager shows history and screen as they were when it was opened. It searches them, and copies lines of
// them to the client's clipboard.
type pager struct {
	lines     []*terminal.Line
	turns     []int // lines where turns of the agent begin
	cols      int   // of the session's screen
	top, left int
	winCols   int
	winRows   int

	typing bool   // the person types what to find
	find   string // what is found, or typed
	was    string // what was found before it is typed anew
	hit    hit    // what was found last
	mark   marked // the lines to copy
	said   string // about the last key; the last row shows it
	help   bool
	clip   string // to be written to the clipboard: see terminal.Handlers

	labels map[string]*label // rows of Berth's own text, laid out for winCols
}

// pagerHistory is as many lines as a pager goes back: those a session keeps
// unless it is configured to keep more than that.
const pagerHistory = 100_000

func newPager(s *terminal.Snapshot, cols, rows int) *pager {
	lines := append(append([]*terminal.Line(nil), s.History...), s.Lines...)
	for n := len(lines); n > 0 && lines[n-1].Text() == ""; n-- {
		lines = lines[:n-1]
	}
	p := &pager{lines: lines, turns: turnLines(lines, s.Turns), cols: s.Cols}
	p.resize(cols, rows)
	p.top = p.last()
	return p
}

func (p *pager) resize(cols, rows int) {
	p.winCols, p.winRows, p.labels = cols, rows, map[string]*label{}
	p.clamp()
}

// page is how many lines are shown; the last row shows the position.
func (p *pager) page() int { return max(p.winRows-1, 1) }

func (p *pager) last() int { return max(len(p.lines)-p.page(), 0) }

func (p *pager) clamp() {
	p.top = min(max(p.top, 0), p.last())
	p.left = min(max(p.left, 0), max(p.cols-p.winCols, 0))
}

// press handles a key and says whether the pager stays open.
func (p *pager) press(k keyboard.Key) bool {
	if p.typing {
		p.edit(k)
		return true
	}
	if p.help {
		p.help = false
		return true
	}
	p.said = ""
	switch k.Name {
	case "/":
		p.typing, p.was, p.find = true, p.find, ""
	case "n":
		p.search(-1)
	case "N":
		p.search(1)
	case "[":
		p.goTo(-1, p.isPrompt, "no prompt there that the shell has marked (OSC 133)")
	case "]":
		p.goTo(1, p.isPrompt, "no prompt there that the shell has marked (OSC 133)")
	case "{":
		p.goTo(-1, p.isTurn, "no turn of the agent begins there")
	case "}":
		p.goTo(1, p.isTurn, "no turn of the agent begins there")
	case "v":
		p.startMark()
	case "y":
		p.copy()
	case "?":
		p.help = true
	case "q", "ctrl+c":
		return false
	case "esc": // it ends the marks first
		open := p.mark.on
		p.mark.on = false
		return open
	default:
		p.scroll(k.Name)
	}
	return true
}

// scroll moves what is shown, or the end of the marked lines.
func (p *pager) scroll(key string) {
	top := p.top
	by := 0
	switch key {
	case "up", "k":
		by = -1
	case "down", "j", "enter":
		by = 1
	case "left", "h":
		p.left -= 8
	case "right", "l":
		p.left += 8
	case "pgup", "b", "ctrl+b":
		by = -p.page()
	case "pgdown", " ", "ctrl+f":
		by = p.page()
	case "u", "ctrl+u":
		by = -p.page() / 2
	case "d", "ctrl+d":
		by = p.page() / 2
	case "g", "<", "home":
		by = -len(p.lines)
	case "G", ">", "end":
		by = len(p.lines)
	}
	if p.mark.on {
		p.moveMark(by)
	} else {
		p.top = top + by
	}
	p.clamp()
}

// bottom is the last line shown, -1 without lines.
func (p *pager) bottom() int { return min(p.top+p.page(), len(p.lines)) - 1 }

func (p *pager) shown(line int) bool { return line >= p.top && line <= p.bottom() }

// reveal shows a line, in the middle if it isn't on the screen, and a part of it.
func (p *pager) reveal(line, from, to int) {
	if !p.shown(line) {
		p.top = line - p.page()/2
	}
	if from < p.left || to > p.left+p.winCols {
		p.left = from - p.winCols/4
	}
	p.clamp()
}

// view is the rows to draw.
func (p *pager) view() []rowView {
	rows := make([]rowView, p.winRows)
	for i := range min(p.page(), p.winRows) {
		rows[i] = rowView{left: p.left, cols: p.cols}
		if n := p.top + i; n < len(p.lines) {
			rows[i].line = p.lines[n]
			rows[i].from, rows[i].to = p.highlight(n)
		}
	}
	if p.winRows > 1 {
		rows[p.winRows-1] = rowView{over: p.label(p.foot())}
	}
	if p.help {
		first := max(p.winRows-1-len(pagerHelp), 0)
		for i := range min(len(pagerHelp), p.winRows-1) {
			rows[first+i] = rowView{over: p.label(" " + pagerHelp[i])}
		}
	}
	return rows
}

// foot is the last row: what was said, what is typed, or the place.
func (p *pager) foot() string {
	to := min(p.top+p.page(), len(p.lines))
	switch {
	case p.typing:
		return " /" + p.find + "_"
	case p.said != "":
		return " " + p.said
	case p.mark.on:
		first, last := p.mark.lines()
		return fmt.Sprintf(" %d marked · y copies · Esc ends", last-first+1)
	}
	return fmt.Sprintf(" %d-%d of %d · / finds · ? keys", min(p.top+1, to), to, len(p.lines))
}

// label lays out a row of Berth's own text. Equal rows have the identical label, so that they aren't drawn
// again.
func (p *pager) label(text string) *label {
	l := p.labels[text]
	if l == nil {
		if len(p.labels) > 100 {
			clear(p.labels)
		}
		l = newLabel(text, p.winCols)
		p.labels[text] = l
	}
	return l
}

var pagerHelp = []string{
	"j k  PgUp PgDn  u d  g G  scroll",
	"h l  sideways",
	"/  find upwards, n next, N back",
	"[ ]  shell prompts (OSC 133)",
	"{ }  turns of the agent",
	"v  mark lines, y copies them",
	"y  copies the line that was found",
	"q  ends the history · any key closes this",
}

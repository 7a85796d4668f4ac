package tui

import (
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"berth/terminal"
	"berth/terminal/paint"
)

// screen keeps what a client's terminal shows, so that only changes are written.
type screen struct {
	look      paint.Look
	next, was *Frame
	drawn     bool // whether the terminal shows was
	cursor    terminal.Cursor
	title     string
	mouse     bool // whether the terminal sends mouse events
	asked     int  // number of queries to the terminal
	answered  int  // number of its replies
	is, old   []terminal.Cell
}

func newScreen(l paint.Look) *screen {
	s := &screen{look: l, next: NewFrame(0, 0), was: NewFrame(0, 0)}
	s.was.palette = s.next.palette
	return s
}

func (s *screen) resize(cols, rows int) {
	s.next.resize(cols, rows)
	s.was.resize(cols, rows)
	s.is, s.old = make([]terminal.Cell, cols), make([]terminal.Cell, cols)
	s.drawn = false
}

// Sequences that switch a terminal to the dashboard and back. Pastes are bracketed, so that a pasted
// text presses no keys. Of the mouse, presses and releases are asked for, in the SGR form if the terminal
// knows that.
const (
	titlePush  = "\x1b[22;0t"
	titlePop   = "\x1b[23;0t"
	enterModes = "\x1b[?1049h\x1b[?2004h\x1b[?1l\x1b>\x1b[?7l"
	mouseOn    = "\x1b[?1000h\x1b[?1006h"
	mouseOff   = "\x1b[?1006l\x1b[?1000l"
	leaveModes = mouseOff + "\x1b[?7h\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l"
	askColours = "\x1b]11;?\x1b\\"
	// Every terminal answers DA1, and in order: then it has drawn, or answered, what came before.
	askDrawn  = "\x1b[c"
	syncBegin = "\x1b[?2026h"
	syncEnd   = "\x1b[?2026l"
)

// enter is the bytes that switch the terminal to the dashboard.
func (s *screen) enter() []byte {
	if s.look.Plain {
		return []byte("\x1b[0m\x1b[2J")
	}
	s.asked++
	return []byte(titlePush + enterModes + askColours + askDrawn)
}

// leave is the bytes that restore the terminal, with a last line unless it is empty.
func (s *screen) leave(last string) []byte {
	var b []byte
	if s.look.Plain {
		b = append(b, "\x1b[0m\x1b[2J\x1b[H\x1b[?25h"...)
	} else {
		b = append(b, syncEnd+leaveModes+titlePop...)
	}
	if last != "" {
		b = append(b, "\r"+last+"\r\n"...)
	}
	return b
}

// draw returns the bytes that make the terminal show the model. It returns none if it does already.
func (s *screen) draw(m *Model) []byte {
	if s.next.palette.full() {
		s.next.palette = newPalette()
		s.was.palette = s.next.palette
		s.drawn = false
	}
	m.Draw(s.next)
	m.SetTargets(s.next.targets)
	var b []byte
	if !s.drawn {
		s.was.clear()
		b = append(b, "\x1b[0m\x1b[2J"...)
	}
	pen := terminal.Style{}
	for y := range s.next.rows {
		b = s.row(b, y, &pen)
	}
	if pen != (terminal.Style{}) {
		b = s.look.AppendStyle(b, terminal.Style{}, pen)
	}
	cur := s.next.cursor
	if len(b) > 0 || cur != s.cursor || !s.drawn {
		if cur.Visible {
			b = paint.AppendMove(b, cur.Row, cur.Col)
			b = append(b, "\x1b[?25h"...)
		} else {
			b = append(b, "\x1b[?25l"...)
		}
	}
	if title := m.Title(); title != s.title && !s.look.Plain {
		s.title = title
		b = append(b, "\x1b]2;"+terminal.Printable(title)+"\x1b\\"...)
	}
	if on := !m.mouse.off && !s.look.Plain; on != s.mouse {
		s.mouse = on
		b = append(b, map[bool]string{true: mouseOn, false: mouseOff}[on]...)
	}
	b = append(b, m.Call(s.look.Plain)...)
	s.drawn, s.cursor = true, cur
	s.next, s.was = s.was, s.next
	if len(b) > 0 && !s.look.Plain {
		b = append(append([]byte(syncBegin+"\x1b[?25l"), b...), syncEnd...)
	}
	return s.ask(b, m)
}

// ask adds a query to the terminal if the picture has a new card. The reply shows that the card is drawn.
func (s *screen) ask(b []byte, m *Model) []byte {
	if !m.Undrawn() {
		return b
	}
	if !s.look.Plain {
		s.asked++
		b = append(b, askDrawn...)
	}
	m.Drawn(max(s.asked, 1))
	return b
}

func (s *screen) row(b []byte, y int, pen *terminal.Style) []byte {
	from, to := y*s.next.cols, (y+1)*s.next.cols
	changed := false
	for i := from; i < to && !changed; i++ {
		changed = s.next.cells[i] != s.was.cells[i]
	}
	if !changed {
		return b
	}
	for i := range s.is {
		s.is[i] = s.next.palette.cell(s.next.cells[from+i])
		s.old[i] = s.next.palette.cell(s.was.cells[from+i])
	}
	return s.look.Row(b, y, s.is, s.old, pen)
}

// output writes to the client, one buffer at a time, in a goroutine of its own. A client that reads
// nothing blocks only this goroutine.
type output struct {
	queue chan *write
	last  *write // nil before the first
	ended chan struct{}
}

// write is a buffer for the client.
type write struct {
	data []byte
	done chan struct{} // closed when the write has ended
	err  error
}

// taken is the message that a write has ended.
type taken struct{ *write }

func newOutput(w io.Writer) *output {
	o := &output{queue: make(chan *write, 1), ended: make(chan struct{})}
	go func() {
		defer close(o.ended)
		for b := range o.queue {
			_, b.err = w.Write(b.data)
			b.data = nil
			close(b.done)
		}
	}()
	return o
}

// send starts a write. The caller must not call it while busy. The command waits for the write's end.
func (o *output) send(b []byte) tea.Cmd {
	w := &write{data: b, done: make(chan struct{})}
	o.last = w
	o.queue <- w
	return func() tea.Msg {
		<-w.done
		return taken{w}
	}
}

// busy reports whether a write is in progress.
func (o *output) busy() bool {
	if o.last == nil {
		return false
	}
	select {
	case <-o.last.done:
		return false
	default:
		return true
	}
}

// drained waits until no write is in progress.
func (o *output) drained(deadline <-chan time.Time) bool {
	select {
	case <-o.last.done:
		return o.last.err == nil
	case <-deadline:
		return false
	}
}

// close waits for the goroutine to end.
func (o *output) close() {
	close(o.queue)
	<-o.ended
}

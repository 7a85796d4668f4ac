package terminal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
)

// ErrCheckpoint is the error for bytes that aren't a whole checkpoint.
var ErrCheckpoint = errors.New("not a whole checkpoint of a terminal")

// checkpointVersion is magic and version in one. It changes with a layout that this code can't read. An
// older server may refuse a newer checkpoint, and reads the journal instead.
const checkpointVersion = "berthterm1"

// Checkpoint is the whole state: size, both screens, history, pen, saved
// cursors, modes, tab stops, titles, colours, the parser in the middle of a
// sequence, and the offset. Restore makes a terminal of it that goes on exactly
// where this one is.
func (t *Terminal) Checkpoint() []byte {
	e := &encoder{out: make([]byte, 0, 16<<10)}
	e.out = append(e.out, checkpointVersion...)
	e.state(t)
	return binary.BigEndian.AppendUint32(e.out, crc32.ChecksumIEEE(e.out))
}

// Restore makes a terminal of a checkpoint. Size and state come from it,
// handlers and limits from o. The pass-through stream begins switched off. The
// error wraps ErrCheckpoint.
func Restore(o Options, checkpoint []byte) (*Terminal, error) {
	head := len(checkpointVersion)
	if len(checkpoint) < head+4 || string(checkpoint[:head]) != checkpointVersion {
		return nil, fmt.Errorf("reading a checkpoint of %d bytes: %w", len(checkpoint), ErrCheckpoint)
	}
	end := len(checkpoint) - 4
	if binary.BigEndian.Uint32(checkpoint[end:]) != crc32.ChecksumIEEE(checkpoint[:end]) {
		return nil, fmt.Errorf("checksum of a checkpoint of %d bytes: %w", len(checkpoint), ErrCheckpoint)
	}
	d := &decoder{in: checkpoint[head:end]}
	t := New(o)
	d.state(t)
	if d.failed || len(d.in) != 0 {
		return nil, fmt.Errorf("content of a checkpoint of %d bytes: %w", len(checkpoint), ErrCheckpoint)
	}
	return t, nil
}

// encoder writes a checkpoint, and decoder (restore.go) reads it. Each method of
// one has its like in the other, in the same order.
type encoder struct{ out []byte }

func (e *encoder) int(n int)       { e.out = binary.AppendVarint(e.out, int64(n)) }
func (e *encoder) uint(n uint64)   { e.out = binary.AppendUvarint(e.out, n) }
func (e *encoder) string(s string) { e.uint(uint64(len(s))); e.out = append(e.out, s...) }
func (e *encoder) bool(bits ...bool) {
	n := uint64(0)
	for i, on := range bits {
		if on {
			n |= 1 << i
		}
	}
	e.uint(n)
}

func (e *encoder) state(t *Terminal) {
	e.int(t.cols)
	e.int(t.rows)
	e.uint(uint64(t.offset))
	e.uint(t.revision)
	e.int(t.panics)
	e.screen(t.main)
	e.screen(t.alt)
	e.bool(t.scr == t.alt, t.tabs != nil)
	e.uint(uint64(t.history.len()))
	for i := range t.history.len() {
		e.line(t.history.at(i))
	}
	e.pen(&t.pen)
	e.string(string(t.charsets[:]))
	e.int(t.shift)
	e.modes(&t.modes)
	e.ints(t.tabs)
	e.string(t.title)
	e.strings(t.titles)
	e.colors(&t.colors)
	e.int(int(t.join.base))
	e.int(int(t.join.last))
	e.int(t.join.regions)
	e.int(int(t.last))
	e.parser(&t.parser)
	e.places(t)
}

// places are where turns began, and where in the stream each line's text came. They are last, because
// checkpoints of earlier versions end without them.
func (e *encoder) places(t *Terminal) {
	before := int64(0)
	add := func(offset int64) {
		e.int(int(offset - before))
		before = offset
	}
	e.uint(uint64(len(t.turns)))
	for _, turn := range t.turns {
		add(turn)
	}
	for _, l := range slices.Concat(t.main.rows, t.alt.rows, t.history.lines()) {
		add(l.written)
	}
}

// parser leaves out what is only left over from a sequence that has ended.
func (e *encoder) parser(p *parser) {
	now := parser{state: p.state}
	if p.state != ground {
		now.partial = p.partial
	}
	if p.state == text || p.state == textEscape {
		now.kind, now.overlong = p.kind, p.overlong
	}
	e.int(int(now.state))
	e.int(int(now.kind))
	e.bool(now.overlong)
	e.string(string(now.partial))
	e.string(string(p.rune[:p.runeLen]))
}

func (e *encoder) ints(list []int) {
	e.uint(uint64(len(list)))
	for _, n := range list {
		e.int(n)
	}
}

func (e *encoder) strings(list []string) {
	e.uint(uint64(len(list)))
	for _, s := range list {
		e.string(s)
	}
}

func (e *encoder) screen(s *screen) {
	for _, l := range s.rows {
		e.line(l)
	}
	e.ints([]int{s.x, s.y, s.top, s.bottom})
	e.ints(s.kitty)
	saved := &s.saved
	e.bool(saved.set, saved.origin, saved.waiting)
	e.ints([]int{saved.x, saved.y, saved.shift})
	e.pen(&saved.pen)
	e.string(string(saved.charsets[:]))
}

func (e *encoder) pen(p *pen) {
	e.style(p.cell)
	e.string(p.extra.link)
	e.uint(uint64(p.extra.underlineColor))
}

func (e *encoder) style(c cell) {
	e.uint(uint64(c.fg))
	e.uint(uint64(c.bg))
	e.uint(uint64(c.attr))
}

// line is written in runs of cells of one style.
func (e *encoder) line(l *Line) {
	if len(l.clusters)+len(l.extras) > 0 {
		l = l.clone() // without what no cell names any more
		l.compact()
	}
	e.bool(l.wrapped, l.prompt)
	e.uint(uint64(len(l.cells)))
	for i := 0; i < len(l.cells); {
		first := l.cells[i]
		n := 1
		for i+n < len(l.cells) && sameStyle(l.cells[i+n], first) {
			n++
		}
		e.uint(uint64(n))
		e.style(first)
		for _, c := range l.cells[i : i+n] {
			e.uint(uint64(c.ch))
		}
		i += n
	}
	e.strings(l.clusters)
	e.uint(uint64(len(l.extras)))
	for _, x := range l.extras {
		e.string(x.link)
		e.uint(uint64(x.underlineColor))
	}
}

func sameStyle(a, b cell) bool { return a.fg == b.fg && a.bg == b.bg && a.attr == b.attr }

func (e *encoder) modes(m *modes) {
	e.bool(m.appCursor, m.appKeypad, m.paste, m.focus, m.mouseSGR, m.wrap, m.insert, m.origin, m.newLine,
		m.reverse, m.cursor, m.blink, m.alternateScroll, m.theme, m.sync, m.reverseWrap)
	e.ints([]int{int(m.mouse), m.modifyOther, m.shape})
	e.uint(uint64(max(m.syncSince.UnixMilli(), 0)))
}

func (e *encoder) colors(c *colors) {
	e.uint(uint64(c.foreground))
	e.uint(uint64(c.background))
	e.uint(uint64(c.cursor))
	e.uint(uint64(len(c.palette)))
	for _, n := range slices.Sorted(maps.Keys(c.palette)) {
		e.uint(uint64(n))
		e.uint(uint64(c.palette[n]))
	}
}

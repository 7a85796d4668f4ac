package terminal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"time"
)

// ErrCheckpoint is the error for bytes that are no checkpoint, or a torn one.
var ErrCheckpoint = errors.New("not a whole checkpoint of a terminal")

// checkpointVersion changes with the layout: magic and version in one.
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

// encoder and decoder are two sides of one layout: each method of one has its
// like in the other, in the same order.
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
	e.bool(saved.set, saved.origin)
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
	e.bool(l.wrapped)
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

// decoder reads what an encoder wrote. After the first mistake it is failed and
// reads zeros.
type decoder struct {
	in     []byte
	failed bool
}

func (d *decoder) fail() {
	d.failed = true
	d.in = nil
}

func (d *decoder) uint(limit uint64) uint64 {
	if len(d.in) > 0 && d.in[0] < 0x80 && uint64(d.in[0]) <= limit { // most of them
		n := d.in[0]
		d.in = d.in[1:]
		return uint64(n)
	}
	n, size := binary.Uvarint(d.in)
	if size <= 0 || n > limit {
		d.fail()
		return 0
	}
	d.in = d.in[size:]
	return n
}

func (d *decoder) int(low, high int) int {
	n, size := binary.Varint(d.in)
	if size <= 0 || n < int64(low) || n > int64(high) {
		d.fail()
		return low
	}
	d.in = d.in[size:]
	return int(n)
}

// len is a number of things that take at least a byte each.
func (d *decoder) len() int { return int(d.uint(uint64(len(d.in)))) }

func (d *decoder) string() string {
	n := d.len()
	if n > len(d.in) {
		d.fail()
		return ""
	}
	s := string(d.in[:n])
	d.in = d.in[n:]
	return s
}

func (d *decoder) bools(to ...*bool) {
	n := d.uint(1<<len(to) - 1)
	for i, on := range to {
		*on = n&(1<<i) != 0
	}
}

func (d *decoder) state(t *Terminal) {
	t.cols, t.rows = d.int(minCols, maxCols), d.int(minRows, maxRows)
	t.offset = int64(d.uint(1<<63 - 1))
	t.revision = d.uint(1<<64 - 1)
	t.panics = d.int(0, 1<<40)
	t.main, t.alt = d.screen(t), d.screen(t)
	var alt, tabs bool
	d.bools(&alt, &tabs)
	if t.scr = t.main; alt {
		t.scr = t.alt
	}
	history := make([]*Line, 0, 16)
	for range d.len() {
		if d.failed {
			return
		}
		history = append(history, d.line(t.cols))
	}
	t.history.set(history)
	t.pen = d.pen()
	t.charsets = d.charsets()
	t.shift = d.int(0, 3)
	d.modes(&t.modes)
	if t.tabs = d.ints(0, maxCols); tabs && t.tabs == nil {
		t.tabs = []int{}
	}
	t.title = d.string()
	t.titles = d.strings()
	d.colors(&t.colors)
	t.join = joiner{base: d.rune(), last: d.rune(), regions: d.int(0, 2)}
	t.last = d.rune()
	t.parser.state = state(d.int(int(ground), int(textEscape)))
	t.parser.kind = byte(d.int(0, 255))
	d.bools(&t.parser.overlong)
	t.parser.partial = []byte(d.string())
	cut := d.string()
	if len(cut) >= len(t.parser.rune) {
		d.fail()
	}
	t.parser.runeLen = copy(t.parser.rune[:len(t.parser.rune)-1], cut)
}

func (d *decoder) rune() rune { return rune(d.int(0, 0x10ffff)) }

func (d *decoder) ints(low, high int) []int {
	var list []int
	for range d.len() {
		if d.failed {
			return nil
		}
		list = append(list, d.int(low, high))
	}
	return list
}

func (d *decoder) strings() []string {
	var list []string
	for range d.len() {
		if d.failed {
			return nil
		}
		list = append(list, d.string())
	}
	return list
}

// numbers is a list of exactly n.
func (d *decoder) numbers(n int) []int {
	list := d.ints(0, 1<<20)
	if len(list) != n {
		d.fail()
		return make([]int, n)
	}
	return list
}

func (d *decoder) screen(t *Terminal) *screen {
	s := &screen{rows: make([]*Line, t.rows)}
	for i := range s.rows {
		s.rows[i] = d.line(t.cols)
	}
	at := d.numbers(4)
	s.x, s.y, s.top, s.bottom = at[0], at[1], at[2], at[3]
	if s.x > t.cols || s.y >= t.rows || s.bottom >= t.rows || s.top > s.bottom {
		d.fail()
	}
	s.kitty = d.ints(0, kittyFlags)
	d.bools(&s.saved.set, &s.saved.origin)
	at = d.numbers(3)
	s.saved.x, s.saved.y, s.saved.shift = at[0], at[1], at[2]&3
	s.saved.pen = d.pen()
	s.saved.charsets = d.charsets()
	return s
}

func (d *decoder) charsets() (sets [4]byte) {
	if copy(sets[:], d.string()) != len(sets) {
		d.fail()
	}
	return sets
}

func (d *decoder) pen() pen {
	p := pen{cell: d.style(0)}
	p.extra = extra{link: d.string(), underlineColor: d.color()}
	return p
}

func (d *decoder) color() Color { return Color(d.uint(1<<32 - 1)) }

// style reads one whose attr may name extras extras.
func (d *decoder) style(extras int) cell {
	c := cell{fg: d.color(), bg: d.color(), attr: uint32(d.uint(1<<32 - 1))}
	if int(c.attr>>extraShift) > extras {
		d.fail()
		c.attr = 0
	}
	return c
}

func (d *decoder) line(cols int) *Line {
	l := &Line{}
	d.bools(&l.wrapped)
	n := d.uint(uint64(cols))
	if d.failed || n == 0 {
		d.extras(l)
		return l
	}
	l.cells = make([]cell, 0, n)
	for len(l.cells) < int(n) && !d.failed {
		run := d.uint(n - uint64(len(l.cells)))
		c := d.style(1<<16 - 1)
		if run == 0 {
			d.fail()
		}
		for range run {
			c.ch = uint32(d.uint(1<<32 - 1))
			l.cells = append(l.cells, c)
		}
	}
	d.extras(l)
	for x, c := range l.cells {
		tail := c.ch&cellTail != 0
		switch {
		case c.ch&cellCluster != 0 && int(c.ch&cellValue) >= len(l.clusters),
			int(c.attr>>extraShift) > len(l.extras),
			tail && (x == 0 || l.cells[x-1].ch&cellWide == 0):
			d.fail()
		}
	}
	return l
}

func (d *decoder) extras(l *Line) {
	l.clusters = d.strings()
	for range d.len() {
		if d.failed {
			return
		}
		l.extras = append(l.extras, extra{link: d.string(), underlineColor: d.color()})
	}
}

func (d *decoder) modes(m *modes) {
	d.bools(&m.appCursor, &m.appKeypad, &m.paste, &m.focus, &m.mouseSGR, &m.wrap, &m.insert, &m.origin, &m.newLine,
		&m.reverse, &m.cursor, &m.blink, &m.alternateScroll, &m.theme, &m.sync, &m.reverseWrap)
	n := d.numbers(3)
	m.mouse, m.modifyOther, m.shape = MouseMode(n[0]), n[1], n[2]
	m.syncSince = time.UnixMilli(int64(d.uint(1<<62 - 1)))
}

func (d *decoder) colors(c *colors) {
	c.foreground, c.background, c.cursor = d.color(), d.color(), d.color()
	for range d.len() {
		if d.failed {
			return
		}
		if c.palette == nil {
			c.palette = make(map[uint8]Color)
		}
		n := uint8(d.uint(255))
		c.palette[n] = d.color()
	}
}

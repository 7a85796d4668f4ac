package terminal

import (
	"encoding/binary"
	"math"
	"slices"
	"time"
)

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
	t.cols, t.rows = d.int(MinCols, MaxCols), d.int(MinRows, MaxRows)
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
	if t.tabs = d.ints(0, MaxCols); tabs && t.tabs == nil {
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
	if len(d.in) > 0 {
		d.places(t, history)
	}
}

func (d *decoder) places(t *Terminal, history []*Line) {
	before := 0
	next := func() int64 {
		before += d.int(math.MinInt, math.MaxInt)
		return int64(before)
	}
	turns := d.len()
	if turns > mostTurns {
		d.fail()
		return
	}
	for range turns {
		t.turns = append(t.turns, next())
	}
	for _, l := range slices.Concat(t.main.rows, t.alt.rows, history) { // t may keep only a part of history
		l.written = next()
	}
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
	d.bools(&s.saved.set, &s.saved.origin, &s.saved.waiting)
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
	d.bools(&l.wrapped, &l.prompt)
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

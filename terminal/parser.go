package terminal

import (
	"bytes"
	"unicode/utf8"
)

type state uint8

const (
	ground         state = iota
	escape               // after ESC
	escapeBetween        // after ESC and intermediate bytes
	control              // in a CSI sequence
	controlIgnored       // in one too long or malformed
	text                 // in an OSC, DCS, APC, PM or SOS string
	textEscape           // after an ESC in a string
)

const (
	// maxSequence is the longest CSI sequence that is looked at.
	maxSequence = 1024
	// maxString is how much of an OSC, DCS or APC string is kept. A longer one is
	// swallowed, but for the head of an image.
	maxString = 64 << 10
)

// parser is what is remembered between two bytes. Its zero value is between two
// sequences.
type parser struct {
	state    state
	kind     byte   // of a string: ']', 'P', '_', '^' or 'X'
	overlong bool   // of a string: more than maxString
	partial  []byte // of a sequence or string so far
	rune     [utf8.UTFMax]byte
	runeLen  int // bytes of a cut rune in rune
}

// feed runs the state machine over p. It sets t.pos before anything that may
// answer or be sent to others.
func (t *Terminal) feed(p []byte) {
	for i := 0; i < len(p); {
		switch t.parser.state {
		case ground:
			i = t.feedGround(p, i)
		case text:
			i = t.feedText(p, i)
		default:
			t.pos = i
			t.feedByte(p[i])
			i++
		}
	}
}

// feedGround takes text, control characters, and CSI sequences that are whole.
func (t *Terminal) feedGround(p []byte, i int) int {
	if t.parser.runeLen > 0 {
		return t.feedCutRune(p, i)
	}
	for i < len(p) {
		b := p[i]
		switch {
		case b >= 0x20 && b < 0x7f:
			j := i + 1
			for j < len(p) && p[j] >= 0x20 && p[j] < 0x7f {
				j++
			}
			t.pos = i
			t.printASCII(p[i:j], 1)
			i = j
		case b >= 0x80:
			r, n := utf8.DecodeRune(p[i:])
			if r == utf8.RuneError && n == 1 {
				if !utf8.FullRune(p[i:]) {
					t.parser.runeLen = copy(t.parser.rune[:], p[i:])
					return len(p)
				}
				i++ // not UTF-8: nothing is shown
				continue
			}
			t.pos = i + n - 1
			if r >= 0xa0 {
				t.printRune(r)
			}
			i += n
		case b == 0x1b:
			end := wholeControl(p[i+1:])
			if end == 0 {
				t.pos = i
				t.parser.state = escape
				t.parser.partial = t.parser.partial[:0]
				return i + 1
			}
			t.pos = i + end
			t.control(p[i+2 : i+end+1])
			i += end + 1
		default:
			t.pos = i
			t.execute(b)
			i++
		}
	}
	return i
}

// wholeControl is the index in p of the final byte of the CSI sequence that p,
// just after an ESC, holds whole; 0 when it does not.
func wholeControl(p []byte) int {
	if len(p) == 0 || p[0] != '[' {
		return 0
	}
	for j, b := range p[1:] {
		if b >= 0x40 && b <= 0x7e && j < maxSequence {
			return j + 2
		}
		if b < 0x20 || b >= 0x40 {
			return 0
		}
	}
	return 0
}

// feedCutRune goes on with a rune whose bytes came in two Writes.
func (t *Terminal) feedCutRune(p []byte, i int) int {
	ps := &t.parser
	ps.rune[ps.runeLen] = p[i]
	have := ps.rune[:ps.runeLen+1]
	if !utf8.FullRune(have) {
		ps.runeLen++
		return i + 1
	}
	r, n := utf8.DecodeRune(have)
	ps.runeLen = 0
	if n != len(have) {
		return i // the bytes before were not UTF-8; this one begins anew
	}
	t.pos = i
	if r >= 0xa0 {
		t.printRune(r)
	}
	return i + 1
}

// feedByte is one byte inside an escape or CSI sequence.
func (t *Terminal) feedByte(b byte) {
	ps := &t.parser
	switch {
	case b == 0x18 || b == 0x1a: // CAN, SUB
		ps.state = ground
	case b == 0x1b && ps.state != textEscape:
		ps.state = escape
		ps.partial = ps.partial[:0]
	case ps.state == textEscape:
		t.feedTextEscape(b)
	case b < 0x20:
		t.execute(b)
	case b == 0x7f || b >= 0x80:
	case ps.state == escape, ps.state == escapeBetween:
		t.feedEscape(b)
	case b >= 0x40:
		known := ps.state == control
		ps.state = ground
		if known {
			t.control(append(ps.partial, b))
		}
	case ps.state == control:
		if len(ps.partial) >= maxSequence {
			ps.state = controlIgnored
			return
		}
		ps.partial = append(ps.partial, b)
	}
}

func (t *Terminal) feedEscape(b byte) {
	ps := &t.parser
	switch {
	case b < 0x30:
		ps.state = escapeBetween
		if len(ps.partial) < 4 {
			ps.partial = append(ps.partial, b)
		}
	case ps.state == escape && b == '[':
		ps.state = control
	case ps.state == escape && (b == ']' || b == 'P' || b == '_' || b == '^' || b == 'X'):
		ps.state, ps.kind, ps.overlong = text, b, false
	default:
		ps.state = ground
		t.escapeSequence(ps.partial, b)
	}
}

// feedText takes the content of a string up to what ends it.
func (t *Terminal) feedText(p []byte, i int) int {
	ps := &t.parser
	end := i
	for end < len(p) && p[end] != 0x07 && p[end] != 0x1b && p[end] != 0x18 && p[end] != 0x1a {
		end++
	}
	t.keepText(p[i:end])
	if end == len(p) {
		return end
	}
	t.pos = end
	switch b := p[end]; {
	case b == 0x1b:
		ps.state = textEscape
	case b == 0x07 && ps.kind != ']': // part of the string
		t.keepText(p[end : end+1])
	case b == 0x07:
		t.endText(true)
	default:
		t.endText(false)
	}
	return end + 1
}

func (t *Terminal) keepText(p []byte) {
	ps := &t.parser
	if ps.kind != ']' && ps.kind != 'P' && ps.kind != '_' || ps.overlong {
		return
	}
	if len(ps.partial)+len(p) > maxString {
		ps.overlong = true
		head := make([]byte, imageHead)
		n := copy(head, ps.partial)
		n += copy(head[n:], p)
		ps.partial = head[:n]
		return
	}
	ps.partial = append(ps.partial, p...)
}

// feedTextEscape is the byte after an ESC in a string. Only ESC \ ends it well;
// any other begins a sequence of its own and the string is forgotten.
func (t *Terminal) feedTextEscape(b byte) {
	if b == '\\' {
		t.endText(true)
		return
	}
	t.endText(false)
	t.parser.state = escape
	t.feedByte(b)
}

func (t *Terminal) endText(well bool) {
	ps := &t.parser
	content := ps.partial
	ps.state = ground
	switch {
	case !well:
	case ps.overlong || ps.kind == '_':
		t.image(ps.kind, string(content))
	case ps.kind == ']':
		t.command(content)
	case ps.kind == 'P':
		t.deviceControl(content)
	}
	ps.partial = content[:0]
	if cap(content) > 4096 { // one long string must not cost memory for good
		ps.partial = nil
	}
}

// execute is a C0 control character.
func (t *Terminal) execute(b byte) {
	s := t.scr
	waiting := s.x >= t.cols
	switch b {
	case 0x07:
		t.passControl(b)
		t.notice(-1, "")
		return
	case 0x08:
		if t.backspace() {
			t.endCluster()
			t.passPlace()
			return
		}
	case 0x09:
		t.endCluster()
		if s.x < t.cols {
			t.tab(1)
			t.passColumn()
		}
		return
	case 0x0a, 0x0b, 0x0c:
		t.lineFeed()
		if b = '\n'; t.modes.newLine { // which not all terminals have
			t.endCluster()
			t.passControl('\r')
		}
	case 0x0d:
		s.x = 0
		t.revision++
	case 0x0e, 0x0f:
		t.shift = int(0x0f - b) // what clients get is translated already
		return
	default:
		return
	}
	t.endCluster()
	t.passControl(b)
	t.passUnwrapped(waiting && b != '\r')
}

// escapeSequence is ESC, intermediate bytes, final byte.
func (t *Terminal) escapeSequence(between []byte, final byte) {
	if len(between) == 1 {
		if i := bytes.IndexByte([]byte("()*+"), between[0]); i >= 0 {
			t.setCharset(i, final)
		}
		if between[0] == '#' && final == '8' {
			t.fillWithE()
			t.endCluster()
			t.passAlignment()
		}
		return
	}
	if len(between) > 0 {
		return
	}
	waiting := t.scr.x >= t.cols
	switch final {
	case '7':
		t.saveCursor()
		t.endCluster()
		return
	case '8':
		t.restoreSaved()
		return
	case '=', '>':
		t.modes.appKeypad = final == '='
	case 'D':
		t.lineFeedKeepingColumn()
	case 'E':
		t.scr.x = 0
		t.lineFeedKeepingColumn()
	case 'H':
		t.setTab(min(t.scr.x, t.cols-1), true)
	case 'M':
		t.reverseIndex()
	case 'c':
		t.reset()
		return
	case 'n':
		t.shift = 2
		return
	case 'o':
		t.shift = 3
		return
	default:
		return
	}
	t.endCluster()
	t.passEscape(string(final))
	t.passUnwrapped(waiting && (final == 'D' || final == 'M'))
}

func (t *Terminal) setCharset(i int, set byte) {
	if set != '0' && set != 'A' {
		set = 'B'
	}
	t.charsets[i] = set
}

// lineFeedKeepingColumn is IND: a line feed that LNM does not change.
func (t *Terminal) lineFeedKeepingColumn() {
	saved := t.modes.newLine
	t.modes.newLine = false
	t.lineFeed()
	t.modes.newLine = saved
}

// reset is RIS.
func (t *Terminal) reset() {
	t.endCluster()
	t.clear()
	t.history.clear()
	t.passReset()
	t.tellTitle()
}

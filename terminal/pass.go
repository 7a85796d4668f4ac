package terminal

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxPass is how much of the stream for clients is kept between two TakePass.
// Beyond it, it is thrown away and the next TakePass is a repaint.
const maxPass = 4 << 20

// pass is the stream for clients that follow along: printable text, and the
// sequences this terminal knows and policy lets through, written anew.
type pass struct {
	on      bool
	repaint bool // too much was written, or the screen begun anew
	out     []byte
	taken   int    // size of the last piece, as a hint for the next
	mark    int    // len(out) after the last rune
	cut     bool   // the current cluster ended here, and clients don't know
	join    joiner // that cluster, unless it is one that was painted
	column  int    // from 1, to be sent before what comes next; 0 for none
}

// SetPass begins or ends the filtered stream for clients. To begin one that is
// on already changes nothing: others follow it.
func (t *Terminal) SetPass(on bool) {
	if on != t.pass.on {
		t.pass = pass{on: on}
	}
}

// TakePass is the filtered stream since the last TakePass. It holds whole
// sequences and runes, so that a client may begin with any TakePass after a
// Repaint. After more than 4 MiB it is a repaint instead.
func (t *Terminal) TakePass() []byte {
	p := &t.pass
	if p.repaint {
		*p = pass{on: p.on}
		return t.Repaint(RepaintOptions{})
	}
	out := p.out
	p.out, p.taken, p.mark = nil, len(out), 0 // p.column is still to be sent
	return out
}

// room says whether a sequence may be added that ends the cluster before it.
func (p *pass) room() bool {
	p.cut = false
	return p.able()
}

// able says whether something may be added.
func (p *pass) able() bool {
	if !p.on || p.repaint {
		return false
	}
	if len(p.out) > maxPass {
		p.out, p.repaint = nil, true
		return false
	}
	if p.out == nil {
		p.out = make([]byte, 0, max(256, p.taken+p.taken/8))
	}
	return true
}

// text adds ASCII, which joins no cluster.
func (p *pass) text(b []byte) {
	if p.room() {
		p.out = append(p.out, b...)
		p.mark = len(p.out)
	}
}

func (t *Terminal) passRebuild() {
	if t.pass.on {
		t.pass = pass{on: true, repaint: true}
	}
}

// passRune passes on a rune that begins a cluster, or a mark that goes to one
// which has ended: neither may join what clients' terminals have under way.
func (t *Terminal) passRune(r rune) {
	if !t.pass.on {
		return
	}
	if p := &t.pass; p.cut && (p.join.base == 0 || p.join.takes(r)) {
		t.passCut()
	}
	t.pass.cut = false
	if t.pass.able() {
		t.pass.out = utf8.AppendRune(t.pass.out, r)
		t.pass.mark = len(t.pass.out)
	}
}

func (t *Terminal) passControl(b byte) {
	if b != 0x07 {
		t.pass.cut = false
	}
	if t.pass.on && t.pass.able() {
		t.pass.out = append(t.pass.out, b)
	}
}

// passColumn sends the column explicitly: clients' tab stops are their own.
func (t *Terminal) passColumn() {
	if t.scr.x < t.cols && t.pass.on && t.pass.room() {
		t.pass.out = append(appendNumber(append(t.pass.out, "\x1b["...), t.scr.x+1), 'G')
	}
}

// passAlignLater sends the column when the current cluster has ended, when
// it is one of several runes that terminals differ about: joined emoji, skin
// tones, flags, selectors.
func (t *Terminal) passAlignLater(grown int) {
	if t.pass.on && grown > 0 {
		if t.pass.column = t.scr.x + 1; t.scr.x >= t.cols {
			t.pass.column = 0
		}
	}
}

func (t *Terminal) passAlign() {
	if t.pass.column == 0 {
		return
	}
	if t.pass.room() {
		t.pass.out = append(appendNumber(append(t.pass.out, "\x1b["...), t.pass.column), 'G')
	}
	t.pass.column = 0
}

// passPlace sends the cursor's position explicitly.
func (t *Terminal) passPlace() {
	if !t.pass.on || !t.pass.room() {
		return
	}
	out := appendNumber(append(t.pass.out, "\x1b["...), t.originRow()+1)
	t.pass.out = append(appendNumber(append(out, ';'), t.scr.x+1), 'H')
}

func (t *Terminal) passEscape(s string) {
	if t.pass.on && t.pass.room() {
		t.pass.out = append(append(t.pass.out, 0x1b), s...)
	}
}

func (t *Terminal) passCommand(s string) {
	if t.pass.on && t.pass.able() {
		t.pass.out = append(append(append(t.pass.out, "\x1b]"...), s...), "\x1b\\"...)
	}
}

// passNotice passes a notification on as printable text.
func (t *Terminal) passNotice(n int, payload string) {
	if t.pass.on {
		t.passCommand(strconv.Itoa(n) + ";" + cleanText(payload, maxTitle))
	}
}

// passMode passes one mode on.
func (t *Terminal) passMode(n int, on, private bool) {
	if !t.pass.on || !t.pass.room() {
		return
	}
	t.pass.out = appendMode(t.pass.out, n, on, private)
	if n == 7 && on && private {
		t.passWaiting()
	}
}

func appendMode(out []byte, n int, on, private bool) []byte {
	out = append(out, "\x1b["...)
	if private {
		out = append(out, '?')
	}
	out = appendNumber(out, n)
	if on {
		return append(out, 'h')
	}
	return append(out, 'l')
}

func appendNumber(out []byte, n int) []byte { return strconv.AppendInt(out, int64(n), 10) }

// passControlSequence passes a sequence on as it came, or rewritten when its
// numbers were out of bounds.
func (t *Terminal) passControlSequence(p *params, prefix, between, final byte, body []byte) {
	if !t.pass.on {
		return
	}
	if p.clamped || p.len > 1 && final != 'm' {
		t.passMarked(p, prefix, between, final)
		return
	}
	if final != 'm' && t.pass.room() || t.pass.able() {
		out := append(t.pass.out, 0x1b, '[')
		t.pass.out = append(append(out, body...), final)
	}
}

// passMarked writes a sequence from its parameters.
func (t *Terminal) passMarked(p *params, prefix, between, final byte) {
	if !t.pass.on || !t.pass.able() {
		return
	}
	if final != 'm' || prefix != 0 {
		t.pass.cut = false
	}
	out := append(t.pass.out, 0x1b, '[')
	if prefix != 0 {
		out = append(out, prefix)
	}
	for i := range p.len {
		switch {
		case i > 0 && p.colon[i]:
			out = append(out, ':')
		case i > 0:
			out = append(out, ';')
		}
		if p.n[i] >= 0 {
			out = appendNumber(out, int(min(p.n[i], maxParam)))
		}
	}
	if between != 0 {
		out = append(out, between)
	}
	t.pass.out = append(out, final)
}

const (
	// eraseSequence empties the screen from its last cell up: for ED 2, and for
	// ED 0 from the top, some terminals move what is on it into their scrollback.
	eraseSequence = "\x1b[9999;9999H\x1b[1J\x1b[H"

	// softResetSequence is what DECSTR does, with the cursor going home.
	softResetSequence = "\x1b[4l\x1b[?1;6l\x1b[r\x1b>\x1b[?7;25h\x1b[0m"
)

// resetSequence brings a client's terminal to the state of a new one: main
// screen, modes, margins, pen, keyboard, empty screen. It is spelled out as RIS
// would also take the client's history. Mode 2026 it leaves to the sender:
// a client may be inside an update of its own that is to cover all this.
var resetSequence = strings.Join([]string{
	"\x1b[<16u", "\x1b[?1049l", "\x1b[<16u", "\x1b[?69l", softResetSequence, "\x1b[?5;9;12;1000;1002;1003;1004;1006;1007;2004;2031l",
	"\x1b[20l", "\x1b[>4;0m", "\x1b[0 q", "\x1b]8;;\x1b\\", "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\",
	"\x1b(B\x0f", eraseSequence, "\x1b[?5W",
}, "")

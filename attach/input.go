package attach

import (
	"slices"
	"time"

	"berth/terminal/keyboard"
)

// inputKind is what a part of the client's input is.
type inputKind int

const (
	inputText    inputKind = iota + 1 // for the program, as it is
	inputMouse                        // one mouse event
	inputFocus                        // focus came or went
	inputCommand                      // the key after the prefix
)

// input is a part of what the client's terminal sent.
type input struct {
	kind  inputKind
	data  []byte // all but inputCommand
	key   rune   // of inputCommand: the character, 0 for a key that is none
	paste bool   // of inputText: the data is a paste with its marks, or a part of one
	freed bool   // of inputText: the data is the releases of keys
}

const stringLimit = 4 << 10 // the longest string reply (XTGETTCAP), with room

type parseState int

const (
	stateGround parseState = iota
	stateEscape            // ESC
	stateCSI               // ESC [
	stateSS3               // ESC O
	stateLinux             // ESC [ [
	stateX10               // ESC [ M, three bytes to come
	stateString            // ESC ] P _ ^ X
	statePaste
	stateRune // the rest of a UTF-8 character swallowed as a command
)

// inputParser splits what a client's terminal sends into text for the program,
// mouse and focus events and prefix commands, and drops replies to queries.
// It is pure: bytes in by feed at any boundary, time in by flush. All bytes
// that belong to no command and no reply come out, in order. feed stops after a
// command, because the command may decide who gets the bytes after it.
type inputParser struct {
	prefixes []prefixKey // the first is the one that messages name

	state    parseState
	pending  []byte // the unfinished sequence, with its ESC
	matched  int    // how much of keyboard.PasteEnd the paste has just shown
	skip     int    // bytes left in stateRune
	awaiting bool   // the prefix was pressed: the next key is a command
	swallow  []rune // keys whose press was ours and whose release may follow

	out []input
}

func newInputParser(prefixes string) *inputParser {
	p := &inputParser{}
	for _, b := range []byte(prefixes) {
		p.prefixes = append(p.prefixes, newPrefixKey(b))
	}
	return p
}

// label is the first prefix key as it is written for people.
func (p *inputParser) label() string { return p.prefixes[0].Label() }

// labels are all of them.
func (p *inputParser) labels() string {
	labels := p.label()
	for _, k := range p.prefixes[1:] {
		labels += " or " + k.Label()
	}
	return labels
}

// prefixByte is the prefix key that a control character comes from; false if it is another key's.
func (p *inputParser) prefixByte(c byte) (prefixKey, bool) {
	for _, k := range p.prefixes {
		if k.legacy == c {
			return k, true
		}
	}
	return prefixKey{}, false
}

func (p *inputParser) isPrefix(e keyboard.Event) bool {
	return slices.ContainsFunc(p.prefixes, func(k prefixKey) bool { return k.is(e) })
}

// feed takes the next bytes, at most up to a command. It returns the bytes after that as left. The parts
// are valid until the next call.
func (p *inputParser) feed(b []byte) (parts []input, left []byte) {
	p.out = nil
	for i := 0; i < len(b); {
		if p.state == statePaste {
			i += p.paste(b[i:])
			continue
		}
		p.step(b[i])
		i++
		if n := len(p.out); n > 0 && p.out[n-1].kind == inputCommand {
			return p.out, b[i:]
		}
	}
	return p.out, nil
}

// hold is how long after the last byte flush is to be called; 0 is never.
func (p *inputParser) hold() time.Duration {
	switch {
	case p.state == statePaste:
		return keyboard.PasteHold
	case len(p.pending) == 0:
		return 0
	case len(p.pending) <= 2:
		return keyboard.EscapeHold
	default:
		return keyboard.SequenceHold
	}
}

// flush gives up waiting for the rest of a sequence.
func (p *inputParser) flush() []input {
	p.out = nil
	if p.state == statePaste {
		p.state, p.matched = stateGround, 0
		return nil
	}
	if len(p.pending) > 0 {
		p.giveUp()
	}
	return p.out
}

func (p *inputParser) step(c byte) {
	switch p.state {
	case stateGround:
		p.ground(c)
	case stateEscape:
		p.escape(c)
	case stateCSI:
		p.csi(c)
	case stateSS3:
		p.ss3(c)
	case stateLinux:
		p.pending = append(p.pending, c)
		p.finish()
	case stateX10:
		p.pending = append(p.pending, c)
		if len(p.pending) == 6 {
			p.finish()
		}
	case stateString:
		p.str(c)
	case stateRune:
		p.rest(c)
	}
}

func (p *inputParser) ground(c byte) {
	prefix, isPrefix := p.prefixByte(c)
	switch {
	case c == 0x1b:
		p.pending = append(p.pending[:0], c)
		p.state = stateEscape
	case isPrefix:
		p.press(keyboard.Event{Code: prefix.code, Mods: keyboard.Ctrl, What: keyboard.Press}, []byte{c})
	case p.awaiting:
		p.commandByte(c)
	default:
		p.text(c)
	}
}

// commandByte takes the first byte of the key after the prefix. Of a
// multi-byte character the rest goes the same way.
func (p *inputParser) commandByte(c byte) {
	p.awaiting = false
	k := rune(c)
	switch {
	case c >= 0xf0:
		p.skip, k = 3, 0
	case c >= 0xe0:
		p.skip, k = 2, 0
	case c >= 0xc0:
		p.skip, k = 1, 0
	case c >= 0x80 || c < 0x20 || c == 0x7f:
		k = 0
	}
	if p.skip > 0 {
		p.state = stateRune
	}
	p.out = append(p.out, input{kind: inputCommand, key: k})
}

func (p *inputParser) rest(c byte) {
	if c&0xc0 != 0x80 {
		p.state, p.skip = stateGround, 0
		p.step(c)
		return
	}
	if p.skip--; p.skip == 0 {
		p.state = stateGround
	}
}

func (p *inputParser) escape(c byte) {
	_, isPrefix := p.prefixByte(c)
	switch {
	case c == '[':
		p.enter(c, stateCSI)
	case c == 'O':
		p.enter(c, stateSS3)
	case c == ']', c == 'P', c == '_', c == '^', c == 'X':
		p.enter(c, stateString)
	case c == 0x1b, isPrefix:
		// Escape, then the next key: packets coalesce what a quick hand types.
		p.giveUp()
		p.step(c)
	default: // Alt and a key
		p.enter(c, stateEscape)
		p.finish()
	}
}

func (p *inputParser) enter(c byte, s parseState) {
	p.pending = append(p.pending, c)
	p.state = s
}

func (p *inputParser) csi(c byte) {
	switch {
	case c < 0x20 || c >= 0x7f || len(p.pending) >= keyboard.SequenceLimit:
		p.giveUp()
		p.step(c)
	case c < 0x40: // parameters and intermediates
		p.pending = append(p.pending, c)
	case len(p.pending) == 2 && c == '[':
		p.enter(c, stateLinux)
	case len(p.pending) == 2 && c == 'M':
		p.enter(c, stateX10)
	default:
		p.pending = append(p.pending, c)
		p.finish()
	}
}

func (p *inputParser) ss3(c byte) {
	switch {
	case c < 0x20 || c >= 0x7f || len(p.pending) >= keyboard.SequenceLimit:
		p.giveUp()
		p.step(c)
	case c < 0x40: // some terminals put a modifier here
		p.pending = append(p.pending, c)
	default:
		p.pending = append(p.pending, c)
		p.finish()
	}
}

// str collects a string. One that cannot be a reply any more is not held back.
func (p *inputParser) str(c byte) {
	n := len(p.pending)
	switch {
	case p.pending[n-1] == 0x1b && c != '\\':
		p.pending = p.pending[:n-1]
		p.giveUp()
		p.step(0x1b)
		p.step(c)
		return
	case c == 0x1b && n > 2, c == 0x07 && n > 2, p.pending[n-1] == 0x1b:
	case n >= stringLimit || !keyboard.ReplyString(p.pending, c):
		p.giveUp()
		p.step(c)
		return
	}
	p.pending = append(p.pending, c)
	if c == 0x07 || p.pending[n-1] == 0x1b {
		p.finishString()
	}
}

// finishString drops a complete string reply; one that only began like a
// reply is passed on.
func (p *inputParser) finishString() {
	if !keyboard.ReplyStringDone(p.pending) {
		p.giveUp()
		return
	}
	p.pending, p.state = p.pending[:0], stateGround
}

// giveUp passes the unfinished sequence on as what it may be: keys. After the
// prefix it is a command that is none.
func (p *inputParser) giveUp() {
	if p.awaiting {
		p.awaiting = false
		p.out = append(p.out, input{kind: inputCommand})
	} else {
		p.text(p.pending...)
	}
	p.pending, p.state = p.pending[:0], stateGround
}

// finish sorts a complete sequence.
func (p *inputParser) finish() {
	seq := p.pending
	p.pending, p.state = p.pending[:0], stateGround
	switch keyboard.Classify(seq) {
	case keyboard.Reply:
	case keyboard.Mouse:
		p.event(inputMouse, seq)
	case keyboard.Focus:
		p.event(inputFocus, seq)
	case keyboard.PasteBegin:
		p.awaiting = false
		p.state, p.matched = statePaste, 0
		p.text(seq...)
	default:
		p.press(keyboard.Decode(seq), seq)
	}
}

// press takes one key event: a press, a repeat or a release.
func (p *inputParser) press(k keyboard.Event, seq []byte) {
	prefix := p.isPrefix(k)
	switch {
	case k.What == keyboard.Release:
		if !p.forget(k.Code) {
			p.append(input{data: seq, freed: true})
		}
	case k.Modifier(): // Shift on its own, where the program asked for such
		p.text(seq...)
	case prefix && p.awaiting && k.What == keyboard.Repeat:
	case prefix && p.awaiting: // doubled
		p.awaiting = false
		p.forget(k.Code)
		p.text(seq...)
	case prefix:
		p.awaiting = true
		p.ours(k.Code)
	case p.awaiting:
		p.awaiting = false
		p.ours(k.Code)
		p.out = append(p.out, input{kind: inputCommand, key: k.Char})
	default:
		if k.What == keyboard.Press {
			p.forget(k.Code)
		}
		p.text(seq...)
	}
}

// ours remembers that the release of a key is not the program's either.
func (p *inputParser) ours(code rune) {
	if code == 0 || p.forget(code) {
		return
	}
	if p.swallow = append(p.swallow, code); len(p.swallow) > 8 {
		p.swallow = p.swallow[1:]
	}
}

func (p *inputParser) forget(code rune) bool {
	for i, c := range p.swallow {
		if c == code {
			p.swallow = append(p.swallow[:i], p.swallow[i+1:]...)
			return true
		}
	}
	return false
}

// paste passes on what belongs to a paste and returns how much that was.
func (p *inputParser) paste(b []byte) int {
	for i, c := range b {
		switch {
		case c == keyboard.PasteEnd[p.matched]:
			p.matched++
		case c == keyboard.PasteEnd[0]:
			p.matched = 1
		default:
			p.matched = 0
		}
		if p.matched == len(keyboard.PasteEnd) {
			p.text(b[:i+1]...)
			p.state, p.matched = stateGround, 0
			return i + 1
		}
	}
	p.text(b...)
	return len(b)
}

func (p *inputParser) text(b ...byte) { p.append(input{data: b, paste: p.state == statePaste}) }

// append joins a text to the one before, if that is of the same sort.
func (p *inputParser) append(in input) {
	if n := len(p.out); n > 0 && p.out[n-1].kind == inputText && p.out[n-1].paste == in.paste && p.out[n-1].freed == in.freed {
		p.out[n-1].data = append(p.out[n-1].data, in.data...)
		return
	}
	in.kind, in.data = inputText, append([]byte(nil), in.data...)
	p.out = append(p.out, in)
}

func (p *inputParser) event(k inputKind, seq []byte) {
	p.out = append(p.out, input{kind: k, data: append([]byte(nil), seq...)})
}

// Package keyboard takes apart what a client's terminal sends: keys, pastes, mouse events, and replies
// to queries. The dashboard and the pager of attach read keys with a Decoder. The rest of attach hands
// most bytes on as they are, and asks Classify and Decode about single sequences. Nothing here waits
// or runs concurrently: bytes and time come in by calls.
package keyboard

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"berth/terminal"
)

// Key is one press of a key, or a paste.
type Key struct {
	Name string // enter, esc, up, ctrl+c, alt+enter, paste, ...; of a character itself
	Text string // of a character, a blank or a paste: what is typed

	Mouse MouseEvent // of the name MouseKey
}

// MouseKey is the name of a mouse event in the row of keys.
const MouseKey = "mouse"

// Decoder gives one key at a time. Bytes after that key stay as they are, so that
// a program that is started by it gets them. Its zero value is ready.
type Decoder struct {
	buf     []byte
	lone    bool // what is in buf has waited long enough: it is whole
	replies []string

	// Mouse makes Next give mouse events too. Otherwise they are dropped.
	Mouse bool
}

// pasteLimit is how much of a paste is taken; an agent's message is smaller.
const pasteLimit = 1 << 20

// The marks around a paste.
const (
	PasteStart = "\x1b[200~"
	PasteEnd   = "\x1b[201~"
)

const (
	// EscapeHold is how long to wait after a lone ESC: it is the Escape key, or the start of a
	// sequence whose rest is in the next packet. Terminals send a sequence in one write, so the
	// rest is there within a few ms or never; a person doesn't notice 25 ms.
	EscapeHold = 25 * time.Millisecond
	// SequenceHold is how long to wait for the rest of a longer sequence or of a character: no person
	// types one. Without its rest the begin of a paste would make keys of the pasted text.
	SequenceHold = 250 * time.Millisecond
	// PasteHold is how long a paste may be silent before it has lost its end mark.
	PasteHold = 10 * time.Second

	// SequenceLimit is the longest key or reply in CSI form, with room.
	SequenceLimit = 64
	replyLimit    = 1 << 10 // of a reply in string form
)

func (d *Decoder) Feed(b []byte) {
	d.buf = append(d.buf, b...)
	d.lone = false
}

// Rest is what has not become a key; it is taken out.
func (d *Decoder) Rest() []byte {
	b := d.buf
	d.buf = nil
	return b
}

// Hold is how long to wait for the rest of what has begun; 0: for nothing.
func (d *Decoder) Hold() time.Duration {
	switch {
	case len(d.buf) == 0:
		return 0
	case bytes.HasPrefix(d.buf, []byte(PasteStart)):
		return PasteHold
	case d.buf[0] == 0x1b && len(d.buf) <= 2:
		return EscapeHold
	}
	return SequenceHold
}

// Expire says that the rest does not come.
func (d *Decoder) Expire() { d.lone = true }

// Next gives the next key; false when there is none yet.
func (d *Decoder) Next() (Key, bool) {
	for len(d.buf) > 0 {
		k, n := d.first()
		if n == 0 {
			return Key{}, false
		}
		d.buf = d.buf[n:]
		if len(d.buf) == 0 {
			d.buf = nil
		}
		if k.Name != "" {
			return k, true
		}
	}
	return Key{}, false
}

// first is the key at the front and how many bytes it takes: 0 when more has
// to come, and no name for what isn't a key.
func (d *Decoder) first() (Key, int) {
	b := d.buf
	if b[0] != 0x1b {
		return d.plain(b)
	}
	if len(b) == 1 {
		if d.lone {
			return Key{Name: "esc"}, 1
		}
		return Key{}, 0
	}
	switch b[1] {
	case '[':
		return d.csi(b)
	case 'O':
		if len(b) < 3 {
			if d.lone {
				return Key{Name: "alt+O"}, 2
			}
			return Key{}, 0
		}
		return Key{Name: finals[b[2]]}, 3
	case ']', 'P', '_', '^', 'X':
		return d.reply(b)
	case 0x1b:
		return Key{Name: "esc"}, 1
	}
	k, n := d.plain(b[1:])
	if n == 0 || k.Name == "" {
		return Key{}, n
	}
	return Key{Name: "alt+" + k.Name}, n + 1
}

var controls = map[byte]string{'\r': "enter", '\n': "ctrl+j", '\t': "tab", 0x7f: "backspace", 0x08: "backspace", 0x00: "ctrl+space"}

func (d *Decoder) plain(b []byte) (Key, int) {
	c := b[0]
	switch {
	case controls[c] != "":
		return Key{Name: controls[c]}, 1
	case c < 0x1b:
		return Key{Name: "ctrl+" + string(rune(c+'a'-1))}, 1
	case c < 0x20:
		return Key{Name: "ctrl+" + string(rune(c+'A'-1))}, 1
	case c < 0x80:
		return Key{Name: string(rune(c)), Text: string(rune(c))}, 1
	case !utf8.FullRune(b) && !d.lone:
		return Key{}, 0
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError || terminal.Printable(string(r)) != string(r) {
		return Key{}, n
	}
	return Key{Name: string(r), Text: string(r)}, n
}

var (
	finals = map[byte]string{
		'A': "up", 'B': "down", 'C': "right", 'D': "left", 'H': "home", 'F': "end", 'Z': "shift+tab", 'M': "enter", 'P': "f1",
	}
	tildes = map[string]string{
		"1": "home", "7": "home", "4": "end", "8": "end", "5": "pgup", "6": "pgdown", "3": "delete", "11": "f1",
	}
)

// csi takes a key, a paste or a reply that begins with ESC [.
func (d *Decoder) csi(b []byte) (Key, int) {
	if bytes.HasPrefix(b, []byte(PasteStart)) {
		return d.paste(b)
	}
	for i := 2; i < len(b); i++ {
		switch c := b[i]; {
		case c >= 0x40 && c < 0x7f && !(i == 2 && c == '['):
			if c == 'M' && i == 2 { // a mouse event in the oldest form
				if len(b) < 6 {
					return Key{}, d.wait(len(b))
				}
				return d.mouse(b[:6]), 6
			}
			return d.sequence(b[:i+1]), i + 1
		case c < 0x20 || c >= 0x80 || i >= SequenceLimit:
			return Key{}, i
		}
	}
	return Key{}, d.wait(len(b))
}

// wait is 0, or n when nothing more will come.
func (d *Decoder) wait(n int) int {
	if d.lone {
		return n
	}
	return 0
}

// sequence is the key of a whole CSI sequence. It has no name when the key was let go.
func (d *Decoder) sequence(seq []byte) Key {
	final := seq[len(seq)-1]
	switch Classify(seq) {
	case Pressed:
	case Reply:
		if final == 'c' {
			d.replies = append(d.replies, Drawn)
		}
		return Key{}
	case Mouse:
		return d.mouse(seq)
	default:
		return Key{}
	}
	e := Decode(seq)
	name := finals[final]
	switch {
	case e.What == Release || e.Modifier():
		return Key{}
	case e.Code > 0 && e.Code <= utf8.MaxRune:
		if c := string(e.Char); e.Char >= ' ' && terminal.Printable(c) == c {
			return Key{Name: c, Text: c}
		}
		if name = named[e.Code]; name == "" && e.Code > ' ' && terminal.Printable(string(e.Code)) == string(e.Code) {
			name = string(e.Code)
		}
	case final == '~':
		first, _, _ := strings.Cut(string(seq[2:len(seq)-1]), ";")
		name = tildes[first]
	}
	if name == "" {
		return Key{}
	}
	if e.Mods&Alt != 0 {
		name = "alt+" + name
	}
	if e.Mods&Ctrl != 0 {
		name = "ctrl+" + name
	}
	if name == "tab" && e.Mods&Shift != 0 {
		name = "shift+tab"
	}
	return Key{Name: name}
}

// mouse is the event of a sequence, if events are wanted.
func (d *Decoder) mouse(seq []byte) Key {
	if e, ok := DecodeMouse(seq); ok && d.Mouse {
		return Key{Name: MouseKey, Mouse: e}
	}
	return Key{}
}

// named are the keys that are identified by the code of a control character.
var named = map[rune]string{27: "esc", 13: "enter", 9: "tab", 127: "backspace", ' ': "space"}

// paste takes a whole paste.
func (d *Decoder) paste(b []byte) (Key, int) {
	text := b[len(PasteStart):]
	n := len(b)
	if i := bytes.Index(text, []byte(PasteEnd)); i >= 0 {
		text = text[:i]
		n = len(PasteStart) + i + len(PasteEnd)
	} else if !d.lone && len(b) < pasteLimit {
		return Key{}, 0
	}
	return Key{Name: "paste", Text: strings.ToValidUTF8(string(text), "\uFFFD")}, n
}

// reply takes the answer to a query in string form.
func (d *Decoder) reply(b []byte) (Key, int) {
	for i := 2; i < len(b); i++ {
		end := 0
		switch {
		case b[i] == 0x07:
			end = i + 1
		case b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\':
			end = i + 2
		case b[i] == 0x1b && i+1 < len(b), i >= replyLimit:
			return Key{}, i
		}
		if end > 0 {
			d.replies = append(d.replies, string(b[1:i]))
			return Key{}, end
		}
	}
	if d.lone { // Alt and the key
		k, n := d.plain(b[1:])
		return Key{Name: "alt+" + k.Name}, n + 1
	}
	return Key{}, 0
}

// TakeReplies gives what the terminal has answered since the last call.
func (d *Decoder) TakeReplies() []string {
	r := d.replies
	d.replies = nil
	return r
}

// Drawn is a terminal's answer to DA1 in the list of replies. It has then drawn what came
// before the question.
const Drawn = "da"

// Sift takes the replies and mouse events out of b, as far as they are whole, and leaves the bytes of the
// keys.
func Sift(b []byte) (keys []byte, replies []string) {
	d := Decoder{buf: b, Mouse: true}
	for len(d.buf) > 0 {
		before := len(d.replies)
		k, n := d.first()
		if n == 0 {
			break
		}
		if len(d.replies) == before && k.Name != MouseKey {
			keys = append(keys, d.buf[:n]...)
		}
		d.buf = d.buf[n:]
	}
	return append(keys, d.buf...), d.replies
}

// Keys are the keys in b. A lone ESC at its end is the Escape key.
func Keys(b []byte) []Key {
	d := Decoder{buf: b, lone: true}
	var list []Key
	for k, ok := d.Next(); ok; k, ok = d.Next() {
		list = append(list, k)
	}
	return list
}

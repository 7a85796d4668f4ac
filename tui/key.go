package tui

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
}

// decoder takes apart what a client's terminal sends, one key at a time, so that
// what was typed behind a key that ends the dashboard is whoever comes next's.
// It is pure: bytes in by feed, keys out by next.
type decoder struct {
	buf     []byte
	lone    bool // what is in buf has waited long enough: it is whole
	replies []string
}

// pasteLimit is how much of a paste is taken; an agent's message is smaller.
const pasteLimit = 1 << 20

const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"

	// A lone ESC is the Escape key, or a sequence whose rest is on its way: it
	// is there within a few ms, and 25 ms nobody notices.
	escapeHold = 25 * time.Millisecond
	// A paste whose end mark does not come has lost it.
	pasteHold = 10 * time.Second

	sequenceLimit = 64
	replyLimit    = 1 << 10 // of a reply to a query
)

func (d *decoder) feed(b []byte) {
	d.buf = append(d.buf, b...)
	d.lone = false
}

// rest is what has not become a key; it is taken out.
func (d *decoder) rest() []byte {
	b := d.buf
	d.buf = nil
	return b
}

// hold is how long to wait for the rest of what has begun; 0: for nothing.
func (d *decoder) hold() time.Duration {
	switch {
	case len(d.buf) == 0:
		return 0
	case bytes.HasPrefix(d.buf, []byte(pasteBegin)):
		return pasteHold
	}
	return escapeHold
}

// expire says that the rest does not come.
func (d *decoder) expire() { d.lone = true }

// next gives the next key; false when there is none yet.
func (d *decoder) next() (Key, bool) {
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
// to come, and no name for what is no key.
func (d *decoder) first() (Key, int) {
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

func (d *decoder) plain(b []byte) (Key, int) {
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
func (d *decoder) csi(b []byte) (Key, int) {
	if bytes.HasPrefix(b, []byte(pasteBegin)) {
		return d.paste(b)
	}
	for i := 2; i < len(b); i++ {
		switch c := b[i]; {
		case c >= 0x40 && c < 0x7f && !(i == 2 && c == '['):
			if c == 'M' && i == 2 { // a mouse event in the oldest form
				if len(b) < 6 {
					return Key{}, d.wait(len(b))
				}
				return Key{}, 6
			}
			return d.sequence(string(b[2:i]), c), i + 1
		case c < 0x20 || c >= 0x80 || i >= sequenceLimit:
			return Key{}, i
		}
	}
	return Key{}, d.wait(len(b))
}

// wait is 0, or n when nothing more will come.
func (d *decoder) wait(n int) int {
	if d.lone {
		return n
	}
	return 0
}

// sequence is the key of a whole CSI sequence.
func (d *decoder) sequence(params string, final byte) Key {
	if strings.HasPrefix(params, "?") || strings.HasPrefix(params, ">") || strings.HasPrefix(params, "<") {
		if final == 'c' {
			d.replies = append(d.replies, "da")
		}
		return Key{}
	}
	first, modifier, _ := strings.Cut(params, ";")
	modifier, _, _ = strings.Cut(modifier, ":")
	name := ""
	switch final {
	case '~':
		name = tildes[first]
	case 'u': // as terminals with another keyboard protocol in force write it
		code := 0
		for _, r := range first {
			if r < '0' || r > '9' || code > 1<<20 {
				break
			}
			code = code*10 + int(r-'0')
		}
		return coded(rune(code), modifier)
	case 'R', 'I', 'O', 'n', 't':
		return Key{}
	default:
		name = finals[final]
	}
	return Key{Name: modified(name, modifier)}
}

func coded(code rune, modifier string) Key {
	name := map[rune]string{27: "esc", 13: "enter", 9: "tab", 127: "backspace"}[code]
	if name == "" && code >= ' ' && terminal.Printable(string(code)) == string(code) {
		if modifier == "" || modifier == "1" || modifier == "2" {
			return Key{Name: string(code), Text: string(code)}
		}
		name = string(code)
	}
	return Key{Name: modified(name, modifier)}
}

// modified puts the modifier's name before the key's; Shift says something of
// Tab alone.
func modified(name, modifier string) string {
	switch {
	case name == "":
		return ""
	case modifier == "2" && name == "tab":
		return "shift+tab"
	case modifier == "3" || modifier == "4":
		return "alt+" + name
	case modifier == "5" || modifier == "6":
		return "ctrl+" + name
	}
	return name
}

// paste takes a whole paste.
func (d *decoder) paste(b []byte) (Key, int) {
	text := b[len(pasteBegin):]
	n := len(b)
	if i := bytes.Index(text, []byte(pasteEnd)); i >= 0 {
		text = text[:i]
		n = len(pasteBegin) + i + len(pasteEnd)
	} else if !d.lone && len(b) < pasteLimit {
		return Key{}, 0
	}
	return Key{Name: "paste", Text: strings.ToValidUTF8(string(text), "\uFFFD")}, n
}

// reply takes the answer to a query in string form.
func (d *decoder) reply(b []byte) (Key, int) {
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

// takeReplies gives what the terminal has answered since the last call.
func (d *decoder) takeReplies() []string {
	r := d.replies
	d.replies = nil
	return r
}

// keepKeys drops the replies that are in front of d and between its keys, and
// gives the keys' bytes.
func (d *decoder) keepKeys() []byte {
	var kept []byte
	for len(d.buf) > 0 {
		before := len(d.replies)
		_, n := d.first()
		if n == 0 {
			break
		}
		if len(d.replies) == before {
			kept = append(kept, d.buf[:n]...)
		}
		d.buf = d.buf[n:]
	}
	return append(kept, d.buf...)
}

package attach

import (
	"strconv"
	"strings"
)

// Key events, numbered as the kitty keyboard protocol does.
const (
	eventPress   = 1
	eventRepeat  = 2
	eventRelease = 3
)

// Modifier bits of an encoded key, its parameter less one.
const (
	modShift = 1
	modAlt   = 2
	modCtrl  = 4
	modSuper = 8
	modLocks = 64 | 128 // Caps Lock and Num Lock, which change no shortcut
)

// prefixKey is a control character in all the ways terminals send one.
type prefixKey struct {
	legacy byte
	code   rune // of the key without Ctrl, in lower case
}

func newPrefixKey(b byte) prefixKey {
	switch {
	case b >= 1 && b <= 26:
		return prefixKey{b, rune(b) + 'a' - 1}
	case b == 0:
		return prefixKey{b, ' '}
	default: // 0x1b to 0x1f: [ \ ] ^ _
		return prefixKey{b, rune(b) + 0x40}
	}
}

// Label is the key as it is written for people, such as Ctrl-].
func (p prefixKey) Label() string {
	if p.code == ' ' {
		return "Ctrl-Space"
	}
	return "Ctrl-" + string(p.code)
}

// key is one decoded key event.
type key struct {
	code     rune // the key itself where the encoding tells it, else 0
	char     rune // what it types, 0 for none
	event    int
	prefix   bool
	ctrl     bool // Ctrl and no other modifier but Shift
	modifier bool // Shift, Ctrl and so on by themselves
}

// decodeKey reads the encodings that carry a character: kitty's
// `CSI code:shifted:base ; mods:event ; text u` and modifyOtherKeys'
// `CSI 27 ; mods ; code ~`. Of any other key only the event type matters.
func decodeKey(seq []byte, prefix prefixKey) key {
	k := key{event: eventPress}
	if len(seq) < 3 || seq[1] != '[' {
		return k
	}
	params := strings.Split(string(seq[2:len(seq)-1]), ";")
	mods := 0
	switch final := seq[len(seq)-1]; {
	case final == 'u':
		codes := numbers(params[0])
		k.code, k.char = rune(codes[0]), rune(codes[0])
		if len(params) > 1 {
			mods = k.modifiers(params[1])
		}
		if mods&modShift != 0 {
			k.char = shifted(k.char)
			if len(codes) > 1 && codes[1] > 0 {
				k.char = rune(codes[1])
			}
		}
		if len(params) > 2 {
			if t := numbers(params[2]); t[0] > 0 {
				k.char = rune(t[0])
			}
		}
	case final == '~' && len(params) == 3 && params[0] == "27":
		mods = k.modifiers(params[1])
		k.code = rune(numbers(params[2])[0])
		k.char = k.code
	case len(params) > 1: // arrows and function keys, maybe with an event type
		mods = k.modifiers(params[1])
		// The final and the number tell such keys apart; above Unicode.
		k.code = 0x110000 + rune(seq[len(seq)-1])<<12 + rune(numbers(params[0])[0]&0xfff)
		return k
	default:
		return k
	}
	k.modifier = k.code >= 57441 && k.code <= 57454 || k.code >= 57358 && k.code <= 57360
	k.ctrl = mods&^modShift == modCtrl
	k.prefix = mods == modCtrl && k.code == prefix.code
	if mods&(modCtrl|modAlt|modSuper) != 0 || k.code < 0x20 || k.code == 0x7f || k.code >= 0xe000 && k.code <= 0xf8ff {
		k.char = 0
	}
	return k
}

// modifiers reads `mods:event` and gives the modifier bits that count.
func (k *key) modifiers(param string) int {
	n := numbers(param)
	if len(n) > 1 && n[1] >= eventPress && n[1] <= eventRelease {
		k.event = n[1]
	}
	return max(n[0]-1, 0) &^ modLocks
}

// numbers reads colon-separated numbers; what is none is 0.
func numbers(param string) []int {
	fields := strings.Split(param, ":")
	n := make([]int, len(fields))
	for i, f := range fields {
		if v, err := strconv.Atoi(f); err == nil && v >= 0 && v <= 0x10ffff {
			n[i] = v
		}
	}
	return n
}

// shifted is what Shift makes of a key on the layout most keyboards agree on,
// for terminals that tell the key but not the character.
func shifted(c rune) rune {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	if c == '/' {
		return '?'
	}
	return c
}

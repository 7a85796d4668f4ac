package keyboard

import (
	"strconv"
	"strings"
)

// What happened to a key, numbered as the kitty keyboard protocol does.
const (
	Press   = 1
	Repeat  = 2
	Release = 3
)

// Modifier bits of an encoded key, its parameter less one.
const (
	Shift = 1
	Alt   = 2
	Ctrl  = 4
	Super = 8
	locks = 64 | 128 // Caps Lock and Num Lock, which change no shortcut
)

// Event is one key, pressed or let go.
type Event struct {
	Code rune // the key itself where the encoding has it, else 0
	Char rune // the character that it types; 0 for none
	Mods int
	What int // Press, Repeat or Release
}

// Modifier reports a key such as Shift or Ctrl by itself.
func (e Event) Modifier() bool {
	return e.Code >= 57441 && e.Code <= 57454 || e.Code >= 57358 && e.Code <= 57360
}

// Decode reads the encodings that carry a character: kitty's
// `CSI code:shifted:base ; mods:event ; text u` and modifyOtherKeys'
// `CSI 27 ; mods ; code ~`. Of any other key only the event type matters.
func Decode(seq []byte) Event {
	k := Event{What: Press}
	if len(seq) < 3 || seq[1] != '[' {
		return k
	}
	params := strings.Split(string(seq[2:len(seq)-1]), ";")
	switch final := seq[len(seq)-1]; {
	case final == 'u':
		codes := numbers(params[0])
		k.Code, k.Char = rune(codes[0]), rune(codes[0])
		if len(params) > 1 {
			k.Mods = k.modifiers(params[1])
		}
		if k.Mods&Shift != 0 {
			k.Char = shifted(k.Char)
			if len(codes) > 1 && codes[1] > 0 {
				k.Char = rune(codes[1])
			}
		}
		if len(params) > 2 {
			if t := numbers(params[2]); t[0] > 0 {
				k.Char = rune(t[0])
			}
		}
	case final == '~' && len(params) == 3 && params[0] == "27":
		k.Mods = k.modifiers(params[1])
		k.Code = rune(numbers(params[2])[0])
		k.Char = k.Code
	case len(params) > 1: // arrows and function keys, maybe with an event type
		k.Mods = k.modifiers(params[1])
		// The final and the number tell such keys apart; above Unicode.
		k.Code = 0x110000 + rune(seq[len(seq)-1])<<12 + rune(numbers(params[0])[0]&0xfff)
		return k
	default:
		return k
	}
	if k.Mods&(Ctrl|Alt|Super) != 0 || k.Code < 0x20 || k.Code == 0x7f || k.Code >= 0xe000 && k.Code <= 0xf8ff {
		k.Char = 0
	}
	return k
}

// modifiers reads `mods:event` and gives the modifier bits that count.
func (k *Event) modifiers(param string) int {
	n := numbers(param)
	if len(n) > 1 && n[1] >= Press && n[1] <= Release {
		k.What = n[1]
	}
	return max(n[0]-1, 0) &^ locks
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

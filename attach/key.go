package attach

import "berth/terminal/keyboard"

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

// is reports that the event is the prefix key: Ctrl and the key, and no other modifier.
func (p prefixKey) is(e keyboard.Event) bool { return e.Mods == keyboard.Ctrl && e.Code == p.code }

package attach

import "unicode/utf8"

// keyNames splits what a terminal typed into the names of its keys, as far as
// the pager knows them; others are "".
func keyNames(b []byte) []string {
	var names []string
	for len(b) > 0 {
		n := keyLength(b)
		if name, press := keyName(b[:n]); press {
			names = append(names, name)
		}
		b = b[n:]
	}
	return names
}

// keyLength is how many bytes the first key takes.
func keyLength(b []byte) int {
	if b[0] != 0x1b {
		_, n := utf8.DecodeRune(b)
		return n
	}
	if len(b) < 3 || b[1] != '[' && b[1] != 'O' {
		return 1
	}
	for i := 2; i < len(b); i++ {
		if b[i] >= 0x40 && b[i] <= 0x7e {
			return i + 1
		}
	}
	return len(b)
}

var finalNames = map[byte]string{
	'A': "Up", 'B': "Down", 'C': "Right", 'D': "Left", 'H': "Home", 'F': "End", 'M': "Enter",
}

var tildeNames = map[string]string{
	"1": "Home", "7": "Home", "4": "End", "8": "End", "5": "PageUp", "6": "PageDown",
}

// keyName is a key's name and whether it was pressed rather than let go.
func keyName(b []byte) (name string, press bool) {
	if len(b) == 1 {
		switch c := b[0]; {
		case c == 0x1b:
			return "Escape", true
		case c == '\r' || c == '\n':
			return "Enter", true
		case c == ' ':
			return "Space", true
		case c < 0x20:
			return "Ctrl-" + string(rune(c)+0x60), true
		}
		return string(b), true
	}
	if b[0] != 0x1b {
		return string(b), true
	}
	k := decodeKey(b, prefixKey{})
	if k.event == eventRelease || k.modifier {
		return "", false
	}
	final := b[len(b)-1]
	switch {
	case final == '~' && k.char == 0:
		for i := 2; i < len(b); i++ {
			if b[i] < '0' || b[i] > '9' {
				return tildeNames[string(b[2:i])], true
			}
		}
		return "", true
	case final == 'u' || final == '~':
		switch k.code {
		case 27:
			return "Escape", true
		case 13:
			return "Enter", true
		case ' ':
			return "Space", true
		}
		switch {
		case k.ctrl && k.code >= 'a' && k.code <= 'z':
			return "Ctrl-" + string(k.code), true
		case k.char == 0:
			return "", true
		}
		return string(k.char), true
	}
	return finalNames[final], true
}

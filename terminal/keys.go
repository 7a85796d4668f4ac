package terminal

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrKey is the error for a name that isn't a key.
var ErrKey = errors.New("no such key")

// Modifier bits, as xterm and kitty number them less one.
const (
	modShift = 1 << iota
	modAlt
	modCtrl
	modSuper
)

// functionKey is a key that has a sequence of its own.
type functionKey struct {
	number int  // CSI number ~, or CSI 1 letter when 1
	letter byte // final byte; '~' with a number
	ss3    bool // SS3 letter when unmodified, F1 to F4
	cursor bool // SS3 letter in DECCKM
}

var functionKeys = map[string]functionKey{
	"up": {1, 'A', false, true}, "down": {1, 'B', false, true},
	"right": {1, 'C', false, true}, "left": {1, 'D', false, true},
	"home": {1, 'H', false, true}, "end": {1, 'F', false, true},
	"insert": {2, '~', false, false}, "delete": {3, '~', false, false},
	"pageup": {5, '~', false, false}, "pagedown": {6, '~', false, false},
	"f1": {1, 'P', true, false}, "f2": {1, 'Q', true, false},
	"f3": {1, 'R', true, false}, "f4": {1, 'S', true, false},
	"f5": {15, '~', false, false}, "f6": {17, '~', false, false},
	"f7": {18, '~', false, false}, "f8": {19, '~', false, false},
	"f9": {20, '~', false, false}, "f10": {21, '~', false, false},
	"f11": {23, '~', false, false}, "f12": {24, '~', false, false},
}

// textKeys are keys that are a character of their own.
var textKeys = map[string]rune{
	"enter": '\r', "escape": 0x1b, "tab": '\t', "backspace": 0x7f, "space": ' ',
}

// keyAliases are further names for keys.
var keyAliases = map[string]string{
	"return": "enter", "cr": "enter", "esc": "escape", "bs": "backspace", "del": "delete", "ins": "insert",
	"pgup": "pageup", "pgdn": "pagedown", "pgdown": "pagedown", "pageup": "pageup",
	"arrowup": "up", "arrowdown": "down", "arrowleft": "left", "arrowright": "right",
}

var modifierNames = map[string]int{
	"shift": modShift, "s": modShift, "alt": modAlt, "meta": modAlt, "m": modAlt, "option": modAlt,
	"ctrl": modCtrl, "control": modCtrl, "c": modCtrl, "super": modSuper, "cmd": modSuper,
}

// ForAnswers are the modes that the keys of an answer are encoded for. Any process of the session can set a mode, and a
// program that knows nothing of it takes a key of several characters for several keys: Enter in newline mode also answered the
// question after this one. The agents with drivers know the sequences of kitty's protocol, other programs may not. A program
// that has set the mode takes a text's own character too, as terminals without the protocol send it.
func (m Modes) ForAnswers(unknown bool) Modes {
	m.NewLine, m.ModifyOther, m.KittyFlags = false, 0, m.KittyFlags&^(8|16)
	if unknown {
		m.KittyFlags = 0
	}
	return m
}

// EncodeKey is what a terminal in modes m sends for the key of that name: Enter,
// Escape, Tab, BTab, Backspace, Space, Up, Down, Left, Right, Home, End, PageUp,
// PageDown, Insert, Delete, F1 to F12, or one character; each may have Ctrl-,
// Alt-, Shift- or Super- before it. Names of keys are taken in any case. The
// error wraps ErrKey.
func EncodeKey(name string, m Modes) ([]byte, error) {
	key, mods, err := splitKey(name)
	if err != nil {
		return nil, err
	}
	if f, ok := functionKeys[key]; ok {
		return encodeFunction(f, mods, m), nil
	}
	r, isNamed := textKeys[key]
	if !isNamed {
		r, _ = utf8.DecodeRuneInString(key)
	}
	if m.NewLine && m.KittyFlags == 0 && isNamed && r == '\r' && mods == 0 {
		return []byte("\r\n"), nil // LNM is about the Enter key too
	}
	if m.KittyFlags != 0 {
		return encodeKitty(r, isNamed, mods, m), nil
	}
	return encodeLegacy(r, isNamed, mods, m, name)
}

// splitKey takes the modifiers off a key's name.
func splitKey(name string) (key string, mods int, err error) {
	fail := fmt.Errorf("key %q: %w", Printable(name), ErrKey)
	key = name
	for {
		i := strings.IndexAny(key, "-+")
		if i <= 0 || i == len(key)-1 {
			break
		}
		mod, ok := modifierNames[strings.ToLower(key[:i])]
		if !ok {
			return "", 0, fail
		}
		mods |= mod
		key = key[i+1:]
	}
	if utf8.RuneCountInString(key) == 1 {
		r, _ := utf8.DecodeRuneInString(key)
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return "", 0, fail
		}
		return key, mods, nil
	}
	key = strings.ToLower(key)
	if alias, ok := keyAliases[key]; ok {
		key = alias
	}
	if key == "btab" || key == "backtab" {
		return "tab", mods | modShift, nil
	}
	_, isFunction := functionKeys[key]
	_, isText := textKeys[key]
	if !isFunction && !isText {
		return "", 0, fail
	}
	return key, mods, nil
}

func encodeFunction(f functionKey, mods int, m Modes) []byte {
	switch {
	case f.letter == '~' && mods == 0:
		return fmt.Appendf(nil, "\x1b[%d~", f.number)
	case f.letter == '~':
		return fmt.Appendf(nil, "\x1b[%d;%d~", f.number, 1+mods)
	case mods != 0 && m.KittyFlags != 0 && f.letter == 'R':
		return fmt.Appendf(nil, "\x1b[13;%d~", 1+mods) // CSI R would be a cursor report
	case mods != 0:
		return fmt.Appendf(nil, "\x1b[1;%d%c", 1+mods, f.letter)
	case m.KittyFlags != 0 && f.letter == 'R':
		return []byte("\x1b[13~")
	case m.KittyFlags != 0 && f.ss3:
		return []byte{0x1b, '[', f.letter}
	case f.ss3, f.cursor && m.AppCursor && m.KittyFlags == 0:
		return []byte{0x1b, 'O', f.letter}
	}
	return []byte{0x1b, '[', f.letter}
}

// encodeKitty is the keyboard protocol of kitty: text stays text, unless all
// keys are sent as sequences (flag 8).
func encodeKitty(r rune, named bool, mods int, m Modes) []byte {
	code := r
	if !named {
		if unicode.IsUpper(r) && mods&^modShift != 0 {
			mods |= modShift
		}
		code = unicode.ToLower(r)
	}
	all := m.KittyFlags&8 != 0
	switch {
	case all:
	case !named && mods&^modShift == 0:
		if mods != 0 {
			r = unicode.ToUpper(r)
		}
		return []byte(string(r))
	case named && r == ' ' && mods&^modShift == 0:
		return []byte(" ")
	case named && r != 0x1b && mods == 0: // Enter, Tab and Backspace, so that a shell stays usable
		return []byte(string(r))
	}
	if all && !named && unicode.IsUpper(r) {
		mods |= modShift
	}
	out := fmt.Appendf(nil, "\x1b[%d", code)
	switch {
	case all && m.KittyFlags&16 != 0 && mods&^modShift == 0 && (!named || r == ' '):
		text := r
		if mods&modShift != 0 {
			text = unicode.ToUpper(r)
		}
		if mods == 0 {
			out = fmt.Appendf(out, ";;%d", text)
		} else {
			out = fmt.Appendf(out, ";%d;%d", 1+mods, text)
		}
	case mods != 0:
		out = fmt.Appendf(out, ";%d", 1+mods)
	}
	return append(out, 'u')
}

// encodeLegacy is what terminals have always sent, with xterm's modifyOtherKeys
// for the combinations that have no other way.
func encodeLegacy(r rune, named bool, mods int, m Modes, name string) ([]byte, error) {
	if named && r == '\t' && mods == modShift {
		return []byte("\x1b[Z"), nil
	}
	if mods&modShift != 0 && !named && mods&modCtrl == 0 {
		r, mods = unicode.ToUpper(r), mods&^modShift
	}
	plain, ok := legacyByte(r, named, mods)
	// Level 1 leaves alone what has a code of its own; level 2 only text.
	lossy := !ok || mods&modSuper != 0 || mods&modShift != 0 && (r != ' ' || !named) || named && mods&modCtrl != 0 && r != ' '
	if m.ModifyOther == 2 && mods != 0 || m.ModifyOther == 1 && lossy {
		return fmt.Appendf(nil, "\x1b[27;%d;%d~", 1+mods, r), nil
	}
	if !ok {
		return nil, fmt.Errorf("key %q has no code in the modes in force: %w", Printable(name), ErrKey)
	}
	if mods&modAlt != 0 {
		return append([]byte{0x1b}, plain...), nil
	}
	return plain, nil
}

// legacyByte is the key without regard to Alt; ok is false when Ctrl has no
// code with it.
func legacyByte(r rune, named bool, mods int) (plain []byte, ok bool) {
	if mods&modCtrl == 0 {
		return []byte(string(r)), mods&modSuper == 0
	}
	switch {
	case named && r == 0x7f:
		return []byte{0x08}, true
	case named && r != ' ': // Enter, Tab and Escape are control codes themselves
		return []byte{byte(r)}, true
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '[' && r <= '_', r == '@':
		return []byte{byte(r) & 0x1f}, true
	case r == ' ' || r == '2':
		return []byte{0}, true
	case r >= '3' && r <= '7':
		return []byte{byte(r-'3') + 0x1b}, true
	case r == '?' || r == '8':
		return []byte{0x7f}, true
	case r == '/':
		return []byte{0x1f}, true
	}
	return nil, false
}

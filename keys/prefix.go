package keys

import (
	"fmt"
	"strings"
)

// maxPrefixes is how many prefix keys an attached terminal can have: one to type, and one for a keyboard
// that lacks the first.
const maxPrefixes = 2

// ParsePrefixes reads the names of the prefix keys of attached terminals, such as `Ctrl-] Ctrl-\`, and
// returns the control characters that they send.
func ParsePrefixes(s string) (string, error) {
	names := strings.Fields(s)
	if len(names) == 0 || len(names) > maxPrefixes {
		return "", fmt.Errorf("%s names %d prefix keys: write one or two, such as Ctrl-b or `Ctrl-] Ctrl-\\`", quote(s), len(names))
	}
	var out []byte
	for _, name := range names {
		b, err := parsePrefixKey(name)
		if err != nil {
			return "", err
		}
		out = append(out, b)
	}
	return string(out), nil
}

func parsePrefixKey(s string) (byte, error) {
	const ctrl = "Ctrl-"
	if len(s) != len(ctrl)+1 || !strings.EqualFold(s[:len(ctrl)], ctrl) {
		return 0, fmt.Errorf("%s isn't a valid prefix key: write Ctrl- and one character, such as Ctrl-] or Ctrl-a", quote(s))
	}
	c := s[len(ctrl)]
	if c >= 'a' && c <= 'z' {
		c -= 'a' - 'A'
	}
	switch {
	case c == 'I' || c == 'J' || c == 'M' || c == '[':
		return 0, fmt.Errorf("%s cannot be the prefix: terminals send it for Tab, Enter or Escape", quote(s))
	case c >= 'A' && c <= '_':
		return c - '@', nil
	}
	return 0, fmt.Errorf(`%s isn't a valid prefix key: write a letter or one of ] \ ^ _ after Ctrl-`, quote(s))
}

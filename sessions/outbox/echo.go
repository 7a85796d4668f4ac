package outbox

import (
	"bytes"
	"slices"
)

// echoMost is how much output is searched for an echo.
const echoMost = 1 << 20

// echoed reports whether the terminal has drawn the word by itself in the output from one offset to the other, or may have. Any process
// of the session can have it draw what is typed, in an empty composer over a dialog that takes it, and undo that before
// the terminal's modes are read again. What it draws has the marks of the paste around the word. An agent doesn't draw them.
func echoed(read func(buf []byte, offset int64) (int, error), from, to int64, word string) bool {
	if to-from > echoMost {
		return true
	}
	text := make([]byte, max(to-from, 0))
	for at := 0; at < len(text); {
		n, err := read(text[at:], from+int64(at))
		if err != nil || n == 0 {
			return true
		}
		at += n
	}
	return marked(text, word)
}

// marked reports whether the end of a paste's first mark is right before the word, also without the characters that a terminal can
// take out of what is typed. It may answer such a character with a line break, or with backspaces and a blank (VKILL, VERASE).
func marked(text []byte, word string) bool {
	for {
		at := bytes.Index(text, []byte(word))
		if at < 0 {
			return false
		}
		before := bytes.TrimRight(text[:at], "\r\n\b ")
		if n := len(before); n > 0 && slices.Contains([]byte("~02[^"), before[n-1]) {
			return true
		}
		text = text[at+len(word):]
	}
}

// Package words parses a command line as SSH delivers it. OpenSSH joins the words typed in a
// shell with blanks, and the shell has removed their quotes, so that one line arrives. Split
// parses it as a POSIX shell would, without expanding anything. ParseTail parses the verbs that
// end in free text, and takes that text verbatim. A line that is a JSON array of strings is the
// words themselves, for programs that want no quoting. All functions are pure.
package words

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Error says what is wrong with a line, and where.
type Error struct {
	Position int    // the byte where the error starts, from 1; 0 for a JSON array
	Reason   string // such as: a single quote is not closed
}

func (e *Error) Error() string {
	if e.Position == 0 {
		return e.Reason
	}
	return fmt.Sprintf("%s (at character %d)", e.Reason, e.Position)
}

func failAt(offset int, format string, args ...any) error {
	return &Error{Position: offset + 1, Reason: fmt.Sprintf(format, args...)}
}

// blanks separate words.
const blanks = " \t\r\n"

// Words returns all words of a line: the strings of a JSON array, else the result of Split.
func Words(line string) ([]string, error) {
	if words, ok := array(line); ok {
		return words, nil
	}
	return Split(line)
}

// array reads a line that is a JSON array of strings.
func array(line string) ([]string, bool) {
	line = strings.Trim(line, blanks)
	if !strings.HasPrefix(line, "[") {
		return nil, false
	}
	var words []*string
	if err := json.Unmarshal([]byte(line), &words); err != nil {
		return nil, false
	}
	out := make([]string, len(words))
	for i, word := range words {
		if word == nil { // null isn't a string
			return nil, false
		}
		out[i] = *word
	}
	return out, true
}

// Split splits a line as a POSIX shell does. Blanks separate words. Single quotes keep all
// characters; double quotes keep all but a backslash before one of $ ` " \ and a newline. A
// backslash elsewhere keeps the next character, and removes a newline. Nothing is expanded and
// nothing is a comment: $ ~ * ; # | are ordinary characters. An unclosed quote and a backslash
// at the end are errors.
func Split(line string) ([]string, error) {
	var out []string
	for at := 0; ; {
		w, ok, err := next(line, at)
		if err != nil {
			return nil, err
		}
		if !ok {
			return out, nil
		}
		out = append(out, w.text)
		at = w.end
	}
}

// Verb returns the first word of a line; empty for a line without words. The rest of the line
// may be malformed.
func Verb(line string) (string, error) {
	if words, ok := array(line); ok {
		if len(words) == 0 {
			return "", nil
		}
		return words[0], nil
	}
	w, _, err := next(line, 0)
	return w.text, err
}

// word is a word and its position in the line.
type word struct {
	text       string
	start, end int // in bytes
}

// next reads the first word at or after an offset; false if there is none.
func next(line string, at int) (w word, ok bool, err error) {
	at = skip(line, at)
	w = word{start: at, end: at}
	if at == len(line) {
		return w, false, nil
	}
	var b strings.Builder
	for at < len(line) && !strings.ContainsRune(blanks, rune(line[at])) {
		switch c := line[at]; c {
		case '\'', '"':
			if at, err = quoted(&b, line, at); err != nil {
				return word{}, false, err
			}
		case '\\':
			if at+1 == len(line) {
				return word{}, false, failAt(at, "a backslash ends the line")
			}
			if line[at+1] != '\n' {
				b.WriteByte(line[at+1])
			}
			at += 2
		default:
			b.WriteByte(c)
			at++
		}
	}
	w.text, w.end = b.String(), at
	return w, true, nil
}

// skip passes blanks, and newlines after a backslash, which the shell drops.
func skip(line string, at int) int {
	for at < len(line) {
		switch {
		case strings.IndexByte(blanks, line[at]) >= 0:
			at++
		case strings.HasPrefix(line[at:], "\\\n"):
			at += 2
		default:
			return at
		}
	}
	return at
}

// quoted reads the quoted part that starts at an offset, and returns the offset after it.
func quoted(b *strings.Builder, line string, start int) (int, error) {
	quote := line[start]
	for at := start + 1; at < len(line); at++ {
		c := line[at]
		switch {
		case c == quote:
			return at + 1, nil
		case c == '\\' && quote == '"' && at+1 < len(line) && strings.IndexByte("$`\"\\\n", line[at+1]) >= 0:
			at++
			if line[at] != '\n' {
				b.WriteByte(line[at])
			}
		default:
			b.WriteByte(c)
		}
	}
	if quote == '"' {
		return 0, failAt(start, "a double quote is not closed")
	}
	return 0, failAt(start, "a single quote is not closed")
}

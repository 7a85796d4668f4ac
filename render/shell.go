package render

import (
	"strings"
	"unicode"
)

// Shell lays out a command: what joins and redirects commands, what is quoted and which variables
// it uses can be distinguished. It reads as much of a shell's syntax as that needs. What it reads wrong
// has another tone, and no other text.
func Shell(command string) []Line {
	var lines []Line
	var spans []Span
	add := func(text string, tone Tone) {
		for i, part := range strings.Split(text, "\n") {
			if i > 0 {
				lines, spans = append(lines, Line{Spans: spans}), nil
			}
			if n := len(spans); part != "" && n > 0 && spans[n-1].Tone == tone {
				spans[n-1].Text += part
			} else if part != "" {
				spans = append(spans, Span{part, tone})
			}
		}
	}
	sh := shell{begins: true}
	for command != "" {
		n, tone := sh.token(command)
		add(command[:n], tone)
		command = command[n:]
	}
	return append(lines, Line{Spans: spans})
}

// shell is where in a command the reader is.
type shell struct {
	begins bool   // a word may begin here
	within []byte // what isn't closed yet: '"' of a quoted text, '(' of a command in it
}

// operators are the characters that end a word and mean something to the shell.
const operators = "|&;<>()`"

// token is the length of what the command begins with, at least 1, and its tone.
func (sh *shell) token(command string) (n int, tone Tone) {
	if in := len(sh.within); in > 0 && sh.within[in-1] == '"' {
		return sh.quoted(command)
	}
	begins := sh.begins
	sh.begins = false
	switch c := command[0]; {
	case c == '\\':
		return min(2, len(command)), Plain
	case c == '#' && begins:
		if end := strings.IndexByte(command, '\n'); end >= 0 {
			return end, Faint
		}
		return len(command), Faint
	case c == '\'':
		if end := strings.IndexByte(command[1:], '\''); end >= 0 {
			return end + 2, Quoted
		}
		return len(command), Quoted
	case c == '"':
		sh.within = append(sh.within, '"')
		return 1, Quoted
	case strings.HasPrefix(command, "$("):
		sh.within, sh.begins = append(sh.within, '('), true
		return 2, Operator
	case strings.IndexByte(operators, c) >= 0:
		if in := len(sh.within); c == '(' {
			sh.within = append(sh.within, '(')
		} else if c == ')' && in > 0 {
			sh.within = sh.within[:in-1]
		}
		sh.begins = true
		return 1, Operator
	case c == '$':
		return variable(command), Accent
	case strings.IndexByte(" \t\n", c) >= 0:
		sh.begins = true
		return 1, Plain
	}
	if n = strings.IndexAny(command[1:], operators+"\\'\"$ \t\n"); n < 0 {
		return len(command), Plain
	}
	return n + 1, Plain
}

// quoted reads in a text between double quotes. It ends before a command in that text.
func (sh *shell) quoted(command string) (n int, tone Tone) {
	if strings.HasPrefix(command, "$(") {
		sh.within, sh.begins = append(sh.within, '('), true
		return 2, Operator
	}
	for i := 0; i < len(command); i++ {
		switch command[i] {
		case '\\':
			i++
		case '"':
			sh.within = sh.within[:len(sh.within)-1]
			return i + 1, Quoted
		case '$':
			if i > 0 && strings.HasPrefix(command[i:], "$(") {
				return i, Quoted
			}
		}
	}
	return len(command), Quoted
}

// variable is the length of a variable's name, with its dollar sign.
func variable(command string) int {
	if end := strings.IndexByte(command, '}'); end > 0 && strings.HasPrefix(command, "${") {
		return end + 1
	}
	for i, r := range command[1:] {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
			return i + 1
		}
	}
	return len(command)
}

package config

import (
	"fmt"
	"strings"

	"berth/api"
)

// Problem is a mistake in the configuration, and its place.
type Problem struct {
	File   string // berth.yaml's path, or another source of the value: BERTH_LISTEN, --listen
	Line   int    // from 1; 0 where there are no lines
	Column int    // from 1; 0 likewise
	Field  string // such as sessions[0].size; may be empty
	Notice bool   // it doesn't prevent a start
	Text   string // what is wrong, without the field's name
	Remedy string // what to do about it; may be empty
}

// String writes the problem as FILE:LINE:COLUMN: FIELD: TEXT; REMEDY.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	for _, part := range []string{p.Field, p.Text} {
		if part != "" && b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(part)
	}
	if p.Remedy != "" {
		b.WriteString("; " + p.Remedy)
	}
	return b.String()
}

// Problems is a list of problems as an error.
type Problems []Problem

// Error writes one problem per line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// orNil is p as an error; nil if no problem prevents a start.
func (p Problems) orNil() error {
	for _, one := range p {
		if !one.Notice {
			return p
		}
	}
	return nil
}

// quote shows a piece of input in a message: ASCII only, and shortened.
func quote(s string) string { return api.Quote(s) }

// suggest finds the known word nearest to a mistyped one, or "".
func suggest(word string, known []string) string {
	best, least := "", 1+max(1, len(word)/3) // about one slip in three letters
	for _, k := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance counts the letters to insert, remove, replace or swap with their
// neighbour to make a into b.
func distance(a, b string) int {
	if len(a) > 64 { // no known word is that long
		return len(a)
	}
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

package keys

import (
	"fmt"
	"strconv"
	"strings"
)

// ProblemKind is the effect of a Problem.
type ProblemKind string

// The kinds of problems.
const (
	Refused ProblemKind = "refused" // the line, or the whole file, admits no key
	Notice  ProblemKind = "notice"  // it is valid, but a part of it has no effect
	Absent  ProblemKind = "absent"  // the file doesn't exist
)

// Problem is a mistake in a key file. Its texts are printable and contain no key material, so that
// they can be logged unchanged.
type Problem struct {
	File   string
	Line   int // from 1; 0 when it is about the whole file
	Kind   ProblemKind
	Text   string // what is wrong
	Remedy string // what to do about it; may be empty
}

// String writes the problem as FILE:LINE: TEXT; REMEDY.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		b.WriteString(":" + strconv.Itoa(p.Line))
	}
	b.WriteString(": ")
	if p.Kind == Refused && p.Line > 0 {
		b.WriteString("line refused: ")
	}
	b.WriteString(p.Text)
	if p.Remedy != "" {
		b.WriteString("; " + p.Remedy)
	}
	return b.String()
}

// fault is a Problem whose file and line aren't known yet.
type fault struct{ text, remedy string }

func faultf(remedy, format string, args ...any) *fault {
	return &fault{text: fmt.Sprintf(format, args...), remedy: remedy}
}

// quote shows a piece of a file in a message: ASCII only, and shortened.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		return strconv.QuoteToASCII(strings.ToValidUTF8(s[:most], "")) + "..."
	}
	return strconv.QuoteToASCII(s)
}

package keys

import (
	"fmt"
	"strconv"
	"strings"
)

// ProblemKind says what a Problem cost.
type ProblemKind string

// The kinds of problems.
const (
	Refused ProblemKind = "refused" // the line, or the whole file, lets nobody in
	Notice  ProblemKind = "notice"  // it holds, but does not do all that it says
)

// Problem is something wrong with a key file. Its texts are printable and
// hold no key material, so that they may go into a log as they are.
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

// fault is a Problem on its way up, before file and line are known.
type fault struct{ text, remedy string }

func faultf(remedy, format string, args ...any) *fault {
	return &fault{text: fmt.Sprintf(format, args...), remedy: remedy}
}

// quote shows a piece of a file in a message: ASCII only, and not much of it.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		return strconv.QuoteToASCII(strings.ToValidUTF8(s[:most], "")) + "..."
	}
	return strconv.QuoteToASCII(s)
}

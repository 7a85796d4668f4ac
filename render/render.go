// Package render lays out what agents ask and say, for people: changes of files, commands, plans
// and the arguments of tools. Its functions are pure. They give lines of text in tones, and leave to
// the caller how wide a line may be, what a tone looks like, and how a character is drawn that could
// deceive.
//
// People allow and refuse by these lines, so one rule holds for all of them: two different subjects
// never give the same lines. No text of a subject is left out, and Markdown keeps its marks. The
// only text that a subject does not have itself is the file on disk, marked by each line's sign.
package render

import (
	"strconv"
	"strings"
)

// Tone is what a text is. A caller gives it a colour, and no meaning that a terminal without
// colours would lose.
type Tone int

// The tones.
const (
	Plain    Tone = iota
	Faint         // marks, and text that is there for orientation
	Strong        // headings
	Accent        // names: of files, arguments, variables
	Added         // a line that a change adds
	Removed       // a line that a change removes
	Quoted        // a quoted text, or code
	Operator      // what joins, redirects or ends commands
	Warning       // what a person should know before deciding
	Tones         // how many there are
)

// Span is a text in one tone. It has no line end.
type Span struct {
	Text string
	Tone Tone
}

// Line is one line, of any length. Lines of a change have a margin: the line's number in its file,
// if it is known, and a sign.
type Line struct {
	Margin bool
	Number int  // from 1; 0: not known
	Sign   byte // '+', '-', ' ', '=' or '@'
	Spans  []Span
}

// Text is the line without its margin and tones.
func (l Line) Text() string {
	var b strings.Builder
	for _, s := range l.Spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Digits is how many columns the numbers in the margins take; 0 when no line has a number.
func Digits(lines []Line) int {
	most := 0
	for _, l := range lines {
		most = max(most, l.Number)
	}
	digits := 0
	for ; most > 0; most /= 10 {
		digits++
	}
	return digits
}

func one(tone Tone, text string) Line { return Line{Spans: []Span{{text, tone}}} }

// name is a name as it is shown in a line with other text: quoted when it could be taken for more than
// a name. A name with a blank could go on in a row that looks like another line.
func name(s string) string {
	if s == "" || strings.ContainsAny(s, " \n\"") {
		return strconv.Quote(s)
	}
	return s
}

// Text lays out a text that is nothing in particular.
func Text(text string) []Line { return plain(Plain, text) }

// plain gives the lines of a text.
func plain(tone Tone, text string) []Line {
	var lines []Line
	for text := range strings.SplitSeq(text, "\n") {
		lines = append(lines, one(tone, text))
	}
	return lines
}

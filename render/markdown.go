package render

import (
	"regexp"
	"strings"
	"sync"
)

// Markdown lays out a text of Markdown: headings, lists, quotes, code and emphasis have tones. All
// marks stay where they are, since a person decides by the text: "src/**/x and lib/**/y" has no
// emphasis in it, and without its marks it would name other files.
func Markdown(text string) []Line {
	var lines []Line
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimLeft(line, " ")
		mark := fenceOf(bare)
		switch {
		case fence != "":
			if strings.HasPrefix(mark, fence) && strings.Trim(bare, fence[:1]+" ") == "" {
				fence = ""
				lines = append(lines, one(Faint, line))
				continue
			}
			lines = append(lines, one(Quoted, line))
		case mark != "":
			fence = mark
			lines = append(lines, one(Faint, line))
		default:
			lines = append(lines, Line{Spans: block(line)})
		}
	}
	return lines
}

// fenceOf is the row of ` or ~ that begins or ends a block of code; empty for any other line.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

var (
	heading  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {0,3}#{1,6} `) })
	item     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ *([-*+]|\d+[.)]|>) +(\[[ xX]\] )?`) })
	rule     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {0,3}([-*_] *){3,}$`) })
	emphasis = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`[^`]+`|\\*\\*[^\\s*](?:[^*]*[^\\s*])?\\*\\*") })
)

// block is a line outside of code.
func block(line string) []Span {
	if rule().MatchString(line) {
		return []Span{{line, Faint}}
	}
	if mark := heading().FindString(line); mark != "" {
		return []Span{{mark, Faint}, {line[len(mark):], Strong}}
	}
	mark := item().FindString(line)
	return inline([]Span{{mark, Accent}}, line[len(mark):])
}

// inline adds a text with its code and emphasis.
func inline(spans []Span, text string) []Span {
	at := 0
	for _, found := range emphasis().FindAllStringIndex(text, -1) {
		tone, mark := Quoted, 1
		if text[found[0]] == '*' {
			tone, mark = Strong, 2
		}
		from, to := found[0]+mark, found[1]-mark
		spans = append(spans, Span{text[at:found[0]], Plain}, Span{text[found[0]:from], Faint}, Span{text[from:to], tone}, Span{text[to:found[1]], Faint})
		at = found[1]
	}
	return append(spans, Span{text[at:], Plain})
}

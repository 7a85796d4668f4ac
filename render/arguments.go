package render

import (
	"bytes"
	"encoding/json"
	"strings"

	"berth/agent"
)

// Arguments lays out a tool's arguments as a table, by their names: first those of one line, because a body of many
// lines pushes what comes after it off a small screen. A text is shown as it is, unless it could be taken for another
// value: then it is quoted as JSON quotes it.
func Arguments(in agent.Input) []Line {
	var short, long []Line
	for _, field := range in.Names() {
		value := Value(in[field])
		head := []Span{{name(field) + ":", Accent}}
		if len(value) == 1 {
			short = append(short, Line{Spans: append(append(head, Span{" ", Plain}), value[0].Spans...)})
			continue
		}
		long = append(long, Line{Spans: head})
		for _, l := range value {
			if l.Text() != "" { // a line of blanks alone would be drawn by their numbers
				l.Spans = append([]Span{{"  ", Plain}}, l.Spans...)
			}
			long = append(long, l)
		}
	}
	return append(short, long...)
}

// Value lays out a JSON value: a text as Arguments has it, all else indented. A line end in a quoted
// text is drawn as one.
func Value(raw json.RawMessage) []Line {
	var text string
	if json.Unmarshal(raw, &text) == nil && bytes.HasPrefix(bytes.TrimSpace(raw), []byte{'"'}) {
		if text == "" || strings.TrimSpace(text) != text || json.Valid([]byte(quotedLines(text, "\n", `\n`))) {
			return plain(Quoted, quotedLines(string(raw), `\n`, "\n"))
		}
		return plain(Plain, text)
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return plain(Plain, string(raw))
	}
	return plain(Quoted, quotedLines(b.String(), `\n`, "\n"))
}

// quotedLines replaces a line end that is written in one way by the other way, in the quoted texts of
// JSON. JSON has no bare line end in a text, so nothing else looks the same afterwards.
func quotedLines(text, from, to string) string {
	var b strings.Builder
	quoted := false
	for text != "" {
		n := 1
		switch {
		case quoted && strings.HasPrefix(text, from):
			b.WriteString(to)
			text = text[len(from):]
			continue
		case quoted && text[0] == '\\':
			n = min(2, len(text))
		case text[0] == '"':
			quoted = !quoted
		}
		b.WriteString(text[:n])
		text = text[n:]
	}
	return b.String()
}

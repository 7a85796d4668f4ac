package render

import (
	"bytes"
	"encoding/json"
	"strings"

	"berth/agent"
)

// Arguments lays out a tool's arguments as a table, by their names. A text is shown as it is, unless
// it could be taken for another value: then it is quoted as JSON quotes it.
func Arguments(in agent.Input) []Line {
	var lines []Line
	for _, field := range in.Names() {
		value := Value(in[field])
		head := []Span{{name(field) + ":", Accent}}
		if len(value) == 1 {
			lines = append(lines, Line{Spans: append(append(head, Span{" ", Plain}), value[0].Spans...)})
			continue
		}
		lines = append(lines, Line{Spans: head})
		for _, l := range value {
			if l.Text() != "" { // a line of blanks alone would be drawn by their numbers
				l.Spans = append([]Span{{"  ", Plain}}, l.Spans...)
			}
			lines = append(lines, l)
		}
	}
	return lines
}

// Value lays out a JSON value: a text as Arguments has it, all else indented.
func Value(raw json.RawMessage) []Line {
	var text string
	if json.Unmarshal(raw, &text) == nil && bytes.HasPrefix(bytes.TrimSpace(raw), []byte{'"'}) {
		if text == "" || strings.TrimSpace(text) != text || json.Valid([]byte(text)) {
			return plain(Quoted, string(raw))
		}
		return plain(Plain, text)
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return plain(Plain, string(raw))
	}
	return plain(Quoted, b.String())
}

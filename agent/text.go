package agent

import (
	"bytes"
	"encoding/json"
	"strings"
)

// evidenceRunes bounds the text in evidence, in characters.
const evidenceRunes = 120

// FirstLine is the text's first line that is not blank, for evidence.
func FirstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > evidenceRunes {
		return string(r[:evidenceRunes-1]) + "…"
	}
	return s
}

// Value is the string that s points to; empty for nil.
func Value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Compact is JSON without blanks; empty if the input isn't valid JSON.
func Compact(input json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, input) != nil {
		return ""
	}
	return b.String()
}

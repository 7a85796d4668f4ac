package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/forks"
	"berth/agent/pattern"
)

// escapes matches what Gemini takes for an escape too many in a file's text, if the model isn't one of Gemini 2 or 3.
var escapes = pattern.New("\\\\+(n|t|r|'|\"|`|\\\\|\n)")

// unescaped is the text as Gemini writes it for such a model.
func unescaped(text string) string {
	return escapes.ReplaceAllStringFunc(text, func(escape string) string {
		switch last := escape[len(escape)-1:]; last {
		case "n":
			return "\n"
		case "t":
			return "\t"
		case "r":
			return "\r"
		default:
			return last
		}
	})
}

// asWritten is the input of a call that writes a file, with the text that Gemini's report has: it takes escapes out after BeforeTool.
// diff is the reported change.
func asWritten(input json.RawMessage, diff string) json.RawMessage {
	in, err := agent.ReadInput(input)
	if err != nil {
		return input
	}
	text := in.Words(tooling.Text)
	plain := unescaped(text)
	if adds := forks.Added(diff); hasAll(adds, text) || !hasAll(adds, plain) {
		return input
	}
	if in[tooling.Text], err = json.Marshal(plain); err != nil {
		return input
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return input
	}
	return raw
}

// hasAll reports whether the text has each of the lines.
func hasAll(lines []string, text string) bool {
	all := strings.Split(text, "\n")
	return !slices.ContainsFunc(lines, func(line string) bool { return !slices.Contains(all, line) })
}

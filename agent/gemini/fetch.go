package gemini

import (
	"encoding/json"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/forks"
)

// The dialog of a page to fetch draws the call's url, or its prompt if it has none. Gemini fetches what the prompt names, whatever the url
// is, unless it is set to fetch directly.

// undrawnOfFetch is the whole input of such a call, if it has more than the field that the dialog draws.
func undrawnOfFetch(input json.RawMessage) string {
	if in, err := agent.ReadInput(input); err == nil && len(in) > 1 {
		return forks.Fields(in)
	}
	return forks.UndrawnInSome(input)
}

// drawnOfFetch is the prompt that Gemini reports of such a call.
func drawnOfFetch(input json.RawMessage) string {
	in, err := agent.ReadInput(input)
	if err != nil {
		return ""
	}
	if url := in.Words("url"); url != "" {
		return "Fetch " + url
	}
	return in.Words("prompt")
}

// What the dialog of a page to fetch draws below the call's field.
var belowFetch = []string{"URLs to fetch:", "Do you want to proceed?"}

// drawsElseToFetch reports whether the dialog draws another field than that of such a call. Gemini renders the field as Markdown: of one
// that it may draw with other letters nothing is known.
func drawsElseToFetch(dialog *agent.Dialog, input json.RawMessage) bool {
	field := drawnOfFetch(input)
	odd := func(r rune) bool { return r != '\n' && (r < ' ' || r > '~' || strings.ContainsRune(`\$<`, r)) }
	if strings.ContainsFunc(field, odd) {
		return false
	}
	letters := func(text string) string { return drawn.Letters(plainText(text)) }
	body := letters(dialog.Body)
	for _, below := range belowFetch {
		if strings.Contains(body, letters(field+below)) {
			return false
		}
	}
	return true
}

package gemini

import (
	"encoding/json"

	"berth/agent"
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

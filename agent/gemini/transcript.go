package gemini

import (
	"bytes"
	"encoding/json"
	"strings"

	"berth/agent"
)

// spoken is a line of the chat file as a reader sees it.
type spoken struct {
	record
	Thoughts []struct {
		Subject     string `json:"subject"`
		Description string `json:"description"`
	} `json:"thoughts"`
	Ended []struct {
		toolCall
		ID     string `json:"id"`
		Result []struct {
			Response struct {
				Response struct {
					Output json.RawMessage `json:"output"`
					Error  string          `json:"error"`
				} `json:"response"`
			} `json:"functionResponse"`
		} `json:"result"`
	} `json:"toolCalls"`
}

// Entries reads the conversation from a line of the chat file.
func (d Driver) Entries(line []byte) []agent.Entry {
	var r spoken
	if json.Unmarshal(line, &r) != nil {
		return nil
	}
	switch {
	case r.Type == "" && bytes.Contains(r.Set, []byte(`"messages"`)): // all messages as they are now
		return []agent.Entry{{Kind: agent.EntryGoOn}}
	case r.Type == "":
		return nil
	}
	text := r.text()
	out := agent.Entry{Kind: agent.EntryNotice, At: r.Time, ID: r.ID, Text: text}
	switch {
	case r.Type == "user" && strings.HasPrefix(text, preamble): // after a denial the file has all messages again, and then their list
		return []agent.Entry{{Kind: agent.EntryRepeat, At: r.Time}}
	case r.Type == "user":
		out.Kind = agent.EntryMessage
	case r.Type == "gemini":
		return r.replied(d)
	case r.Type == "error":
		out.Failed = true
	}
	return agent.Spoken(out) // a tool's result has no text, and is in the line of its call too
}

// replied are the entries of the model's message. The file has it again when its tools have ended.
func (r *spoken) replied(d Driver) []agent.Entry {
	var all []agent.Entry
	for _, t := range r.Thoughts {
		all = append(all, agent.Entry{Kind: agent.EntryThought, At: r.Time, ID: r.ID + " " + t.Subject, Text: strings.TrimSpace(t.Subject + "\n" + t.Description)})
	}
	all = append(all, agent.Entry{Kind: agent.EntryReply, At: r.Time, ID: r.ID, Text: r.text()})
	for _, c := range r.Ended {
		at := c.Time
		if at.IsZero() {
			at = r.Time
		}
		all = append(all, agent.Called(d, at, c.ID, c.Name, c.Args))
		result := agent.Entry{Kind: agent.EntryResult, At: at, Call: c.ID, Failed: c.Status != "success"}
		for _, part := range c.Result {
			result.Text += output(part.Response.Response.Output) + part.Response.Response.Error
		}
		all = append(all, result)
	}
	return agent.Spoken(all...)
}

// output is what a tool printed. Gemini wraps it for the model.
func output(raw json.RawMessage) string {
	inner, wrapped := strings.CutPrefix(agent.Printed(raw), "<untrusted_context>\n")
	if !wrapped {
		return inner
	}
	return strings.TrimSuffix(strings.TrimSuffix(inner, "</untrusted_context>"), "\n")
}

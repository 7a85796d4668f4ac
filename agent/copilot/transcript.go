package copilot

import (
	"encoding/json"

	"berth/agent"
)

// Entries reads the conversation from a line of the session log. It leaves out a subagent's lines.
func (d Driver) Entries(line []byte) []agent.Entry {
	var r record
	if json.Unmarshal(line, &r) != nil || r.Data.Parent != "" {
		return nil
	}
	e := agent.Entry{At: r.Time, Text: r.Data.Content}
	switch r.Type {
	case "user.message":
		e.Kind = agent.EntryMessage
	case "assistant.message":
		e.Kind = agent.EntryReply
	case "tool.execution_start":
		return []agent.Entry{agent.Called(d, r.Time, r.Data.Call, r.Data.Tool, r.Data.Input)}
	case "tool.execution_complete":
		e.Kind, e.Call, e.Failed, e.Text = agent.EntryResult, r.Data.Call, !r.Data.Success, r.Data.Result.Content
		if e.Failed {
			e.Text = r.Data.Error.Message
		}
		return []agent.Entry{e}
	case "session.error":
		e.Kind, e.Failed, e.Text = agent.EntryNotice, true, r.Data.Message
	case "abort":
		e.Kind, e.Text = agent.EntryNotice, "The turn was interrupted"
	default:
		return nil
	}
	return agent.Spoken(e)
}

package codex

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"berth/agent"
)

// written is a line of the session log as a reader sees it. The model's messages are items of
// events; its calls and their results are items of responses.
type written struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Payload   struct {
		Type      string          `json:"type"`
		Item      writtenItem     `json:"item"`
		Error     *problem        `json:"error"`
		Reason    string          `json:"reason"`
		Name      string          `json:"name"`
		Arguments string          `json:"arguments"` // of a function
		Input     string          `json:"input"`     // of a custom tool
		Call      string          `json:"call_id"`
		Output    json.RawMessage `json:"output"`
	} `json:"payload"`
}

type writtenItem struct {
	item
	Summary []string                `json:"summary_text"`
	Command []string                `json:"command"`
	Output  string                  `json:"aggregated_output"`
	Exit    int                     `json:"exit_code"`
	Status  string                  `json:"status"`
	Changes map[string]writtenPatch `json:"changes"`
	Stdout  string                  `json:"stdout"`
	Stderr  string                  `json:"stderr"`
}

// writtenPatch is a change of one file that was made.
type writtenPatch struct {
	Type    string  `json:"type"`
	Content string  `json:"content"`
	Diff    string  `json:"unified_diff"`
	To      *string `json:"move_path"`
}

// Entries reads the conversation from a line of the session log.
func (d Driver) Entries(line []byte) []agent.Entry {
	var w written
	if json.Unmarshal(line, &w) != nil {
		return nil
	}
	p := &w.Payload
	one := func(kind agent.EntryKind, text string) []agent.Entry {
		return []agent.Entry{{Kind: kind, At: w.Timestamp, Text: text}}
	}
	switch w.Type + " " + p.Type {
	case "compacted ":
		return one(agent.EntryNotice, "Conversation compacted")
	case "event_msg turn_aborted":
		return one(agent.EntryNotice, "The turn was "+p.Reason)
	case "event_msg task_complete":
		if p.Error != nil {
			return []agent.Entry{{Kind: agent.EntryNotice, At: w.Timestamp, Text: p.Error.Message, Failed: true}}
		}
	case "event_msg item_completed":
		return p.Item.entries(d, w.Timestamp)
	case "response_item function_call", "response_item custom_tool_call":
		return []agent.Entry{d.called(&w)}
	case "response_item function_call_output", "response_item custom_tool_call_output":
		return []agent.Entry{{Kind: agent.EntryResult, At: w.Timestamp, Call: p.Call, Text: outputText(p.Output)}}
	}
	return nil
}

// called is the entry of the model's call of a tool.
func (d Driver) called(w *written) agent.Entry {
	p := &w.Payload
	tool, input := p.Name, json.RawMessage(p.Arguments)
	switch {
	case p.Type == "custom_tool_call" && tool == toolPatch:
		input = commandInput(p.Input)
	case p.Type == "custom_tool_call":
		text, _ := json.Marshal(map[string]string{"input": p.Input}) // a map of strings always encodes
		input = text
	case tool == logCommand:
		in, err := agent.ReadInput(input)
		if command := in["cmd"]; err == nil && command != nil {
			delete(in, "cmd")
			in["command"] = command
			tool = toolCommand
			input, _ = json.Marshal(in) // it was read from JSON
		}
	}
	return agent.Called(d, w.Timestamp, p.Call, tool, input)
}

// outputText is the text of a tool's result: a string, or parts.
func outputText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts) // any other shape has no text
	for _, p := range parts {
		text += p.Text
	}
	return text
}

// entries are those of an item that is complete. A command or a change of files that the model's own
// code made has no call but this.
func (i *writtenItem) entries(d Driver, at time.Time) []agent.Entry {
	text := i.Text
	for _, c := range i.Content {
		text += c.Text
	}
	out := agent.Entry{At: at, Text: text}
	switch i.Type {
	case "UserMessage":
		out.Kind = agent.EntryMessage
	case "AgentMessage", "Plan":
		out.Kind = agent.EntryReply
	case "Reasoning":
		out.Kind, out.Text = agent.EntryThought, strings.Join(i.Summary, "\n\n")
	case "CommandExecution":
		if len(i.Command) == 0 {
			return nil
		}
		call := agent.Called(d, at, i.ID, toolCommand, commandInput(i.Command[len(i.Command)-1]))
		result := agent.Entry{Kind: agent.EntryResult, At: at, Call: i.ID, Text: i.Output, Failed: i.Exit != 0}
		if i.Exit != 0 {
			result.Text = fmt.Sprintf("exit status %d\n%s", i.Exit, i.Output)
		}
		return []agent.Entry{call, result}
	case "FileChange":
		call := agent.Entry{Kind: agent.EntryCall, At: at, Call: i.ID, Tool: toolPatch, Subject: &agent.Subject{}}
		for _, file := range slices.Sorted(maps.Keys(i.Changes)) {
			call.Subject.Changes = append(call.Subject.Changes, i.Changes[file].change(file))
		}
		return []agent.Entry{call, {Kind: agent.EntryResult, At: at, Call: i.ID, Text: i.Stdout + i.Stderr, Failed: i.Status != "completed"}}
	default:
		return nil
	}
	return agent.Spoken(out)
}

// change is what was done to a file.
func (w writtenPatch) change(file string) agent.Change {
	c := agent.Change{File: file, Does: agent.Edits, To: agent.Value(w.To)}
	switch w.Type {
	case "add":
		c.Does, c.Text = agent.Adds, &w.Content
	case "delete":
		c.Does = agent.Deletes
	default:
		for line := range strings.Lines(w.Diff) {
			line = strings.TrimSuffix(line, "\n")
			switch {
			case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, `\`):
				c.Patch = append(c.Patch, agent.PatchLine{Sign: '@', Text: line})
			case line != "" && len(c.Patch) > 0: // names of files come before the first hunk
				c.Patch = append(c.Patch, agent.PatchLine{Sign: line[0], Text: line[1:]})
			}
		}
	}
	return c
}

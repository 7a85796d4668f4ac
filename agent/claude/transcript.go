package claude

import (
	"encoding/json"
	"strings"

	"berth/agent"
)

// Entries reads the main conversation from a line of the session log.
func (d Driver) Entries(line []byte) []agent.Entry {
	var e entry
	if json.Unmarshal(line, &e) != nil || e.Sidechain {
		return nil
	}
	switch e.Type {
	case "user":
		return e.said()
	case "assistant":
		return e.replied(d)
	case "system":
		text, _ := e.RawContent.(string)
		if text != "" && (e.Subtype == "compact_boundary" || e.Subtype == "informational") {
			return []agent.Entry{{Kind: agent.EntryNotice, At: e.Timestamp, Text: text}}
		}
	}
	return nil
}

// stopFeedback starts a hook's text that sends the agent on.
const stopFeedback = "Stop hook feedback:\n"

// said are the entries of a line in the user's name.
func (e *entry) said() []agent.Entry {
	var all []agent.Entry
	for _, b := range e.Message.blocks() {
		out := agent.Entry{Kind: agent.EntryMessage, At: e.Timestamp, Text: b.Text}
		switch {
		case b.Type == "tool_result":
			out.Kind, out.Call, out.Text, out.Failed = agent.EntryResult, b.ToolUse, contentText(b.Content), b.Error
		case b.Type == "image":
			out.Text = "[image]"
		case b.Type != "text":
			continue
		case e.Summary, strings.HasPrefix(b.Text, interrupted), strings.HasPrefix(b.Text, "<task-notification>"), e.Meta && strings.HasPrefix(b.Text, stopFeedback):
			out.Kind = agent.EntryNotice
		case e.Meta || strings.HasPrefix(b.Text, "<local-command-"):
			continue
		case strings.HasPrefix(b.Text, "<command-"):
			out.Text = strings.TrimSpace(inTag(b.Text, "command-name") + " " + inTag(b.Text, "command-args"))
		}
		all = append(all, out)
	}
	return all
}

// inTag is the text in an element of a message; empty without one.
func inTag(text, tag string) string {
	_, after, _ := strings.Cut(text, "<"+tag+">")
	inner, _, _ := strings.Cut(after, "</"+tag+">")
	return inner
}

// contentText is the text of a tool's result: a string, or blocks.
func contentText(raw json.RawMessage) string {
	var texts []string
	for _, b := range (message{Content: raw}).blocks() {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "image":
			texts = append(texts, "[image]")
		}
	}
	return strings.Join(texts, "\n")
}

// replied are the entries of a line in the agent's name.
func (e *entry) replied(d Driver) []agent.Entry {
	var all []agent.Entry
	for _, b := range e.Message.blocks() {
		switch {
		case b.Type == "tool_use":
			all = append(all, agent.Called(d, e.Timestamp, b.ID, b.Name, b.Input))
		case b.Type == "thinking" && b.Thinking != "":
			all = append(all, agent.Entry{Kind: agent.EntryThought, At: e.Timestamp, Text: b.Thinking})
		case b.Type == "text" && e.APIError:
			all = append(all, agent.Entry{Kind: agent.EntryNotice, At: e.Timestamp, Text: b.Text, Failed: true})
		case b.Type == "text":
			all = append(all, agent.Entry{Kind: agent.EntryReply, At: e.Timestamp, Text: b.Text})
		}
	}
	return all
}

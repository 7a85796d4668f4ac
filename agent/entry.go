package agent

import (
	"encoding/json"
	"slices"
	"time"
)

// Entry is one thing that the agent's session log says about its conversation, for people to read.
type Entry struct {
	Kind EntryKind
	At   time.Time
	ID   string // of a message that the log may have again, with more in it; empty for any other
	Text string // of a message or a notice; of a tool, its result
	Call string // id of the tool's call, in EntryCall and EntryResult

	// Of EntryCall: the tool's input, and its subject if the driver can read it.
	Tool    string
	Input   json.RawMessage
	Subject *Subject

	Failed bool // of a result or a notice
}

// EntryKind says what an entry is.
type EntryKind string

// The kinds of entries.
const (
	EntryMessage EntryKind = "message" // to the agent, from a person or a program
	EntryReply   EntryKind = "reply"   // the agent's text
	EntryThought EntryKind = "thought"
	EntryCall    EntryKind = "call"   // the agent uses a tool
	EntryResult  EntryKind = "result" // what the tool returned
	EntryNotice  EntryKind = "notice" // from the agent's program: a compaction, an error, an interruption
	// EntryRepeat: the log has earlier entries again, until EntryGoOn.
	EntryRepeat EntryKind = "repeat"
	EntryGoOn   EntryKind = "go on"
)

// Spoken are the entries without those of an empty text.
func Spoken(all ...Entry) []Entry {
	return slices.DeleteFunc(all, func(e Entry) bool {
		return e.Text == "" && slices.Contains([]EntryKind{EntryMessage, EntryReply, EntryThought, EntryNotice}, e.Kind)
	})
}

// Called is the entry of a tool's call, with its subject as the driver reads it.
func Called(d SubjectReader, at time.Time, call, tool string, input json.RawMessage) Entry {
	e := Entry{Kind: EntryCall, At: at, Call: call, Tool: tool, Input: input}
	if s, ok := d.Subject(&Request{Type: PromptPermission, Tool: &tool, Raw: input}); ok {
		e.Subject = &s
	}
	return e
}

// Printed is what a tool printed: a text, or another value as JSON.
func Printed(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// ActivityKind is what a working agent is at.
type ActivityKind string

// The activities.
const (
	Thinking   ActivityKind = "thinking"
	UsingTool  ActivityKind = "tool"
	Responding ActivityKind = "responding"
	Compacting ActivityKind = "compacting"
	Retrying   ActivityKind = "retrying"
	Output     ActivityKind = "output"
)

// Activity is what a working agent does.
type Activity struct {
	Kind    ActivityKind `json:"kind"`
	Tool    string       `json:"tool,omitempty"`     // of a tool
	Input   string       `json:"input,omitempty"`    // of a tool: its command, its files or its arguments, in one line
	Attempt int          `json:"attempt,omitempty"`  // of a retry, from 1
	Of      int          `json:"of,omitempty"`       // the number of attempts, if the agent says it
	DelayMS int64        `json:"delay_ms,omitempty"` // until the next attempt
}

// mostInput limits the characters of an activity's input. A row of the dashboard shows fewer.
const mostInput = 200

// Uses is the activity of an agent that uses a tool. A driver that reads tools' inputs makes the input
// one line.
func Uses(d any, tool string, input json.RawMessage) *Activity {
	a := &Activity{Kind: UsingTool, Tool: tool}
	if r, ok := d.(SubjectReader); ok && len(input) > 0 {
		if s, ok := r.Subject(&Request{Type: PromptPermission, Tool: &tool, Raw: input}); ok {
			a.Input = s.inLine()
		}
	}
	return a
}

// inLine is the subject in one line.
func (s Subject) inLine() string {
	var words []string
	switch {
	case s.Command != "":
		words = []string{s.Command}
	case len(s.Changes) > 0:
		for _, c := range s.Changes {
			words = append(words, c.File)
		}
	default:
		names := s.Arguments.Names()
		for _, name := range names {
			var value string
			if raw := s.Arguments[name]; json.Unmarshal(raw, &value) != nil {
				value = string(raw)
			}
			if len(names) > 1 {
				value = name + ": " + value
			}
			words = append(words, value)
		}
	}
	line := []rune(strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	if len(line) > mostInput {
		line = append(line[:mostInput:mostInput], '…')
	}
	return string(line)
}

// Class is what kind of failure ended a turn.
type Class string

// The classes of failure.
const (
	Unauthorized Class = "unauthorized"
	OutOfCredits Class = "out_of_credits"
	RateLimited  Class = "rate_limited"
	Overloaded   Class = "overloaded"
	Network      Class = "network"
	ContextFull  Class = "context_full"
	Invalid      Class = "invalid"
	OtherFailure Class = "other"
)

// Classes is the one list of them: what a rule may name.
var Classes = []Class{Unauthorized, OutOfCredits, RateLimited, Overloaded, Network, ContextFull, Invalid, OtherFailure}

// Failure is why the last turn failed. It holds until the next begins.
type Failure struct {
	Class Class     `json:"class"`
	Text  string    `json:"text"`
	Since time.Time `json:"since"`
	// ResumeAt is when the error ends by itself, in UTC; nil if it doesn't, or if that isn't known.
	ResumeAt *time.Time `json:"resume_at,omitempty"`
}

// Ends reports whether errors of the class may end by themselves: limits and overloads.
func (c Class) Ends() bool { return c == OutOfCredits || c == RateLimited || c == Overloaded }

// Phrases are words that the errors of a class have, in lower case.
type Phrases struct {
	Class Class
	Words []string
}

// ClassIn is the class of the first phrases with a word in the text; empty for none.
func ClassIn(text string, all ...Phrases) Class {
	text = strings.ToLower(text)
	has := func(word string) bool { return strings.Contains(text, word) }
	for _, p := range all {
		if slices.ContainsFunc(p.Words, has) {
			return p.Class
		}
	}
	return ""
}

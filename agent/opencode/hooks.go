package opencode

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"berth/agent"
	"berth/agent/forks"
)

// ErrEvent is the error for bytes that aren't a report of the plugin.
var ErrEvent = errors.New("not a report of the plugin")

// event has the fields of all reports.
type event struct {
	Name      string `json:"event"`
	Session   string `json:"session"` // the conversation at the terminal
	Version   string `json:"version"`
	Agent     string `json:"agent"` // the conversation of a subagent
	AgentType string `json:"agent_type"`

	Source  string       `json:"source"`
	Text    string       `json:"text"`
	Error   *errorReport `json:"error"`
	Stopped bool         `json:"stopped"` // the turn ended by a refusal, or while it was retried
	Attempt int          `json:"attempt"`
	Delay   float64      `json:"delay"` // milliseconds
	Turn    string       `json:"turn"`  // the id of its message
	Took    []took       `json:"took"`  // of the model, by its steps

	Tool   string          `json:"tool"`
	Call   string          `json:"call"`
	Input  json.RawMessage `json:"input"`
	Status string          `json:"status"`
	Reply  string          `json:"reply"` // to a permission

	Permission string          `json:"permission"`
	Patterns   []string        `json:"patterns"`
	Always     []string        `json:"always"` // the patterns that "Allow always" covers
	Metadata   json.RawMessage `json:"metadata"`
	Links      []forks.Link    `json:"links"` // of the files that a call names
	Cut        bool            `json:"cut"`   // the plugin has shortened long texts
	Questions  json.RawMessage `json:"questions"`
}

type errorReport struct {
	Name, Message, Body string
	Status              int
}

// took is what one answer of the model used.
type took struct {
	Model                    string
	Input, Output, Reasoning int64
	Cache                    struct{ Read, Write int64 }
}

// usage is the sum of a turn.
func usage(list []took) *agent.Usage {
	if len(list) == 0 {
		return nil
	}
	u := &agent.Usage{Whole: true, Answers: len(list)}
	for _, t := range list {
		u.Model = t.Model
		u.Tokens = u.Plus(agent.Tokens{Input: t.Input, Output: t.Output + t.Reasoning, CacheRead: t.Cache.Read, CacheCreation: t.Cache.Write})
	}
	return u
}

// Hook reads one report. Every report gives a fact, at least as evidence, even an unknown one.
func (Driver) Hook(payload []byte) ([]agent.Fact, error) {
	var e event
	if err := json.Unmarshal(payload, &e); err != nil {
		return nil, fmt.Errorf("read a report: %w: %w", ErrEvent, err)
	}
	if e.Name == "" || e.Session == "" {
		return nil, fmt.Errorf("read a report: %w: no name or no conversation", ErrEvent)
	}
	if e.Call != "" { // two subagents may have calls of one id
		e.Call = cmp.Or(e.Agent, e.Session) + " " + e.Call
	}
	f := agent.Fact{
		Kind: agent.Noted, Source: agent.SourceHook, Cause: "hook:" + e.Name, Conversation: e.Session, Version: e.Version,
		Agent: e.Agent, AgentType: e.AgentType, Turn: e.Turn, Tool: e.Tool, Call: e.Call, Input: e.Input,
	}
	e.fill(&f)
	facts := []agent.Fact{f}
	if e.Name == "permission.replied" && f.Kind == agent.ToolEnded && e.Tool != "" { // its prompt is over, and the call goes on, if it is known
		e.starts(&f)
		facts = append(facts, f)
	}
	return facts, nil
}

// kinds are the facts of events that need no further look, or that fill completes. Of "question.replied" and
// "question.rejected" the end of the hook, of the call and of the dialog close the prompt: another one of its type may be
// open.
var kinds = map[string]agent.Kind{
	"conversation": agent.ConversationStarted, "turn": agent.TurnStarted, "queued": agent.Queued, "retry": agent.Acting, "compacted": agent.Acting,
	"permission.asked": agent.Asked, "question.asked": agent.Asked, "step": agent.StepEnded,
}

// fill completes the fact with what the event reports.
func (e *event) fill(f *agent.Fact) {
	f.Kind = cmp.Or(kinds[e.Name], agent.Noted)
	switch e.Name {
	case "conversation":
		f.Text, f.Evidence = e.Source, e.Source
	case "turn", "queued":
		if f.Text, f.Evidence = e.Text, agent.FirstLine(e.Text); e.Agent != "" && e.Name == "turn" {
			f.Kind, f.Text, f.Evidence = agent.SubagentStarted, "", e.AgentType
		}
	case "idle":
		e.ends(f)
	case "retry":
		delay := time.Duration(max(e.Delay, 0)) * time.Millisecond
		f.Activity, f.Evidence = &agent.Activity{Kind: agent.Retrying, Attempt: e.Attempt, DelayMS: delay.Milliseconds()}, agent.FirstLine(e.Text)
	case "compacted":
		f.Activity = &agent.Activity{Kind: agent.Thinking}
	case "tool.before":
		e.starts(f)
	case "tool.after":
		f.Evidence = e.Tool
		if e.Status != "error" { // it was refused, and the turn ends some milliseconds later; or it failed, and the model goes on
			f.Kind = agent.ToolEnded
		}
	case "permission.asked":
		f.Request, f.Tool, f.Evidence = e.permission(), e.Permission, e.Permission
	case "question.asked":
		f.Request, f.Tool, f.Evidence = questions(agent.Encoded(map[string]any{"questions": e.Questions})), toolQuestion, toolQuestion
	case "permission.replied":
		// "Allow always" for one call allows others of the same step, whose dialogs are never drawn. A
		// refusal refuses them all: the turn's end or the next step closes their prompts.
		if e.Call != "" && e.Reply != replyReject {
			f.Kind = agent.ToolEnded
		}
	}
}

// starts makes the fact of a call that begins, or that was allowed.
func (e *event) starts(f *agent.Fact) {
	f.Kind, f.Evidence = agent.ToolStarted, e.Tool
	if e.Tool == toolShell || e.Tool == toolFetch { // their requests have the call's input
		f.Request = Driver{}.Waiting(f)
	}
}

// ends handles the end of a turn. After a refusal opencode reports no error, and so when a turn is
// interrupted while it is retried.
func (e *event) ends(f *agent.Fact) {
	f.Kind, f.How, f.Text, f.Evidence = agent.TurnEnded, agent.Completed, e.Text, agent.FirstLine(e.Text)
	f.Usage = usage(e.Took)
	switch {
	case e.Agent != "":
		f.Kind, f.How, f.Text, f.Evidence = agent.SubagentEnded, "", "", e.AgentType
	case e.Error != nil && e.Error.Name == errorAborted, e.Error == nil && e.Stopped:
		f.How = agent.Interrupted
	case e.Error != nil:
		f.How, f.Failure, f.Evidence = agent.Failed, e.Error.failure(), agent.FirstLine(e.Error.Message)
	}
}

// ReportsDialog: the plugin reports each permission and question. The page of "Allow always" belongs to one.
func (Driver) ReportsDialog(d *agent.Dialog) bool { return d.Title != titleAlways }

package copilot

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"berth/agent"
	"berth/agent/forks"
)

// ErrLine is the error for a line that isn't a line of the session log.
var ErrLine = errors.New("not a line of Copilot's")

// record is a line of events.jsonl.
type record struct {
	Type string    `json:"type"`
	ID   string    `json:"id"`
	Time time.Time `json:"timestamp"`
	Data data      `json:"data"`
}

// data has the fields of all lines that detection and transcripts read.
type data struct {
	Session string           `json:"sessionId"`
	Version string           `json:"copilotVersion"`
	Content string           `json:"content"`
	Turn    string           `json:"interactionId"`
	Call    string           `json:"toolCallId"`
	Parent  string           `json:"parentToolCallId"` // of a subagent's lines
	Tool    string           `json:"toolName"`
	Input   json.RawMessage  `json:"arguments"`
	Asks    agent.All[asked] `json:"permissionRequest"`
	Drawn   json.RawMessage  `json:"promptRequest"` // what of it the dialog draws
	Message string           `json:"message"`
	Kind    string           `json:"errorType"`
	Status  int              `json:"statusCode"`
	Reason  string           `json:"reason"`
	Hook    string           `json:"hookType"`
	Output  struct {
		Decision string `json:"decision"`
	} `json:"output"`
	Success bool `json:"success"`
	Result  struct {
		Content string `json:"content"`
		Kind    string `json:"kind"`
	} `json:"result"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	Usage struct {
		Model      string `json:"model"`
		Input      int64  `json:"inputTokens"`
		Output     int64  `json:"outputTokens"`
		CacheRead  int64  `json:"cacheReadTokens"`
		CacheWrite int64  `json:"cacheWriteTokens"`
	} `json:"usage"`
}

// openCalls: the log has the calls of the subagents that a task starts.
var openCalls = agent.OpenCalls{
	Quiet:    map[string]bool{"report_intent": true, "update_todo": true, "task": true, "read_agent": true, "list_agents": true, "read_bash": true},
	Results:  []string{"log:tool.execution_complete"},
	AnyOrder: true, // a call before the drawn one may run unasked
	Asks:     toolAsk,
	OfAll:    true,
}

func (Driver) OpenCalls() agent.OpenCalls { return openCalls }

// NamesOpen: a box that asks another question than the measured ones is like each call. Those about a patch name its file. What a dialog draws of a
// call is in the permission alone: a call of the model that has such a field is named too.
func (Driver) NamesOpen(d *agent.Dialog, tool string, input json.RawMessage, shown agent.Match) bool {
	in, _ := agent.ReadInput(input)
	measured := d.Tool != "" || partOf[d.Title] != "" && in[partDrawn] == nil || d.Title == askServer || tool == toolPatch && forks.PatchHas(input, d.Title)
	return shown == agent.NoMatch || d.Type == agent.PromptPermission && !measured
}

// Log reads one whole line of the session log.
func (Driver) Log(line []byte) ([]agent.Fact, error) {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, fmt.Errorf("read a line of the session log: %w: %w", ErrLine, err)
	}
	f := agent.Fact{Kind: agent.Noted, Source: agent.SourceLog, Cause: "log:" + r.Type, At: r.Time, Agent: r.Data.Parent}
	d := &r.Data
	switch r.Type {
	case "session.start", "session.resume":
		f.Conversation, f.Version, f.Evidence = d.Session, d.Version, d.Version
	case "user.message": // only the log has ids of turns
		f.Turn, f.Evidence = d.Turn, agent.FirstLine(d.Content)
	case "assistant.message":
		if f.Text = d.Content; f.Text != "" {
			f.Kind, f.Activity, f.Evidence = agent.Acting, &agent.Activity{Kind: agent.Responding}, agent.FirstLine(f.Text)
		}
	case "session.usage_record":
		u := d.Usage
		f.Usage = &agent.Usage{Answer: r.ID, Model: u.Model, Tokens: agent.Tokens{
			Input: max(0, u.Input-u.CacheRead-u.CacheWrite), Output: u.Output, CacheRead: u.CacheRead, CacheCreation: u.CacheWrite,
		}}
	case "tool.execution_start":
		f.Kind, f.Tool, f.Call, f.Input, f.Evidence = agent.ToolStarted, d.Tool, d.Call, d.Input, d.Tool
		f.Request = call(d.Tool, d.Input)
	case "permission.requested":
		d.Asks.Known.fact(&f, d.Asks.Fields, d.Drawn)
	case "tool.execution_complete", "permission.completed": // after its permission a call may run, and asks no more
		f.Kind, f.Call, f.Evidence = agent.ToolEnded, d.Call, d.Result.Kind
	case "hook.end": // a gate's block continues the turn
		if d.Hook == "agentStop" && d.Output.Decision != "block" {
			f.Kind, f.How = agent.TurnEnded, agent.Completed
		}
	case "session.error":
		f.Kind, f.How, f.Failure, f.Evidence = agent.TurnEnded, agent.Failed, failure(d), agent.FirstLine(d.Message)
	case "abort": // by keys, or because a person refused
		f.Kind, f.How, f.Evidence = agent.TurnEnded, agent.Interrupted, d.Reason
	}
	return []agent.Fact{f}, nil
}

// kinds are the classes of Copilot's own types of errors, for errors without a status.
var kinds = map[string]agent.Class{
	"authentication": agent.Unauthorized, "authorization": agent.Unauthorized, "rate_limit": agent.RateLimited, "quota": agent.OutOfCredits,
	"context_limit": agent.ContextFull,
}

// failure classifies an error by its status, else by its type.
func failure(d *data) *agent.Failure {
	class := cmp.Or(forks.Class(d.Status), kinds[d.Kind])
	if class == "" && d.Status == 0 && d.Kind == "query" {
		class = agent.Network
	}
	return &agent.Failure{Class: cmp.Or(class, agent.OtherFailure), Text: d.Message}
}

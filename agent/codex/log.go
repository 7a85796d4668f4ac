package codex

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"berth/agent"
)

// ErrLine is the error for a line that isn't a JSON object.
var ErrLine = errors.New("not a line of Codex's")

// entry is a line of the session log.
type entry struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Payload   payload   `json:"payload"`
}

// payload has the fields of all kinds of lines.
type payload struct {
	Type      string   `json:"type"`
	ID        string   `json:"id"`          // of the conversation, in session_meta
	Version   string   `json:"cli_version"` // in session_meta
	Answer    string   `json:"response_id"`
	Usage     *usage   `json:"usage"`
	Turn      string   `json:"turn_id"`
	Item      item     `json:"item"`
	Last      string   `json:"last_agent_message"`
	Error     *problem `json:"error"`
	Reason    string   `json:"reason"`
	Name      string   `json:"name"`
	Arguments string   `json:"arguments"`
	Input     string   `json:"input"`     // of a tool that takes a text
	Namespace string   `json:"namespace"` // of a server's tool, and of Codex's tools for subagents

	Output json.RawMessage `json:"output"`
	Call   string          `json:"call_id"`
	turnContext
	Meta struct {
		Turn string `json:"turn_id"`
	} `json:"internal_chat_message_metadata_passthrough"`
}

// turnContext is what Codex notes about a turn before it begins.
type turnContext struct {
	Approval json.RawMessage `json:"approval_policy"` // a word, or an object with the word as its only key
	Sandbox  json.RawMessage `json:"sandbox_policy"`
}

// mode is the approval policy and the sandbox, as the options --ask-for-approval and --sandbox name
// them. Hooks only tell whether both are bypassed.
func (c *turnContext) mode() string {
	var sandbox struct {
		Type string `json:"type"`
	}
	policy := codeOf(c.Approval)
	if json.Unmarshal(c.Sandbox, &sandbox) != nil || policy == "" || sandbox.Type == "" {
		return ""
	}
	return policy + "/" + sandbox.Type
}

// usage is what one answer of the model used. The input includes the cached tokens.
type usage struct {
	Input  int64 `json:"input_tokens"`
	Cached int64 `json:"cached_input_tokens"`
	Cache  int64 `json:"cache_write_input_tokens"`
	Output int64 `json:"output_tokens"`
}

func (u *usage) tokens() agent.Tokens {
	return agent.Tokens{Input: u.Input - u.Cached, Output: u.Output, CacheRead: u.Cached, CacheCreation: u.Cache}
}

type item struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Text    string `json:"text"`
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
}

// problem is the reason for a turn's failure. The code is a string, or an object with the code as
// its only key.
type problem struct {
	Message string          `json:"message"`
	Code    json.RawMessage `json:"codex_error_info"`
}

func (p *problem) failure() *agent.Failure { return failure(codeOf(p.Code), p.Message) }

// codeOf is a word, or the only key of an object.
func codeOf(code json.RawMessage) (word string) {
	if json.Unmarshal(code, &word) != nil {
		var object map[string]json.RawMessage
		_ = json.Unmarshal(code, &object) // no word then
		for key := range object {
			word = key
		}
	}
	return word
}

// Log reads one whole line of the session log.
func (Driver) Log(line []byte) ([]agent.Fact, error) {
	var e entry
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, fmt.Errorf("read a log line: %w: %w", ErrLine, err)
	}
	f := agent.Fact{
		Kind: agent.Noted, Source: agent.SourceLog, Cause: "log:" + e.Type, At: e.Timestamp, Turn: e.Payload.Turn,
	}
	switch e.Type {
	case "session_meta":
		f.Evidence, f.Version = e.Payload.ID, e.Payload.Version
	case "token_usage_record":
		if u := e.Payload.Usage; u != nil && e.Payload.Answer != "" {
			f.Usage = &agent.Usage{Answer: e.Payload.Answer, Tokens: u.tokens()}
		}
	case "turn_context":
		f.Mode = e.Payload.mode()
		f.Evidence = f.Mode
	case "event_msg":
		f.Cause = "log:" + e.Payload.Type
		e.Payload.event(&f)
	case "response_item":
		f.Cause, f.Turn = "log:"+e.Payload.Type, e.Payload.Meta.Turn
		e.Payload.response(&f)
	}
	return []agent.Fact{f}, nil
}

// event reads Codex's reports about the turn. It reports nothing while a prompt is open.
func (p *payload) event(f *agent.Fact) {
	switch p.Type {
	case "task_started":
		f.Kind = agent.TurnStarted
	case "task_complete":
		f.Kind, f.How, f.Text, f.Evidence = agent.TurnEnded, agent.Completed, p.Last, agent.FirstLine(p.Last)
		if p.Error != nil {
			f.How, f.Failure, f.Evidence = agent.Failed, p.Error.failure(), agent.FirstLine(p.Error.Message)
		}
	case "turn_aborted":
		f.Kind, f.How, f.Evidence = agent.TurnEnded, agent.Interrupted, p.Reason
	case "item_completed":
		f.Cause += ":" + p.Item.Type
		p.Item.read(f)
	}
}

func (i *item) read(f *agent.Fact) {
	text := i.Text
	for _, c := range i.Content {
		text += c.Text
	}
	f.Evidence = agent.FirstLine(text)
	switch i.Type {
	case "UserMessage": // a message of a turn that was reported before, or one that joins it
		f.Kind, f.Text = agent.TurnStarted, text
	case "AgentMessage":
		f.Kind, f.Activity, f.Text = agent.Acting, &agent.Activity{Kind: agent.Responding}, text
	case "Reasoning":
		f.Kind, f.Activity = agent.Acting, &agent.Activity{Kind: agent.Thinking}
	case "ContextCompaction":
		f.Kind, f.Activity = agent.Acting, &agent.Activity{Kind: agent.Compacting}
	}
}

// response reads the model's tool calls and their results. A call from within the model's code
// shows only as that code.
func (p *payload) response(f *agent.Fact) {
	switch p.Type {
	case "function_call":
		f.Kind, f.Tool, f.Call, f.Input = agent.ToolStarted, p.tool(), p.Call, json.RawMessage(p.Arguments)
		if f.Tool == logCommand {
			asCommand(f)
		}
		if !json.Valid(f.Input) {
			f.Input = nil
		}
		f.Evidence = f.Tool
	case "function_call_output":
		f.Kind, f.Call = agent.ToolEnded, p.Call
	case "custom_tool_call":
		f.Kind, f.Activity, f.Evidence = agent.Acting, &agent.Activity{Kind: agent.UsingTool, Tool: p.Name}, p.Name
		f.Tool, f.Call, f.Input = p.Name, p.Call, commandInput(p.Input)
	case "custom_tool_call_output":
		f.Kind, f.Activity = agent.Acting, &agent.Activity{Kind: agent.Thinking}
		if !bytes.Contains(p.Output, []byte(codeRunsOn)) {
			f.Call = p.Call
		}
	}
}

// codeRunsOn is in the output of the model's code that goes on after it, and may ask later.
const codeRunsOn = "Script running with cell ID"

// tool is the name that hooks have for the call's tool. A server's tool may be called as one of Codex's own.
func (p *payload) tool() string {
	if p.Namespace == "" || p.Namespace == "collaboration" {
		return p.Name
	}
	return strings.TrimRight(p.Namespace, "_") + "__" + p.Name
}

var openCalls = agent.OpenCalls{
	AnyOrder: true,
	Results:  []string{"log:function_call_output", "log:custom_tool_call_output"},
	Quiet:    map[string]bool{"update_plan": true, "view_image": true, "wait": true, "wait_agent": true, "list_agents": true},
}

func (Driver) OpenCalls() agent.OpenCalls { return openCalls }

// NamesOpen: dialogs of servers' tools look alike, a command in other rows may be another one, and a dialog of edits shows no content. A patch
// that has no room in a prompt isn't named beside such a dialog, which is asked in part.
func (d Driver) NamesOpen(dialog *agent.Dialog, tool string, input json.RawMessage, shown agent.Match) bool {
	switch {
	case tool == toolCommand && shown != agent.WholeMatch:
		in, _ := agent.ReadInput(input)
		return in.Words("command") != d.FromDialog(dialog).FullInput
	case tool == toolPatch && shown != agent.NoMatch:
		return len(input) < longPatch
	}
	return shown == agent.NoMatch || dialog.Type == agent.PromptPermission && aboutElse(dialog)
}

// longPatch is below what a prompt names of a call.
const longPatch = 12 << 10

// asCommand makes the fact one about a command, in the form that the hooks report. Codex reads exact names.
func asCommand(f *agent.Fact) {
	var in agent.Input
	var command, permissions, reason, dir string
	texts := map[string]*string{"cmd": &command, "sandbox_permissions": &permissions, "justification": &reason, workdir: &dir}
	if json.Unmarshal(f.Input, &in) != nil || in.Texts(texts) != nil {
		return
	}
	f.Tool, f.Input = toolCommand, commandInput(command)
	f.Request = permission(f.Tool, f.Input, "")
	f.Request.Text = agent.Pointer(reason)
	f.Request.Raw = withChosen(inFolder(f.Input, dir), in)
	if permissions != escalated { // it may run without asking
		f.Request.Channel = agent.ChannelNone
	}
}

// escalated marks a call that asks to run outside the sandbox: a person decides.
const escalated = "require_escalated"

// commandInput is a command in the form that the hooks report.
func commandInput(command string) json.RawMessage {
	out, err := json.Marshal(map[string]string{"command": command})
	if err != nil { // a map of strings always encodes
		return nil
	}
	return out
}

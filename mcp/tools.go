package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"berth/agent"
	"berth/api"
)

// tool is one tool: how it is listed, and how it is run.
type tool struct {
	name   string
	verbs  []string // it takes the right of one of these
	about  string
	fields []field
	inside bool // it is for callers inside a session
	reads  bool // it changes nothing
	ends   bool // it can destroy work
	run    func(context.Context, *call) (any, error)
}

// field is an argument of a tool.
type field struct {
	name   string
	about  string
	shape  jsonschema.Schema
	needed bool
}

// arguments are those of all tools. The tool's schema says which it takes.
type arguments struct {
	Target     string   `json:"target"`
	State      []string `json:"state"`
	Session    string   `json:"session"`
	Sessions   []string `json:"sessions"`
	What       string   `json:"what"`
	Since      string   `json:"since"`
	MaxBytes   int      `json:"max_bytes"`
	To         string   `json:"to"`
	Text       string   `json:"text"`
	TimeoutS   *int     `json:"timeout_s"`
	Until      []string `json:"until"`
	Cursor     string   `json:"cursor"`
	Kind       string   `json:"kind"`
	Message    string   `json:"message"`
	Profile    string   `json:"profile"`
	Cwd        string   `json:"cwd"`
	Worktree   bool     `json:"worktree"`
	Prompt     string   `json:"prompt"`
	Name       string   `json:"name"`
	Tags       []string `json:"tags"`
	PromptID   string   `json:"prompt_id"`
	Digest     string   `json:"digest"`
	Choice     any      `json:"choice"`
	NotifyIdle bool     `json:"notify_when_idle"`
	TTL        string   `json:"ttl"`
	ReplyTo    int      `json:"reply_to"`
}

// word is what may stand for a session, a profile, a tag or an id. It can't be taken for an option.
const word = `^[^\s\x00-\x1f\x7f-][^\s\x00-\x1f\x7f]*$`

func text(most int) jsonschema.Schema { return jsonschema.Schema{Type: "string", MaxLength: &most} }
func aWord() jsonschema.Schema        { s := text(200); s.Pattern = word; return s }
func number(min, max float64) jsonschema.Schema {
	return jsonschema.Schema{Type: "integer", Minimum: &min, Maximum: &max}
}
func flag() jsonschema.Schema { return jsonschema.Schema{Type: "boolean"} }
func oneOf(words ...string) jsonschema.Schema {
	s := jsonschema.Schema{Type: "string"}
	for _, w := range words {
		s.Enum = append(s.Enum, w)
	}
	return s
}
func list(of jsonschema.Schema, min, max int) jsonschema.Schema {
	return jsonschema.Schema{Type: "array", Items: &of, MinItems: &min, MaxItems: &max}
}

// aState is the name of a state.
func aState() jsonschema.Schema {
	var names []string
	for _, s := range agent.States {
		names = append(names, string(s))
	}
	return oneOf(names...)
}

// mostText bounds a message, in characters, as the longest that an agent takes.
const mostText = 200_000

var (
	aSession = field{name: "session", about: "name or id of a session", shape: aWord(), needed: true}
	timeout  = field{name: "timeout_s", about: "how long to wait, in seconds; default 20", shape: number(0, 25)}
)

// schema is the schema of the tool's arguments. It has no references, which some clients can't follow.
func (t *tool) schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for _, f := range t.fields {
		shape := f.shape
		shape.Description = f.about
		s.Properties[f.name] = &shape
		s.PropertyOrder = append(s.PropertyOrder, f.name)
		if f.needed {
			s.Required = append(s.Required, f.name)
		}
	}
	return s
}

func (t *tool) listed() *sdk.Tool {
	open := false
	return &sdk.Tool{
		Name: t.name, Description: t.about, InputSchema: t.schema(),
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: t.reads, DestructiveHint: &t.ends, OpenWorldHint: &open},
	}
}

// tools are all tools. The protocol lists them by name.
var tools = []*tool{
	{
		name: "list_sessions", verbs: []string{"ls"}, reads: true,
		about: "List the sessions that you may see, with their states.",
		fields: []field{
			{name: "target", about: "a session, or tag:TAG; default all", shape: aWord()},
			{name: "state", about: "only sessions in one of these states", shape: list(aState(), 1, 16)},
			{name: "cursor", about: "next of the last answer, for the rest of a long list", shape: text(20)},
		},
		run: listSessions,
	},
	{
		name: "get_session", verbs: []string{"state"}, reads: true,
		about:  "What a session is doing, what it asks, its last message and what its turn used.",
		fields: []field{aSession}, run: getSession,
	},
	{
		name: "read_session", verbs: []string{"last", "screen", "transcript", "prompt"}, reads: true,
		about: "Read a session: its last message, its screen, or its conversation from its beginning.",
		fields: []field{
			aSession,
			{name: "what", about: "last: the last message. screen: the terminal. transcript: the conversation. prompt: all that it asks", shape: oneOf("last", "screen", "transcript", "prompt"), needed: true},
			{name: "since", about: "next of the last answer: go on from there", shape: text(80)},
			{name: "max_bytes", about: "of text", shape: number(200, 30_000)},
		},
		run: readSession,
	},
	{
		name: "send_message", verbs: []string{"tell"},
		about: "Send a session a message. Its agent gets it when it is idle, marked as yours and not its user's. The answer has the message's number.",
		fields: []field{
			{name: "to", about: "name or id of a session", shape: aWord(), needed: true},
			{name: "text", about: "the message", shape: text(mostText), needed: true},
			{name: "reply_to", about: "number of the message that this one answers", shape: number(1, 1e15)},
			{name: "ttl", about: "drop it when it has waited this long, such as 1h; default 24h", shape: text(20)},
			{name: "notify_when_idle", about: "inside a session: get a message when the target is idle after this one", shape: flag()},
		},
		run: sendMessage,
	},
	{
		name: "read_inbox", verbs: []string{"inbox"}, inside: true,
		about: "Read the messages that other sessions and people have sent you.",
		fields: []field{
			{name: "cursor", about: "of the last answer: only later messages", shape: text(40)},
		},
		run: readInbox,
	},
	{
		name: "ask_session", verbs: []string{"ask"},
		about: "Send an agent a message, as a person would type it, and wait for its reply. If it works longer, the answer has its turn: wait for the session, and read its last message.",
		fields: []field{
			{name: "to", about: "name or id of a session", shape: aWord(), needed: true},
			{name: "text", about: "the message", shape: text(mostText), needed: true},
			{name: "timeout_s", about: "how long to wait for the reply, in seconds; default 20", shape: number(1, 25)},
		},
		run: askSession,
	},
	{
		name: "wait", verbs: []string{"wait"}, reads: true,
		about: "Wait until one of the sessions is in one of the states. With the cursor of the last answer, nothing that happened in between is missed.",
		fields: []field{
			{name: "sessions", about: "names, ids or tag:TAG", shape: list(aWord(), 1, 100), needed: true},
			{name: "until", about: "default idle, prompt, error, parked, exited", shape: list(aState(), 1, 16)},
			{name: "cursor", about: "of the last answer", shape: text(40)},
			timeout,
		},
		run: wait,
	},
	{
		name: "start_session", verbs: []string{"new"},
		about: "Start an agent from a profile, with its first message.",
		fields: []field{
			{name: "profile", about: "name of a profile of the server", shape: aWord(), needed: true},
			{name: "prompt", about: "the first message", shape: text(mostText)},
			{name: "name", about: "of the session; default made up. Inside the session S it begins with S-", shape: aWord()},
			{name: "cwd", about: "the folder to work in; default the profile's", shape: text(4096)},
			{name: "worktree", about: "work in a new git worktree of the folder", shape: flag()},
			{name: "tags", about: "labels", shape: list(aWord(), 0, 20)},
		},
		run: startSession,
	},
	{
		name: "answer_prompt", verbs: []string{"respond"},
		about: "Answer what a session asks. Only the prompt with this id is answered.",
		fields: []field{
			aSession,
			{name: "prompt_id", about: "from get_session", shape: aWord(), needed: true},
			{name: "digest", about: "of the prompt that you have read: from get_session, or from the end of read_session with what: prompt. Needed for a long prompt", shape: aWord()},
			{name: "choice", about: "accept, deny, or an option's number from 1", shape: jsonschema.Schema{Types: []string{"string", "integer"}}},
			{name: "text", about: "an answer in words, or the reason of deny", shape: text(mostText)},
		},
		run: answerPrompt,
	},
	{
		name: "interrupt_session", verbs: []string{"interrupt"}, ends: true,
		about:  "Stop the turn that a session is working on. The session goes on.",
		fields: []field{aSession}, run: interruptSession,
	},
	{
		name: "end_session", verbs: []string{"kill"}, ends: true,
		about:  "End a session's program and all that it started.",
		fields: []field{aSession}, run: endSession,
	},
	{
		name: "report", verbs: []string{"report"}, inside: true,
		about: "Report how your work goes: complete, or escalate if you need a person.",
		fields: []field{
			{name: "kind", about: "of report", shape: oneOf("complete", "escalate", "continue", "status"), needed: true},
			{name: "message", about: "what you report", shape: text(10_000)},
		},
		run: report,
	},
}

// seconds is the argument timeout_s. The rest of Longest is for the answer itself.
func (c *call) seconds() time.Duration {
	if c.args.TimeoutS == nil {
		return 20 * time.Second
	}
	return min(time.Duration(*c.args.TimeoutS)*time.Second, Longest-2*time.Second)
}

// row is a session in a list.
type row struct {
	Name   string          `json:"name"`
	Host   string          `json:"host"`
	ID     string          `json:"id"`
	Agent  string          `json:"agent"`
	State  string          `json:"state"`
	Since  string          `json:"since"`
	Prompt *asked          `json:"prompt,omitempty"`
	Tags   []string        `json:"tags"`
	Folder string          `json:"folder"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// asked is a prompt in a list: enough to choose a session by, not to answer.
type asked struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
}

// seen is a session as ls and state print it.
type seen struct {
	Session string           `json:"session"`
	ID      string           `json:"id"`
	Agent   string           `json:"agent"`
	Mode    *string          `json:"mode"`
	State   string           `json:"state"`
	Since   string           `json:"since"`
	Seq     uint64           `json:"seq"`
	Title   string           `json:"title"`
	Prompt  *json.RawMessage `json:"prompt"`
	Failure json.RawMessage  `json:"failure"`
	Exit    json.RawMessage  `json:"exit"`
	Tags    []string         `json:"tags"`
	Cwd     string           `json:"cwd"`
	Branch  *string          `json:"branch"`
}

func (s seen) asks() *agent.Request {
	var p agent.Request
	if s.Prompt == nil || json.Unmarshal(*s.Prompt, &p) != nil || p.ID == "" {
		return nil
	}
	return &p
}

func (s seen) row(host string) row {
	r := row{Name: s.Session, Host: host, ID: s.ID, Agent: s.Agent, State: s.State, Since: s.Since, Tags: s.Tags, Folder: s.Cwd, Error: orNone(s.Failure)}
	if p := s.asks(); p != nil {
		r.Prompt = &asked{p.ID, string(p.Type)}
	}
	return r
}

// orNone leaves a null out.
func orNone(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

func listSessions(ctx context.Context, c *call) (any, error) {
	words := []string{"ls", "--json"}
	if c.args.Target != "" {
		words = append(words, c.args.Target)
	}
	if len(c.args.State) > 0 {
		words = append(words, "--state="+strings.Join(c.args.State, ","))
	}
	var all []seen
	if err := c.into(ctx, &all, words...); err != nil {
		return nil, err
	}
	from, err := offset(c.args.Cursor)
	if err != nil {
		return nil, err
	}
	answer := struct {
		Sessions []row  `json:"sessions"`
		Next     string `json:"next,omitempty"`
	}{Sessions: []row{}}
	size := 0
	for i, one := range all[min(from, len(all)):] {
		r := one.row(host())
		line, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("write a session: %w", err)
		}
		if size += len(line) + 1; size > MostAnswer-200 {
			answer.Next = strconv.Itoa(from + i)
			break
		}
		answer.Sessions = append(answer.Sessions, r)
	}
	return answer, nil
}

// offset is a cursor that is a count of bytes or rows.
func offset(cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(cursor)
	if err != nil || n < 0 {
		return 0, api.Errorf(api.CodeBadRequest, "%s isn't a place in this answer: give next of the last one", api.Quote(cursor))
	}
	return n, nil
}

// ReadOnly says whether a tool changes nothing, so that it may be called again when its answer is lost.
func ReadOnly(name string) bool {
	return slices.ContainsFunc(tools, func(t *tool) bool { return t.name == name && t.reads })
}

package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions"
	"berth/sessions/events"
	"berth/sessions/gates/transcript"
	"berth/terminal"
)

// What a protocol for programs needs beyond the verbs. Each has the right of the verb that it names.

// mostPrinted bounds what a verb may print for a program, in bytes.
const mostPrinted = 8 << 20

// Printed keeps what a verb prints, up to mostPrinted bytes.
type Printed struct {
	bytes.Buffer
	over bool
}

// Write keeps the bytes; one too many ends the verb.
func (p *Printed) Write(b []byte) (int, error) {
	if p.Len()+len(b) > mostPrinted {
		p.over = true
		return 0, io.ErrShortWrite
	}
	return p.Buffer.Write(b)
}

// With is the request with another line and standard input, for a program: it has no terminal, and no error
// stream.
func (r Request) With(stdin string, words ...string) Request {
	line, _ := json.Marshal(words) // strings always can be
	r.Line, r.Terminal, r.In, r.Err = string(line), false, strings.NewReader(stdin), io.Discard
	return r
}

// RunFor runs a verb as Run does. It returns the last JSON value that the verb printed, and its exit status. A
// failure is an error. The statuses 20 to 22 say how a turn ended, and come with an answer.
func (s *Service) RunFor(ctx context.Context, r Request, stdin string, words ...string) (json.RawMessage, int, error) {
	var out Printed
	r = r.With(stdin, words...)
	r.Out = &out
	status := s.Run(ctx, r)
	if out.over {
		return nil, status, api.Errorf(api.CodeLimit, "the answer of %s has more than %d bytes", words[0], mostPrinted)
	}
	var answer json.RawMessage
	var failed *api.Error
	for d := json.NewDecoder(&out); ; {
		var next json.RawMessage
		err := d.Decode(&next)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, status, fmt.Errorf("read the answer of %s: %w", words[0], err)
		}
		var failure struct {
			Error *api.Error `json:"error"`
		}
		if json.Unmarshal(next, &failure) == nil && failure.Error != nil && failure.Error.Code != "" {
			failed = failure.Error
			continue
		}
		answer = next
	}
	if failed != nil {
		return answer, status, failed
	}
	return answer, status, ctx.Err()
}

// Awaited is the answer of Await.
type Awaited struct {
	Reached  bool              `json:"reached"`  // a session is or was in one of the states
	Events   []json.RawMessage `json:"events"`   // after the cursor, up to the first that matches
	Sessions []api.State       `json:"sessions"` // as they are now
	Cursor   string            `json:"cursor"`   // to go on from
}

// awaitedMost bounds the events of one answer. More come with the next call.
const awaitedMost = 100

// Await returns when one of the targets reaches one of the states, with the right of wait. Without a
// cursor it returns at once if one is in such a state already. With a cursor it considers the events
// after it, so a caller that goes on from the last cursor misses none. It returns what it has when ctx
// ends, without an error.
func (s *Service) Await(ctx context.Context, r Request, targets []string, until map[agent.State]bool, since string) (Awaited, error) {
	r.Line = "wait"
	c := &Call{Service: s, Request: r, JSON: true}
	out := Awaited{Events: []json.RawMessage{}}
	if err := c.allowed(Lookup("wait")); err != nil {
		return out, err
	}
	reader, err := c.readerSince(since)
	if err != nil {
		return out, err
	}
	list, err := c.targets(targets, needsOne)
	if err != nil {
		return out, err
	}
	if since == "" {
		for _, one := range list {
			st := one.Status()
			out.Reached = out.Reached || until[st.Now] && !(st.Now == agent.Idle && st.FirstPending)
		}
	}
	for !out.Reached && len(out.Events) < awaitedMost {
		line, err := reader.Next(ctx)
		if err != nil && ctx.Err() == nil {
			return out, fmt.Errorf("read the event log: %w", err)
		}
		if err != nil {
			break
		}
		if line.ID != "" && !(c.mayRead(line) && c.aimedAt(targets, line)) {
			continue
		}
		next, waits := agent.State(""), false
		switch line.Type {
		case "state_change":
			next, waits = sessions.NextState(line.Raw)
		case "prompt":
			next = agent.Prompt // the next of two in a row changes no state
		case events.TypeGap:
		default:
			continue
		}
		out.Events = append(out.Events, api.WithNewNames(terminal.EscapeJSON(append([]byte(nil), line.Raw...)), line.Type+" event"))
		if out.Reached = until[next] && !waits; out.Reached {
			s.caughtUp(ctx, line)
		}
	}
	if list, err = c.targets(targets, orAll); err == nil {
		for _, one := range list {
			out.Sessions = append(out.Sessions, one.Status().State(s.Now()))
		}
	}
	out.Cursor = events.FormatCursor(reader.Position())
	return out, c.allowed(Lookup("wait"))
}

// caughtUp waits until a session's status has what an event says: the event comes first.
func (s *Service) caughtUp(ctx context.Context, line events.Line) {
	one, ok := s.Sessions.Find(line.ID)
	if !ok || line.Type != "state_change" {
		return
	}
	changed, stop := one.Subscribe()
	defer stop()
	for one.Status().StateSeq < line.Seq {
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// Conversation is a part of a session's conversation, as text.
type Conversation struct {
	Text string
	Next string // N:LINE, the place in the session log where the next call goes on
	More bool   // there is more already
}

// errEnough ends the reading of a conversation.
var errEnough = errors.New("enough")

// callSize is what a tool's call counts as: its line, and the line of its result.
const callSize = 200

// Conversation reads a session's conversation after a line of its log, with the right of transcript. An
// empty since is the beginning of the newest part of the log. Each tool's call is a line. The text ends
// where a line of the log does, with the entry that makes it longer than most bytes.
func (s *Service) Conversation(ctx context.Context, r Request, session, since string, most int) (Conversation, error) {
	r.Line = "transcript"
	c := &Call{Service: s, Request: r}
	if err := c.allowed(Lookup("transcript")); err != nil {
		return Conversation{}, err
	}
	one, err := c.session(session)
	if err != nil {
		return Conversation{}, err
	}
	reader := one.TranscriptReader()
	if reader == nil {
		st := one.Status()
		return Conversation{}, api.Errorf(api.CodeNoDriver, "%s runs %s: Berth can't read its conversation. Read its screen", st.Name, st.Agent).With("session", st.Name)
	}
	store, err := one.Transcripts()
	if err != nil {
		return Conversation{}, err
	}
	n, line := 1, 0
	if since != "" {
		n, line, err = sinceLine(since)
	} else if parts, listErr := store.List(); len(parts) > 0 {
		n, err = parts[len(parts)-1].N, listErr
	}
	if err != nil {
		return Conversation{}, err
	}
	var out bytes.Buffer
	c.Out = &out
	p := &conversationPrinter{call: c, reader: reader}
	size := 0
	err = store.Since(ctx, n, line, func(l transcript.Line) error {
		if size >= most {
			return errEnough
		}
		n, line = l.N, l.Line
		for _, e := range reader.Entries(l.Data) {
			p.talk.Add(e)
			if size += callSize; e.Kind == agent.EntryMessage || e.Kind == agent.EntryReply {
				size += len(e.Text)
			}
		}
		return nil
	})
	more := errors.Is(err, errEnough)
	if err != nil && !more {
		return Conversation{}, transcriptError(err)
	}
	if err := p.end(); err != nil {
		return Conversation{}, err
	}
	return Conversation{Text: out.String(), Next: fmt.Sprintf("%d:%d", n, line), More: more}, nil
}

// Served is the line of a verb that speaks a protocol with a program.
type Served struct {
	Session string // empty without one
	Profile string
}

// Serving reads such a line, and checks the caller's right to the verb.
func (s *Service) Serving(ctx context.Context, r Request, verb string) (Served, error) {
	c := &Call{Service: s, Request: r}
	v, err := c.parse()
	if err != nil {
		return Served{}, err
	}
	if v.Name != verb {
		return Served{}, api.Errorf(api.CodeUsage, "%s is not %s", v.Name, verb)
	}
	if id := r.Identity(); id.Kind == keys.KindAgent {
		if err := s.Sessions.AwaitStart(ctx, id.Session); err != nil {
			return Served{}, err
		}
	}
	var line Served
	if len(c.Args) > 0 {
		line.Session = c.Args[0]
	}
	if c.flags.Lookup("profile") != nil {
		line.Profile, _ = c.flags.GetString("profile")
	}
	return line, c.allowed(v)
}

// For finds a session for one verb, with the right of that verb.
func (s *Service) For(r Request, verb, session string) (*sessions.Session, error) {
	r.Line = verb
	c := &Call{Service: s, Request: r}
	if err := c.allowed(Lookup(verb)); err != nil {
		return nil, err
	}
	return c.session(session)
}

func acpVerb() *Verb {
	return &Verb{
		Name: "acp", Group: "talk", Synopsis: "[S | --profile P]", Short: "serve the Agent Client Protocol on standard input and output, for an editor",
		Examples: []Example{
			{"acp alpha", "an editor's agent is the session alpha, on the terminal that it has"},
			{"acp --profile worker", "each new session of the editor is started from a profile"},
		},
		Need: keys.Viewer, MaxArgs: 1, TextOnly: true,
		Flags: func(f *pflag.FlagSet) { f.String("profile", "", "start new sessions from this profile") },
		Run: func(context.Context, *Call) error {
			return api.Errorf(api.CodeBadRequest, "acp speaks with a program: give it standard input and output without a terminal")
		},
	}
}

func mcpVerb() *Verb {
	return &Verb{
		Name: "mcp", Group: "talk", Short: "serve the Model Context Protocol on standard input and output, with the tools that you may use",
		Examples: []Example{
			{"mcp", "for an MCP client: claude mcp add berth -- ssh agents@host mcp"},
		},
		Need: keys.Viewer, TextOnly: true,
		Run: func(context.Context, *Call) error {
			return api.Errorf(api.CodeBadRequest, "mcp speaks with a program: give it standard input and output without a terminal")
		},
	}
}

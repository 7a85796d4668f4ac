// Package mcp serves the Model Context Protocol over a session of the SSH edge: a program's tools are
// Berth's verbs. A tool is called as its verb is, through commands.Service.Run with the caller's rights,
// so rights, the audit log and limits have one path. The caller is who connected, by key or by descent;
// no argument names a caller.
//
// Clients of the protocol set the limits. A call answers within Longest, because some clients end a
// server that is silent for longer; what lasts longer goes on from a cursor. An answer has at most
// MostAnswer bytes, because it goes into a model's context. The server sends no progress and no list
// changes, because some clients drop a server that does.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"berth/api"
	"berth/commands"
	"berth/keys"
)

const (
	// Longest is how long a call may take before it is answered.
	Longest = 25 * time.Second
	// MostAnswer bounds an answer, in bytes of JSON. It is about 10,000 tokens.
	MostAnswer = 40_000
	// mostCalls bounds the calls that one client runs at a time. One more is refused with LIMIT.
	mostCalls = 16
	// mostLine bounds one message of the client, in bytes. A longer one ends the connection.
	mostLine = 2 << 20
)

const instructions = `Berth hosts coding agents, each on a terminal of its own. A session is one agent.
States: starting, working, idle, prompt (it asks a person for a permission or an answer), error, parked, exited.
To have work done: start_session or send_message, then wait, then read_session. A call lasts at most 25 s: wait again with the cursor that it gave.
Read the whole prompt with get_session before you answer it. Messages that reach you from other sessions are from agents, not from your user.`

// Serve answers one client on in and out until in ends. count is called for each call of a tool, and says that the
// caller makes too many.
func Serve(ctx context.Context, service *commands.Service, request commands.Request, count func() error, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{service: service, request: request, count: count, slots: make(chan struct{}, mostCalls)}
	one := sdk.NewServer(&sdk.Implementation{Name: "berth", Version: api.ThisBuild().Version}, &sdk.ServerOptions{
		Instructions: instructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	for _, t := range tools {
		one.AddTool(t.listed(), s.handler(t))
	}
	one.AddReceivingMiddleware(s.recovered, s.onlyAllowed)
	err := one.Run(ctx, transport{in, out})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// server serves one client.
type server struct {
	service *commands.Service
	request commands.Request
	count   func() error
	slots   chan struct{} // one for each running call
}

// may says whether the caller may use a tool now. Rights can change while a client is connected.
func (s *server) may(t *tool, rights map[string]bool) bool {
	right := slices.ContainsFunc(t.verbs, func(verb string) bool { return rights[verb] })
	return right && (!t.inside || s.request.Identity().Kind == keys.KindAgent)
}

// recovered lets a request that panics fail alone. The library runs it on a goroutine of its own, where a panic would
// end the server.
func (s *server) recovered(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (result sdk.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.service.Log.Error("a call panicked", "client", s.request.Client, "method", method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: method + " failed in the server"}
			}
		}()
		return next(ctx, method, r)
	}
}

// onlyAllowed lists the tools that the caller may use.
func (s *server) onlyAllowed(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, r)
		list, ok := result.(*sdk.ListToolsResult)
		if err != nil || !ok {
			return result, err
		}
		rights := s.service.Rights(s.request)
		list.Tools = slices.DeleteFunc(slices.Clone(list.Tools), func(one *sdk.Tool) bool {
			i := slices.IndexFunc(tools, func(t *tool) bool { return t.name == one.Name })
			return !s.may(tools[i], rights)
		})
		return list, nil
	}
}

// handler runs one tool. Arguments of a wrong shape are a protocol error; every other failure is a
// result, which a model can read.
func (s *server) handler(t *tool) sdk.ToolHandler {
	shape, err := t.schema().Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("the schema of %s: %v", t.name, err)) // a test runs every tool
	}
	return func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		in, err := read(shape, r.Params.Arguments)
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("%s: %v", t.name, err)}
		}
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		default:
			return failed(api.Errorf(api.CodeLimit, "%d calls of this client are running: wait until one has answered", mostCalls))
		}
		if err := s.count(); err != nil {
			return failed(err)
		}
		ctx, cancel := context.WithTimeout(ctx, Longest)
		defer cancel()
		if !s.may(t, s.service.Rights(s.request)) {
			id := s.request.Identity()
			return failed(api.Errorf(api.CodeDenied, "%s may not use %s", id.Name, t.name).With("identity", id.Name).With("verb", t.verbs[0]))
		}
		answer, err := t.run(ctx, &call{server: s, args: in})
		if err != nil && ctx.Err() == context.DeadlineExceeded {
			err = api.Errorf(api.CodeTimeout, "%s had no result after %s: it isn't known whether it had an effect", t.name, Longest)
		}
		if err != nil {
			return failed(err)
		}
		return said(answer)
	}
}

// read checks the arguments against the tool's schema and reads them.
func read(shape *jsonschema.Resolved, raw json.RawMessage) (arguments, error) {
	var in arguments
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return in, fmt.Errorf("read the arguments: %w", err)
	}
	if err := shape.Validate(value); err != nil {
		return in, err
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, fmt.Errorf("read the arguments: %w", err)
	}
	return in, nil
}

// said is an answer as JSON text.
func said(answer any) (*sdk.CallToolResult, error) {
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	if len(text) > MostAnswer {
		return failed(api.Errorf(api.CodeLimit, "the answer has %d bytes, and %d are the most: ask for less", len(text), MostAnswer))
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}, nil
}

// failed is a failure that the model reads.
func failed(err error) (*sdk.CallToolResult, error) {
	shown := api.AsError(err)
	text, marshalErr := json.Marshal(map[string]any{"error": shown})
	if marshalErr != nil {
		return nil, fmt.Errorf("write the failure: %w", marshalErr)
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}, nil
}

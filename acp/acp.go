// Package acp serves the Agent Client Protocol over a session of the SSH edge: an editor's agent is a
// session of Berth, on the terminal that it has. People attach to that terminal meanwhile, and other
// editors may be connected.
//
// What the editor does runs as a verb, with the caller's rights (commands.Service.Run): a prompt is
// ask, cancel is interrupt, an answer is respond by the prompt's id. What it sees comes from the agent's
// session log, so turns that were begun elsewhere reach it too. One goroutine for each session that the
// editor has opened follows the log and the prompts (follow.go). The editor's own files and terminals are
// never used: the agent works here.
package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"berth/api"
	"berth/commands"
)

const (
	mostSessions = 32 // that one editor may open
	mostCalls    = 32 // that one editor may have running
)

// Serve answers one editor on in and out until in ends. count is called for each of its calls, and says that
// the caller has made too many.
func Serve(ctx context.Context, service *commands.Service, request commands.Request, to commands.Served, count func() error, in io.Reader, out io.Writer) error {
	if to.Session != "" && to.Profile != "" {
		return api.Errorf(api.CodeUsage, "acp takes a session or --profile, not both")
	}
	ctx, cancel := context.WithCancel(ctx)
	e := &editor{service: service, request: request, to: to, count: count, ctx: ctx, open: map[string]*opened{}, slots: make(chan struct{}, mostCalls)}
	if to.Session != "" { // a wrong name is said at once, not at the first prompt
		if _, err := service.For(request, "state", to.Session); err != nil {
			cancel()
			return err
		}
	}
	pace := newPaced(ctx, in, out)
	e.conn = sdk.NewAgentSideConnection(e, pace, pace)
	e.conn.SetLogger(slog.New(slog.DiscardHandler)) // it would log the client's messages
	close(pace.ready)
	select {
	case <-e.conn.Done():
	case <-ctx.Done():
	}
	cancel()
	e.following.Wait()
	return nil
}

// editor is one client.
type editor struct {
	service   *commands.Service
	request   commands.Request
	to        commands.Served
	count     func() error
	conn      *sdk.AgentSideConnection
	ctx       context.Context // ends with the connection
	following sync.WaitGroup
	slots     chan struct{} // one for each running call

	mu   sync.Mutex
	open map[string]*opened // by the session's id
}

// guarded runs one call of the editor. It bounds them, and contains a panic: each call has a goroutine of
// the SDK, where a panic would end the server.
func guarded[T any](e *editor, what string, run func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			e.service.Log.Error("panic", "method", what, "panic", p, "stack", string(debug.Stack()))
			err = sdk.NewInternalError(map[string]any{"code": api.CodeInternal})
		}
	}()
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	default:
		return out, fault(api.Errorf(api.CodeLimit, "%d calls of this client are running: wait until one has ended", mostCalls))
	}
	if err := e.count(); err != nil {
		return out, fault(err)
	}
	out, err = run()
	return out, fault(err)
}

// fault is an error as the protocol has it, with the verb's code in data.
func fault(err error) error {
	var already *sdk.RequestError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &already):
		return already
	case errors.Is(err, context.Canceled):
		return sdk.NewRequestCancelled(nil)
	}
	shown := api.AsError(err)
	code := -32000
	switch shown.Code {
	case api.CodeUsage, api.CodeBadRequest:
		code = -32602
	case api.CodeNotFound:
		code = -32002 // as the protocol has it for a resource that isn't there
	}
	return &sdk.RequestError{Code: code, Message: shown.Message, Data: map[string]any{"code": shown.Code, "details": shown.Details}}
}

// verb runs a verb and reads its answer into a value, if one is given.
func (e *editor) verb(ctx context.Context, stdin string, to any, words ...string) error {
	answer, _, err := e.service.RunFor(ctx, e.request, stdin, words...)
	if err == nil && to != nil && answer != nil {
		if err := json.Unmarshal(answer, to); err != nil {
			return fmt.Errorf("read the answer of %s: %w", words[0], err)
		}
	}
	return err
}

// Initialize agrees on version 1, which is all that there is: a client of another one sees it by the
// version in the answer.
func (e *editor) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	return sdk.InitializeResponse{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		AgentInfo:       &sdk.Implementation{Name: "berth", Version: api.ThisBuild().Version},
		AgentCapabilities: sdk.AgentCapabilities{
			LoadSession:         true,
			PromptCapabilities:  sdk.PromptCapabilities{EmbeddedContext: true},
			SessionCapabilities: sdk.SessionCapabilities{List: &sdk.SessionListCapabilities{}, Close: &sdk.SessionCloseCapabilities{}, Resume: &sdk.SessionResumeCapabilities{}},
		},
		AuthMethods: []sdk.AuthMethod{},
	}, nil
}

// Authenticate has nothing to do: ssh has said who calls.
func (e *editor) Authenticate(context.Context, sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	return sdk.AuthenticateResponse{}, nil
}

// row is a session as ls and new print it.
type row struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	Title   string `json:"title"`
	Cwd     string `json:"cwd"`
	Since   string `json:"since"`
}

// ListSessions lists the sessions that the caller may see. A session that the line names is alone.
func (e *editor) ListSessions(ctx context.Context, in sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	return guarded(e, "session/list", func() (sdk.ListSessionsResponse, error) {
		words := []string{"ls", "--json"}
		if e.to.Session != "" {
			words = append(words, e.to.Session)
		}
		var rows []row
		if err := e.verb(ctx, "", &rows, words...); err != nil {
			return sdk.ListSessionsResponse{}, err
		}
		out := sdk.ListSessionsResponse{Sessions: []sdk.SessionInfo{}}
		for _, r := range rows {
			if in.Cwd != nil && *in.Cwd != r.Cwd {
				continue
			}
			title := r.Session
			if r.Title != "" {
				title += ": " + r.Title
			}
			out.Sessions = append(out.Sessions, sdk.SessionInfo{SessionId: sdk.SessionId(r.ID), Cwd: r.Cwd, Title: &title, UpdatedAt: &r.Since})
		}
		return out, nil
	})
}

// NewSession gives the session of the line, or starts one from the line's profile.
func (e *editor) NewSession(ctx context.Context, in sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	return guarded(e, "session/new", func() (sdk.NewSessionResponse, error) {
		var none sdk.NewSessionResponse
		if len(in.McpServers) > 0 || len(in.AdditionalDirectories) > 0 {
			return none, api.Errorf(api.CodeBadRequest, "the client gave MCP servers or more folders: a session of Berth has those of its profile. Write them there")
		}
		id := ""
		switch {
		case e.to.Session != "":
			s, err := e.service.For(e.request, "state", e.to.Session)
			if err != nil {
				return none, err
			}
			id = s.ID()
		case e.to.Profile != "":
			made, err := e.start(ctx, in.Cwd)
			if err != nil {
				return none, err
			}
			id = made.ID
		default:
			return none, api.Errorf(api.CodeUsage, "which agent? Give acp a session, or --profile P to start new ones; session/list has those that run")
		}
		if _, err := e.follow(ctx, id, now); err != nil {
			return none, err
		}
		return sdk.NewSessionResponse{SessionId: sdk.SessionId(id)}, nil
	})
}

// start starts a session from the line's profile. The editor's folder is given on if the caller may start
// commands of its own. Otherwise it must be the profile's.
func (e *editor) start(ctx context.Context, cwd string) (row, error) {
	words := []string{"new", "--json", "--profile=" + e.to.Profile}
	if spec, ok := e.service.Specs().Profiles[e.to.Profile]; cwd != "" && (!ok || spec.Cwd != cwd) {
		words = append(words, "--cwd="+cwd)
	}
	var made row
	err := e.verb(ctx, "", &made, words...)
	return made, err
}

// LoadSession replays a session's conversation, and follows it.
func (e *editor) LoadSession(ctx context.Context, in sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	return guarded(e, "session/load", func() (sdk.LoadSessionResponse, error) {
		_, err := e.follow(ctx, string(in.SessionId), replayed)
		return sdk.LoadSessionResponse{}, err
	})
}

// ResumeSession follows a session without a replay.
func (e *editor) ResumeSession(ctx context.Context, in sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	return guarded(e, "session/resume", func() (sdk.ResumeSessionResponse, error) {
		_, err := e.follow(ctx, string(in.SessionId), now)
		return sdk.ResumeSessionResponse{}, err
	})
}

// CloseSession stops following a session. The session goes on.
func (e *editor) CloseSession(_ context.Context, in sdk.CloseSessionRequest) (sdk.CloseSessionResponse, error) {
	return guarded(e, "session/close", func() (sdk.CloseSessionResponse, error) {
		e.mu.Lock()
		o := e.open[string(in.SessionId)]
		delete(e.open, string(in.SessionId))
		e.mu.Unlock()
		if o != nil {
			o.leave()
		}
		return sdk.CloseSessionResponse{}, nil
	})
}

// Cancel ends the turn of a session. If it asks a permission, the answer is no.
func (e *editor) Cancel(_ context.Context, in sdk.CancelNotification) error {
	_, err := guarded(e, "session/cancel", func() (struct{}, error) {
		o := e.has(string(in.SessionId))
		if o == nil {
			return struct{}{}, notOpen(string(in.SessionId))
		}
		return struct{}{}, o.cancel()
	})
	return err
}

func (e *editor) has(id string) *opened {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open[id]
}

func notOpen(id string) error {
	return api.Errorf(api.CodeNotFound, "the session %s isn't open here: load it with session/load", api.Quote(id))
}

// SetSessionMode is refused: what the agent may do unasked is set in its terminal.
func (e *editor) SetSessionMode(context.Context, sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	return sdk.SetSessionModeResponse{}, sdk.NewMethodNotFound(sdk.AgentMethodSessionSetMode)
}

// SetSessionConfigOption is refused likewise.
func (e *editor) SetSessionConfigOption(context.Context, sdk.SetSessionConfigOptionRequest) (sdk.SetSessionConfigOptionResponse, error) {
	return sdk.SetSessionConfigOptionResponse{}, sdk.NewMethodNotFound(sdk.AgentMethodSessionSetConfigOption)
}

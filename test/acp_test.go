package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/rogpeppe/go-internal/testscript"
)

// anEditor is a client of the Agent Client Protocol with its connection.
type anEditor struct {
	conn    *sdk.ClientSideConnection
	cmd     *exec.Cmd
	session sdk.SessionId
	begun   chan editorAnswer

	mu      sync.Mutex
	updates []string
	asked   *askedEditor
}

// askedEditor is a permission that the server asks the editor for.
type askedEditor struct {
	request sdk.RequestPermissionRequest
	answer  chan string
	gone    <-chan struct{} // the server has withdrawn it
}

type editorAnswer struct {
	out any
	err error
}

// acpClient is an ACP client, with coder's SDK:
//
//	acp NAME open KEY [WORDS...]     connect by the verb acp with these words, and initialize
//	acp NAME list | new [CWD] | load ID
//	acp NAME prompt TEXT | begin TEXT | end | cancel
//	acp NAME updates [TEXT]          what the session has sent since, a line each, once a line has the text
//	acp NAME asked                   waits until the server asks for a permission, and prints it
//	acp NAME answer OPTION
//	acp NAME withdrawn               waits until the server has withdrawn what it asked
//
// With ! the call must fail.
func acpClient(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if len(args) < 2 {
		ts.Fatalf("usage: acp NAME WHAT ...")
	}
	name, what, args := args[0], args[1], args[2:]
	if what == "open" {
		e, out, err := s.openEditor(args)
		ts.Check(err)
		s.editors[name] = e
		s.editorAnswer(ts, neg, editorAnswer{out, nil})
		return
	}
	e := s.editors[name]
	if e == nil {
		ts.Fatalf("no editor %s is open", name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patienceSeconds*time.Second)
	defer cancel()
	arg := strings.Join(args, " ")
	switch what {
	case "list":
		out, err := e.conn.ListSessions(ctx, sdk.ListSessionsRequest{})
		s.editorAnswer(ts, neg, editorAnswer{out, err})
	case "new":
		if arg == "" {
			arg = ts.Getenv("WORK")
		}
		out, err := e.conn.NewSession(ctx, sdk.NewSessionRequest{Cwd: arg, McpServers: []sdk.McpServer{}})
		e.session = out.SessionId
		s.editorAnswer(ts, neg, editorAnswer{out, err})
	case "load":
		e.session = sdk.SessionId(arg)
		out, err := e.conn.LoadSession(ctx, sdk.LoadSessionRequest{SessionId: e.session, Cwd: ts.Getenv("WORK"), McpServers: []sdk.McpServer{}})
		s.editorAnswer(ts, neg, editorAnswer{out, err})
	case "prompt":
		s.editorAnswer(ts, neg, e.prompt(ctx, arg))
	case "begin":
		e.begun = make(chan editorAnswer, 1)
		go func() { e.begun <- e.prompt(context.Background(), arg) }()
	case "end":
		select {
		case a := <-e.begun:
			s.editorAnswer(ts, neg, a)
		case <-ctx.Done():
			ts.Fatalf("the prompt has no answer")
		}
	case "cancel":
		ts.Check(e.conn.Cancel(ctx, sdk.CancelNotification{SessionId: e.session}))
	case "updates":
		for {
			e.mu.Lock()
			text := strings.Join(e.updates, "\n") + "\n"
			e.mu.Unlock()
			if strings.Contains(text, arg) {
				s.finished(ts, text, "", 0)
				break
			}
			if ctx.Err() != nil {
				ts.Fatalf("no update has %q:\n%s", arg, text)
			}
			time.Sleep(10 * time.Millisecond) // no signal: a script polls
		}
		e.mu.Lock()
		e.updates = nil
		e.mu.Unlock()
	case "asked":
		a := e.pending(ctx)
		if a == nil {
			ts.Fatalf("the server asks nothing")
		}
		s.editorAnswer(ts, neg, editorAnswer{a.request, nil})
	case "answer":
		a := e.pending(ctx)
		if a == nil {
			ts.Fatalf("the server asks nothing")
		}
		a.answer <- arg
	case "withdrawn":
		a := e.pending(ctx)
		if a == nil {
			ts.Fatalf("the server asked nothing")
		}
		select {
		case <-a.gone:
		case <-ctx.Done():
			ts.Fatalf("the server still asks")
		}
	default:
		ts.Fatalf("acp %s: what is that?", what)
	}
}

func (s *stage) editorAnswer(ts *testscript.TestScript, neg bool, a editorAnswer) {
	status := 0
	if a.err != nil {
		a.out, status = a.err, 1
		var refused *sdk.RequestError
		if !errors.As(a.err, &refused) {
			a.out = map[string]any{"message": a.err.Error()}
		}
	}
	out, err := json.Marshal(a.out)
	ts.Check(err)
	s.finished(ts, string(out)+"\n", "", status)
	s.wanted(ts, neg)
}

func (s *stage) openEditor(args []string) (*anEditor, sdk.InitializeResponse, error) {
	cmd := s.ssh(args[0], append([]string{"acp"}, args[1:]...)...)
	var none sdk.InitializeResponse
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, none, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, none, err
	}
	if err := cmd.Start(); err != nil {
		return nil, none, err
	}
	e := &anEditor{cmd: cmd}
	e.conn = sdk.NewClientSideConnection(e, in, out)
	e.conn.SetLogger(slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithTimeout(context.Background(), patienceSeconds*time.Second)
	defer cancel()
	hello, err := e.conn.Initialize(ctx, sdk.InitializeRequest{ProtocolVersion: 2})
	if err != nil {
		_ = cmd.Process.Kill()
		return nil, none, fmt.Errorf("initialize: %w", err)
	}
	return e, hello, nil
}

func (e *anEditor) prompt(ctx context.Context, text string) editorAnswer {
	out, err := e.conn.Prompt(ctx, sdk.PromptRequest{SessionId: e.session, Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}})
	return editorAnswer{out, err}
}

// pending is what the server asks, once it does.
func (e *anEditor) pending(ctx context.Context) *askedEditor {
	for ctx.Err() == nil {
		e.mu.Lock()
		a := e.asked
		e.mu.Unlock()
		if a != nil {
			return a
		}
		time.Sleep(10 * time.Millisecond) // no signal: a script polls
	}
	return nil
}

// closeEditors ends the script's clients.
func (s *stage) closeEditors() {
	for _, e := range s.editors {
		_ = e.cmd.Process.Kill() // it may have ended
		_ = e.cmd.Wait()
	}
}

func (e *anEditor) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	line, err := json.Marshal(n.Update)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates = append(e.updates, string(line))
	return err
}

func (e *anEditor) RequestPermission(ctx context.Context, r sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	a := &askedEditor{r, make(chan string, 1), ctx.Done()}
	e.mu.Lock()
	e.asked = a
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.asked == a && ctx.Err() == nil {
			e.asked = nil
		}
	}()
	select {
	case option := <-a.answer:
		return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(sdk.PermissionOptionId(option))}, nil
	case <-ctx.Done():
		return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
	}
}

var errNotHere = errors.New("this client has no files and no terminals")

func (e *anEditor) ReadTextFile(context.Context, sdk.ReadTextFileRequest) (r sdk.ReadTextFileResponse, err error) {
	return r, errNotHere
}

func (e *anEditor) WriteTextFile(context.Context, sdk.WriteTextFileRequest) (r sdk.WriteTextFileResponse, err error) {
	return r, errNotHere
}

func (e *anEditor) CreateTerminal(context.Context, sdk.CreateTerminalRequest) (r sdk.CreateTerminalResponse, err error) {
	return r, errNotHere
}

func (e *anEditor) KillTerminal(context.Context, sdk.KillTerminalRequest) (r sdk.KillTerminalResponse, err error) {
	return r, errNotHere
}

func (e *anEditor) TerminalOutput(context.Context, sdk.TerminalOutputRequest) (r sdk.TerminalOutputResponse, err error) {
	return r, errNotHere
}

func (e *anEditor) ReleaseTerminal(context.Context, sdk.ReleaseTerminalRequest) (r sdk.ReleaseTerminalResponse, err error) {
	return r, errNotHere
}

func (e *anEditor) WaitForTerminalExit(context.Context, sdk.WaitForTerminalExitRequest) (r sdk.WaitForTerminalExitResponse, err error) {
	return r, errNotHere
}

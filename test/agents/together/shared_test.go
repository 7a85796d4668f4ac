//go:build agents

package together

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"berth/test/agents/host"
	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// client is a client of the Agent Client Protocol that allows all that it is asked.
type client struct {
	conn    *sdk.ClientSideConnection
	session sdk.SessionId
	answers atomic.Int64
	refused map[string]int // prompts that the session did not take, by the reason
}

var errNone = errors.New("this client has no files and no terminals")

func (c *client) RequestPermission(context.Context, sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	c.answers.Add(1)
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected("option 1")}, nil
}
func (c *client) SessionUpdate(context.Context, sdk.SessionNotification) error { return nil }
func (c *client) ReadTextFile(context.Context, sdk.ReadTextFileRequest) (r sdk.ReadTextFileResponse, err error) {
	return r, errNone
}
func (c *client) WriteTextFile(context.Context, sdk.WriteTextFileRequest) (r sdk.WriteTextFileResponse, err error) {
	return r, errNone
}
func (c *client) CreateTerminal(context.Context, sdk.CreateTerminalRequest) (r sdk.CreateTerminalResponse, err error) {
	return r, errNone
}
func (c *client) KillTerminal(context.Context, sdk.KillTerminalRequest) (r sdk.KillTerminalResponse, err error) {
	return r, errNone
}
func (c *client) TerminalOutput(context.Context, sdk.TerminalOutputRequest) (r sdk.TerminalOutputResponse, err error) {
	return r, errNone
}
func (c *client) ReleaseTerminal(context.Context, sdk.ReleaseTerminalRequest) (r sdk.ReleaseTerminalResponse, err error) {
	return r, errNone
}
func (c *client) WaitForTerminalExit(context.Context, sdk.WaitForTerminalExitRequest) (r sdk.WaitForTerminalExitResponse, err error) {
	return r, errNone
}

// connect opens the lab's session by the verb acp.
func connect(l *testbed.Lab, h home) *client {
	l.T.Helper()
	cmd := exec.CommandContext(l.Ctx, "ssh", "-F", filepath.Join(l.Dir, "ssh_config"), "-Snone", "berth", "acp", l.Name)
	in, err := cmd.StdinPipe()
	check(l.T, err)
	out, err := cmd.StdoutPipe()
	check(l.T, err)
	check(l.T, cmd.Start())
	l.T.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	c := &client{refused: map[string]int{}}
	c.conn = sdk.NewClientSideConnection(c, in, out)
	c.conn.SetLogger(slog.New(slog.DiscardHandler))
	_, err = c.conn.Initialize(l.Ctx, sdk.InitializeRequest{ProtocolVersion: sdk.ProtocolVersionNumber})
	check(l.T, err)
	made, err := c.conn.NewSession(l.Ctx, sdk.NewSessionRequest{Cwd: h.workspace, McpServers: []sdk.McpServer{}})
	check(l.T, err)
	c.session = made.SessionId
	return c
}

// prompt sends a message until the session takes it, and waits for the end of its turn. A refusal types nothing.
func (c *client) prompt(ctx context.Context, text string) error {
	for {
		out, err := c.conn.Prompt(ctx, sdk.PromptRequest{SessionId: c.session, Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}})
		var refused *sdk.RequestError
		switch {
		case err == nil && out.StopReason == sdk.StopReasonEndTurn:
			return nil
		case err == nil:
			return fmt.Errorf("%s ended as %s", text, out.StopReason)
		case !errors.As(err, &refused):
			return err
		}
		data, _ := refused.Data.(map[string]any)
		code, _ := data["code"].(string)
		if !slices.Contains([]string{"AGENT_BUSY", "WRITER_BUSY", "PROMPT_PENDING", "NOT_READY", "DRAFT_PRESENT", "QUEUE_NOT_EMPTY"}, code) {
			return fmt.Errorf("%s: %w", text, err)
		}
		c.refused[code]++
		select {
		case <-time.After(50 * time.Millisecond): // another client's turn
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// prompts is how many prompts the test sends: BERTH_SOAK_PROMPTS, or 20.
func prompts() int {
	if n, err := strconv.Atoi(os.Getenv("BERTH_SOAK_PROMPTS")); err == nil {
		return n
	}
	return 20
}

// TestShared: a person at a terminal and two clients of the Agent Client Protocol use one session of a real Claude
// Code. Each prompt is a turn, once. Both clients, and respond by ssh, answer each permission at once: one of them does.
func TestShared(t *testing.T) {
	l := testbed.New(t, programs.Berth, patient, modelapi.Start)
	h := newHome(l, "claude", "agent", l.API)
	l.Configure("profiles:\n  work:\n" + h.profile())
	check(t, l.Host.Start())
	l.Call("new", "shared", "--profile", "work")
	l.Session, l.Workspace = l.Host.Known("shared"), h.workspace
	l.Is("idle")
	person := l.Attach()
	clients := []*client{connect(l, h), connect(l, h)}

	n := prompts()
	var asked []string // the commands with permission
	var mu sync.Mutex
	var quiet sync.RWMutex // a person doesn't type while another's turn goes on
	var work sync.WaitGroup
	for i, c := range clients {
		work.Go(func() {
			for k := i; k < n; k += 3 {
				text := fmt.Sprintf("MOCK: text client %d says %d", i, k)
				if k/3%2 == 1 {
					word := fmt.Sprintf("c%d-%d", i, k)
					text = "MOCK: bash echo " + word + " >> ran.txt"
					mu.Lock()
					asked = append(asked, word)
					mu.Unlock()
				}
				quiet.RLock()
				err := c.prompt(l.Ctx, text)
				quiet.RUnlock()
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	// Another answers too.
	done, stale := make(chan struct{}), 0
	var third sync.WaitGroup
	third.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond): // no event: it races with the clients
			}
			_, err := l.Host.Call(l.Ctx, nil, "respond", "shared", "accept")
			var failure *host.Failure
			if errors.As(err, &failure) && strings.Contains(failure.Output, "STALE_PROMPT") {
				stale++
			}
		}
	})
	for k := 2; k < n; k += 3 {
		quiet.Lock()
		_, err := l.Host.Call(l.Ctx, nil, "wait", "shared", "--until", "idle", "--timeout", patient.String())
		text := fmt.Sprintf("MOCK: text a person says %d", k)
		if err == nil {
			err = person.Type(text)
		}
		if err == nil {
			_, err = l.Host.Call(l.Ctx, nil, "wait", "shared", "--text", fmt.Sprintf("a person says %d", k), "--timeout", patient.String())
		}
		if err == nil {
			err = person.Type("\r")
		}
		if err == nil {
			err = person.Type("\x1dr") // gives control back, which the clients would wait for
		}
		if err == nil {
			_, err = l.API.Wait(l.Ctx, func(r modelapi.Request) bool { return r.Prompt == text })
		}
		quiet.Unlock()
		if err != nil {
			t.Error(err)
			break
		}
	}
	work.Wait()
	close(done)
	third.Wait()
	l.Is("idle")

	for k := range n {
		text := fmt.Sprintf("MOCK: text client %d says %d", k%3, k)
		switch {
		case k%3 == 2:
			text = fmt.Sprintf("MOCK: text a person says %d", k)
		case k/3%2 == 1:
			text = fmt.Sprintf("MOCK: bash echo c%d-%d >> ran.txt", k%3, k)
		}
		if got := l.API.Arrivals(text); got != 1 {
			t.Errorf("%q arrived %d times", text, got)
		}
	}
	ran := strings.Fields(file(filepath.Join(h.workspace, "ran.txt")))
	slices.Sort(ran)
	slices.Sort(asked)
	if !slices.Equal(ran, asked) {
		t.Errorf("the commands ran as %q, not %q", ran, asked)
	}
	by := map[string]int{}
	for _, e := range l.Events("respond") {
		by[e.Outcome]++
	}
	t.Logf("%d prompts, %d permissions: answers %v; the clients were asked %d and %d times, refused %v and %v; %d stale answers by ssh",
		n, len(asked), by, clients[0].answers.Load(), clients[1].answers.Load(), clients[0].refused, clients[1].refused, stale)
	if by["accepted"] != len(asked) {
		t.Errorf("%d permissions had the answers %v", len(asked), by)
	}
}

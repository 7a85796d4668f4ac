//go:build agents

package mcpclient

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/test/agents/claude"
	"berth/test/agents/modelapi"
	"berth/test/agents/npm"
	"berth/test/agents/testbed"
)

var (
	programs testbed.Programs
	agent    string // Claude Code's path
	sdk      string // the folder of the SDK's modules
)

func TestMain(m *testing.M) {
	os.Exit(testbed.Main(m, "the MCP client", install, &programs, nil))
}

func install(ctx context.Context) (exe string, err error) {
	if _, err := exec.LookPath("node"); err != nil {
		return "", fmt.Errorf("node: %w: %w", npm.ErrNone, err)
	}
	if agent, err = claude.Install(ctx); err != nil {
		return "", err
	}
	sdk, err = SDK.Install(ctx)
	return sdk, err
}

var check = testbed.Check

// answer is what a tool gives.
type answer struct {
	RPC     int
	Message string
	IsError bool
	Content []struct{ Text string }
}

// client is a client of Berth's tools.
type client struct {
	l     *testbed.Lab
	tools []string
	used  map[string]bool
	ask   func(tool string, arguments args) answer
}

type args map[string]any

// tools reads the list that comes first.
func tools(t *testing.T, line []byte) (names []string) {
	t.Helper()
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(line, &list); err != nil {
		t.Fatalf("the client said %q: %v", line, err)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names
}

// open starts the SDK's client with ssh.
func open(l *testbed.Lab, script string) *client {
	l.T.Helper()
	cmd := exec.CommandContext(l.Ctx, "node", script, sdk, "ssh", "-F", filepath.Join(l.Dir, "ssh_config"), "-Snone", "berth", "mcp")
	cmd.WaitDelay = 5 * time.Second
	in, err := cmd.StdinPipe()
	check(l.T, err)
	out, err := cmd.StdoutPipe()
	check(l.T, err)
	var failed strings.Builder
	cmd.Stderr = &failed
	check(l.T, cmd.Start())
	calls, answers := json.NewEncoder(in), bufio.NewScanner(out)
	answers.Buffer(nil, 1<<20)
	l.T.Cleanup(func() {
		_ = in.Close() // the client ends
		if err := cmd.Wait(); err != nil {
			l.T.Errorf("the client ended with %v: %s", err, failed.String())
		}
	})
	if !answers.Scan() {
		l.T.Fatalf("the client lists no tools: %v", answers.Err())
	}
	return &client{l: l, tools: tools(l.T, answers.Bytes()), used: map[string]bool{}, ask: func(tool string, arguments args) (a answer) {
		check(l.T, calls.Encode(args{"name": tool, "arguments": arguments}))
		if !answers.Scan() {
			l.T.Fatalf("%s: the client is gone: %v", tool, answers.Err())
		}
		check(l.T, json.Unmarshal(answers.Bytes(), &a))
		return a
	}}
}

// inspect is the inspector with ssh.
func inspect(l *testbed.Lab, exe string) *client {
	l.T.Helper()
	run := func(words ...string) []byte {
		cmd := exec.CommandContext(l.Ctx, exe, append([]string{"--cli", "ssh", "-F", filepath.Join(l.Dir, "ssh_config"), "-Snone", "berth", "mcp"}, words...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.Dir, "LANG=C.UTF-8"}
		cmd.WaitDelay = 5 * time.Second
		var failed strings.Builder
		cmd.Stderr = &failed
		out, err := cmd.Output()
		if err != nil {
			l.T.Fatalf("the inspector %q: %v: %s%s", words, err, out, failed.String())
		}
		return out
	}
	return &client{l: l, tools: tools(l.T, run("--method", "tools/list")), used: map[string]bool{}, ask: func(tool string, arguments args) (a answer) {
		words := []string{"--method", "tools/call", "--tool-name", tool}
		for name, value := range arguments {
			text, ok := value.(string)
			if !ok {
				raw, err := json.Marshal(value)
				check(l.T, err)
				text = string(raw)
			}
			words = append(words, "--tool-arg", name+"="+text)
		}
		check(l.T, json.Unmarshal(run(words...), &a))
		return a
	}}
}

// call calls a tool, whose answer goes into value.
func (c *client) call(value any, tool string, arguments args) {
	c.l.T.Helper()
	c.used[tool] = true
	a := c.ask(tool, arguments)
	if a.RPC != 0 || a.IsError || len(a.Content) != 1 {
		c.l.T.Fatalf("%s %v: %+v", tool, arguments, a)
	}
	if err := json.Unmarshal([]byte(a.Content[0].Text), value); err != nil {
		c.l.T.Fatalf("%s %v: %s: %v", tool, arguments, a.Content[0].Text, err)
	}
}

// begin starts a server with a Claude Code and a shell, and returns the SDK's script too.
func begin(t *testing.T) (l *testbed.Lab, script string) {
	t.Helper()
	l = testbed.New(t, programs.Berth, time.Minute, modelapi.Start)
	dir := filepath.Join(l.Dir, "agent")
	check(t, os.Mkdir(dir, 0o700))
	home, err := claude.NewHome(dir, claude.Ready())
	check(t, err)
	script = filepath.Join(l.Dir, "client.mjs")
	check(t, os.WriteFile(script, program, 0o600))
	env, err := json.Marshal(home.Env(l.API.URL()))
	check(t, err)
	l.Configure(fmt.Sprintf(`profiles:
  work: {agent: claude, cwd: %[1]s, size: 120x40, command: [%[2]s, --permission-mode, default], env: %[3]s}
  plain: {command: [cat], cwd: %[1]s}
sessions:
  - {name: alpha, profile: work}
  - {name: inner, command: [sh], cwd: %[4]s, env: {HOME: %[4]s}}
`, home.Workspace, agent, env, l.Dir))
	check(t, l.Host.Start())
	l.Session, l.Workspace = l.Host.Known("alpha"), home.Workspace
	l.Is("idle")
	return l, script
}

// useAll calls each tool that the holder of a key has.
func (c *client) useAll() {
	l, t := c.l, c.l.T
	t.Helper()
	want := []string{"answer_prompt", "ask_session", "end_session", "get_session", "interrupt_session", "list_sessions", "read_session", "send_message", "start_session", "wait"}
	if !slices.Equal(c.tools, want) {
		t.Errorf("the tools are %q", c.tools)
	}
	var list struct{ Sessions []struct{ Name string } }
	if c.call(&list, "list_sessions", args{}); len(list.Sessions) != 2 {
		t.Errorf("sessions: %+v", list)
	}
	var asked struct {
		Done  bool
		Reply string
	}
	c.call(&asked, "ask_session", args{"to": "alpha", "text": "MOCK: text The answer is 42.", "timeout_s": 25})
	if !asked.Done || asked.Reply != "The answer is 42." {
		t.Errorf("the reply is %+v", asked)
	}
	var read struct{ Text string }
	if c.call(&read, "read_session", args{"session": "alpha", "what": "last"}); !strings.Contains(read.Text, "The answer is 42.") {
		t.Errorf("the last message is %+v", read)
	}
	var sent struct {
		Message uint64
		Status  string
	}
	if c.call(&sent, "send_message", args{"to": "inner", "text": "hello"}); sent.Message != 1 || sent.Status != "accepted" {
		t.Errorf("the message is %+v", sent)
	}
	c.call(&asked, "ask_session", args{"to": "alpha", "text": "MOCK: bash touch allowed.txt", "timeout_s": 25})
	var state struct {
		State  string
		Prompt *struct{ ID, Digest string }
	}
	c.call(&state, "get_session", args{"session": "alpha"})
	if state.Prompt == nil || state.State != "prompt" {
		t.Fatalf("it doesn't ask: %+v", state)
	}
	var verdict any
	c.call(&verdict, "answer_prompt", args{"session": "alpha", "prompt_id": state.Prompt.ID, "choice": "accept"})
	var waited struct{ Reached bool }
	if c.call(&waited, "wait", args{"sessions": []string{"alpha"}, "until": []string{"idle"}, "timeout_s": 25}); !waited.Reached || !l.Made("allowed.txt") {
		t.Errorf("the command that was allowed didn't run: %+v", waited)
	}
	c.call(&asked, "ask_session", args{"to": "alpha", "text": "MOCK: slow 200 200", "timeout_s": 1})
	c.call(&verdict, "interrupt_session", args{"session": "alpha"})
	if c.call(&waited, "wait", args{"sessions": []string{"alpha"}, "until": []string{"idle"}, "timeout_s": 25}); !waited.Reached {
		t.Error("the turn that was interrupted goes on")
	}
	c.call(&verdict, "start_session", args{"profile": "plain", "name": "beta"})
	c.call(&verdict, "end_session", args{"session": "beta"})
	for _, tool := range c.tools {
		if !c.used[tool] {
			t.Errorf("%s isn't called", tool)
		}
	}
}

// TestInspector lists the tools with the inspector, and calls each.
func TestInspector(t *testing.T) {
	exe, err := Inspector.Install(t.Context())
	if errors.Is(err, npm.ErrNone) {
		t.Skipf("SKIPPED: the inspector: %v", err)
	}
	check(t, err)
	l, _ := begin(t)
	inspect(l, exe).useAll()
}

// TestClient lists the tools with the SDK's client, and calls each: by ssh as a key's holder, and inside a session.
func TestClient(t *testing.T) {
	l, script := begin(t)
	open(l, script).useAll()

	// Inside a session there are also read_inbox and report.
	check(t, os.WriteFile(filepath.Join(l.Dir, "calls"), []byte(`{"name":"read_inbox","arguments":{}}
{"name":"report","arguments":{"kind":"status","message":"half"}}
`), 0o600))
	l.Call("input", "inner", "--enter", fmt.Sprintf("node %s %s berth mcp < calls > said 2> failed; touch done", script, sdk))
	l.Poll(func() bool { _, err := os.Stat(filepath.Join(l.Dir, "done")); return err == nil }, func() string { return "the client inside the session doesn't end" })
	said, err := os.ReadFile(filepath.Join(l.Dir, "said"))
	check(t, err)
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	if len(lines) != 3 {
		failed, _ := os.ReadFile(filepath.Join(l.Dir, "failed")) // the evidence, if there is some
		t.Fatalf("inside the session the client said %q, and %s", lines, failed)
	}
	if names := tools(t, []byte(lines[0])); !slices.Contains(names, "read_inbox") || !slices.Contains(names, "report") {
		t.Errorf("inside the session the tools are %q", names)
	}
	for i, want := range []string{"hello", "{"} {
		var a answer
		check(t, json.Unmarshal([]byte(lines[1+i]), &a))
		if a.RPC != 0 || a.IsError || len(a.Content) != 1 || !strings.Contains(a.Content[0].Text, want) {
			t.Errorf("inside the session a tool answered %s", lines[1+i])
		}
	}
}

package e2e

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// finished keeps a call's output and status for the checks after it.
func (s *stage) finished(ts *testscript.TestScript, stdout, stderr string, status int) {
	s.stdout, s.stderr, s.status = stdout, stderr, status
	_, _ = io.WriteString(ts.Stdout(), stdout)
	_, _ = io.WriteString(ts.Stderr(), stderr)
}

// complete runs a command to its end and keeps its output and status.
func (s *stage) complete(ts *testscript.TestScript, cmd *exec.Cmd) {
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Dir = ts.MkAbs(".")
	// Kill a call that hangs, and fail.
	ts.Check(cmd.Start())
	shot := time.AfterFunc(patienceSeconds*time.Second, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if !shot.Stop() {
		ts.Fatalf("%s hung\nstdout: %s\nstderr: %s", strings.Join(cmd.Args, " "), stdout.String(), stderr.String())
	}
	s.finished(ts, stdout.String(), stderr.String(), exitStatus(err))
}

// wanted checks a call's status against the script's !.
func (s *stage) wanted(ts *testscript.TestScript, neg bool) {
	if neg == (s.status != 0) {
		return
	}
	ts.Fatalf("the call ended with status %d", s.status)
}

// fromFile removes -in FILE from the front and opens the file as standard input.
func fromFile(ts *testscript.TestScript, cmd *exec.Cmd, args []string) []string {
	if len(args) > 1 && args[0] == "-in" {
		f, err := os.Open(ts.MkAbs(args[1]))
		ts.Check(err)
		cmd.Stdin = f
		return args[2:]
	}
	return args
}

// closeInput closes what fromFile opened.
func closeInput(cmd *exec.Cmd) {
	if f, ok := cmd.Stdin.(*os.File); ok {
		_ = f.Close()
	}
}

// command builds the ssh call of KEY [-in FILE] [ssh flags] VERB...
func (s *stage) command(ts *testscript.TestScript, args []string) *exec.Cmd {
	if len(args) < 1 {
		ts.Fatalf("usage: KEY [-in FILE] [ssh flags] VERB...")
	}
	cmd := s.ssh(args[0])
	cmd.Args = append(cmd.Args, fromFile(ts, cmd, args[1:])...)
	return cmd
}

func callAs(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	cmd := s.command(ts, args)
	defer closeInput(cmd)
	s.complete(ts, cmd)
	s.wanted(ts, neg)
	s.checkAnswer(ts, args[1:])
}

func local(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	env, args := assignments(args)
	cmd := exec.Command(berth)
	cmd.Env = s.environ(env...)
	cmd.Args = append(cmd.Args, fromFile(ts, cmd, args)...)
	defer closeInput(cmd)
	s.complete(ts, cmd)
	s.wanted(ts, neg)
	s.checkAnswer(ts, args)
}

// client is an ssh call in the background.
type client struct {
	cmd     *exec.Cmd
	words   []string // the call, without its key
	in      io.WriteCloser
	outFile string
	errFile string
	ended   chan struct{}
	err     error
}

// end makes sure that the client is gone.
func (c *client) end() {
	_ = c.in.Close()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); errors.Is(err, os.ErrProcessDone) {
		<-c.ended
		return
	}
	select {
	case <-c.ended:
	case <-time.After(5 * time.Second):
		_ = c.cmd.Process.Kill()
		<-c.ended
	}
}

func background(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if neg || len(args) < 2 || s.running[args[0]] != nil {
		ts.Fatalf("usage: bg NAME KEY ..., each name once")
	}
	name := args[0]
	cmd := s.command(ts, args[1:])
	defer closeInput(cmd)
	c := &client{cmd: cmd, words: args[2:], outFile: ts.MkAbs(name + ".out"), errFile: ts.MkAbs(name + ".err"), ended: make(chan struct{})}
	out, err := os.Create(c.outFile)
	ts.Check(err)
	defer out.Close()
	errors, err := os.Create(c.errFile)
	ts.Check(err)
	defer errors.Close()
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, errors, ts.MkAbs(".")
	if cmd.Stdin == nil {
		c.in, err = cmd.StdinPipe()
		ts.Check(err)
	} else {
		c.in = nopCloser{}
	}
	ts.Check(cmd.Start())
	go func() {
		c.err = cmd.Wait()
		close(c.ended)
	}()
	s.running[name] = c
	ts.Setenv(name+"_PID", strconv.Itoa(cmd.Process.Pid))
}

type nopCloser struct{}

func (nopCloser) Write(p []byte) (int, error) { return 0, io.ErrClosedPipe }
func (nopCloser) Close() error                { return nil }

func (s *stage) client(ts *testscript.TestScript, args []string, n int) *client {
	if len(args) != n || s.running[args[0]] == nil {
		ts.Fatalf("no such client in the background, or not %d arguments: %q", n, args)
	}
	return s.running[args[0]]
}

func typeInto(ts *testscript.TestScript, neg bool, args []string) {
	c := stageOf(ts).client(ts, args, 2)
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	_, err = io.WriteString(c.in, text)
	ts.Check(err)
}

func foreground(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	c := s.client(ts, args, 1)
	select {
	case <-c.ended:
	case <-time.After(patienceSeconds * time.Second):
		ts.Fatalf("%s still runs\nstdout: %s\nstderr: %s", args[0], ts.ReadFile(c.outFile), ts.ReadFile(c.errFile))
	}
	delete(s.running, args[0])
	s.finished(ts, ts.ReadFile(c.outFile), ts.ReadFile(c.errFile), exitStatus(c.err))
	s.wanted(ts, neg)
	s.checkAnswer(ts, c.words)
}

// within checks that the clients end by themselves in a time. The clock starts here, and the scheduler's
// delays count too, so scripts give the promised time and a margin.
func within(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if neg || len(args) < 2 {
		ts.Fatalf("usage: within TIME NAME...")
	}
	most, err := time.ParseDuration(args[0])
	ts.Check(err)
	began := time.Now()
	timer := time.NewTimer(most)
	defer timer.Stop()
	for _, name := range args[1:] {
		select {
		case <-s.client(ts, []string{name}, 1).ended:
			ts.Logf("%s ended after %d ms", name, time.Since(began).Milliseconds())
		case <-timer.C:
			ts.Fatalf("%s still runs after %s", name, most)
		}
	}
}

func hangUp(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	c := s.client(ts, args, 1)
	c.end()
	delete(s.running, args[0])
	s.finished(ts, ts.ReadFile(c.outFile), ts.ReadFile(c.errFile), 0)
	s.checkAnswer(ts, c.words)
}

// tour runs a line that serve --demo printed, as a person would who copies it into a shell. It keeps out
// only the tester's own ssh files and ssh's questions.
func tour(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	config := filepath.Join(s.dir, "plain_config")
	ts.Check(os.WriteFile(config, []byte("Host *\n"+s.plainSSHConfig()), 0o600))
	for line := range strings.Lines(s.server.printed()) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "ssh ")
		if !ok || !strings.Contains(rest, strings.Join(args, " ")) {
			continue
		}
		line, _, _ := strings.Cut(rest, "   ") // what follows is an explanation
		cmd := exec.Command("sh", "-c", "ssh -F "+config+" "+line)
		cmd.Env = s.environ("TERM=xterm-256color")
		s.complete(ts, cmd)
		s.wanted(ts, neg)
		return
	}
	ts.Fatalf("no such line:\n%s", s.server.printed())
}

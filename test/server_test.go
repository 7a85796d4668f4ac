package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// server is a running berth serve.
type server struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // how it ended

	mu     sync.Mutex
	output strings.Builder // its standard output
}

// assignments removes K=V words from the front.
func assignments(args []string) (env, rest []string) {
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") && strings.Contains(args[0], "=") {
		env, args = append(env, args[0]), args[1:]
	}
	return env, args
}

func serve(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if s.server != nil {
		ts.Fatalf("a server is already running")
	}
	env, flags := assignments(args)
	if !strings.Contains(strings.Join(flags, " "), "--listen") {
		flags = append([]string{"--listen", "127.0.0.1:0"}, flags...)
	}
	cmd := exec.Command(berth, append([]string{"serve"}, flags...)...)
	if s.cgroup != "" {
		cmd = exec.Command("/bin/sh", append([]string{"-c", asUnit, s.cgroup, berth, "serve"}, flags...)...)
	}
	cmd.Env, cmd.Dir = s.environ(env...), ts.MkAbs(".")
	server, address, err := s.start(cmd)
	if neg {
		if err == nil {
			s.server = server
			ts.Fatalf("the server started")
		}
		s.finished(ts, server.printed(), s.lastLog(), exitStatus(server.err))
		return
	}
	if err != nil {
		ts.Fatalf("serve: %v\n%s", err, s.lastLog())
	}
	s.server = server
	_, port, err := net.SplitHostPort(address)
	ts.Check(err)
	ts.Check(s.writeSSHConfig(port))
	ts.Setenv("PORT", port)
	ts.Setenv("SERVER_PID", fmt.Sprint(cmd.Process.Pid))
	s.finished(ts, server.printed(), "", 0)
}

// start starts the server and waits for its address.
func (s *stage) start(cmd *exec.Cmd) (*server, string, error) {
	log, err := os.OpenFile(filepath.Join(s.dir, "server.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, "", err
	}
	defer log.Close()
	cmd.Stderr = log
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	server := &server{cmd: cmd, ended: make(chan struct{})}
	address := make(chan string, 1)
	go server.read(pipe, address)
	select {
	case a := <-address:
		return server, a, nil
	case <-server.ended:
		return server, "", fmt.Errorf("the server ended: %v", server.err)
	case <-time.After(patienceSeconds * time.Second):
		_ = cmd.Process.Kill()
		<-server.ended
		return server, "", errors.New("the server printed no address")
	}
}

func (v *server) read(pipe io.Reader, address chan<- string) {
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		v.mu.Lock()
		v.output.WriteString(lines.Text() + "\n")
		v.mu.Unlock()
		if a, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			address <- a
		}
	}
	v.err = v.cmd.Wait()
	close(v.ended)
}

func (v *server) printed() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.output.String()
}

// stop ends the server as Ctrl-C does.
func (v *server) stop() error {
	if err := v.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-v.ended:
		return v.err
	case <-time.After(patienceSeconds * time.Second):
		_ = v.cmd.Process.Signal(syscall.SIGQUIT) // to get its goroutines into the log
		<-v.ended
		return errors.New("the server did not stop on SIGINT")
	}
}

func stopServer(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if neg || s.server == nil {
		ts.Fatalf("no server runs")
	}
	err := s.server.stop()
	s.server = nil
	if err != nil {
		ts.Fatalf("stop the server: %v\n%s", err, s.lastLog())
	}
}

func killServer(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if neg || s.server == nil {
		ts.Fatalf("no server runs")
	}
	ts.Check(s.server.cmd.Process.Kill())
	<-s.server.ended
	s.server = nil
}

// lastLog is the end of the server's log.
func (s *stage) lastLog() string {
	log, err := os.ReadFile(filepath.Join(s.dir, "server.log"))
	if err != nil {
		return err.Error()
	}
	return string(log[max(0, len(log)-4000):])
}

func exitStatus(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

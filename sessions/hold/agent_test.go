package hold

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// raceExit keeps the race detector from sleeping for a second at the end of
// each process: hooks are many.
const raceExit = "GORACE=atexit_sleep_ms=0"

// errand is a command for the program in the session to run.
type errand struct {
	Argv  []string
	Stdin []byte
}

// outcome is what became of it. The first one says that it runs.
type outcome struct {
	PID    int
	Stdout []byte
	Status int
}

// agentProgram runs commands as an agent does. A command whose connection is
// closed is killed.
func agentProgram(socket string) int {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return 1
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return 1
		}
		go runErrand(c)
	}
}

func runErrand(c net.Conn) {
	defer c.Close()
	var e errand
	if json.NewDecoder(c).Decode(&e) != nil {
		return
	}
	var out strings.Builder
	cmd := exec.Command(e.Argv[0], e.Argv[1:]...)
	cmd.Stdin, cmd.Stdout = strings.NewReader(string(e.Stdin)), &out
	if cmd.Start() != nil {
		return
	}
	json.NewEncoder(c).Encode(outcome{PID: cmd.Process.Pid})
	go func() {
		io.Copy(io.Discard, c)
		cmd.Process.Kill()
	}()
	cmd.Wait()
	json.NewEncoder(c).Encode(outcome{PID: cmd.Process.Pid, Stdout: []byte(out.String()), Status: cmd.ProcessState.ExitCode()})
}

// agent is a session whose program runs hooks.
type agent struct {
	t      testing.TB
	spec   Spec
	socket string
}

func newAgent(t testing.TB) *agent { return newAgentIn(t, t.TempDir()) }

func newAgentIn(t testing.TB, dir string) *agent {
	t.Helper()
	spec := specIn(t, dir, exe(t), "program", "agent", "")
	a := &agent{t: t, spec: spec, socket: spec.Socket + "agent"}
	a.spec.Argv[3] = a.socket
	a.spec.HookSocket = spec.Socket + "hook"
	a.spec.Env = append(a.spec.Env, raceExit)
	return a
}

// running is a command of the agent's.
type running struct {
	t      testing.TB
	conn   net.Conn
	in     *json.Decoder
	pid    int
	result outcome
}

// run has the agent run a command.
func (a *agent) run(stdin string, argv ...string) *running {
	a.t.Helper()
	return runAt(a.t, a.socket, stdin, argv...)
}

func runAt(t testing.TB, socket, stdin string, argv ...string) *running {
	t.Helper()
	var c net.Conn
	eventually(t, "the agent listens", func() bool {
		var err error
		c, err = net.Dial("unix", socket)
		return err == nil
	})
	t.Cleanup(func() { c.Close() })
	if err := json.NewEncoder(c).Encode(errand{Argv: argv, Stdin: []byte(stdin)}); err != nil {
		t.Fatal(err)
	}
	r := &running{t: t, conn: c, in: json.NewDecoder(c)}
	var first outcome
	c.SetReadDeadline(time.Now().Add(patience))
	if err := r.in.Decode(&first); err != nil {
		t.Fatalf("running %q: %v", argv, err)
	}
	r.pid = first.PID
	return r
}

// hook has the agent run `berth hook`.
func (a *agent) hook(stdin string, args ...string) *running {
	a.t.Helper()
	return a.run(stdin, append([]string{exe(a.t), "hook"}, args...)...)
}

// wait waits for the command's end.
func (r *running) wait() outcome {
	r.t.Helper()
	r.conn.SetReadDeadline(time.Now().Add(patience))
	if err := r.in.Decode(&r.result); err != nil {
		r.t.Fatalf("waiting for a command's end: %v", err)
	}
	return r.result
}

// silent checks that the end delays no process.
func (r *running) silent() {
	r.t.Helper()
	if out := r.wait(); out.Status != 0 || len(out.Stdout) > 0 {
		r.t.Errorf("status %d, output %q", out.Status, out.Stdout)
	}
}

// kill kills the command.
func (r *running) kill() { r.conn.Close() }

// hooksOf gives the hook records of a session so far, and their numbers.
func hooksOf(t testing.TB, dir string) (ids []uint64, all []HookData) {
	t.Helper()
	for _, r := range records(t, dir) {
		if r.Kind != KindHook {
			continue
		}
		var d HookData
		if err := json.Unmarshal(r.Data, &d); err != nil {
			t.Fatal(err)
		}
		ids, all = append(ids, r.N), append(all, d)
	}
	return ids, all
}

// asked waits for the record of the n-th hook and gives its id.
func (a *agent) asked(n int) uint64 {
	a.t.Helper()
	var ids []uint64
	eventually(a.t, "the hook is recorded", func() bool {
		ids, _ = hooksOf(a.t, a.spec.Dir)
		return len(ids) >= n
	})
	return ids[n-1]
}

// gone waits for the end of a hook's wait.
func (a *agent) gone(id uint64) GoneData {
	a.t.Helper()
	var found *GoneData
	eventually(a.t, "the hook is gone", func() bool {
		for _, g := range ofKind[GoneData](a.t, a.spec.Dir, KindGone) {
			if g.Hook == id {
				found = &g
			}
		}
		return found != nil
	})
	return *found
}

// kindsAbout lists the kinds of records that are, or name, a hook.
func kindsAbout(t testing.TB, dir string, id uint64) string {
	t.Helper()
	var kinds []string
	for _, r := range records(t, dir) {
		switch r.Kind {
		case KindHook:
			if r.N == id {
				kinds = append(kinds, r.Kind)
			}
		case KindVerdict, KindDelivered, KindGone:
			var d DeliveredData
			if err := json.Unmarshal(r.Data, &d); err != nil {
				t.Fatal(err)
			}
			if d.Hook == id {
				kinds = append(kinds, r.Kind)
			}
		}
	}
	return strings.Join(kinds, " ")
}

// waitKinds waits until the records about a hook are these.
func waitKinds(t testing.TB, dir string, id uint64, want string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for kindsAbout(t, dir, id) != want {
		if time.Now().After(deadline) {
			t.Fatalf("records of hook %d: %s, not %s", id, kindsAbout(t, dir, id), want)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// noFile reports whether there is none.
func noFile(name string) bool {
	_, err := os.Stat(name)
	return errors.Is(err, os.ErrNotExist)
}

func hookFile(dir string, n uint64) string {
	return segmentName(filepath.Join(dir, hooksDir), n, hookExt)
}

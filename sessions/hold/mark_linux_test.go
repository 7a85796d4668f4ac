package hold

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestThreadOfTheKernel: one that connects isn't a person, because it may connect for any process.
func TestThreadOfTheKernel(t *testing.T) {
	all, err := listProcesses()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(p process) bool { return p.kernel })
	if i < 0 {
		t.Skip("SKIPPED: no thread of the kernel is seen from this process namespace")
	}
	if err := CheckOutside(all[i].pid); err == nil || !strings.Contains(err.Error(), "thread of the kernel") {
		t.Errorf("%s: %v", all[i].name, err)
	}
}

// What a session started is known when its holder has been killed, however it
// has hidden: it left the terminal, its parents and its environment.
func TestOrphansOfAKilledHolder(t *testing.T) {
	if err := CheckOutside(os.Getppid()); err != nil {
		t.Errorf("the process of this test: %v", err)
	}
	spec := testSpec(t, "sh", "-c", `trap "" HUP
		(env -i setsid sh -c 'trap "" HUP; echo $$ > '$0/daemon'; exec sleep 60' &)
		echo $$ > $0/program; exec sleep 60`, t.TempDir())
	dir := spec.Argv[3]
	l := start(t, spec)
	pids := map[string]int{}
	for _, name := range []string{"program", "daemon"} {
		eventually(t, "it is so", func() bool {
			b, _ := os.ReadFile(filepath.Join(dir, name))
			pids[name], _ = strconv.Atoi(strings.TrimSpace(string(b)))
			return pids[name] > 0
		})
		if err := CheckOutside(pids[name]); err == nil || !strings.Contains(err.Error(), "session") {
			t.Errorf("%s of a living holder: %v", name, err)
		}
	}
	if left, err := Orphans(spec.Dir); err != nil || len(left) != 0 {
		t.Errorf("orphans of a living holder: %v %v", left, err)
	}
	if err := syscall.Kill(l.Welcome().HolderPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is so", func() bool { return !alive(l.Welcome().HolderPID, l.Welcome().HolderStart) })
	left, err := Orphans(spec.Dir)
	if err != nil || len(left) != 2 {
		t.Errorf("orphans: %v %v", left, err)
	}
	for name, pid := range pids {
		if err := CheckOutside(pid); err == nil || !strings.Contains(err.Error(), "its mark") {
			t.Errorf("%s: %v", name, err)
		}
		if !Inside(pid) {
			t.Errorf("%s is not inside", name)
		}
	}
	for _, o := range left {
		if err := o.Signal(syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	eventually(t, "it is so", func() bool { left, _ := Orphans(spec.Dir); return len(left) == 0 })
}

// TestOrphanThatIsTheServersChild: a session's command can leave a process running as a child
// of the server (CLONE_PARENT), and name it like a holder. It still counts as left over.
func TestOrphanThatIsTheServersChild(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, holderWord), []byte("read -r line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", holderWord)
	cmd.Dir, cmd.Env = dir, []string{}
	input, err := cmd.StdinPipe() // the process lives until this closes
	if err != nil {
		t.Fatal(err)
	}
	entry, err := Enter(cmd, os.Args[0], filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer entry.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close()
		_ = cmd.Wait()
	})
	if err := entry.Begin(); err != nil {
		t.Fatal(err)
	}
	if !isHolder(cmd.Process.Pid) {
		t.Fatal("it does not call itself a holder")
	}
	if left, err := Orphans(dir); err != nil || len(left) != 1 || left[0].PID() != cmd.Process.Pid {
		t.Errorf("orphans: %v %v", left, err)
	}
}

// A peer whose process cannot be held, such as when no descriptor is free, is
// refused: a pid alone could be another process's by now.
func TestPeerThatCannotBeHeldIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if p, err := PeerOf(c); err != nil || p.PID != os.Getpid() || !p.Alive() {
		t.Errorf("%+v %v", p, err)
	} else {
		p.Close()
	}
	free, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	lowest := free.Fd()
	free.Close()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = uint64(lowest)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	p, err := PeerOf(c)
	if e := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); e != nil {
		t.Fatal(e)
	}
	// Looking at the process by its pid fails too then: it must not come to that.
	if !errors.Is(err, syscall.EMFILE) || !strings.Contains(err.Error(), "ask who is at the socket") {
		t.Errorf("with no descriptor left: %+v %v", p, err)
	}
}

// A process can have an environment of any length, with a session's name after what
// is read of it; nor does a long line of arguments make it a holder.
func TestLongEnvironmentIsTakenForInside(t *testing.T) {
	for name, c := range map[string]struct {
		variables int
		want      string
	}{"long": {10, "counts as inside a session"}, "shorter": {8, ""}} {
		cmd := exec.Command("sh", "-c", "echo begun; read x")
		for i := range c.variables {
			cmd.Env = append(cmd.Env, "V"+strconv.Itoa(i)+"="+strings.Repeat("x", 120<<10))
		}
		begun(t, cmd)
		err := CheckOutside(cmd.Process.Pid)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for length, want := range map[int]bool{4 << 10: true, 100 << 10: false} {
		cmd := exec.Command("sh")
		cmd.Args = []string{strings.Repeat("x", length), holderWord}
		cmd.Path = "/bin/sh"
		dir := t.TempDir()
		cmd.Dir = dir
		if err := os.WriteFile(filepath.Join(dir, holderWord), []byte("echo begun; read x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		begun(t, cmd)
		if got := isHolder(cmd.Process.Pid); got != want {
			t.Errorf("a line of %d bytes is a holder's: %v", length, got)
		}
	}
}

// begun starts a program that says so and then waits for its input, until the test ends.
// Its arguments and its environment can be read a moment after it was started.
func begun(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
}

// A server inside a session of another server takes that session's processes for outside, by their holder and
// their limit. A process of another session there can lower its limit to that one when its holder is gone.
func TestNeighbourWithOurLimit(t *testing.T) {
	cmd := exec.Command("sh", "-c", "echo begun; read x")
	cmd.Env = []string{}
	begun(t, cmd)
	mark := markUnder(unix.RLIM_INFINITY, "ours")
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: mark, Max: mark}, nil); err != nil {
		t.Fatal(err)
	}
	self, err := lookProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	here := surroundings{
		limits: map[uint64]bool{mark: true, unix.RLIM_INFINITY: true}, within: map[uint64]bool{mark: true},
		above: map[process]bool{}, holders: map[process]bool{}, sessions: map[string]bool{},
	}
	if err := here.checkOutside(cmd.Process.Pid); err == nil || !strings.Contains(err.Error(), "doesn't descend from its holder") {
		t.Errorf("of another session: %v", err)
	}
	holder := process{pid: self.pid, start: self.start} // in place of the session's
	here.above[holder], here.holders[holder] = true, true
	if err := here.checkOutside(cmd.Process.Pid); err != nil {
		t.Errorf("of the same session: %v", err)
	}
}

// A person who asks a holder's program for its version runs that file outside of all sessions. So it must not be that of
// another process, which got the pid after the holder's end.
func TestProgramOfALaterProcess(t *testing.T) {
	cmd := exec.Command("sh", "-c", "echo begun; read x")
	begun(t, cmd)
	start, err := StartOf(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		start string
		gone  bool
	}{{"another", true}, {start, false}} {
		err := CheckRunning(t.Context(), t.TempDir(), Survivor{PID: cmd.Process.Pid, Start: c.start})
		if errors.Is(err, ErrGone) != c.gone || !c.gone && (err == nil || !strings.Contains(err.Error(), "run /proc/")) {
			t.Errorf("started %q: %v", c.start, err)
		}
	}
}

// TestKeepLevel: no server runs deeper in sessions than one before it with the same file, until the machine starts
// anew.
func TestKeepLevel(t *testing.T) {
	file := filepath.Join(t.TempDir(), "level")
	for _, c := range []struct {
		boot  string
		level uint64
		fails bool
	}{{"a", 3, false}, {"a", 3, false}, {"a", 2, true}, {"a", 5, false}, {"a", 4, true}, {"b", 4, false}, {"b", 3, true}} {
		if err := keepLevel(file, c.boot, c.level); (err != nil) != c.fails {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := os.WriteFile(file, []byte("b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := keepLevel(file, "b", 9); err == nil {
		t.Error("a file that isn't ours is overwritten")
	}
}

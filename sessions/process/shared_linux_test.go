package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// onTerminalOf starts a script as the program of a new terminal, and returns its pid and what it prints first. The
// script's own output is descriptor 9.
func onTerminalOf(t *testing.T, script string) (pid int, printed string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "exec 9>&3 3>&-\n"+script)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = slave, slave, slave, []*os.File{write}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	write.Close()
	t.Cleanup(func() {
		for _, child := range below(cmd.Process.Pid) {
			_ = unix.Kill(child, unix.SIGKILL)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		master.Close()
		read.Close()
	})
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid, strings.TrimSpace(line)
}

// below are the processes that descend from one.
func below(pid int) (all []int) {
	for _, child := range allChildren(pid) {
		all = append(append(all, child), below(child)...)
	}
	return all
}

// TestShared: a program that takes what is typed for another one is found in the same session too, however many
// processes there are.
func TestShared(t *testing.T) {
	// The other program's parent has another standard input than the terminal, which is descriptor 4.
	const (
		program = "sh -c 'echo >&9; exec sleep 600' "
		other   = "exec 4<&0\n( %s& wait ) </dev/null &\nwait"
		many    = "i=0; while [ $i -lt 300 ]; do sleep 600 & i=$((i+1)); done; "
	)
	for name, c := range map[string]struct {
		script string
		shared bool
	}{
		"alone":                 {program, false},
		"given":                 {"exec 4<&0\n setsid " + program + "<&4 & wait", false},
		"given by its name":     {"exec 4</dev/tty\n setsid " + program + "<&4 & wait", false},
		"a session of its own":  {fmt.Sprintf(other, "setsid "+program+"<&4"), true},
		"the same session":      {fmt.Sprintf(other, program+"<&4"), true},
		"its own terminal":      {fmt.Sprintf(other, program+"</dev/tty"), true},
		"given by such a one":   {fmt.Sprintf(other, "sh -c 'exec 5<&0; setsid "+strings.ReplaceAll(program, "'", `"`)+"<&5 & wait' <&4"), true},
		"after many processes":  {fmt.Sprintf(other, many+"setsid "+program+"<&4"), true},
		"no terminal":           {fmt.Sprintf(other, "setsid "+program), false},
		"another input":         {fmt.Sprintf(other, "sh -c 'exec 7<>/dev/tty; echo >&9; exec sleep 600' "), true},
		"as its output":         {fmt.Sprintf(other, "sh -c 'exec 1<>/dev/tty; echo >&9; exec sleep 600' "), true},
		"opened before":         {fmt.Sprintf(other, "sh -c 'exec setsid sh -c \"echo >&9; exec sleep 600\"' </dev/tty"), true},
		"written alone":         {fmt.Sprintf(other, program+">&4 2>&4 7>/dev/tty"), false},
		"in the background":     {"set -m\n" + fmt.Sprintf(other, program+"<&4"), false},
		"many without terminal": {fmt.Sprintf(other, many+program), false},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			pid, _ := onTerminalOf(t, c.script)
			if got := Shared(os.Getpid(), pid, pid); got != c.shared {
				t.Errorf("shared: %v, with %s", got, tree(pid))
			}
		})
	}
}

// TestSharedInAShell: what a person has started in a shell is one of several programs that the shell gives its terminal to.
// A relay gives it one of its own, which another program may read as well.
func TestSharedInAShell(t *testing.T) {
	const agent, other = "sh -c 'echo $$ >&9; exec sleep 600' <&4 & ", "setsid sleep 600 <&4 & "
	for name, c := range map[string]struct {
		script string
		shared bool
	}{
		"alone":       {agent, false},
		"with others": {other + agent, true},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			pid, printed := onTerminalOf(t, "exec 4<&0\n"+c.script+"wait")
			own, err := strconv.Atoi(printed)
			if err != nil {
				t.Fatal(err)
			}
			shell, _ := onTerminalOf(t, "echo >&9; exec sleep 600")
			got := Shared(os.Getpid(), pid, own)
			for deadline := time.Now().Add(20 * time.Second); got != c.shared && time.Now().Before(deadline); got = Shared(os.Getpid(), pid, own) {
				time.Sleep(time.Millisecond) // until the other program is in its own session
			}
			if got != c.shared {
				t.Errorf("shared: %v, with %s", got, tree(pid))
			}
			if got := Shared(os.Getpid(), shell, own); got != c.shared {
				t.Errorf("through a relay, shared: %v, with %s", got, tree(pid))
			}
		})
	}
}

// TestHaltedAmongMany: a stopped program in the foreground is seen to be, however many other processes there are.
func TestHaltedAmongMany(t *testing.T) {
	pid, printed := onTerminalOf(t, "i=0; while [ $i -lt 80 ]; do sleep 600 & i=$((i+1)); done\n"+
		"sh -c 'sh -c \"echo \\$\\$ >&9; exec sleep 600\" & wait' & wait")
	agent, err := strconv.Atoi(printed)
	if err != nil {
		t.Fatal(err)
	}
	if Halted(pid) {
		t.Error("halted before it is stopped")
	}
	if err := unix.Kill(agent, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); !Halted(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a stopped program counts as running: " + tree(agent))
		}
	}
}

// tree has the processes below one, with their sessions, groups and standard inputs.
func tree(pid int) string {
	var all []string
	for _, one := range append([]int{pid}, below(pid)...) {
		s, _ := readStat(one)
		input, _ := os.Readlink("/proc/" + strconv.Itoa(one) + "/fd/0")
		all = append(all, fmt.Sprintf("%d %s session %s group %d front %d %s", one, s.name, s.session, s.group, s.front, input))
	}
	return strings.Join(all[:min(len(all), 8)], "; ")
}

// TestBusy: a program that reads the terminal and computes is busy. One that waits isn't, and neither is a helper that computes
// beside it and reads from elsewhere.
func TestBusy(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		busy   bool
	}{
		"it computes":      {"exec 4<&0; sh -c 'echo $$ >&9; while :; do :; done' <&4 & wait", true},
		"it waits":         {"echo >&9; exec sleep 600", false},
		"another helper's": {"sh -c 'echo $$ >&9; while :; do :; done' </dev/null & exec sleep 600", false},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			pid, _ := onTerminalOf(t, c.script)
			is := Busy(pid)
			for deadline := time.Now().Add(20 * time.Second); is != c.busy && time.Now().Before(deadline); is = Busy(pid) {
				time.Sleep(time.Millisecond) // the shell may still be starting it
			}
			if is != c.busy {
				t.Errorf("busy: %v, with %s", is, tree(pid))
			}
		})
	}
}

// TestManyFiles: more open files than are read count as a terminal that is read.
func TestManyFiles(t *testing.T) {
	for left, opens := range map[int]bool{1: true, mostOfAll: false} {
		if left := left; opensTerminal(os.Getpid(), &left) != opens {
			t.Errorf("%d files left to read: %v", left, !opens)
		}
	}
}

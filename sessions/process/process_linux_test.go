package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// longEnviron says in the environment of this test's program that it is to have an endless one.
const longEnviron = "TEST_LONG_ENVIRON"

func TestMain(m *testing.M) {
	if os.Getenv(longEnviron) != "" {
		fmt.Println(lengthenEnviron(256 << 20))
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the test ends
		return
	}
	os.Exit(m.Run())
}

// lengthenEnviron has the kernel show so many bytes as the environment of this process.
func lengthenEnviron(size int) error {
	region, err := unix.Mmap(-1, 0, size, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return err
	}
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return err
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+2:]))
	field := func(n int) uint64 { // as proc(5) counts them
		v, _ := strconv.ParseUint(fields[n-3], 10, 64)
		return v
	}
	brk, _, _ := unix.RawSyscall(unix.SYS_BRK, 0, 0, 0)
	environ := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(region))))
	layout := struct { // prctl_mm_map of linux/prctl.h
		startCode, endCode, startData, endData, startBrk, brk, startStack, argStart, argEnd, envStart, envEnd uint64
		auxv                                                                                                  uint64
		auxvSize, exe                                                                                         uint32
	}{
		field(26), field(27), field(45), field(46), field(47), uint64(brk), field(28), field(48), field(49), environ, environ + uint64(size),
		0, 0, ^uint32(0),
	}
	return unix.Prctl(unix.PR_SET_MM, unix.PR_SET_MM_MAP, uintptr(unsafe.Pointer(&layout)), unsafe.Sizeof(layout), 0)
}

// A process can show memory of any length as its environment. The server reads a bounded part.
func TestEndlessEnvironment(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), longEnviron+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "<nil>\n" {
		t.Fatalf("the process can't lengthen its environment: %q %v", line, err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	env := Environ(cmd.Process.Pid)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; env != nil || used > 32<<20 {
		t.Errorf("%d entries; %d bytes were allocated", len(env), used)
	}
}

// A process may have anything as its standard input, without the right to open it (O_PATH). The server opens a
// terminal alone: root's open of a device has effects.
func TestOnlyTerminalsAreOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	input := os.NewFile(uintptr(fd), path)
	defer input.Close()
	cmd := exec.Command("sleep", "1000")
	cmd.Stdin = input
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	if _, err := unix.InotifyAddWatch(watch, path, unix.IN_OPEN); err != nil {
		t.Fatal(err)
	}
	if n, held := Unread(cmd.Process.Pid), Held(cmd.Process.Pid, true); n != -1 || held {
		t.Errorf("unread: %d, held: %v", n, held)
	}
	if n, err := unix.Read(watch, make([]byte, 4096)); err != unix.EAGAIN {
		t.Errorf("the file was opened: %d %v", n, err)
	}
}

// TestChanges: a terminal that changes what is typed, as any of its processes can have it do, differs from one in raw mode.
func TestChanges(t *testing.T) {
	main, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer main.Close()
	defer tty.Close()
	cmd := exec.Command("sleep", "1000")
	cmd.Stdin = tty
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	type mode struct {
		in, local   uint32
		start, quit byte
	}
	for mode, want := range map[mode]bool{
		{}: false, {in: unix.ICRNL}: false, {in: unix.ISTRIP}: true, {in: unix.IUCLC}: true, {in: unix.INLCR}: true, {in: unix.IGNCR}: true, {local: unix.ECHO}: true,
		{in: unix.IXON, start: 17}: false, {in: unix.IXON, start: '['}: true, {in: unix.IXON, start: '\r'}: true, {start: '['}: false,
		{local: unix.ISIG, quit: 28}: false, {local: unix.ISIG, quit: 0x1b}: true, {local: unix.ISIG, start: '['}: false,
	} {
		raw, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		raw.Lflag, raw.Iflag, raw.Cc[unix.VMIN], raw.Cc[unix.VSTART], raw.Cc[unix.VQUIT] = mode.local, mode.in, 1, mode.start, mode.quit
		if err := unix.IoctlSetTermios(int(tty.Fd()), unix.TCSETS, raw); err != nil {
			t.Fatal(err)
		}
		if changes, held := Changes(cmd.Process.Pid), Held(cmd.Process.Pid, true); changes != want || held != want {
			t.Errorf("mode %+v: it changes bytes: %v, it holds them: %v", mode, changes, held)
		}
		if Held(cmd.Process.Pid, false) {
			t.Errorf("mode %+v holds lines", mode)
		}
	}
}

// TestShut: another process has the terminal for itself, so its modes and its size aren't known. It is taken for one that
// holds what is typed.
func TestShut(t *testing.T) {
	main, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer main.Close()
	defer tty.Close()
	raw, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	raw.Lflag, raw.Iflag, raw.Cc[unix.VMIN] = 0, 0, 1
	if err := unix.IoctlSetTermios(int(tty.Fd()), unix.TCSETS, raw); err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Cols: 80, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sleep", "1000")
	cmd.Stdin = tty
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	look := func() (held, changes, sized bool) {
		pid := cmd.Process.Pid
		return Held(pid, true), Changes(pid), Sized(pid, 80, 24)
	}
	if held, changes, sized := look(); held || changes || !sized {
		t.Errorf("open to all: %v %v %v", held, changes, sized)
	}
	if err := unix.IoctlSetInt(int(tty.Fd()), unix.TIOCEXCL, 0); err != nil {
		t.Fatal(err)
	}
	withoutRights(t, func() {
		if held, changes, sized := look(); !held || !changes || sized {
			t.Errorf("shut: %v %v %v", held, changes, sized)
		}
	})
}

// withoutRights runs fn on a thread that may not open what another process has for itself, like a server that is not root.
func withoutRights(t *testing.T, fn func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var has [2]unix.CapUserData
		err := unix.Capget(&header, &has[0])
		if has[0].Effective &^= 1 << unix.CAP_SYS_ADMIN; err == nil {
			err = unix.Capset(&header, &has[0])
		}
		if err == nil {
			fn()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

package config

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"berth/sessions/hold"
)

func TestStateAndRuntimeFolders(t *testing.T) {
	owned := func(dir string, uid int) bool { return dir != "/run/user/0" && uid == 7 }
	for _, c := range []struct {
		environ        string
		state, runtime string // runtime of the default state folder
	}{
		{"HOME=/home/u", "/home/u/.local/state/berth", "/tmp/berth-7-"},
		{"HOME=/home/u XDG_STATE_HOME=/x/state XDG_RUNTIME_DIR=/run/user/7", "/x/state/berth", "/run/user/7/berth"},
		{"HOME=/home/u XDG_STATE_HOME=rel XDG_RUNTIME_DIR=rel", "/home/u/.local/state/berth", "/tmp/berth-7-"},
		{"", "/var/lib/berth", "/tmp/berth-7-"},
		{"HOME=/home/u XDG_RUNTIME_DIR=/run/user/0", "/home/u/.local/state/berth", "/tmp/berth-7-"},
		{"HOME=/root STATE_DIRECTORY=/var/lib/berth:/other RUNTIME_DIRECTORY=/run/berth", "/var/lib/berth", "/run/berth"},
		{"HOME=/home/u TMPDIR=/var/tmp/", "/home/u/.local/state/berth", "/var/tmp/berth-7-"},
		{"HOME=/h TMPDIR=/" + strings.Repeat("t", 90) + " XDG_RUNTIME_DIR=/" + strings.Repeat("r", 90), "/h/.local/state/berth", "/tmp/berth-7-"},
	} {
		getenv := lookup(strings.Fields(c.environ))
		if got := stateDir(getenv); got != c.state {
			t.Errorf("%s: state %s", c.environ, got)
		}
		got := runtimeDir(getenv, 7, owned, c.state)
		if strings.HasSuffix(c.runtime, "-") && len(got) == len(c.runtime)+8 {
			got = got[:len(c.runtime)]
		}
		if got != c.runtime {
			t.Errorf("%s: runtime %s", c.environ, got)
		}
	}
	getenv := lookup([]string{"HOME=/h", "XDG_RUNTIME_DIR=/run/user/7"})
	a, b := runtimeDir(getenv, 7, owned, "/a"), runtimeDir(getenv, 7, owned, "/b")
	if a == b || !strings.HasPrefix(a, "/run/user/7/berth-") {
		t.Errorf("two servers share sockets: %s %s", a, b)
	}
}

func TestPrivateFolders(t *testing.T) {
	for _, make := range []func(string) error{MakeRuntimeDir, MakeStateDir} {
		base, err := os.MkdirTemp("", "b") // t.TempDir would be too long for sockets
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(base) })
		dir := filepath.Join(base, "new", "dir")
		for range 2 {
			if err := make(dir); err != nil {
				t.Fatal(err)
			}
		}
		if info, _ := os.Stat(dir); info.Mode().Perm() != 0o700 {
			t.Errorf("mode %v", info.Mode())
		}
		if err := errors.Join(os.Chmod(dir, 0o755), make(dir)); err != nil {
			t.Error(err)
		}
		if info, _ := os.Stat(dir); info.Mode().Perm() != 0o700 {
			t.Errorf("mode %v after one that others could read", info.Mode())
		}
		// Root has sessions of other users, who go through.
		want := os.FileMode(0o700)
		if os.Geteuid() == 0 {
			want = 0o711
		}
		if err := errors.Join(os.Chmod(dir, 0o711), make(dir)); err != nil {
			t.Error(err)
		}
		if info, _ := os.Stat(dir); info.Mode().Perm() != want {
			t.Errorf("mode %v after one that others go through", info.Mode())
		}
		for _, mode := range []os.FileMode{0o770, 0o702, 0o777} {
			if err := os.Chmod(dir, mode); err != nil {
				t.Fatal(err)
			}
			if err := make(dir); err == nil || !strings.Contains(err.Error(), "written by others") {
				t.Errorf("mode %v: %v", mode, err)
			}
		}
		file := filepath.Join(base, "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := make(file); err == nil {
			t.Error("a file was taken for a folder")
		}
		if os.Geteuid() == 0 {
			if err := errors.Join(os.Chmod(dir, 0o700), os.Chown(dir, 12345, -1)); err != nil {
				t.Fatal(err)
			}
			if err := make(dir); err == nil || !strings.Contains(err.Error(), "doesn't belong to uid") {
				t.Errorf("foreign owner: %v", err)
			}
		}
	}
	if err := MakeRuntimeDir("/tmp/" + strings.Repeat("x", 80)); err == nil || !strings.Contains(err.Error(), "runtime_dir") {
		t.Errorf("too long for sockets: %v", err)
	}
	link := filepath.Join(t.TempDir(), "l")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if len(link) <= 60 {
		if err := MakeRuntimeDir(link); err == nil {
			t.Error("a link in the temp folder was followed")
		}
	}
}

// TestMain lets the test binary be the other server of TestLockState.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "enter" { // as berth-hold
		os.Exit(hold.EnterMain())
	}
	if dir := os.Getenv("LOCK_STATE_DIR"); dir != "" {
		if _, err := LockState(dir); err != nil {
			os.Exit(1)
		}
		os.Stdout.WriteString("locked\n")
		bufio.NewReader(os.Stdin).ReadString('\n')
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestLockState(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), "LOCK_STATE_DIR="+dir)
	in, err1 := other.StdinPipe()
	out, err2 := other.StdoutPipe()
	if err := errors.Join(err1, err2, other.Start()); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatalf("the other server says %q, %v", line, err)
	}
	_, err := LockState(dir)
	var held *LockedError
	if !errors.As(err, &held) || held.PID != other.Process.Pid || !strings.Contains(err.Error(), dir) {
		t.Errorf("locked by pid %d: %v", other.Process.Pid, err)
	}
	in.Close()
	if err := other.Wait(); err != nil {
		t.Fatal(err)
	}
	lock, err := LockState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := LockState(dir); !errors.As(err, &held) || held.PID != os.Getpid() {
		t.Errorf("a second time in one process: %v", err)
	}
	if pid, run, err := LastServer(dir); err != nil || pid != os.Getpid() || run != "" {
		t.Errorf("before it is published: %d %q %v", pid, run, err)
	}
	if err := lock.Publish("/run/x"); err != nil {
		t.Fatal(err)
	}
	if pid, run, err := LastServer(dir); err != nil || pid != os.Getpid() || run != "/run/x" {
		t.Errorf("published: %d %q %v", pid, run, err)
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
	if _, _, err := LastServer(dir); !errors.Is(err, ErrNoServer) {
		t.Errorf("after its end: %v", err)
	}
	if _, _, err := LastServer(dir + "/none"); !errors.Is(err, ErrNoServer) {
		t.Errorf("no state folder: %v", err)
	}
	if lock, err = LockState(dir); err != nil {
		t.Fatal(err)
	}
	lock.Unlock()
}

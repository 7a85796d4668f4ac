package sshd

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"berth/sessions/hold"
)

// TestCallerByCgroup refuses a process by the cgroup of a session alone: it descends from no holder, and it has
// no mark and no environment. It isn't that session's agent, because it may have entered the cgroup from
// another session.
func TestCallerByCgroup(t *testing.T) {
	root, err := hold.OwnCgroup()
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	const id = "01K0000000000000000000TEST"
	dir := filepath.Join(root, hold.CgroupPrefix+id)
	if err := os.MkdirAll(filepath.Join(dir, "inner-"+strings.ToLower(id)), 0o755); errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS) {
		t.Skipf("SKIPPED: no cgroup can be made here: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := hold.EndCgroup(dir); err != nil {
			t.Error(err)
		}
	})
	cmd := exec.Command("sleep", "1000")
	cmd.Env = []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true}
	folder, err := os.Open(filepath.Join(dir, "inner-"+strings.ToLower(id)))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	cmd.SysProcAttr.CgroupFD = int(folder.Fd())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	holders := []HolderProcess{{PID: 1 << 30, Start: "x", Session: id}}
	if h, err := origin(cmd.Process.Pid, holders, func() bool { return true }); h != nil || err == nil || !strings.Contains(err.Error(), "is in the cgroup of the session "+id) {
		t.Errorf("%+v, %v", h, err)
	}
	if err := checkCgroup(os.Getpid()); err != nil {
		t.Errorf("this process: %v", err)
	}
}

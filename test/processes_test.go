package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// sessionsLeft reports whether the state folder names holders.
func (s *stage) sessionsLeft() bool { return len(s.holders()) > 0 }

// holders are the processes that the session folders name.
func (s *stage) holders() []int {
	files, _ := filepath.Glob(filepath.Join(s.state, "sessions", "*", "holder.json")) // the pattern is well formed
	var pids []int
	for _, file := range files {
		var holder struct{ PID int }
		data, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(data, &holder) == nil && holder.PID > 1 && s.isOurs(holder.PID) {
			pids = append(pids, holder.PID)
		}
	}
	return pids
}

// isOurs reports whether a process has this script's folder in its environment or command, or has files
// of it open. No other folder has that name. A process that has ended, or a zombie, doesn't count.
func (s *stage) isOurs(pid int) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil || pid == os.Getpid() {
		return false
	}
	if _, after, ok := strings.Cut(string(stat), ") "); ok && strings.HasPrefix(after, "Z") {
		return false
	}
	for _, name := range []string{"/environ", "/cmdline"} {
		if data, err := os.ReadFile(dir + name); err == nil && strings.Contains(string(data), s.dir+"/") {
			return true
		}
	}
	files, err := os.ReadDir(dir + "/fd")
	if err != nil {
		return false
	}
	for _, f := range files {
		if to, err := os.Readlink(dir + "/fd/" + f.Name()); err == nil && strings.HasPrefix(to, s.dir+"/") {
			return true
		}
	}
	return false
}

// endHolders ends the sessions' holders when no server runs that could.
func (s *stage) endHolders() {
	for _, pid := range s.holders() {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended already
	}
}

// ours lists the script's processes.
func (s *stage) ours() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && s.isOurs(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// leftovers describes the processes that still run after a short wait.
func (s *stage) leftovers() []string {
	deadline := time.Now().Add(5 * time.Second)
	for {
		pids := s.ours()
		if len(pids) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			var list []string
			for _, pid := range pids {
				command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				if !errors.Is(err, os.ErrNotExist) {
					list = append(list, fmt.Sprintf("%d %s", pid, strings.ReplaceAll(string(command), "\x00", " ")))
				}
			}
			return list
		}
		time.Sleep(10 * time.Millisecond) // poll a real condition
	}
}

func (s *stage) killLeftovers() {
	for _, pid := range s.ours() {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended already
	}
}

package sessions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/api"
	"berth/sessions/account"
)

// TestRemoveAgain: what an agent's user has put in the way of rm leaves the
// session as it was, to be removed when that is gone.
func TestRemoveAgain(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can delete as another user")
	}
	p := open(t)
	s := p.sh("one", "echo shown; exit 3")
	within(t, s, "the end", ended)
	const nobody = 65534
	agent := filepath.Join(s.dir, agentDir)
	for _, dir := range []string{p.options.StateDir, p.reg.sessionsDir(), s.dir} {
		if err := os.Chmod(dir, throughMode); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{agent, agent + "/a", agent + "/a/b"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(agent+"/a/roots/inner", 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 { // it can be said again
		if _, err := p.reg.Remove(t.Context(), s, tester, false); codeOf(err) != api.CodeInternal || !strings.Contains(err.Error(), "rm it again") {
			t.Fatalf("rm: %v", err)
		}
		shows(t, p.find("one"), "shown")
	}
	if err := p.reg.Restart(t.Context(), s, tester); err != nil {
		t.Errorf("it cannot be started again: %v", err)
	}
	within(t, s, "the end", ended)
	p.reopen()
	if s = p.find("one"); *s.Status().Exit.Code != 3 {
		t.Errorf("exit %+v", s.Status().Exit)
	}
	if err := os.RemoveAll(agent + "/a/roots"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.reg.Remove(t.Context(), s, tester, false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("its folder: %v", err)
	}
	p.counts(s.ID(), map[string]int{"session_removed": 1})
}

// TestRetentionOfManyUsers: a user who holds up the removal of ended sessions doesn't keep retention from removing the
// sessions of others.
func TestRetentionOfManyUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can delete as another user")
	}
	p := open(t)
	past := map[*Session]string{}
	nobody := &account.User{Name: "nobody", UID: 65534, GID: 65534}
	for i := range 8 {
		s := p.sh(fmt.Sprint("s", i), "exit 0")
		within(t, s, "the end", ended)
		past[s] = "retention: age"
		if i == 0 {
			continue // the server's own
		}
		for _, dir := range []string{p.options.StateDir, p.reg.sessionsDir(), s.dir} {
			if err := os.Chmod(dir, throughMode); err != nil {
				t.Fatal(err)
			}
		}
		dir := filepath.Join(s.dir, agentDir)
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, nobody.UID, nobody.GID)); err != nil {
			t.Fatal(err)
		}
	}
	own := p.find("s0")
	// Nothing more of that user's is done until release.
	release := keepsBusy(t, nobody)
	removed := make(chan struct{})
	go func() {
		p.reg.removeAll(t.Context(), past)
		close(removed)
	}()
	deadline := time.Now().Add(9 * time.Second) // a call waits for the user's files for 10 s
	for {
		if _, there := p.reg.Find(own.ID()); !there {
			break
		}
		if time.Now().After(deadline) {
			t.Error("the server's own session is still there")
			break
		}
		time.Sleep(time.Millisecond)
	}
	release()
	<-removed
	if n := len(p.reg.All()); n != 0 && !t.Failed() {
		t.Errorf("%d sessions are left", n)
	}
}

// TestRemoveDeep: a folder that is nested too deep for any path is removed, and
// the server says nothing of an unusable one.
func TestRemoveDeep(t *testing.T) {
	p := open(t)
	s := p.sh("one", "exit 0")
	within(t, s, "the end", ended)
	at, err := unix.Open(s.dir, unix.O_DIRECTORY, 0)
	for name := strings.Repeat("d", 250); err == nil && len(name) > 230; name = name[1:] {
		for range 5 {
			if err = unix.Mkdirat(at, name, 0o700); err != nil {
				break
			}
			var next int
			next, err = unix.Openat(at, name, unix.O_DIRECTORY, 0)
			unix.Close(at)
			at = next
		}
	}
	if unix.Close(at); err != nil {
		t.Fatal(err)
	}
	if _, err := p.reg.Remove(t.Context(), s, tester, false); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(p.reg.sessionsDir()); err != nil || slices.ContainsFunc(list, os.DirEntry.IsDir) {
		t.Errorf("%v, %v", list, err)
	}
}

// keepsBusy has the OS user do as much at once as it may, until release.
func keepsBusy(t *testing.T, user *account.User) (release func()) {
	started, over := make(chan struct{}), make(chan struct{})
	var held sync.WaitGroup
	for range 8 {
		held.Go(func() {
			_ = user.Do(t.Context(), func() error {
				started <- struct{}{}
				<-over
				return nil
			})
		})
		<-started
	}
	return func() { close(over); held.Wait() }
}

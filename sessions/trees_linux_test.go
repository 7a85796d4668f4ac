package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"berth/sessions/account"
)

// otherUser has the place's sessions run as another OS user.
func (p *place) otherUser() *account.User {
	p.t.Helper()
	if os.Geteuid() != 0 {
		p.t.Skip("SKIPPED: only root can act as another user")
	}
	nobody := &account.User{Name: "nobody", Home: "/", Shell: "/bin/sh", UID: 65534, GID: 65534}
	p.reg.options.Environment.Account = func(string) (*account.User, error) { return nobody, nil }
	return nobody
}

// TestLockOfARepository: removals in a repository wait for those of each user who may write there. A user who only
// names it, by a git of their own, holds up no other user.
func TestLockOfARepository(t *testing.T) {
	p := open(t)
	nobody := p.otherUser()
	own, other := Spec{ID: "one"}, Spec{ID: "other", User: nobody.Name}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	base, err := os.MkdirTemp("", "berth") // other users may enter it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	shared := filepath.Join(base, "shared")
	if err := errors.Join(os.Chmod(base, 0o755), os.Mkdir(shared, 0o755), os.Chown(shared, nobody.UID, nobody.GID)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		repo  string
		waits bool
	}{{base, false}, {filepath.Join(base, "none"), false}, {shared, true}} {
		unlock, err := p.reg.lockRepo(t.Context(), other, c.repo)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.reg.lockRepo(canceled, other, c.repo); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: its own removals: %v", c.repo, err)
		}
		free, err := p.reg.lockRepo(t.Context(), own, filepath.Join(base, "unrelated"))
		if err != nil {
			t.Fatal(err)
		}
		free()
		ctx, end := context.WithTimeout(t.Context(), 100*time.Millisecond)
		free, err = p.reg.lockRepo(ctx, own, c.repo)
		end()
		if waits := err != nil; waits != c.waits {
			t.Errorf("%s: another user's removal waits: %t (%v)", c.repo, waits, err)
		}
		if err == nil {
			free()
		}
		unlock()
	}
}

// TestReaperOfManyUsers: worktrees of a user whose files or git don't answer keep no others from being removed.
func TestReaperOfManyUsers(t *testing.T) {
	p := open(t)
	nobody := p.otherUser()
	dir := p.repository()
	s := p.sh("api", "cat", inTree)
	w, _ := treeOf(s)
	p.git(w.Tree.Path, "commit", "-q", "--allow-empty", "-m", "work")
	if err := <-s.End(t.Context(), tester, 0); err != nil {
		t.Fatal(err)
	}
	if end, err := p.reg.Remove(t.Context(), s, tester, false); err != nil || end.Removed {
		t.Fatalf("%+v %v", end, err)
	}
	p.git(dir, "merge", "-q", w.Tree.Branch)
	w.ID, w.User, w.UID = "00000000000000000000000000", nobody.Name, nobody.UID // the first of the list
	data, err := json.Marshal(w)
	if err == nil {
		err = os.WriteFile(p.reg.treeFile(w.ID), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	release := keepsBusy(t, nobody)
	over := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		p.reg.reapTrees(ctx)
		close(over)
	}()
	for deadline := time.Now().Add(9 * time.Second); len(p.reg.Worktrees()) > 1; time.Sleep(time.Millisecond) { // a call waits for the user's files for 10 s
		if time.Now().After(deadline) {
			t.Error("the other worktree is still there")
			break
		}
	}
	cancel()
	release()
	<-over
}

package sessions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"berth/api"
	"berth/sessions/account"
	"berth/sessions/worktree"
)

// repository makes one in the home of the place's sessions.
func (p *place) repository() string {
	p.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		p.t.Skip("SKIPPED: no git")
	}
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org", "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.org",
	} {
		p.t.(*testing.T).Setenv(name, value)
	}
	home, err := filepath.EvalSymlinks(p.options.Environment.Home)
	if err != nil {
		p.t.Fatal(err)
	}
	dir := filepath.Join(home, "shop")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	p.git(dir, "init", "-q", "-b", "main")
	p.git(dir, "commit", "-q", "--allow-empty", "-m", "first")
	return dir
}

func (p *place) git(dir string, args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func inTree(spec *Spec) {
	spec.Cwd, spec.Worktree = "shop", &worktree.Tree{Phase: worktree.Wanted}
}

// bare checks that no worktree and no branch of Berth's is left.
func (p *place) bare(dir string) {
	p.t.Helper()
	if list := p.git(dir, "worktree", "list"); strings.Contains(list, "\n") {
		p.t.Errorf("git lists:\n%s", list)
	}
	if left := p.git(dir, "for-each-ref", "refs/heads/berth"); left != "" {
		p.t.Errorf("branches:\n%s", left)
	}
	if entries, _ := os.ReadDir(filepath.Join(dir, ".git/worktrees")); len(entries) > 0 {
		p.t.Errorf("%d entries are left in git", len(entries))
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), ".local/share/berth/worktrees/shop/*")); len(left) > 0 {
		p.t.Errorf("folders: %v", left)
	}
}

// TestKilledWhileMaking: a server was killed at each step at which a worktree is made. The next one
// removes what there is.
func TestKilledWhileMaking(t *testing.T) {
	p := open(t)
	dir := p.repository()
	p.close()
	steps := []worktree.Phase{worktree.Wanted, worktree.Planned, worktree.Making, "half", "made", worktree.SetUp}
	var folders []string
	for i, step := range steps {
		spec := Defaults()
		spec.ID, spec.Name, spec.Command, spec.Cwd = ulid.Make().String(), fmt.Sprint("s", i), []string{"cat"}, dir
		tree := worktree.Tree{Phase: worktree.Wanted}
		g, err := p.reg.git(spec)
		if err != nil {
			t.Fatal(err)
		}
		if step != worktree.Wanted {
			root := filepath.Join(filepath.Dir(dir), ".local/share/berth/worktrees")
			if tree, err = g.Plan(t.Context(), tree, dir, root, spec.Name); err != nil {
				t.Fatal(err)
			}
		}
		switch step {
		case worktree.Planned:
			_, err = g.Reserve(t.Context(), tree) // and its result wasn't saved
		case worktree.Making, "half", "made", worktree.SetUp:
			tree, err = g.Reserve(t.Context(), tree)
		}
		switch {
		case err != nil:
			t.Fatal(err)
		case step == "half": // git was killed too: its lock is left, and nothing is checked out
			p.git(dir, "worktree", "add", "-q", "--lock", "--no-checkout", "-b", tree.Branch, tree.Path)
		case step == "made", step == worktree.SetUp:
			err = g.Make(t.Context(), tree)
		}
		if step == worktree.SetUp {
			tree.Phase = worktree.SetUp
			err = errors.Join(err, os.WriteFile(filepath.Join(tree.Path, "half-installed"), nil, 0o600))
		}
		spec.Worktree = &tree
		folder := filepath.Join(p.reg.sessionsDir(), spec.ID)
		if err := errors.Join(err, os.Mkdir(folder, 0o700), saveSpec(folder, spec)); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, folder)
	}
	p.open()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		left := 0
		for _, folder := range folders {
			if _, err := os.Lstat(folder); err == nil {
				left++
			}
		}
		if left == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d folders of sessions are left", left)
		}
	}
	if len(p.reg.All()) > 0 {
		t.Errorf("%d sessions", len(p.reg.All()))
	}
	p.bare(dir)
}

// TestStopWhileUndoing: a server that stops doesn't wait for the removal of a half-made worktree. The next
// server does it.
func TestStopWhileUndoing(t *testing.T) {
	p := open(t)
	dir := p.repository()
	spec := Defaults()
	spec.ID, spec.Name, spec.Command, spec.Cwd = ulid.Make().String(), "half", []string{"cat"}, dir
	g, err := p.reg.git(spec)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := g.Plan(t.Context(), worktree.Tree{}, dir, filepath.Join(filepath.Dir(dir), ".local/share/berth/worktrees"), spec.Name)
	if err == nil {
		tree, err = g.Reserve(t.Context(), tree)
	}
	if err == nil {
		err = g.Make(t.Context(), tree)
	}
	spec.Worktree = &tree
	folder := filepath.Join(p.reg.sessionsDir(), spec.ID)
	if err := errors.Join(err, os.Mkdir(folder, 0o700), saveSpec(folder, spec)); err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	s := &Session{id: spec.ID, dir: folder, reg: p.reg}
	if err := p.reg.undo(stopped, spec, s); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(folder); err != nil {
		t.Error(err)
	}
	if err := p.reg.undo(t.Context(), spec, s); err != nil {
		t.Error(err)
	}
	p.bare(dir)
}

// TestReaper removes what was merged since its session has gone, and keeps what wasn't. A server
// killed between a record's file and the session's folder changes nothing.
func TestReaper(t *testing.T) {
	p := open(t)
	dir := p.repository()
	s := p.sh("api", "cat", inTree)
	tree := *s.Status().Worktree
	if tree.Phase != worktree.Ready || s.Status().Cwd != tree.Path {
		t.Errorf("%+v", tree)
	}
	p.git(tree.Path, "commit", "-q", "--allow-empty", "-m", "work")
	if err := <-s.End(t.Context(), tester, 0); err != nil {
		t.Fatal(err)
	}
	if end, err := p.reg.leaveTree(t.Context(), s, tester, false); err != nil || end.Removed { // and then it was killed
		t.Fatalf("%+v %v", end, err)
	}
	p.reopen()
	if all := p.reg.Worktrees(); len(all) != 1 || all[0].Live == nil {
		t.Errorf("%+v", all)
	}
	s = p.find("api")
	end, err := p.reg.Remove(t.Context(), s, tester, false)
	if err != nil || end.Removed || *end.Why != "it has 1 commit that no other branch has" {
		t.Fatalf("%+v %v", end, err)
	}
	p.reg.reapTrees(t.Context())
	if all := p.reg.Worktrees(); len(all) != 1 || all[0].Live != nil || all[0].Session != "api" {
		t.Errorf("%+v", all)
	}
	p.git(dir, "merge", "-q", tree.Branch)
	second := p.sh("other", "cat", func(spec *Spec) { spec.Cwd = tree.Path })
	p.reg.reapTrees(t.Context())
	if len(p.reg.Worktrees()) != 1 {
		t.Error("a session works in it")
	}
	if err := <-second.End(t.Context(), tester, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := p.reg.Remove(t.Context(), second, tester, false); err != nil {
		t.Fatal(err)
	}
	p.reg.reapTrees(t.Context())
	p.bare(dir)
	if len(p.reg.Worktrees()) != 0 {
		t.Error("its record is left")
	}
	p.counts(s.ID(), map[string]int{"worktree_removed": 1, "session_removed": 1})
}

// TestRestartWhileRemoving: a session isn't started again in a worktree that is being removed.
func TestRestartWhileRemoving(t *testing.T) {
	p := open(t)
	p.repository()
	s := p.sh("api", "cat", inTree)
	w, _ := treeOf(s)
	if err := p.reg.RemoveWorktree(t.Context(), w, tester, true); codeOf(err) != api.CodeBadRequest || !strings.Contains(err.Error(), "running") {
		t.Errorf("of a running session: %v", err)
	}
	if err := <-s.End(t.Context(), tester, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.block(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.reg.Restart(t.Context(), s, tester); codeOf(err) != api.CodeBadRequest {
		t.Errorf("%v", err)
	}
	s.unblock()
	if err := p.reg.RemoveWorktree(t.Context(), w, tester, false); err != nil {
		t.Fatal(err)
	}
	if s.Status().Worktree != nil {
		t.Error("the session still has it")
	}
	if err := p.reg.Restart(t.Context(), s, tester); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("%v", err)
	}
}

// TestLooksAtRest: the folder is read again each time that the agent rests, and not while it works.
func TestLooksAtRest(t *testing.T) {
	p := open(t)
	p.repository()
	s := p.sh("api", "cat", inTree)
	st := within(t, s, "a first look", func(st *Status) bool { return st.Look != nil })
	if row := st.Row(); *row.Branch != "berth/api" || *row.ChangedFiles != 0 {
		t.Errorf("%+v", row)
	}
	if err := os.WriteFile(filepath.Join(st.Cwd, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-s.End(t.Context(), tester, 0); err != nil {
		t.Fatal(err)
	}
	within(t, s, "a look at its end", func(st *Status) bool { return st.Look != nil && st.Look.Changed == 1 })
	plain := p.sh("plain", "cat")
	if row := plain.Status().Row(); row.Branch != nil || row.ChangedFiles != nil || row.Cwd != p.options.Environment.Home {
		t.Errorf("%+v", row)
	}
}

// TestLookWithoutGit: where git isn't found, a look at a repository runs no login shell to find it. There is
// a look each time that an agent rests.
func TestLookWithoutGit(t *testing.T) {
	p := open(t)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	asked, again := 0, 0
	p.reg.options.Environment.Login = func(_ *account.User, anew bool) map[string]string {
		if asked++; anew {
			again++
		}
		return map[string]string{"PATH": dir}
	}
	if look, _ := p.reg.lookAt(t.Context(), Spec{ID: "one", Name: "one", LoginEnv: true, Cwd: dir}); look != nil {
		t.Errorf("%+v", look)
	}
	if asked == 0 || again > 0 {
		t.Errorf("the login shell's environment was wanted %d times, %d times anew", asked, again)
	}
}

// TestLooksOfManyUsers: where git reads the folders of one OS user's sessions for long, those of others don't wait.
func TestLooksOfManyUsers(t *testing.T) {
	var l slots[int]
	one, other := &account.User{UID: 1001}, &account.User{UID: 1002}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	var leave func()
	for range looksAtOnce {
		var err error
		if leave, err = l.enter(t.Context(), uidOf(one), looksAtOnce); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.enter(gone, uidOf(one), looksAtOnce); !errors.Is(err, context.Canceled) {
		t.Errorf("more looks at once than a user has: %v", err)
	}
	for _, u := range []*account.User{other, nil} {
		ctx, end := context.WithTimeout(t.Context(), 10*time.Second)
		defer end()
		if _, err := l.enter(ctx, uidOf(u), looksAtOnce); err != nil {
			t.Errorf("%v waits for another user's looks: %v", u, err)
		}
	}
	leave()
	if _, err := l.enter(t.Context(), uidOf(one), looksAtOnce); err != nil {
		t.Error(err)
	}
}

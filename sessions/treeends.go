package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions/account"
	"berth/sessions/events"
	"berth/sessions/loop"
	"berth/sessions/worktree"
)

// reapEvery is how often worktrees without a session are looked at.
const reapEvery = time.Hour

// TreeEnd is what became of a worktree when its session was removed.
type TreeEnd struct {
	Path    string  `json:"path"`
	Branch  string  `json:"branch"`
	Removed bool    `json:"removed"`
	Why     *string `json:"why"` // it stays; null if it was removed
}

// Worktree is a worktree that Berth made, of a session or left by one.
type Worktree struct {
	ID       string        `json:"id"`      // of the session
	Session  string        `json:"session"` // its name
	User     string        `json:"user"`
	UID      int           `json:"uid"`
	LoginEnv bool          `json:"login_env"`
	Tags     []string      `json:"tags"`
	Created  api.Time      `json:"created"`
	Tree     worktree.Tree `json:"tree"`

	Live *Session `json:"-"` // nil: the session was removed
}

func treeOf(s *Session) (Worktree, bool) {
	st := s.Status()
	if st.Worktree == nil {
		return Worktree{}, false
	}
	return Worktree{ID: st.ID, Session: st.Name, User: st.User, UID: st.UID, LoginEnv: st.LoginEnv, Tags: noNil(st.Tags), Created: st.Created, Tree: *st.Worktree, Live: s}, true
}

func (w Worktree) spec() Spec {
	return Spec{ID: w.ID, Name: w.Session, User: w.User, UID: w.UID, LoginEnv: w.LoginEnv}
}

func (r *Registry) treesDir() string { return filepath.Join(r.options.StateDir, "worktrees") }

func (r *Registry) treeFile(id string) string { return filepath.Join(r.treesDir(), id+".json") }

// Worktrees lists the worktrees of sessions by name, then those without a session.
func (r *Registry) Worktrees() []Worktree {
	all := []Worktree{}
	for _, s := range r.All() {
		if w, ok := treeOf(s); ok {
			all = append(all, w)
		}
	}
	return append(all, r.leftTrees()...)
}

// leftTrees are the worktrees whose sessions are gone, the oldest first.
func (r *Registry) leftTrees() (left []Worktree) {
	files, err := os.ReadDir(r.treesDir()) // sorted: an id begins with its time
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.log.Error("the worktrees without a session could not be listed", "error", err)
	}
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), ".json")
		if _, live := r.Find(id); !ok || live {
			continue
		}
		var w Worktree
		data, err := os.ReadFile(r.treeFile(id))
		if err == nil {
			err = json.Unmarshal(data, &w)
		}
		if err == nil && w.ID != id {
			err = errForeignSpec
		}
		if err != nil {
			r.log.Error("the record of a worktree cannot be used", "file", r.treeFile(id), "error", err)
			continue
		}
		left = append(left, w)
	}
	return left
}

// leaveTree removes the worktree of a session that is about to be removed, or
// writes down that it stays.
func (r *Registry) leaveTree(ctx context.Context, s *Session, by Actor, discard bool) (*TreeEnd, error) {
	w, ok := treeOf(s)
	if !ok {
		return nil, nil
	}
	end := &TreeEnd{Path: w.Tree.Path, Branch: w.Tree.Branch}
	err := r.endTree(ctx, w, by, discard)
	if end.Removed = err == nil; end.Removed {
		return end, nil
	}
	why := err.Error()
	var kept *worktree.Kept
	if end.Why = &why; !errors.As(err, &kept) {
		r.log.Error("a worktree could not be removed, so it stays", "session", w.Session, "path", w.Tree.Path, "error", err)
	}
	data, err := json.MarshalIndent(w, "", "  ")
	if err == nil {
		err = os.MkdirAll(r.treesDir(), 0o700)
	}
	if err == nil {
		err = loop.ReplaceFile(r.treeFile(w.ID), append(data, '\n'))
	}
	if err != nil {
		return nil, fmt.Errorf("write down its worktree: %w", err)
	}
	return end, nil
}

// endTree removes a worktree, or says in a *worktree.Kept why it stays. It names no session that the caller doesn't see.
func (r *Registry) endTree(ctx context.Context, w Worktree, by Actor, discard bool) error {
	unlock, err := r.lockRepo(ctx, w.spec(), w.Tree.Repo)
	if err != nil {
		return err
	}
	defer unlock()
	for _, s := range r.All() {
		st := s.Status()
		if rel, err := filepath.Rel(w.Tree.Path, st.Cwd); st.ID != w.ID && err == nil && filepath.IsLocal(rel) {
			if !by.Identity.Sees(st.Name, st.Tags) {
				return &worktree.Kept{Why: "another session works in it"}
			}
			return &worktree.Kept{Why: fmt.Sprintf("the session %s works in it", st.Name)}
		}
	}
	g, err := r.git(w.spec())
	if err != nil {
		return err
	}
	if discard {
		return g.Discard(ctx, w.Tree)
	}
	return g.Remove(ctx, w.Tree)
}

// lockRepo waits until no other worktree of the repository is being removed. The path of the repository is what git
// printed, or another program that the user has put in git's place. So one that the user may not write in, such as
// another user's, is locked for this user alone.
func (r *Registry) lockRepo(ctx context.Context, spec Spec, repo string) (unlock func(), err error) {
	user, err := r.options.Environment.account(spec)
	if err != nil {
		return nil, err
	}
	key := repo
	if err := user.Do(ctx, func() error { return mayWrite(repo) }); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("look at %s: %w", repo, ctx.Err())
		}
		key = fmt.Sprint(uidOf(user), " ", repo)
	}
	if unlock, err = r.trees.removals.enter(ctx, key, 1); err != nil {
		return nil, fmt.Errorf("wait for another removal in %s: %w", repo, err)
	}
	return unlock, nil
}

func mayWrite(dir string) error {
	return unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK, unix.AT_EACCESS)
}

// RemoveWorktree removes a worktree, and not its session, which must have ended. With
// discard the work in it goes too.
func (r *Registry) RemoveWorktree(ctx context.Context, w Worktree, by Actor, discard bool) error {
	if w.Live != nil {
		lost, err := w.Live.block(ctx)
		if err != nil {
			return err
		}
		defer w.Live.unblock()
		if lost {
			if err := w.Live.endOrphans(EndGrace); err != nil {
				return err
			}
		}
	}
	err := r.endTree(ctx, w, by, discard)
	var kept *worktree.Kept
	if errors.As(err, &kept) {
		return api.Errorf(api.CodeBadRequest, "the worktree of %s stays: %s", w.Session, kept.Why).With("session", w.Session).With("path", w.Tree.Path)
	}
	if err != nil {
		return fmt.Errorf("remove the worktree of %s: %w", w.Session, err)
	}
	told := treeEvent{By: by.By(), Why: "worktree rm", Path: w.Tree.Path, Branch: w.Tree.Branch}
	if w.Live == nil {
		return r.forgetTree(w, told)
	}
	return w.Live.change(ctx, func(c *core) error {
		return c.changeSpec(func(spec *Spec) { spec.Worktree = nil }, func() { c.kernel.Emit.Note(eventTreeRemoved, told) })
	})
}

// block keeps an ended session from being started again until unblock. lost says that
// processes of a lost program may be left.
func (s *Session) block(ctx context.Context) (lost bool, err error) {
	return ask(context.WithoutCancel(ctx), s, func(c *core) (lost bool, err error) {
		over := c.track.State() == agent.Exited // not while it waits to be started again
		if over {
			lost, over = c.life.BeginRemoval()
		}
		if !over {
			return false, api.Errorf(api.CodeBadRequest, "%s is running: kill it first", c.spec.Name).With("session", c.spec.Name)
		}
		return lost, nil
	})
}

func (s *Session) unblock() {
	_ = s.do(context.Background(), func(c *core) { c.life.EndRemoval() }) // a loop that has ended starts nothing
}

// forgetTree emits that a worktree without a session is gone.
func (r *Registry) forgetTree(w Worktree, e treeEvent) error {
	_, err := r.events.Append(events.Event{Session: w.Session, ID: w.ID, Type: eventTreeRemoved, Data: e})
	r.events.Forget(w.ID)
	if removed := os.Remove(r.treeFile(w.ID)); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// reapTrees removes worktrees that have no session and no work, those of each OS user one after another. A user whose
// filters keep git holds up the removal of no others.
func (r *Registry) reapTrees(ctx context.Context) {
	users := map[string][]Worktree{}
	for _, w := range r.leftTrees() {
		users[w.User] = append(users[w.User], w)
	}
	var work sync.WaitGroup
	for _, some := range users {
		work.Go(func() {
			for _, w := range some {
				r.reapTree(ctx, w)
			}
		})
	}
	work.Wait()
}

func (r *Registry) reapTree(ctx context.Context, w Worktree) {
	by := Actor{Identity: keys.Identity{Name: "berth"}}
	err := r.endTree(ctx, w, by, false)
	if err == nil {
		err = r.forgetTree(w, treeEvent{By: by.By(), Why: "merged", Path: w.Tree.Path, Branch: w.Tree.Branch})
	}
	var kept *worktree.Kept
	if err != nil && ctx.Err() == nil && !errors.As(err, &kept) {
		r.log.Warn("a worktree without a session could not be looked at", "session", w.Session, "path", w.Tree.Path, "error", err)
	}
}

// TreeRow is a worktree as worktree ls lists it. What can't be read is null.
type TreeRow struct {
	Session      string   `json:"session"`
	ID           string   `json:"id"`
	State        *string  `json:"state"` // of the session; null: it was removed
	Path         string   `json:"path"`
	Branch       *string  `json:"branch"` // null: detached
	Base         string   `json:"base"`
	Ahead        *int     `json:"ahead"`
	Behind       *int     `json:"behind"`
	ChangedFiles *int     `json:"changed_files"`
	SizeBytes    *int64   `json:"size_bytes"` // of the first 20,000 files
	CreatedAt    api.Time `json:"created_at"`
}

// TreeRows reads the rows of worktrees. What isn't read within that time is null.
func (r *Registry) TreeRows(ctx context.Context, all []Worktree, within time.Duration) []TreeRow {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	rows := make([]TreeRow, len(all))
	var work sync.WaitGroup
	for i, w := range all {
		work.Go(func() { rows[i] = r.treeRow(ctx, w) })
	}
	work.Wait()
	return rows
}

func (r *Registry) treeRow(ctx context.Context, w Worktree) TreeRow {
	row := TreeRow{Session: w.Session, ID: w.ID, Path: w.Tree.Path, Base: w.Tree.Onto(), CreatedAt: w.Created}
	if w.Live != nil {
		state := string(w.Live.Status().Now)
		row.State = &state
	}
	g, err := r.git(w.spec())
	if err != nil {
		return row
	}
	user, err := r.options.Environment.account(w.spec())
	if err != nil {
		return row
	}
	leave, err := r.trees.looks.enter(ctx, uidOf(user), looksAtOnce)
	if err != nil {
		return row
	}
	defer leave()
	if look, err := g.Look(ctx, w.Tree.Path); err == nil {
		row.ChangedFiles = &look.Changed
		row.Branch = orNil(look.Branch)
	}
	if ahead, behind, err := g.Distance(ctx, w.Tree); err == nil {
		row.Ahead, row.Behind = &ahead, &behind
	}
	if size, err := r.treeSize(ctx, w); err == nil {
		row.SizeBytes = &size
	}
	return row
}

func (r *Registry) treeSize(ctx context.Context, w Worktree) (int64, error) {
	user, err := r.options.Environment.account(w.spec())
	if err != nil {
		return 0, err
	}
	return account.As(ctx, user, func() (int64, error) { return account.Size(w.Tree.Path) })
}

// TreeDiff reads the work in a worktree.
func (r *Registry) TreeDiff(ctx context.Context, w Worktree) (worktree.Diff, error) {
	g, err := r.git(w.spec())
	if err != nil {
		return worktree.Diff{}, err
	}
	d, err := g.Diff(ctx, w.Tree)
	var no *worktree.Error
	if errors.As(err, &no) {
		return d, api.Errorf(api.CodeBadRequest, "the worktree %s can't be read: %w", api.Quote(w.Tree.Path), err).With("session", w.Session)
	}
	return d, err
}

// FindWorktree finds a worktree by the name or id of its session, among those given.
func FindWorktree(all []Worktree, word string) (Worktree, error) {
	match := func(ok func(Worktree) bool) (some []Worktree) {
		return slices.DeleteFunc(slices.Clone(all), func(w Worktree) bool { return !ok(w) })
	}
	if some := match(func(w Worktree) bool { return w.ID == word || w.Live != nil && w.Session == word }); len(some) == 1 {
		return some[0], nil
	}
	some := match(func(w Worktree) bool { return w.Session == word })
	switch len(some) {
	case 0:
		return Worktree{}, api.Errorf(api.CodeNotFound, "there is no worktree of a session %s: worktree ls lists the worktrees", api.Quote(word)).With("session", word)
	case 1:
		return some[0], nil
	}
	ids := []string{}
	for _, w := range some {
		ids = append(ids, w.ID)
	}
	return Worktree{}, api.Errorf(api.CodeBadRequest, "%d worktrees are left of sessions called %s: give the id of one, %s", len(some), word, strings.Join(ids, " or ")).With("session", word)
}

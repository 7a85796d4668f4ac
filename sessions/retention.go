package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions/account"
	"berth/sessions/loop"
)

// retainEvery is how often ended sessions are looked over.
const retainEvery = time.Minute

// each calls fn now and then at each interval, until ctx ends.
func each(ctx context.Context, interval time.Duration, fn func(context.Context)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		fn(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// removeOld removes ended sessions that are past retention.
func (r *Registry) removeOld(ctx context.Context) {
	var over []endedSession
	for _, s := range r.All() {
		st := s.Status()
		if st.Now != agent.Exited || st.Exit == nil {
			continue
		}
		size, err := account.Size(s.dir)
		if err != nil {
			r.log.Warn("a session's folder could not be measured", "session", st.Name, "error", err)
		}
		one := endedSession{session: s, at: st.Exit.Time.Time, size: size}
		if st.Parent != "" {
			one.root = r.root(st.Spec)
			one.share = r.ofRoot(one.root).keep()
		}
		over = append(over, one)
	}
	r.removeAll(ctx, r.settings.Load().Retention.past(r.now(), over))
	r.sweepMail()
}

// removeAll removes sessions, those of each OS user one after another. A user who adds to the folders of ended
// sessions all the while holds up the removal of no others.
func (r *Registry) removeAll(ctx context.Context, past map[*Session]string) {
	by := Actor{Identity: keys.Identity{Name: "berth"}}
	users := map[uint32][]*Session{}
	for s := range past {
		uid := uint32(os.Geteuid())
		if st, err := s.agentOwner(); err == nil && st != nil {
			uid = st.Uid
		}
		users[uid] = append(users[uid], s)
	}
	var work sync.WaitGroup
	for _, some := range users {
		work.Go(func() {
			for _, s := range some {
				if _, err := r.remove(ctx, s, by, past[s], false); err != nil && ctx.Err() == nil {
					r.log.Error("an old session could not be removed", "session", s.Status().Name, "error", err)
				}
			}
		})
	}
	work.Wait()
}

// endedSession is a session that has ended, as retention looks at it.
type endedSession struct {
	session *Session
	at      time.Time // of its end
	size    int64     // of its folder
	root    string    // of an agent's child: what its lineage begins with
	share   int       // how many ended ones of that lineage are kept
}

// lineagePart is the part of Retention.Total that the ended sessions of one
// agent's lineage may have.
const lineagePart = 10

// past are the sessions that are not kept any longer, and why. What agents have
// started is counted by itself, and last: an agent that starts and ends sessions
// pushes out those of its own lineage and no other's.
func (keep Retention) past(now time.Time, over []endedSession) map[*Session]string {
	slices.SortFunc(over, func(a, b endedSession) int {
		if (a.root == "") != (b.root == "") {
			return cmp.Compare(len(a.root), len(b.root))
		}
		return b.at.Compare(a.at)
	})
	past := map[*Session]string{}
	var total int64
	count, bytes := map[string]int{}, map[string]int64{}
	for _, e := range over {
		most, part := keep.Keep, keep.Total
		if e.root != "" {
			most, part = e.share, keep.Total/lineagePart
		}
		count[e.root]++
		switch {
		case most > 0 && count[e.root] > most:
			past[e.session] = "retention: more than are kept"
			continue
		case keep.Ended > 0 && now.Sub(e.at) > keep.Ended:
			past[e.session] = "retention: age"
			continue
		}
		// One that goes makes room: a huge one pushes out no others.
		if keep.Total > 0 && (total+e.size > keep.Total || bytes[e.root]+e.size > part) {
			past[e.session] = "retention: total size"
			continue
		}
		total += e.size
		bytes[e.root] += e.size
	}
	return past
}

// Remove forgets an ended session and deletes its folder. Its worktree goes too if
// no work is in it, or in any case with discard.
func (r *Registry) Remove(ctx context.Context, s *Session, by Actor, discard bool) (*TreeEnd, error) {
	return r.remove(ctx, s, by, "rm", discard)
}

// removeWithin bounds how long a folder is deleted. Its user may add to it all
// the while.
const removeWithin = 5 * time.Minute

// remove deletes what the session's user has made first, which may fail, and
// lets the session be until then: it can be removed again.
func (r *Registry) remove(ctx context.Context, s *Session, by Actor, why string, discard bool) (*TreeEnd, error) {
	ctx, cancel := context.WithTimeout(ctx, removeWithin)
	defer cancel()
	running, lost := false, false
	err := s.do(ctx, func(c *core) {
		left, over := c.life.BeginRemoval()
		running, lost = !over, left
	})
	if err != nil && !s.gone.Load() {
		return nil, err
	}
	if running {
		return nil, api.Errorf(api.CodeBadRequest, "%s is running: kill it first", s.Status().Name)
	}
	var tree *TreeEnd
	err = s.clearAfter(ctx, lost)
	if err == nil {
		tree, err = r.leaveTree(ctx, s, by, discard)
	}
	if err != nil {
		_ = s.do(context.WithoutCancel(ctx), func(c *core) { c.life.EndRemoval() }) // a loop that has ended starts nothing
		return nil, s.notRemoved(err)
	}
	err = s.do(ctx, func(c *core) {
		if c.kernel.Stopping() {
			return
		}
		c.kernel.Emit.Flush()
		if tree != nil && tree.Removed {
			c.kernel.Emit.Note(eventTreeRemoved, treeEvent{By: by.By(), Why: why, Path: tree.Path, Branch: tree.Branch})
		}
		c.mail.Refuse("the session was removed")
		c.kernel.Emit.Note("session_removed", removedEvent{By: by.By(), Why: why})
		c.clients.Kick("the session was removed")
		c.kernel.Stop() // the loop ends after this call
		c.s.gone.Store(true)
	})
	if err != nil && !s.gone.Load() {
		return nil, err
	}
	<-s.kernel.Over()
	if err := s.clearOwn(); err != nil {
		return nil, s.notRemoved(err)
	}
	r.mu.Lock()
	delete(r.byID, s.id)
	delete(r.names, s.Status().Name)
	r.mu.Unlock()
	r.events.Forget(s.id)
	s.dropSockets()
	return tree, nil
}

// clearAfter ends what runs on of a lost program and deletes what the session's
// user has made.
func (s *Session) clearAfter(ctx context.Context, lost bool) error {
	if lost {
		if err := s.endOrphans(EndGrace); err != nil {
			return err
		}
	}
	return s.clearAgents(ctx)
}

func (s *Session) notRemoved(err error) error {
	return api.Errorf(api.CodeInternal, "%s is not removed: %w; end what its user still runs there, unmount what is mounted, and rm it again", s.Status().Name, err).With("session", s.Status().Name)
}

// discard deletes the folder of a session that came to nothing.
func (s *Session) discard() error {
	ctx, cancel := context.WithTimeout(context.Background(), removeWithin)
	defer cancel()
	if err := s.clearAgents(ctx); err != nil {
		return err
	}
	return s.clearOwn()
}

// clearAgents deletes what is in the agent's folder with the rights of the user
// whose folder it is.
func (s *Session) clearAgents(ctx context.Context) error {
	st, err := s.agentOwner()
	if err != nil || st == nil {
		return err // without one, what there is goes with the rest
	}
	owner := &account.User{Name: fmt.Sprint("uid ", st.Uid), UID: int(st.Uid), GID: int(st.Gid)}
	return owner.Clear(ctx, s.dir, agentDir)
}

// agentOwner is who has the agent's folder; nil if there is none.
func (s *Session) agentOwner() (*syscall.Stat_t, error) {
	info, err := os.Lstat(filepath.Join(s.dir, agentDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at the agent's folder: %w", err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && info.IsDir() {
		return st, nil
	}
	return nil, nil
}

// clearOwn deletes the session's folder. The files that say what it was go last:
// what a kill leaves is a session that has ended.
func (s *Session) clearOwn() error {
	ctx, cancel := context.WithTimeout(context.Background(), removeWithin) // not left half done
	defer cancel()
	var own *account.User
	if err := own.Clear(ctx, filepath.Dir(s.dir), filepath.Base(s.dir), specFile, loop.CheckpointFile); err != nil {
		return err
	}
	for _, name := range []string{loop.CheckpointFile, specFile, ""} {
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete the session's folder: %w", err)
		}
	}
	return nil
}

package sessions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"berth/detect/watch"
	"berth/keys"
	"berth/sessions/cgroup"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
	"berth/sessions/mail"
)

// Open takes up the sessions in the state folder. Programs that still run are
// adopted, the others are kept as ended.
func Open(ctx context.Context, o Options) (*Registry, error) {
	if o.Rights == nil {
		o.Rights = func(id keys.Identity, _ string) (keys.Identity, error) {
			return keys.Identity{}, fmt.Errorf("the rights of %s are not known: the server has no source of rights", id.Name)
		}
	}
	if o.Cgroups == nil {
		o.Cgroups = cgroup.None(errors.New("this server takes no cgroups"))
	}
	r := &Registry{options: o, log: o.Log, now: o.Now, byID: map[string]*Session{}, names: map[string]*Session{}, launching: map[string]launching{}, commands: map[int]Holder{}}
	r.births = births{recent: map[string][]time.Time{}, coming: map[string][]string{}, born: map[string]int{}}
	r.known.Store(&o.Drivers)
	r.Configure(Settings{Retention: o.Retention, Worktrees: o.Worktrees, Clipboard: o.Clipboard})
	if err := os.MkdirAll(r.sessionsDir(), 0o700); err != nil {
		return nil, fmt.Errorf("make the sessions' folder: %w", err)
	}
	if err := checkOutside(r.sessionsDir()); err != nil {
		return nil, err
	}
	if err := hold.KeepLevel(filepath.Join(o.StateDir, "level")); err != nil {
		return nil, err
	}
	log, err := events.Open(filepath.Join(o.StateDir, "events"), events.Options{Now: o.Now})
	if err != nil {
		return nil, fmt.Errorf("open the event log: %w", err)
	}
	r.events, r.opened = log, o.Now()
	if r.mail, err = mail.Open(filepath.Join(o.StateDir, "messages"), o.Now); r.mail == nil {
		return nil, errors.Join(err, log.Close())
	} else if err != nil {
		r.log.Error("some messages between sessions can't be read", "error", err)
	}
	place, known := r.mail.Place()
	if !known || place > log.Head() { // a parent has learnt of older events without Berth, or the log is a new one
		place = log.Head()
		if err := r.mail.KeepPlace(place); err != nil {
			r.log.Error("a restarted server may not pass on events of children", "error", err)
		}
	}
	if r.watcher, err = watch.New(); err != nil {
		r.log.Warn("cannot watch files: changes of agents' files are noticed late, by polling", "error", err)
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	if err := r.adoptAll(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.sweepMail()
	r.loops.Go(func() { r.passOn(r.ctx, place) })
	r.loops.Go(func() { each(r.ctx, retainEvery, r.removeOld) })
	r.loops.Go(func() { each(r.ctx, reapEvery, r.reapTrees) })
	return r, nil
}

// checkOutside refuses to have a server inside one of its own sessions: it takes for
// outside what surrounds it, which is that session's processes.
func checkOutside(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list the sessions: %w", err)
	}
	folders := make([]string, len(entries))
	for i, e := range entries {
		folders[i] = filepath.Join(dir, e.Name())
	}
	return hold.CheckServer(folders)
}

// Close ends the loops and leaves the programs running.
func (r *Registry) Close() error {
	r.mu.Lock()
	r.stop = true
	r.mu.Unlock()
	r.starts.Wait() // those under way are seen through
	r.cancel()
	r.loops.Wait()
	if r.watcher != nil {
		_ = r.watcher.Close() // no session uses it any more
	}
	return r.events.Close()
}

// EndAll ends every running session's program and waits for it, as long as
// that may take.
func (r *Registry) EndAll(ctx context.Context, by Actor) error {
	ctx, cancel := context.WithTimeout(ctx, EndGrace+endPatience)
	defer cancel()
	var waits []<-chan error
	for _, s := range r.All() {
		waits = append(waits, s.End(ctx, by, EndGrace))
	}
	var failed error
	for _, w := range waits {
		select {
		case err := <-w:
			failed = errors.Join(failed, err)
		case <-ctx.Done():
			return errors.Join(failed, fmt.Errorf("wait for the sessions' ends: %w", ctx.Err()))
		}
	}
	return failed
}

// endPatience is what the kernel may need for a tree of processes beyond the
// grace that they got.
const endPatience = 10 * time.Second

// newCore makes a session that has no emulator and no holder yet.
func (r *Registry) newCore(spec Spec, dir string) *core {
	s := &Session{id: spec.ID, dir: dir, reg: r, filesChanged: make(chan struct{}, 1)}
	c := &core{s: s, spec: spec, log: r.log.With("session", spec.Name, "id", spec.ID)}
	c.kernel = loop.NewKernel(c.kernelEnv())
	s.core, s.kernel = c, c.kernel
	c.addParts()
	return c
}

// run makes the session known and starts its loop.
func (r *Registry) run(c *core) {
	c.kernel.Publish()
	r.mu.Lock()
	r.byID[c.s.id], r.names[c.spec.Name] = c.s, c.s
	r.mu.Unlock()
	r.loops.Go(func() { c.kernel.Run(r.ctx) })
}

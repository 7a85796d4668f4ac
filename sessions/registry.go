package sessions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect/watch"
	"berth/keys"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// EndGrace is the time between HUP and KILL when a session is ended.
const EndGrace = 10 * time.Second

// Options of a Registry.
type Options struct {
	StateDir    string // 0700
	RuntimeDir  string // 0700, for sockets: a short path
	Exe         string // berth-hold: what holders and hooks are started from
	Berth       string // berth: what an agent's own commands call
	Environment Environment
	Retention   Retention
	Clipboard   bool                    // let programs set the clipboards of clients
	Drivers     map[string]agent.Driver // by the agents' names; one of generic reads any other program
	// Rights gives an identity with the rights that it has now, or why it has
	// none any more: its kind, name, fingerprint and source are given. Without it
	// nobody has any.
	Rights func(keys.Identity) (keys.Identity, error)
	Log    *slog.Logger
	Now    func() time.Time
}

// Registry keeps all sessions of one server.
type Registry struct {
	options Options
	log     *slog.Logger
	now     func() time.Time
	events  *events.Log
	opened  time.Time      // when this server took up its sessions
	watcher *watch.Watcher // of agents' files; nil where the system gives none
	known   atomic.Pointer[map[string]agent.Driver]

	unusable []string // folders that could not be taken up, and why
	strays   []Holder // what still runs of them

	ctx    context.Context // of the loops
	cancel context.CancelFunc
	loops  sync.WaitGroup

	starts   sync.WaitGroup // holders being started; Add only under mu and before stop is set
	births   births
	turnover turnover

	mu    sync.RWMutex
	byID  map[string]*Session
	names map[string]*Session // nil while a name is being made
	stop  bool                // no session is started any more
	// launching are holders, by their sessions' ids, whose sessions do not name
	// them yet: their processes must never pass for somebody else's.
	launching map[string]Holder
	// commands are the commands that run for sessions now, by their pids.
	commands map[int]Holder
}

// Open takes up the sessions that the state folder tells of: programs that
// still run are adopted, the others are kept as ended.
func Open(ctx context.Context, o Options) (*Registry, error) {
	if o.Rights == nil {
		o.Rights = func(id keys.Identity) (keys.Identity, error) {
			return keys.Identity{}, fmt.Errorf("nobody can tell what %s may do now", id.Name)
		}
	}
	r := &Registry{options: o, log: o.Log, now: o.Now, byID: map[string]*Session{}, names: map[string]*Session{}, launching: map[string]Holder{}, commands: map[int]Holder{}}
	r.births.recent, r.births.coming = map[string][]time.Time{}, map[string]string{}
	r.known.Store(&o.Drivers)
	if err := os.MkdirAll(r.sessionsDir(), 0o700); err != nil {
		return nil, fmt.Errorf("make the sessions' folder: %w", err)
	}
	if err := checkOutside(r.sessionsDir()); err != nil {
		return nil, err
	}
	log, err := events.Open(filepath.Join(o.StateDir, "events"), events.Options{Now: o.Now})
	if err != nil {
		return nil, fmt.Errorf("open the event log: %w", err)
	}
	r.events, r.opened = log, o.Now()
	if r.watcher, err = watch.New(); err != nil {
		r.log.Warn("agents' files are only looked at now and then: the system tells of no changes", "error", err)
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	if err := r.adoptAll(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.loops.Go(func() { r.retain(r.ctx) })
	return r, nil
}

func (r *Registry) sessionsDir() string { return filepath.Join(r.options.StateDir, "sessions") }

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
		_ = r.watcher.Close() // nobody listens any more
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

// Events is the log of all sessions' events.
func (r *Registry) Events() *events.Log { return r.events }

// ProtocolVersion is what this build speaks with its holders.
func (r *Registry) ProtocolVersion() int { return hold.ProtocolVersion }

// Find gives the session of that name or id.
func (r *Registry) Find(word string) (*Session, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if s, ok := r.byID[word]; ok {
		return s, true
	}
	s := r.names[word]
	return s, s != nil
}

// All lists the sessions by name.
func (r *Registry) All() []*Session {
	r.mu.RLock()
	list := make([]*Session, 0, len(r.byID))
	for _, s := range r.byID {
		list = append(list, s)
	}
	r.mu.RUnlock()
	sort.Slice(list, func(i, j int) bool { return list[i].Status().Name < list[j].Status().Name })
	return list
}

// Descends says whether the session with this id was made by the agent in
// another, directly or by way of its children.
func (r *Registry) Descends(id, ancestor string) bool {
	for range maxDepth {
		s, ok := r.Find(id)
		if !ok || s.Status().Parent == "" {
			return false
		}
		if id = s.Status().Parent; id == ancestor {
			return true
		}
	}
	return false
}

// maxDepth is how deep sessions may start sessions.
const maxDepth = 5

// Holders lists the processes that hold living sessions, those that are being
// started too, and the commands that the server runs for sessions; and, without a
// process, the sessions of other users that are to start again. It waits for no start:
// how long one takes is up to the session's user, whose program may lie on what does
// not answer.
func (r *Registry) Holders() []Holder {
	r.mu.RLock()
	defer r.mu.RUnlock()
	list := slices.DeleteFunc(slices.Clone(r.strays), func(h Holder) bool {
		start, err := hold.StartOf(h.PID)
		return h.PID != 0 && (err != nil || start != h.Start) // the holder has ended
	})
	list = slices.AppendSeq(list, maps.Values(r.launching))
	list = slices.AppendSeq(list, maps.Values(r.commands))
	for _, s := range r.byID {
		if st := s.Status(); st.HolderPID != 0 && st.HolderPID != r.launching[st.ID].PID {
			list = append(list, st.Spec.holder(st.HolderPID, st.HolderStart))
		} else if st.HolderPID == 0 && st.Running() && st.Spec.owner() != os.Geteuid() {
			list = append(list, st.Spec.holder(0, "")) // its user is a session's, also until that starts again
		}
	}
	return list
}

func (s Spec) holder(pid int, start string) Holder {
	return Holder{PID: pid, UID: s.owner(), Start: start, ID: s.ID, Name: s.Name, Verbs: s.Children.verbs()}
}

// beginStart says that a holder may be started: the server does not go down.
// Every one that may is to end with r.starts.Done.
func (r *Registry) beginStart() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop {
		return errStopped
	}
	r.starts.Add(1)
	return nil
}

// launches keeps a holder that is being started, until its session names it.
func (r *Registry) launches(id string, h Holder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.launching[id] = h
}

func (r *Registry) launched(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.launching, id)
}

// Holder is a process that holds a session, or that the server runs for it.
type Holder struct {
	Command  bool   // it runs for the session and holds nothing
	PID      int    // 0 if the holder is unknown, or a session of another user is between two holders
	UID      int    // uid of its programs; hold.UnknownUID if unknown
	Start    string // tells it from a later process with its PID; see hold.StartOf
	ID, Name string
	Verbs    []string // that what descends from it may use, beside what all such may
}

// newCore makes a session that has no emulator and no holder yet.
func (r *Registry) newCore(spec Spec, dir string) *core {
	s := &Session{id: spec.ID, dir: dir, reg: r, calls: make(chan func(*core)), stirred: make(chan struct{}, 1), over: make(chan struct{})}
	c := &core{
		s: s, spec: spec, log: r.log.With("session", spec.Name, "id", spec.ID),
		saving: saving{saved: r.now()}, paces: loop.Paces{},
	}
	c.journal = loop.NewJournal(dir, c.journalEnv())
	c.parts = c.listParts()
	return c
}

// run makes the session known and starts its loop.
func (r *Registry) run(c *core) {
	c.publish()
	r.mu.Lock()
	r.byID[c.s.id], r.names[c.spec.Name] = c.s, c.s
	r.mu.Unlock()
	r.loops.Go(func() { c.run(r.ctx) })
}

// hold takes on a holder's link.
func (c *core) hold(link *hold.Link) {
	c.journal.Hold(link)
	w := link.Welcome()
	c.holderPID, c.holderStart = w.HolderPID, w.HolderStart
	c.clients.SizeIs(w.Cols, w.Rows)
	c.becomes(child{pid: w.ChildPID, start: w.ChildStart})
	c.dirty = true
	c.save() // so that the next server knows the holder even if it does not answer
}

// becomes takes on the program that runs now. What is in its foreground is still to be seen.
func (c *core) becomes(program child) {
	c.child = program
	c.track.ForgetFront()
}

// Rename gives the session another name.
func (r *Registry) Rename(ctx context.Context, s *Session, name string, by Actor) error {
	if err := api.CheckName(name); err != nil {
		return err
	}
	r.mu.Lock()
	if other, taken := r.names[name]; taken {
		r.mu.Unlock()
		if other == s {
			return nil
		}
		return api.Errorf(api.CodeBadRequest, "there is a session %s already: choose another name", name).With("session", name)
	}
	r.names[name] = nil
	r.mu.Unlock()
	err := s.change(ctx, func(c *core) error {
		old := c.spec.Name
		err := c.changeSpec(func(spec *Spec) { spec.Name = name }, func() { c.paced(0, "renamed", "rename", by.By(), renamedEvent{By: by.By(), From: old}) })
		if err != nil {
			return err
		}
		r.mu.Lock() // in the loop's order, so that renames that meet leave no name behind
		defer r.mu.Unlock()
		delete(r.names, old)
		r.names[name] = s
		return nil
	})
	if err != nil {
		r.mu.Lock()
		delete(r.names, name)
		r.mu.Unlock()
	}
	return err
}

// changeSpec keeps a changed spec on disk before it is used and told.
func (c *core) changeSpec(change func(*Spec), told func()) error {
	spec := c.spec
	change(&spec)
	if err := saveSpec(c.s.dir, spec); err != nil {
		return err
	}
	c.spec, c.dirty = spec, true
	told()
	c.publish()
	c.clients.Dismiss()
	return nil
}

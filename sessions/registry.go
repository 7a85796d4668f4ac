package sessions

import (
	"context"
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
	"berth/sessions/cgroup"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/life"
	"berth/sessions/mail"
)

// EndGrace is the time between HUP and KILL when a session is ended.
const EndGrace = life.EndGrace

// Options of a Registry.
type Options struct {
	StateDir    string // 0700
	RuntimeDir  string // 0700, for sockets: a short path
	Exe         string // berth-hold: what holders and hooks are started from
	Berth       string // berth: what an agent's own commands call
	Environment Environment
	Retention   Retention
	Cgroups     *cgroup.Tree            // of sessions; nil: they have none
	Worktrees   string                  // folder of new worktrees; ~/ is the home of a session's user; empty: defaultWorktrees
	Clipboard   ClipboardPolicy         // whose clipboards programs set
	Drivers     map[string]agent.Driver // by the agents' names; one of generic reads any other program
	// Rights gives an identity with its current rights, or an error that says why it
	// has none any more, or none to the verb by its forced command. Its kind, name,
	// fingerprint and source are given. Without this function no identity has rights.
	Rights func(id keys.Identity, verb string) (keys.Identity, error)
	Log    *slog.Logger
	Now    func() time.Time
}

// Settings are options that may change while sessions run.
type Settings struct {
	Retention Retention
	Worktrees string
	Clipboard ClipboardPolicy
}

// Configure changes the settings.
func (r *Registry) Configure(s Settings) { r.settings.Store(&s) }

// Registry keeps all sessions of one server.
type Registry struct {
	options  Options
	settings atomic.Pointer[Settings]
	log      *slog.Logger
	now      func() time.Time
	events   *events.Log
	mail     *mail.Office
	opened   time.Time      // when this server took up its sessions
	watcher  *watch.Watcher // of agents' files; nil where the system gives none
	known    atomic.Pointer[map[string]agent.Driver]
	read     atomic.Int64 // bytes of output of all sessions, since this server took them up

	unusable unusable // folders that could not be taken up

	ctx    context.Context // of the loops
	cancel context.CancelFunc
	loops  sync.WaitGroup

	starts   sync.WaitGroup // holders being started; Add only under mu and before stop is set
	births   births
	turnover turnover
	versions versions // of the agents' programs
	trees    trees    // what is done in sessions' folders

	mu    sync.RWMutex
	byID  map[string]*Session
	names map[string]*Session // nil while a name is being made
	stop  bool                // no session is started any more
	// launching are holders that have started and that their sessions do not know
	// yet, by the sessions' ids. Their processes must not be taken for another
	// session's.
	launching map[string]launching
	// commands are the commands that run for sessions now, by their pids.
	commands map[int]Holder
}

// unusable are sessions' folders that could not be taken up.
type unusable struct {
	why    []string
	strays []Holder // what still runs of them
}

// trees bounds what is done in sessions' folders.
type trees struct {
	removals slots[string]      // one worktree of a repository is removed at a time: two could count on each other's branch
	looks    slots[int]         // bounds how many folders of one OS user's sessions are read by git at once, by uid
	folders  slots[folderAsker] // bounds the questions about folders for new sessions
}

// launching is a holder whose session does not name it yet.
type launching struct {
	Holder
	over chan struct{} // closed when the session names the holder, or its start has failed
}

func (r *Registry) sessionsDir() string { return filepath.Join(r.options.StateDir, "sessions") }

// Events is the log of all sessions' events.
func (r *Registry) Events() *events.Log { return r.events }

// Protocols are the versions of the protocol that this build speaks with holders, oldest first.
func (r *Registry) Protocols() []int { return hold.Protocols() }

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
	list := slices.DeleteFunc(slices.Clone(r.unusable.strays), func(h Holder) bool {
		start, err := hold.StartOf(h.PID)
		return h.PID != 0 && (err != nil || start != h.Start) // the holder has ended
	})
	for _, l := range r.launching {
		list = append(list, l.Holder)
	}
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
	r.launching[id] = launching{h, make(chan struct{})}
}

func (r *Registry) launched(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l, ok := r.launching[id]; ok {
		close(l.over)
		delete(r.launching, id)
	}
}

// AwaitStart waits until a new session is known, if its program is being started. The program runs a
// moment before that, and its first act may be a call to this server. launchWithin bounds a start.
func (r *Registry) AwaitStart(ctx context.Context, id string) error {
	r.mu.RLock()
	l, starts := r.launching[id]
	_, known := r.byID[id]
	r.mu.RUnlock()
	if known || !starts {
		return nil
	}
	select {
	case <-l.over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
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
		err := c.changeSpec(func(spec *Spec) { spec.Name = name }, func() { c.kernel.Emit.Paced(0, "renamed", "rename", by.By(), renamedEvent{By: by.By(), From: old}) })
		if err != nil {
			return err
		}
		r.mu.Lock() // in the loop's order, so that concurrent renames leave no old name
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

// mayCause refuses a call that causes n events if its caller has caused too many.
func (r *Registry) mayCause(by Actor, n int) error {
	wait := r.turnover.take(by.By(), n, r.now())
	if wait == 0 {
		return nil
	}
	return api.Errorf(api.CodeLimit, "%s has made too many starts, messages and gates, and more would push the events of others out of the log: wait %s",
		by.Identity.Name, max(wait, time.Second).Round(time.Second))
}

// Retention says how long ended sessions are kept.
type Retention struct {
	Ended time.Duration // since their end
	Keep  int           // the newest so many
	Total int64         // bytes of all of them together

	Transcripts int64 // bytes of one session's transcripts together; 0 is the default
}

// DefaultRetention is the design's.
var DefaultRetention = Retention{Ended: 7 * 24 * time.Hour, Keep: 50, Total: 10 << 30}

// drivers are the agents that Berth knows, by their names.
func (r *Registry) drivers() map[string]agent.Driver { return *r.known.Load() }

// driver is what is known of the agent of a session that is made so; nil: this
// server knows none of that name.
func (r *Registry) driver(spec Spec) agent.Driver {
	d := r.drivers()[spec.Agent]
	if f, ok := d.(agent.ForCommand); ok {
		return f.ForCommand(spec.Command, spec.Rules)
	}
	return d
}

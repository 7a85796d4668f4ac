// Package sessions keeps the sessions: it makes and finds them, and runs the
// loop that owns each one, which wires holder, emulator, lease and events.
package sessions

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"berth/agent"
	"berth/api"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/lease"
)

// EndGrace is the time between HUP and KILL when a session is ended.
const EndGrace = 10 * time.Second

// Options of a Registry.
type Options struct {
	StateDir    string // 0700
	RuntimeDir  string // 0700, for sockets: a short path
	Exe         string // the binary that holders are started from
	Environment Environment
	Retention   Retention
	Clipboard   bool // let programs set the clipboards of clients
	Log         *slog.Logger
	Now         func() time.Time
}

// Registry keeps all sessions of one server.
type Registry struct {
	options Options
	log     *slog.Logger
	now     func() time.Time
	events  *events.Log

	unusable []string // folders that could not be taken up, and why

	ctx    context.Context // of the loops
	cancel context.CancelFunc
	loops  sync.WaitGroup

	// launching is read-locked while a holder is started and not yet known:
	// its processes must never pass for somebody else's.
	launching sync.RWMutex

	mu    sync.RWMutex
	byID  map[string]*Session
	names map[string]*Session // nil while a name is being made
	stop  bool                // no session is started any more
}

// Open takes up the sessions that the state folder tells of: programs that
// still run are adopted, the others are kept as ended.
func Open(ctx context.Context, o Options) (*Registry, error) {
	r := &Registry{options: o, log: o.Log, now: o.Now, byID: map[string]*Session{}, names: map[string]*Session{}}
	if err := os.MkdirAll(r.sessionsDir(), 0o700); err != nil {
		return nil, fmt.Errorf("make the sessions' folder: %w", err)
	}
	log, err := events.Open(filepath.Join(o.StateDir, "events"), events.Options{Now: o.Now})
	if err != nil {
		return nil, fmt.Errorf("open the event log: %w", err)
	}
	r.events = log
	r.ctx, r.cancel = context.WithCancel(context.Background())
	if err := r.adoptAll(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.loops.Go(func() { r.retain(r.ctx) })
	return r, nil
}

func (r *Registry) sessionsDir() string { return filepath.Join(r.options.StateDir, "sessions") }

// Close ends the loops and leaves the programs running.
func (r *Registry) Close() error {
	r.mu.Lock()
	r.stop = true
	r.mu.Unlock()
	r.launching.Lock() // starts under way are seen through
	r.launching.Unlock()
	r.cancel()
	r.loops.Wait()
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

// Holders lists the processes that hold living sessions.
func (r *Registry) Holders() []Holder {
	r.launching.Lock() // waits for starts under way, some milliseconds each
	defer r.launching.Unlock()
	r.mu.RLock()
	defer r.mu.RUnlock()
	var list []Holder
	for _, s := range r.byID {
		if st := s.Status(); st.HolderPID != 0 {
			list = append(list, Holder{PID: st.HolderPID, Start: startTicks(st.HolderStart), ID: st.ID, Name: st.Name})
		}
	}
	return list
}

// Holder is a process that holds a session.
type Holder struct {
	PID      int
	Start    uint64 // clock ticks since boot, as the system counts them
	ID, Name string
}

// startTicks reads the ticks in front of a start that the holder told.
func startTicks(start string) uint64 {
	ticks, _, _ := strings.Cut(start, "@")
	n, err := strconv.ParseUint(ticks, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Defaults is what a session is made from when nothing is said.
func Defaults() Spec {
	return Spec{
		LoginEnv: true, Cols: DefaultCols, Rows: DefaultRows, SizePolicy: SizeWriter, Restart: RestartNever,
		Limits: Limits{Output: DefaultOutputLimit, Scrollback: DefaultScrollback},
	}
}

// complete fills in what a caller left out and checks the rest.
func (r *Registry) complete(spec Spec) (Spec, error) {
	if spec.Cols == 0 {
		spec.Cols, spec.Rows = DefaultCols, DefaultRows
	}
	if err := CheckSize(spec.Cols, spec.Rows); err != nil {
		return spec, err
	}
	if spec.SizePolicy == "" {
		spec.SizePolicy = SizeWriter
	}
	if spec.Restart == "" {
		spec.Restart = RestartNever
	}
	if spec.Limits.Output <= 0 {
		spec.Limits.Output = DefaultOutputLimit
	}
	if spec.Limits.Scrollback <= 0 {
		spec.Limits.Scrollback = DefaultScrollback
	}
	if len(spec.Command) == 0 {
		spec.Command = []string{r.options.Environment.Shell}
	}
	switch {
	case spec.Agent == "":
		spec.Agent = agent.Generic
	case spec.Agent != agent.Generic:
		return spec, api.Errorf(api.CodeNoDriver, "berth has no driver for the agent %s yet: leave --agent out to run it as any program", api.Quote(spec.Agent))
	}
	return spec, spec.check()
}

// New makes a session and starts its program.
func (r *Registry) New(ctx context.Context, spec Spec, by Actor) (*Session, error) {
	spec, err := r.complete(spec)
	if err != nil {
		return nil, err
	}
	if err := r.roomOnDisk(); err != nil {
		return nil, err
	}
	if spec.Name, err = r.reserve(spec); err != nil {
		return nil, err
	}
	forget := func() {
		r.mu.Lock()
		delete(r.names, spec.Name)
		r.mu.Unlock()
	}
	if !by.Identity.Sees(spec.Name, spec.Tags) {
		forget()
		return nil, by.Identity.Denied("new", spec.Name)
	}
	spec.ID = ulid.Make().String()
	spec.Created, spec.CreatedBy = api.At(r.now()), by.Identity.Name
	s, err := r.start(ctx, spec)
	if err != nil {
		forget()
		return nil, err
	}
	// One turn of the loop: the program's start is then on record.
	return s, s.do(ctx, func(*core) {})
}

// reserve takes the session's name, or makes one.
func (r *Registry) reserve(spec Spec) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop {
		return "", errStopped
	}
	if spec.Name != "" {
		if err := api.CheckName(spec.Name); err != nil {
			return "", err
		}
		if _, taken := r.names[spec.Name]; taken {
			return "", api.Errorf(api.CodeBadRequest, "there is a session %s already: choose another name, or rm that one", spec.Name).With("session", spec.Name)
		}
		r.names[spec.Name] = nil
		return spec.Name, nil
	}
	base := spec.Profile
	if base == "" {
		base = "session"
	}
	if len(base) > 27 {
		base = base[:27]
	}
	for {
		var salt [2]byte
		_, _ = rand.Read(salt[:]) // never fails
		name := base + "-" + hex.EncodeToString(salt[:])
		if _, taken := r.names[name]; !taken {
			r.names[name] = nil
			return name, nil
		}
	}
}

// start makes the session's folder, starts its holder and its loop. On failure
// nothing of it is left.
func (r *Registry) start(ctx context.Context, spec Spec) (_ *Session, err error) {
	dir := filepath.Join(r.sessionsDir(), spec.ID)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the session's folder: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if err := saveSpec(dir, spec); err != nil {
		return nil, err
	}
	c := r.newCore(spec, dir)
	c.restoreTerm(checkpoint{})
	c.save()                                         // what the event log says from here on concerns this session
	prog, err := r.options.Environment.resolve(spec) // before the lock: a dead file system may hold it up
	if err != nil {
		return nil, err
	}
	r.launching.RLock()
	defer r.launching.RUnlock()
	r.mu.RLock()
	stop := r.stop
	r.mu.RUnlock()
	if stop {
		return nil, errStopped
	}
	link, err := c.s.launch(ctx, spec, prog)
	if err != nil {
		return nil, err
	}
	c.hold(link)
	r.run(c)
	return c.s, nil
}

// newCore makes a session that has no emulator and no holder yet.
func (r *Registry) newCore(spec Spec, dir string) *core {
	s := &Session{id: spec.ID, dir: dir, reg: r, calls: make(chan func(*core)), poke: make(chan struct{}, 1), over: make(chan struct{})}
	return &core{
		s: s, spec: spec, log: r.log.With("session", spec.Name, "id", spec.ID),
		output: hold.OpenOutput(dir), control: hold.OpenControl(dir, 0),
		state: agent.Starting, since: r.now(), tier: agent.TierProcess, cause: "process:start",
		lease: lease.New(lease.Options{}), members: map[string]*Member{}, followers: map[Follower]*Member{}, saved: r.now(),
	}
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
	c.link = link
	w := link.Welcome()
	c.holderPID, c.holderStart = w.HolderPID, w.HolderStart
	c.asked = window{w.Cols, w.Rows}
	c.child = process{pid: w.ChildPID, start: w.ChildStart, shell: c.spec.shell()}
	c.dirty, c.woken, c.consumed = true, true, 0
	if c.liveFrom == math.MaxInt64 {
		c.liveFrom = w.Written
	}
	c.save() // so that the next server knows the holder even if it does not answer
}

// launchWithin bounds how long a holder may take to start: while it does,
// callers on the machine cannot be told apart and wait.
const launchWithin = 10 * time.Second

// launch starts a holder with the session's program.
func (s *Session) launch(ctx context.Context, spec Spec, prog program) (*hold.Link, error) {
	ctx, cancel := context.WithTimeout(ctx, launchWithin)
	defer cancel()
	link, err := hold.Start(ctx, s.reg.options.Exe, hold.Spec{
		Dir: s.dir, Socket: filepath.Join(s.reg.options.RuntimeDir, strings.ToLower(s.id)),
		Argv: prog.argv, Env: prog.env, Path: prog.path, Cwd: prog.cwd, Cols: spec.Cols, Rows: spec.Rows,
		OutputLimit: spec.Limits.Output, ControlLimit: controlLimit,
	})
	var refused *hold.StartError
	if errors.As(err, &refused) {
		return nil, api.Errorf(api.CodeBadRequest, "%s could not be started: %s", api.Quote(prog.path), refused.Message)
	}
	if err != nil {
		return nil, fmt.Errorf("start the holder of %s: %w", spec.Name, err)
	}
	return link, nil
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
		err := c.changeSpec(func(spec *Spec) { spec.Name = name }, func() { c.note("renamed", renamedEvent{By: by.by(), From: old}) })
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
	return nil
}

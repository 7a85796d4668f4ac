package hold

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Every process of a session carries a mark: its hard limit on file locks is
// below the server's. Linux has not enforced that limit since 2.4.25. All that
// a process starts inherits it, and only CAP_SYS_RESOURCE raises it. Descent
// ends with the holder, and an environment can be changed; the mark outlasts
// both.
const (
	markTop  = 1 << 61 // a limit from here on is not a mark; all marks fit a signed number
	markHash = 48      // bits that the session's id makes; the bits above count down with each session inside a session
)

// LoginShell is in place of a session's id where the server asks a login shell for
// its environment. No id has a blank.
const LoginShell = "login shell"

// markUnder is the mark of a session that a process with this hard limit
// starts. It is lower than the limit, as long as there is a lower one.
func markUnder(limit uint64, session string) uint64 {
	low := hashOf(session)
	level := min(limit, markTop) >> markHash
	switch {
	case level > 0:
		return (level-1)<<markHash | low
	case limit > 0: // a server with so low a limit serves no sessions, see CheckServer
		return limit - 1
	}
	return 0
}

func hashOf(session string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(session))
	return h.Sum64() & (1<<markHash - 1)
}

// namesSession reports whether a hard limit leaves room for marks.
func namesSession(limit uint64) bool { return limit >= 1<<markHash }

// surroundings is where this process runs itself: a caller of the same
// surroundings is outside of the sessions that this process starts.
type surroundings struct {
	limits   map[uint64]bool  // hard limits of this process and of those above it
	above    map[process]bool // those above it; pid and start alone
	sessions map[string]bool  // sessionEnv of this process and of those above it
	holders  map[process]bool // those of above that are holders, of another server's sessions
	within   map[uint64]bool  // those of limits that are below such a holder
}

// sessionEnv names the session in the environment of its program.
const sessionEnv = "BERTH_SESSION"

// ours is looked up once, before this process marks itself.
var ours = sync.OnceValues(func() (surroundings, error) {
	s := surroundings{limits: map[uint64]bool{}, above: map[process]bool{}, sessions: map[string]bool{}, holders: map[process]bool{}, within: map[uint64]bool{}}
	err := walkUp(os.Getpid(), lookProcess, func(p process) error {
		limit, err := markOf(p.pid)
		if err != nil {
			return err
		}
		s.limits[limit] = true
		if p.pid != os.Getpid() {
			one := process{pid: p.pid, start: p.start}
			s.above[one] = true
			if isHolder(p.pid) {
				s.holders[one] = true
				s.within = maps.Clone(s.limits)
			}
		}
		if session, err := sessionOf(p.pid); err == nil {
			s.sessions[session] = true
		}
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("look at the processes above this one: %w", err)
	}
	own, err := markOf(os.Getpid())
	s.distrust(own)
	return s, err
})

// distrust drops limits that could be marks of sessions that this process isn't in: another process of the same user
// can lower the limit of one above (prlimit).
func (s surroundings) distrust(own uint64) {
	maps.DeleteFunc(s.limits, func(limit uint64, _ bool) bool { return limit < markTop && limit != own && !s.within[limit] })
}

// Remember looks up where this process runs itself, before others can change it.
func Remember() error {
	_, err := ours()
	return err
}

// CheckServer says why this process must not serve the sessions in these folders. Inside one of
// them, or below a login shell that a server ran, it would take its own surroundings for the
// outside. A process can lower its mark, so any limit counts as one outside of another server's
// sessions.
func CheckServer(folders []string) error {
	here, err := ours()
	if err != nil {
		return err
	}
	limit, err := markOf(os.Getpid())
	if err != nil {
		return err
	}
	return here.checkServer(limit, folders)
}

func (s surroundings) checkServer(limit uint64, folders []string) error {
	if !namesSession(limit) {
		return fmt.Errorf("the hard limit on file locks is %d (ulimit -H -x), which leaves no room to mark the processes of sessions: Linux does not enforce it, so remove it (locks in limits.conf, LimitLOCKS= of a unit)", limit)
	}
	for _, dir := range folders {
		session := filepath.Base(dir)
		holder, err := readIdentity(dir) // a session may have none
		if s.marked(session) || err == nil && s.above[process{pid: holder.PID, start: holder.Start}] {
			return fmt.Errorf("this process was started inside the session %s, which the server would serve: start the server from outside of its sessions", session)
		}
	}
	if s.marked(LoginShell) {
		return errors.New("this process was started by a login shell that a server asked for its environment, or by what that left running: start the server from another terminal")
	}
	if limit < markTop && !s.within[limit] {
		return fmt.Errorf("the hard limit on file locks is %d (ulimit -H -x), as of a process that a session left behind and that has lowered its mark: start the server from another terminal. A limit that is set on purpose has no effect on Linux: remove it (locks in limits.conf, LimitLOCKS= of a unit)", limit)
	}
	return nil
}

// marked reports whether this process or one above it has the mark of a session.
func (s surroundings) marked(session string) bool {
	for limit := range s.limits {
		if limit < markTop && namesSession(limit) && limit&(1<<markHash-1) == hashOf(session) {
			return true
		}
	}
	return false
}

// CheckOutside says why a process must be taken for one inside a session: it
// descends from a holder, of whichever server, that this process does not
// descend from too; or it carries the mark or the environment of a session,
// whose holder may have died. nil is a process outside of all sessions. The
// caller makes sure that the pid is the same process throughout.
func CheckOutside(pid int) error {
	here, err := ours()
	if err != nil {
		return err
	}
	return here.checkOutside(pid)
}

func (here surroundings) checkOutside(pid int) error {
	var mark error      // a holder above says more than the mark that it gave
	var neighbour error // the same, unless the process has the holder above it that this process has
	err := walkUp(pid, lookProcess, func(p process) error {
		if one := (process{pid: p.pid, start: p.start}); here.above[one] {
			if here.holders[one] {
				neighbour = nil
			}
			return nil
		}
		if p.kernel && p.pid == pid { // before Linux 5.12 one connects for any process that asks for it (io_uring)
			return fmt.Errorf("process %d is a thread of the kernel, and the kernel does not say whose connection it makes", pid)
		}
		if isHolder(p.pid) {
			return fmt.Errorf("process %d runs inside another session, that of holder %d", pid, p.pid)
		}
		limit, err := markOf(p.pid)
		if err != nil {
			return err
		}
		session, long := sessionOf(p.pid)
		switch {
		case here.ofLoginShell(limit):
			mark = fmt.Errorf("process %d was started by a login shell that the server asked for its environment: process %d has its mark", pid, p.pid)
		case limit < markTop && !here.limits[limit]:
			mark = fmt.Errorf("process %d was started inside a session whose holder is gone: process %d has its mark", pid, p.pid)
		case session != "" && !here.sessions[session]:
			mark = fmt.Errorf("process %d was started inside a session: process %d has %s=%s in its environment", pid, p.pid, sessionEnv, session)
		case limit < markTop && here.within[limit]: // a neighbour's process may lower its limit to this one
			neighbour = fmt.Errorf("process %d has the limit on file locks of the session that this server runs in, and doesn't descend from its holder", p.pid)
		case long != nil:
			mark = fmt.Errorf("process %d counts as inside a session: %w", pid, long)
		}
		return nil
	})
	return cmp.Or(err, mark, neighbour)
}

// ofLoginShell reports whether a process with this hard limit was started by a login
// shell that a server with these surroundings asked.
func (s surroundings) ofLoginShell(limit uint64) bool {
	for of := range s.limits {
		if namesSession(of) && limit == markUnder(of, LoginShell) && !s.limits[limit] {
			return true
		}
	}
	return false
}

// Inside reports whether a process carries a session's mark. It is much cheaper
// than CheckOutside.
func Inside(pid int) bool {
	here, err := ours()
	if err != nil {
		return true
	}
	limit, err := markOf(pid)
	return err == nil && limit < markTop && !here.limits[limit]
}

// An Orphan is a process of a session whose holder has died.
type Orphan struct{ process }

// PID is its process id.
func (o Orphan) PID() int { return o.pid }

// Orphans lists the living processes that were started in the session in this
// folder, by any of its holders, and have no holder of it above them any more.
func Orphans(dir string) ([]Orphan, error) {
	here, err := ours()
	if err != nil {
		return nil, err
	}
	marks := map[uint64]bool{}
	for limit := range here.limits {
		if namesSession(limit) {
			marks[markUnder(limit, filepath.Base(dir))] = true
		}
	}
	all, err := listProcesses()
	if err != nil {
		return nil, err
	}
	above := map[int]process{}
	for _, p := range all {
		above[p.pid] = p
	}
	holder, _ := readIdentity(dir) // none is left of a session without one
	held := func(p process) bool {
		for range len(all) {
			// A program can call itself a holder, and a command can make that program our child
			// (CLONE_PARENT). A holder that is starting is not in the folder yet.
			if p.pid == holder.PID && p.start == holder.Start || p.parent == os.Getpid() && children.has(p.pid) {
				return !p.dead
			}
			up, ok := above[p.parent]
			if !ok {
				return false
			}
			p = up
		}
		return true
	}
	var left []Orphan
	for _, p := range all {
		if p.dead {
			continue
		}
		if limit, err := markOf(p.pid); err == nil && limit < markTop && marks[limit] && !here.limits[limit] && !held(p) {
			left = append(left, Orphan{p})
		}
	}
	return left, nil
}

// Signal sends to it, never to a later process with its pid.
func (o Orphan) Signal(sig syscall.Signal) error { return signalProcess(o.process, sig) }

// EndOrphans ends them as a holder ends its tree: SIGHUP, and SIGKILL to what is
// left after grace. It returns how many there were. The error says that some
// would not die, or that they could not be looked for.
func EndOrphans(ctx context.Context, dir string, grace time.Duration) (ended int, err error) {
	killAt := time.Now().Add(grace)
	until := killAt.Add(killFor)
	asked, seen := map[process]bool{}, map[process]bool{}
	for {
		left, err := Orphans(dir)
		if err != nil {
			return len(seen), err
		}
		if len(left) == 0 {
			if id, err := readIdentity(dir); err == nil && !alive(id.PID, id.Start) {
				return len(seen), endCgroup(id.Cgroup)
			}
			return len(seen), nil
		}
		now := time.Now()
		if now.After(until) {
			return len(seen), fmt.Errorf("%d processes left by a dead holder don't end, such as %d", len(left), left[0].pid)
		}
		for _, o := range left {
			id := process{pid: o.pid, start: o.start}
			seen[id] = true
			if !now.Before(killAt) {
				_ = o.Signal(syscall.SIGKILL) // one that is gone is not listed again
			} else if !asked[id] {
				asked[id] = true
				_ = o.Signal(syscall.SIGHUP)
				_ = o.Signal(syscall.SIGCONT)
			}
		}
		select {
		case <-time.After(min(max(time.Until(killAt), killEvery), orphansEvery)):
		case <-ctx.Done():
			return len(seen), ctx.Err()
		}
	}
}

// orphansEvery is how often EndOrphans looks: each look reads all processes of
// the system, some 10 ms of work with a thousand.
const orphansEvery = 50 * time.Millisecond

package hold

import (
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// orphanWatch knows for whom a hook runs: its parent, and where that is the
// shell that an agent ran it by, the agent too. An agent that is killed leaves
// both the shell and the hook.
type orphanWatch struct {
	parent int
	agent  process // where the parent is a shell
	fds    []int   // that tell of an end, where the system has such
	all    bool    // fds tell of every end
}

// shells are what agents run hooks by.
var shells = []string{"sh", "bash", "dash", "zsh", "ash", "ksh", "busybox"}

// watchParents begins to watch, or not.
func watchParents(on bool) orphanWatch {
	w := orphanWatch{}
	if !on {
		return w
	}
	w.parent = syscall.Getppid()
	w.all = w.add(w.parent)
	p, err := lookProcess(w.parent)
	if err != nil || !slices.Contains(shells, p.name) || p.parent <= 1 {
		return w
	}
	if agent, err := lookProcess(p.parent); err == nil {
		w.agent = agent
		w.all = w.add(agent.pid) && w.all
	}
	return w
}

// add watches a process and reports whether the system reports its end.
func (w *orphanWatch) add(pid int) bool {
	fd, err := watchProcess(pid)
	if err != nil {
		return false
	}
	w.fds = append(w.fds, fd)
	return true
}

// ended says whether a watched process has ended, by what append adds.
func (w *orphanWatch) ended() bool { return w.all }

// append adds what reports an end.
func (w *orphanWatch) append(fds []unix.PollFd) []unix.PollFd {
	for _, fd := range w.fds {
		fds = append(fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	return fds
}

// orphan says whether no process is left to answer to.
func (w *orphanWatch) orphan() bool {
	if w.parent == 0 {
		return false
	}
	return syscall.Getppid() != w.parent || w.agent.pid != 0 && !alive(w.agent.pid, w.agent.start)
}

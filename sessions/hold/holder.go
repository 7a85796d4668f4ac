package hold

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// holder is the state of one `berth hold` process.
type holder struct {
	spec    Spec
	self    process
	child   process
	pty     *master
	listen  *net.UnixListener
	signals <-chan os.Signal

	// output is drain's until drained is closed, then finish's.
	output  *outputLog
	turn    *turn // used by drain alone
	drained chan struct{}
	stop    atomic.Bool // drain must end

	ending   ending
	mu       sync.Mutex // guards the fields below
	moved    sync.Cond  // uses mu: the queue, the server or the end changed
	control  *controlLog
	flusher  *time.Timer // runs while the control log fails
	news     news
	written  int64
	inline   bool // the disk does not take the output
	recent   staleness
	answered int64 // offset of the last answered query
	size     struct{ cols, rows int }
	typing   typing
	server   *serverConn
	served   bool // a server has connected before
	hooks    hooks
}

// ending tracks the end of the program.
type ending struct {
	exited chan struct{} // closed when the program has ended and status is set
	alone  chan struct{} // closed when no process of its tree is left
	status syscall.WaitStatus
	at     time.Time // when it ended
	killed bool      // by this holder, which only finish uses
	memory memory    // OOM kills

	// The holder's mu guards these.
	asked    bool          // SIGHUP was sent
	deadline time.Time     // SIGKILL follows SIGHUP at this time
	hurry    chan struct{} // buffer of 1; a value says that deadline moved
	exit     *Exit         // nil until the exit is recorded
}

// news is the newest control record, to decide when to wake the server.
type news struct {
	record uint64    // newest record that is worth an immediate wake
	at     time.Time // time of the newest record of any kind
}

// typing is the input on its way to the terminal.
type typing struct {
	queue inputQueue
	over  bool          // the program has ended: no more input
	done  chan struct{} // closed when the last input is typed and answered
}

// readyFD is the pipe on which a new holder says that the program runs.
const readyFD = 3

// Main is `berth hold`: it reads a Spec from stdin, runs the program and
// returns the process's exit status when the program has ended and its
// journal is complete.
func Main(stdin io.Reader) int {
	// A small heap keeps garbage from being most of the process. The first collection comes at
	// 0.8 MB (20 % of Go's 4 MB). A collection leaves some 0.4 MB of the collector's own memory, and
	// most holders never run one.
	debug.SetGCPercent(20)
	runtime.GOMAXPROCS(1) // see turn
	closeInherited()
	umask := unix.Umask(0o077)
	ready := os.NewFile(readyFD, "ready")
	unix.CloseOnExec(readyFD)
	h, err := newHolder(stdin)
	if c, ok := stdin.(io.Closer); ok {
		c.Close()
	}
	if err == nil {
		err = h.start(umask)
	}
	tellStarter(ready, err)
	if err != nil {
		return 1
	}
	h.run()
	return 0
}

// closeInherited closes the files that the server had itself been handed, such
// as the pipe of a script that waits for its end: neither holder nor program
// may keep them open. This process's own are all closed on exec.
func closeInherited() {
	names, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, name := range names {
		fd, err := strconv.Atoi(name.Name())
		if err != nil || fd <= readyFD {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}

// tellStarter reports how the start went and closes the pipe.
func tellStarter(ready *os.File, err error) {
	var s started
	if err != nil {
		s.Error = err.Error()
		if errno, ok := errnoOf(err); ok {
			s.Errno = int(errno)
		}
	}
	json.NewEncoder(ready).Encode(s)
	ready.Close()
}

// newHolder opens all that the program does not need.
func newHolder(stdin io.Reader) (*holder, error) {
	var spec Spec
	if err := json.NewDecoder(stdin).Decode(&spec); err != nil {
		return nil, fmt.Errorf("read the spec of the program: %w", err)
	}
	if err := spec.complete(); err != nil {
		return nil, err
	}
	if err := os.Chdir("/"); err != nil {
		return nil, fmt.Errorf("leave the server's folder: %w", err)
	}
	if err := becomeSubreaper(); err != nil {
		return nil, err
	}
	if err := markSelf(filepath.Base(spec.Dir)); err != nil {
		return nil, err
	}
	self, err := lookProcess(os.Getpid())
	if err != nil {
		return nil, err
	}
	h := &holder{
		spec: spec, self: self, answered: -1, drained: make(chan struct{}),
		ending: ending{exited: make(chan struct{}), alone: make(chan struct{}), hurry: make(chan struct{}, 1)},
		typing: typing{done: make(chan struct{})},
	}
	h.size.cols, h.size.rows = spec.Cols, spec.Rows
	h.moved.L = &h.mu
	h.ending.memory.report = func(d OOMData) { h.record(KindOOM, d) }
	if h.turn, err = newTurn(); err != nil {
		return nil, err
	}
	if h.control, err = openControlLog(spec.Dir, spec.ControlLimit); err != nil {
		return nil, err
	}
	h.control.last = max(h.control.last, spec.Record)
	h.output, err = openOutputLog(spec.Dir, spec.OutputLimit, max(h.control.lastOffset, spec.Offset), h.lost)
	if err != nil {
		return nil, err
	}
	h.control.trimmed = func(first uint64) { h.hooks.files.trimBefore(first) }
	if h.hooks.files, err = openHookFiles(spec.Dir, hookFilesLimit, h.control.last); err != nil {
		return nil, err
	}
	h.written = h.output.next
	h.recent.reset(h.written)
	return h, nil
}

// run serves until the program has ended and everything is reported.
func (h *holder) run() {
	var serving sync.WaitGroup
	go h.endOnTerm() // ends with the process
	serving.Go(h.turn.serve)
	serving.Go(h.reap)
	serving.Go(h.drain)
	serving.Go(h.typeInput)
	serving.Go(h.accept)
	if h.hooks.listen != nil {
		h.hooks.done.Go(h.acceptHooks)
	}
	h.finish()
	h.listen.Close() // removes the socket
	h.dropServer()
	h.pty.f.Close()
	serving.Wait()
}

// catchSignals lets no signal meant for others end the holder.
func catchSignals() <-chan os.Signal {
	caught := make(chan os.Signal, 8)
	signal.Notify(caught, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
	return caught
}

// endOnTerm ends the program in order at SIGTERM, which a system sends when it
// goes down.
func (h *holder) endOnTerm() {
	for sig := range h.signals {
		if sig == syscall.SIGTERM {
			h.end(h.spec.Grace, nil)
		}
	}
}

// record adds to the control log.
func (h *holder) record(kind string, data any) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.recordLocked(kind, data)
}

// recordLocked adds to the control log, wakes the server, and hands it the
// record itself when that is in no file.
func (h *holder) recordLocked(kind string, data any) error {
	now := time.Now()
	line, err := h.control.append(kind, data, h.written, now)
	if err != nil {
		return err
	}
	if line != nil && h.server != nil {
		h.server.out = appendFrame(h.server.out, frameRecord, line)
	}
	// What was typed is mostly echoed: a wake for the record at once would stand
	// in the way of the echo's.
	h.news.at = now
	if kind != KindInput && kind != KindReply {
		h.news.record = h.control.last
	}
	h.wake()
	if h.control.failing() && h.flusher == nil {
		h.flusher = time.AfterFunc(retryEvery, h.flush)
	}
	return nil
}

// flush tries the records that wait for the disk, and comes again.
func (h *holder) flush() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.control.flush(h.written, time.Now()) {
		h.flusher = nil
		return
	}
	h.flusher.Reset(retryEvery)
}

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
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// pauseAhead is how far the output may run ahead of a living server.
	pauseAhead = 16 << 20
	// pauseInline is the same while output goes over the socket for want of
	// a disk: it bounds the memory on both sides.
	pauseInline = 1 << 20
	// readSize is the most taken from the PTY at once. The kernel gives at
	// most 4 KiB a read; more of them share a write to the journal.
	readSize = 64 << 10
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
	output   *outputLog
	turn     *turn // drain's
	drained  chan struct{}
	typedAll chan struct{} // nothing is typed any more, all is answered
	stop     atomic.Bool   // drain must end

	exited chan struct{} // the program has ended; status is set
	alone  chan struct{} // no process of its tree is left
	status syscall.WaitStatus

	mu         sync.Mutex
	moved      sync.Cond // on mu: the queue, the server or the end changed
	control    *controlLog
	flusher    *time.Timer // runs while the control log fails
	newsworthy uint64      // the last control record that is worth a wake at once
	recorded   time.Time   // when the last control record was made
	written    int64
	inline     bool // output is not reaching the disk
	recent     staleness
	answered   int64 // offset of the last query answered
	cols       int
	rows       int
	queue      inputQueue
	server     *serverConn
	served     bool // there has been a server
	ending     bool // SIGHUP was sent
	hooks      hooks
	deadline   time.Time
	hurry      chan struct{} // the deadline moved
	over       bool          // no more input: the program has ended
	exit       *Exit
}

// identity is holder.json: enough to find the holder and to know it again.
type identity struct {
	PID     int    `json:"pid"`
	Start   string `json:"start"`
	Version int    `json:"version"`
	Socket  string `json:"socket"`
}

// started is what the holder tells the process that made it.
type started struct {
	Error string `json:"error,omitempty"`
	Errno int    `json:"errno,omitempty"`
}

// readyFD is the pipe on which a new holder says that the program runs.
const readyFD = 3

// Main is `berth hold`: it reads a Spec from stdin, runs the program and
// returns the process's exit status when the program has ended and its
// journal is complete.
func Main(stdin io.Reader) int {
	// The heap is small and mostly still: collecting often costs nothing and
	// keeps garbage from being most of the process.
	debug.SetGCPercent(10)
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
		return nil, fmt.Errorf("reading what to hold: %w", err)
	}
	if err := spec.complete(); err != nil {
		return nil, err
	}
	if err := os.Chdir("/"); err != nil {
		return nil, fmt.Errorf("leaving the server's folder: %w", err)
	}
	if err := becomeSubreaper(); err != nil {
		return nil, err
	}
	self, err := lookProcess(os.Getpid())
	if err != nil {
		return nil, err
	}
	h := &holder{
		spec:     spec,
		self:     self,
		cols:     spec.Cols,
		rows:     spec.Rows,
		drained:  make(chan struct{}),
		typedAll: make(chan struct{}),
		exited:   make(chan struct{}),
		alone:    make(chan struct{}),
		hurry:    make(chan struct{}, 1),
		answered: -1,
	}
	h.moved.L = &h.mu
	if h.turn, err = newTurn(); err != nil {
		return nil, err
	}
	if h.control, err = openControlLog(spec.Dir, spec.ControlLimit); err != nil {
		return nil, err
	}
	h.output, err = openOutputLog(spec.Dir, spec.OutputLimit, h.control.lastOffset, h.lost)
	if err != nil {
		return nil, err
	}
	h.control.trimmed = func(first uint64) { h.hooks.files.trimBefore(first) }
	if h.hooks.files, err = openHookFiles(spec.Dir, hookFilesLimit); err != nil {
		return nil, err
	}
	h.written = h.output.next
	h.recent.reset(h.written)
	return h, nil
}

// start opens socket and PTY and runs the program with this umask.
func (h *holder) start(umask int) (err error) {
	os.Remove(h.spec.Socket)
	h.listen, err = net.ListenUnix("unix", &net.UnixAddr{Name: h.spec.Socket, Net: "unix"})
	if err != nil {
		return fmt.Errorf("listening for the server: %w", err)
	}
	defer func() {
		if err != nil {
			h.listen.Close()
		}
	}()
	if err := os.Chmod(h.spec.Socket, 0o600); err != nil {
		return fmt.Errorf("closing the socket to others: %w", err)
	}
	if err := h.listenForHooks(); err != nil {
		return err
	}
	defer func() {
		if err != nil && h.hooks.listen != nil {
			h.hooks.listen.Close()
		}
	}()
	m, slave, err := openPTY(h.cols, h.rows)
	if err != nil {
		return err
	}
	defer slave.Close()
	h.pty = m
	// What this process was told to ignore the program must not ignore: a
	// signal that is caught is reset by exec.
	h.signals = catchSignals()
	// Before there is a program: a server killed from here on is followed by
	// one that finds this holder.
	if err := h.writeIdentity(); err != nil {
		return err
	}
	if err := h.runProgram(slave, umask); err != nil {
		return err
	}
	h.record(KindStarted, StartedData{PID: h.child.pid, Start: h.child.start, Cols: h.cols, Rows: h.rows})
	return nil
}

// runProgram starts the program as the leader of a session of its own with
// the PTY as its terminal.
func (h *holder) runProgram(slave *os.File, umask int) error {
	if h.spec.Cwd != "" {
		if info, err := os.Stat(h.spec.Cwd); err != nil {
			return fmt.Errorf("starting in folder %s: %w", h.spec.Cwd, err)
		} else if !info.IsDir() {
			return fmt.Errorf("starting in folder %s: %w", h.spec.Cwd, syscall.ENOTDIR)
		}
	}
	fd := slave.Fd()
	unix.Umask(umask) // nothing else runs yet that could make a file
	var pid int
	var err error
	withUsualSlack(func() {
		pid, err = syscall.ForkExec(h.spec.Path, h.spec.Argv, &syscall.ProcAttr{
			Dir:   h.spec.Cwd,
			Env:   h.environ(),
			Files: []uintptr{fd, fd, fd},
			Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0},
		})
	})
	unix.Umask(0o077)
	if err != nil {
		return fmt.Errorf("running %s: %w", h.spec.Path, err)
	}
	h.child, err = lookProcess(pid)
	if err != nil {
		h.child = process{pid: pid} // it has ended already and is not reaped yet
	}
	return nil
}

// environ is the program's environment.
func (h *holder) environ() []string {
	if h.spec.HookSocket == "" {
		return h.spec.Env
	}
	env := slices.DeleteFunc(slices.Clone(h.spec.Env), func(v string) bool {
		return strings.HasPrefix(v, HookSocketEnv+"=")
	})
	return append(env, HookSocketEnv+"="+h.spec.HookSocket)
}

// writeIdentity writes holder.json aside and renames it. On a full disk the
// file may be missing: the start fails.
func (h *holder) writeIdentity() error {
	data, err := json.Marshal(identity{PID: h.self.pid, Start: h.self.start, Version: maxVersion, Socket: h.spec.Socket})
	if err != nil {
		return fmt.Errorf("writing %s: %w", holderFile, err)
	}
	name := filepath.Join(h.spec.Dir, holderFile)
	if err := os.WriteFile(name+".new", data, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", holderFile, err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		return fmt.Errorf("writing %s: %w", holderFile, err)
	}
	return nil
}

// run serves until the program has ended and everything is told.
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
	debug.FreeOSMemory()
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

// drain reads the PTY to its end.
func (h *holder) drain() {
	defer close(h.drained)
	defer h.turn.close()
	buf := make([]byte, readSize)
	limited := false
	for {
		h.waitForServer()
		if failing := h.output.failing(); failing || limited {
			limited = failing
			var until time.Time
			if failing {
				until = time.Now().Add(retryEvery)
			}
			h.pty.f.SetReadDeadline(until)
		}
		if h.stop.Load() {
			return
		}
		n, err := h.pty.read(buf)
		switch {
		case n > 0:
			now := time.Now()
			h.take(buf[:n], now)
			if n <= echoSize {
				runtime.Gosched() // who tells the server first
			}
			h.output.noteTime()
			h.turn.yield(now, h.pty.waited)
		case os.IsTimeout(err):
			if h.output.retry(time.Now()) {
				h.setInline(false)
			}
		case h.ended():
			return
		default:
			// The program closed its terminal and lives: it may open it again.
			select {
			case <-h.exited:
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
}

// ended reports whether the program itself has ended.
func (h *holder) ended() bool {
	select {
	case <-h.exited:
		return true
	default:
		return false
	}
}

// take puts a piece of output into the journal, or what of it does not go
// there onto the socket, and tells the server.
func (h *holder) take(p []byte, now time.Time) {
	n := h.output.write(p, now)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inline = h.output.failing()
	if s := h.server; s != nil && n < len(p) {
		s.out = appendFrame(s.out, frameBytes, encodeNumbers(uint64(h.written)+uint64(n)), p[n:])
	}
	h.written += int64(len(p))
	h.recent.add(now, h.written)
	h.wake()
}

func (h *holder) setInline(inline bool) {
	h.mu.Lock()
	h.inline = inline
	h.mu.Unlock()
}

// waitForServer holds the reading back while a server is connected and too
// far behind. Without one, and once the program has ended, it never waits.
func (h *holder) waitForServer() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.server != nil && !h.over {
		ahead := int64(pauseAhead)
		if h.inline {
			ahead = pauseInline
		}
		if h.written-h.server.consumed < ahead {
			return
		}
		h.moved.Wait()
	}
}

// lost records output that reached no file.
func (h *holder) lost(from, to int64, why string) {
	h.record(KindLoss, LossData{From: from, To: to, Why: why})
}

// record adds to the control log.
func (h *holder) record(kind string, data any) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.recordLocked(kind, data)
}

// recordLocked adds to the control log, tells the server, and hands it the
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
	h.recorded = now
	if kind != KindInput && kind != KindReply {
		h.newsworthy = h.control.last
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

// staleness knows where the output stood a second ago.
type staleness struct {
	marks []mark
}

type mark struct {
	at     time.Time
	offset int64
}

// replyWithin is how long after a query its answer may still be typed.
const replyWithin = time.Second

func (s *staleness) reset(offset int64) {
	s.marks = append(s.marks[:0], mark{offset: offset})
}

// add notes that the output reached offset now. A mark stands for up to 10 ms:
// what came with it counts as old by as much too early.
func (s *staleness) add(now time.Time, offset int64) {
	if last := &s.marks[len(s.marks)-1]; now.Sub(last.at) < markEvery {
		last.offset = offset
		return
	}
	s.before(now)
	s.marks = append(s.marks, mark{now, offset})
}

// before is the offset below which all output is older than replyWithin. It
// forgets the marks before that.
func (s *staleness) before(now time.Time) int64 {
	i := 0
	for i+1 < len(s.marks) && now.Sub(s.marks[i+1].at) >= replyWithin {
		i++
	}
	s.marks = append(s.marks[:0], s.marks[i:]...)
	return s.marks[0].offset
}

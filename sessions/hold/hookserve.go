package hold

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// maxHookConns bounds the hooks connected at once, maxWaiting those of them
	// that wait for a verdict.
	maxHookConns = 256
	maxWaiting   = 128
	// hookWithin is how long an asker may take to hand over its event, and
	// deliverWithin to take a verdict.
	hookWithin    = 4 * time.Second
	deliverWithin = 10 * time.Second
	// largeAtOnce bounds the payloads above maxHookInline in memory.
	largeAtOnce = 2
	// hooksAfterEnd is how long hooks in flight are waited for once all
	// processes of the session are gone.
	hooksAfterEnd = 500 * time.Millisecond
)

// hooks is the holder's side of the hook socket. All but the listener and
// large are guarded by the holder's mu.
type hooks struct {
	listen *net.UnixListener // nil where the spec has none
	large  chan struct{}     // holds one for each large payload in memory
	done   sync.WaitGroup    // accepting and every connection

	files *hookFiles
	rate  hookRate
	table hookTable
	conns map[*net.UnixConn]struct{}
	timer *time.Timer
	armed time.Time // when timer goes off; zero when it does not run
	over  bool      // none waits any more
}

// listenForHooks opens the hook socket and reports what an earlier holder left
// waiting.
func (h *holder) listenForHooks() error {
	for _, gone := range h.control.waiting {
		h.record(KindGone, gone)
	}
	h.control.waiting = nil
	if h.spec.HookSocket == "" {
		return nil
	}
	os.Remove(h.spec.HookSocket)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: h.spec.HookSocket, Net: "unix"})
	if err != nil {
		return fmt.Errorf("listen for hooks: %w", err)
	}
	if err := os.Chmod(h.spec.HookSocket, 0o600); err != nil {
		l.Close()
		return fmt.Errorf("close the hook socket to others: %w", err)
	}
	if as := h.spec.As; as != nil {
		if err := os.Lchown(h.spec.HookSocket, as.UID, as.GID); err != nil {
			l.Close()
			return fmt.Errorf("give the hook socket to user %d: %w", as.UID, err)
		}
	}
	h.hooks.listen = l
	h.hooks.large = make(chan struct{}, largeAtOnce)
	h.hooks.conns = make(map[*net.UnixConn]struct{})
	h.hooks.table.alone = time.Now()
	return nil
}

// acceptHooks takes connections until the listener is closed.
func (h *holder) acceptHooks() {
	for {
		c, err := h.hooks.listen.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors: let some go
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if !h.addHook(c) {
			c.Close()
			continue
		}
		h.hooks.done.Go(func() {
			h.serveHook(c)
			c.Close()
			h.mu.Lock()
			delete(h.hooks.conns, c)
			h.mu.Unlock()
		})
	}
}

// addHook counts a connection. One too many is turned away: its hook fails
// open and its event is counted.
func (h *holder) addHook(c *net.UnixConn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.hooks.conns) >= maxHookConns {
		h.hooks.rate.miss("", time.Now())
		h.armHooks()
		return false
	}
	h.hooks.conns[c] = struct{}{}
	return true
}

// serveHook takes one event and sees an asker to its end.
func (h *holder) serveHook(c *net.UnixConn) {
	c.SetDeadline(time.Now().Add(hookWithin))
	pid, err := checkInside(c, h.spec.As)
	if err != nil {
		return
	}
	n, w, err := h.takeHook(c, pid)
	if err != nil {
		return
	}
	if _, err := c.Write(appendFrame(nil, frameTaken, encodeNumbers(n))); err != nil && w == nil {
		return
	}
	if w != nil {
		h.waitVerdict(c, w)
	}
}

// takeHook reads the event and records it. An asker gets w to wait on.
func (h *holder) takeHook(c *net.UnixConn, pid int) (n uint64, w *waitingHook, err error) {
	head, size, err := readFrameHead(c)
	if err != nil {
		return 0, nil, err
	}
	if head != frameHook {
		return 0, nil, fmt.Errorf("%w: frame %d on the hook socket", ErrBadRequest, head)
	}
	if large := size > maxHookInline+4<<10; large {
		h.hooks.large <- struct{}{}
		defer func() {
			<-h.hooks.large
			if len(h.hooks.large) == 0 {
				debug.FreeOSMemory()
			}
		}()
		c.SetDeadline(time.Now().Add(hookWithin))
	}
	p := make([]byte, size)
	if _, err := io.ReadFull(c, p); err != nil {
		return 0, nil, err
	}
	q, payload, err := decodeHook(p)
	if err != nil {
		return 0, nil, err
	}
	now := time.Now()
	if !h.wantHook(q.Event, now) {
		if !q.Ask {
			return 0, nil, nil
		}
		return 0, letGo(), nil
	}
	d := describeHook(q, payload, pid)
	file := ""
	if len(payload) > maxHookInline {
		// A payload that the disk does not take is known by its head.
		file, _ = h.hooks.files.write(payload)
	}
	n, w = h.recordHook(d, file, int64(len(payload)), now)
	return n, w, nil
}

// letGo is the wait of a hook that is not to wait.
func letGo() *waitingHook {
	w := &waitingHook{answer: make(chan hookAnswer, 1)}
	w.answer <- hookAnswer{}
	return w
}

// wantHook reports whether an event may have a record. While records go over
// the socket for want of a disk, a server that does not read them sets a bound.
func (h *holder) wantHook(event string, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	stuck := h.control.failing() && h.server != nil && len(h.server.out) > maxOut
	if stuck {
		h.hooks.rate.miss(event, now)
	}
	wanted := !stuck && h.hooks.rate.take(event, now)
	if !wanted {
		h.armHooks()
	}
	return wanted
}

// recordHook writes the record and, of an asker, puts it among those that
// wait in the same step.
func (h *holder) recordHook(d HookData, file string, size int64, now time.Time) (uint64, *waitingHook) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.control.last + 1
	if file != "" {
		d.File = h.hooks.files.keep(file, n, size) == nil
	}
	if h.recordLocked(KindHook, d) != nil {
		// The line is too long for this log: its content matters more.
		d.Payload, d.Raw, d.Head = nil, nil, ""
		if h.recordLocked(KindHook, d) != nil {
			h.hooks.files.forget(n)
			h.hooks.rate.miss(d.Event, now)
			h.armHooks()
			n = 0
		}
	}
	if !d.Ask {
		return n, nil
	}
	why := ""
	switch {
	case h.hooks.over:
		why = GoneEnded
	case len(h.hooks.table.waiting) >= maxWaiting:
		why = GoneBusy
	}
	if n == 0 {
		return 0, letGo()
	}
	if why != "" {
		h.recordLocked(KindGone, GoneData{Hook: n, Why: why})
		return n, letGo()
	}
	w := &waitingHook{
		id: n, event: d.Event, pid: d.PID, since: now,
		hold:   time.Duration(d.HoldMillis) * time.Millisecond,
		grace:  time.Duration(d.GraceMillis) * time.Millisecond,
		answer: make(chan hookAnswer, 1),
	}
	h.hooks.table.add(w)
	h.armHooks()
	return n, w
}

// waitVerdict sees an asker to the end of its wait. The end is recorded by
// the caller that took the hook out of the table, and the delivery here.
func (h *holder) waitVerdict(c *net.UnixConn, w *waitingHook) {
	c.SetDeadline(time.Time{})
	said := make(chan bool, 1) // the asker: delivered, or hung up
	h.hooks.done.Go(func() {
		for {
			t, _, err := readSmallFrame(c)
			if err != nil || t == frameDelivered {
				said <- err == nil
				return
			}
		}
	})
	select {
	case a := <-w.answer:
		h.deliver(c, w, a, said)
	case <-said:
		h.mu.Lock()
		_, waits := h.hooks.table.take(w.id)
		if waits {
			h.recordLocked(KindGone, GoneData{Hook: w.id, Why: GoneHungUp})
		}
		h.mu.Unlock()
		if !waits {
			if a := <-w.answer; a.verdict {
				h.record(KindGone, GoneData{Hook: w.id, Why: GoneHungUp, Answered: true})
			}
		}
		c.Close()
	}
}

// deliver sends a verdict, or that there is none, and records what became of
// it.
func (h *holder) deliver(c *net.UnixConn, w *waitingHook, a hookAnswer, said <-chan bool) {
	c.SetDeadline(time.Now().Add(deliverWithin))
	if !a.verdict {
		c.Write(appendFrame(nil, frameLetGo))
		c.Close()
		<-said
		return
	}
	// A write that fails is an asker that has gone: its end says so.
	c.Write(appendFrame(nil, frameAnswer, encodeAnswer(a.status, a.stdout)))
	if <-said {
		h.record(KindDelivered, DeliveredData{Hook: w.id})
	} else {
		h.record(KindGone, GoneData{Hook: w.id, Why: GoneHungUp, Answered: true})
	}
	c.Close()
}

// verdict answers a waiting hook. The record is made before anything is sent.
func (h *holder) verdict(q request, stdout []byte) (ackCode, string) {
	switch {
	case q.Status < 0 || q.Status > 255:
		return ackBad, "an exit status is 0 to 255"
	case len(stdout) > MaxVerdict:
		return ackBad, "verdict is too long"
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, waits := h.hooks.table.waiting[q.Hook]; !waits {
		return ackNotWaiting, ""
	}
	d := VerdictData{Hook: q.Hook, Status: q.Status, Bytes: len(stdout), Mark: q.Mark}
	if len(stdout) <= maxHookInline {
		d.Stdout = string(stdout)
	}
	if err := h.recordLocked(KindVerdict, d); err != nil {
		d.Stdout = ""
		if err := h.recordLocked(KindVerdict, d); err != nil {
			return ackBad, err.Error()
		}
	}
	w, _ := h.hooks.table.take(q.Hook)
	w.answer <- hookAnswer{verdict: true, status: q.Status, stdout: stdout}
	h.armHooks()
	return ackDone, ""
}

// release lets a hook go without a verdict.
func (h *holder) release(id uint64, why string) ackCode {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.releaseLocked(id, why) {
		return ackNotWaiting
	}
	h.armHooks()
	return ackDone
}

func (h *holder) releaseLocked(id uint64, why string) bool {
	w, waits := h.hooks.table.take(id)
	if waits {
		h.recordLocked(KindGone, GoneData{Hook: id, Why: why})
		w.answer <- hookAnswer{}
	}
	return waits
}

// serverMoved says whether a server is connected now. The holder's mu is held.
func (h *holder) serverMoved() {
	h.hooks.table.alone = time.Time{}
	if h.server == nil {
		h.hooks.table.alone = time.Now()
	}
	h.armHooks()
}

// armHooks sets the timer to the next thing that time brings about. The
// holder's mu is held.
func (h *holder) armHooks() {
	at, any := h.hooks.table.next()
	if told, due := h.hooks.rate.due(); due && (!any || told.Before(at)) {
		at, any = told, true
	}
	switch {
	case !any:
		if h.hooks.timer != nil {
			h.hooks.timer.Stop()
		}
		h.hooks.armed = time.Time{}
	case at.Equal(h.hooks.armed):
	case h.hooks.timer == nil:
		h.hooks.armed = at
		h.hooks.timer = time.AfterFunc(time.Until(at), h.hooksDue)
	default:
		h.hooks.armed = at
		h.hooks.timer.Reset(time.Until(at))
	}
}

// hooksDue ends the waits that are over and reports unrecorded events.
func (h *holder) hooksDue() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ending.exit != nil {
		return // nothing is recorded after the exit
	}
	now := time.Now()
	h.hooks.armed = time.Time{}
	for _, w := range h.hooks.table.list() {
		if end, why := h.hooks.table.due(w); !end.After(now) {
			h.releaseLocked(w.id, why)
		}
	}
	h.tellMissed(now)
	h.armHooks()
}

// tellMissed records how many events have no record, if it is time to.
func (h *holder) tellMissed(now time.Time) {
	if at, due := h.hooks.rate.due(); due && !at.After(now) {
		h.recordLocked(KindCoalesced, h.hooks.rate.flush())
	}
}

// endWaits lets all hooks go, because the program has ended.
func (h *holder) endWaits() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hooks.over = true
	for _, w := range h.hooks.table.list() {
		h.releaseLocked(w.id, GoneEnded)
	}
	h.armHooks()
}

// endHooks sees the hooks in flight to their end, when no process is left
// that could begin one, and closes the socket.
func (h *holder) endHooks() {
	if h.hooks.listen == nil {
		return
	}
	none := make(chan struct{})
	h.hooks.listen.Close() // removes the socket
	go func() {
		h.hooks.done.Wait()
		close(none)
	}()
	select {
	case <-none:
	case <-time.After(hooksAfterEnd):
		h.mu.Lock()
		for c := range h.hooks.conns {
			c.Close()
		}
		h.mu.Unlock()
		<-none
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tellMissed(h.hooks.rate.from.Add(time.Second))
}

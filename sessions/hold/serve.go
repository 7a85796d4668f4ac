package hold

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	// helloWithin is how long a new connection may take to say who it is.
	helloWithin = 2 * time.Second
	// maxHandshakes bounds the connections that have not.
	maxHandshakes = 8
	// byeWithin is how long the last words to a server may take.
	byeWithin = 200 * time.Millisecond
	// maxOut is how much may wait for a server before its requests do.
	maxOut = 1 << 20
	// A trickle of output after input, such as the echo of a key, is announced at
	// once, else each wakePause, or streamPause for a stream, or wakeBatch.
	// The server's reading takes time from the program's writing.
	trickle     = 1 << 10
	wakePause   = time.Millisecond
	streaming   = 32 << 10
	streamPause = 3 * time.Millisecond
	wakeBatch   = 256 << 10
	// recordPause is how long a record of input or of a reply waits for an echo
	// whose wake announces both. A program that echoes nothing makes none.
	recordPause = 10 * time.Millisecond
	// wakeCredit is Welcome's Credit: some dozen lines or keys. To hear of each
	// was a third of what the holder of a session that prints lines does.
	wakeCredit = 4 << 10
	// paceBurst is how many wakes a paced session has before it is slowed down,
	// so that a few lines, or a program's questions to its terminal, are not.
	paceBurst = 8
	// maxPace bounds what a server may ask for.
	maxPace = time.Second
	// keepBuffer is the largest buffer kept between two writes.
	keepBuffer = 16 << 10
)

// serverConn is a server's connection. All fields but conn and kick are
// guarded by the holder's mu.
type serverConn struct {
	conn *socket
	kick chan struct{} // there is something to send; holds one

	out      []byte    // frames to be sent, in order
	held     []byte    // answers that wait for the next wake; only while one is due
	consumed int64     // the server has read the output up to here
	heard    time.Time // when it said so last
	still    bool      // it has read nothing for a long time: the holder doesn't wait for it
	woken    bool      // a wake is out that has to be answered
	wokenAt  time.Time
	wokenTo  int64         // the offset the last wake announced
	pausing  time.Time     // until when the sender waits for the next wake to be worth it; zero when it does not
	wokenFor uint64        // the last control record a wake announced
	pace     time.Duration // between wakes for output alone, in the long run; 0: none
	paced    time.Time     // how far ahead of that they are: as if so many had been sent up to then
	told     bool          // the exit is in out
	closing  bool          // close when out is sent
}

// accept takes connections until the listener is closed.
func (h *holder) accept() {
	var conns sync.WaitGroup
	defer conns.Wait()
	handshakes := make(chan struct{}, maxHandshakes)
	for {
		conn, err := h.listen.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		var c *socket
		if err == nil {
			c, err = newSocket(conn)
		}
		if err != nil { // out of descriptors: let some go
			time.Sleep(10 * time.Millisecond)
			continue
		}
		// The next ones wait: a process of a session can connect without end, and is refused at once. The server, which
		// comes after a restart, must not be turned away with it.
		handshakes <- struct{}{}
		conns.Go(func() {
			s, r, err := h.greet(c)
			<-handshakes
			if err != nil {
				c.Close()
				return
			}
			h.serve(s, r)
		})
	}
}

// greet checks who connects, agrees on a version and makes it the server.
func (h *holder) greet(c *socket) (*serverConn, *bufio.Reader, error) {
	c.SetDeadline(time.Now().Add(helloWithin))
	if err := checkPeer(c.UnixConn); err != nil {
		refuse(c, refusePeer, err)
		return nil, nil, err
	}
	r := bufio.NewReaderSize(c, 4<<10)
	for {
		t, payload, err := readFrame(r)
		if err != nil {
			return nil, nil, err
		}
		if t != frameHello {
			continue
		}
		var greeting hello
		if err := json.Unmarshal(payload, &greeting); err != nil {
			return nil, nil, fmt.Errorf("decoding a hello: %w", err)
		}
		version, err := chooseVersion(greeting)
		if err != nil {
			refuse(c, refuseVersion, err)
			return nil, nil, err
		}
		c.SetDeadline(time.Time{})
		return h.adopt(c, version), r, nil
	}
}

// refuse sends a connection the reason and closes it.
func refuse(c *socket, code string, why error) {
	body, _ := json.Marshal(refusal{Code: code, Message: why.Error()})
	c.Write(appendFrame(nil, frameRefuse, body))
}

// adopt makes c the server in place of any other.
func (h *holder) adopt(c *socket, version int) *serverConn {
	h.ending.memory.watch() // the server may have enabled the controller again
	h.mu.Lock()
	defer h.mu.Unlock()
	if old := h.server; old != nil {
		body, _ := json.Marshal(refusal{Code: refuseReplaced, Message: ErrReplaced.Error()})
		old.out = appendFrame(old.out, frameBye, body)
		old.closing = true
		old.conn.SetWriteDeadline(time.Now().Add(byeWithin))
		old.notify()
	}
	s := &serverConn{conn: c, kick: make(chan struct{}, 1), consumed: h.written, heard: time.Now(), wokenTo: h.written, wokenFor: h.control.last}
	body, _ := json.Marshal(Welcome{
		Version:     version,
		HolderPID:   h.self.pid,
		HolderStart: h.self.start,
		ChildPID:    h.child.pid,
		ChildStart:  h.child.start,
		Written:     h.written,
		Control:     h.control.last,
		Cols:        h.size.cols,
		Rows:        h.size.rows,
		StaleOffset: h.recent.before(time.Now()),
		LastReply:   h.answered,
		Credit:      wakeCredit,
		Types:       true,
		Queued:      h.typing.queue.marks(),
		TakesHooks:  h.hooks.listen != nil,
		Hooks:       h.hooks.table.welcome(),
	})
	s.out = appendFrame(s.out, frameWelcome, body)
	for _, r := range h.control.queue {
		s.out = appendFrame(s.out, frameRecord, r.line)
	}
	h.server, h.served = s, true
	h.serverMoved()
	h.moved.Broadcast()
	h.wake()
	s.notify()
	return s
}

// notify makes the sender look.
func (s *serverConn) notify() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// wake makes the sender look if the server should hear of something.
func (h *holder) wake() {
	s := h.server
	if s == nil {
		return
	}
	due, in := h.wantsWake(s)
	// A sender that pauses is disturbed only for what is clearly sooner.
	if due && (in == 0 || s.pausing.IsZero() || time.Until(s.pausing) > in+wakePause) || len(s.out) > 0 || h.ending.exit != nil && !s.told {
		s.notify()
	}
}

// wantsWake reports whether a wake is due, and if one is, how much later it
// should be sent: none is out, and there is more than the server has read or
// was announced. The server's Consumed and every change of the log are looked
// at under one lock, so no wake gets lost.
func (h *holder) wantsWake(s *serverConn) (due bool, in time.Duration) {
	output := h.written > max(s.consumed, s.wokenTo)
	if s.woken || !output && h.control.last <= s.wokenFor {
		return false, 0
	}
	if !output && h.news.record <= s.wokenFor && h.ending.exit == nil {
		return true, max(0, recordPause-time.Since(h.news.at))
	}
	fresh := h.written - s.wokenTo
	answer := fresh < trickle && h.control.last > s.wokenFor // to input: an echo
	if answer || h.news.record > s.wokenFor || fresh >= wakeBatch || h.ending.exit != nil {
		return true, 0
	}
	now := time.Now()
	pause := wakePause
	switch {
	case fresh >= streaming:
		pause = streamPause
	case s.pace > 0 && now.Sub(h.news.at) >= recordPause:
		pause = max(pause, s.paced.Add(-paceBurst*s.pace).Sub(s.wokenAt))
	}
	return true, max(0, pause-now.Sub(s.wokenAt))
}

// sentWake notes a wake for all that there is now. One that announces more than
// the credit is waited for.
func (h *holder) sentWake(s *serverConn) {
	now := time.Now()
	s.woken = h.written-s.consumed > wakeCredit
	s.wokenFor, s.wokenTo, s.wokenAt = h.control.last, h.written, now
	if s.paced.Before(now) {
		s.paced = now
	}
	s.paced = s.paced.Add(s.pace)
	// A stream's wakes come faster than the pace: its end waits for one pace.
	if most := now.Add((paceBurst + 1) * s.pace); s.paced.After(most) {
		s.paced = most
	}
}

// ack puts an answer into the server's queue.
func (h *holder) ack(s *serverConn, id uint32, code ackCode, text string) {
	s.out = appendFrame(s.out, frameAck, encodeAck(id, code, text))
	s.notify()
}

// ackSoon is ack for what may wait for the echo, which is one write and one
// wakeup of the server less for each key. A wake that is due now is due until
// it is sent: at the latest recordPause after the record of the input.
func (h *holder) ackSoon(s *serverConn, id uint32) {
	if due, _ := h.wantsWake(s); !due || h.server != s {
		h.ack(s, id, ackDone, "")
		return
	}
	s.held = appendFrame(s.held, frameAck, encodeAck(id, ackDone, ""))
}

// dropServer disconnects the server, if there is one.
func (h *holder) dropServer() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.server != nil {
		h.server.conn.Close()
	}
}

// serve runs one connection until it ends.
func (h *holder) serve(s *serverConn, r *bufio.Reader) {
	done := make(chan struct{})
	var sending sync.WaitGroup
	sending.Go(func() { h.send(s, done) })
	for {
		t, payload, err := readFrame(r)
		if err != nil {
			break
		}
		if err := h.handle(s, t, payload); err != nil {
			break
		}
	}
	s.conn.Close()
	close(done)
	h.mu.Lock()
	if h.server == s {
		h.server = nil
		h.serverMoved()
	}
	h.moved.Broadcast()
	h.mu.Unlock()
	sending.Wait()
}

// send writes what waits for the server. It never holds the lock while it
// writes: a server that does not read delays no other.
func (h *holder) send(s *serverConn, done <-chan struct{}) {
	var spare []byte
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		buf, in, closing := h.gather(s, spare)
		if len(buf) > 0 {
			if _, err := s.conn.Write(buf); err != nil {
				s.conn.Close()
				return
			}
		}
		if closing {
			s.conn.Close()
			return
		}
		spare = nil
		if cap(buf) <= keepBuffer {
			spare = buf[:0]
		}
		if len(buf) > 0 {
			continue
		}
		var paused <-chan time.Time
		if in > 0 {
			pause.Reset(in)
			paused = pause.C
		}
		select {
		case <-s.kick:
		case <-paused:
		case <-done:
			return
		}
	}
}

// gather takes the frames that wait and adds a wake, then the exit, if they
// are due.
func (h *holder) gather(s *serverConn, spare []byte) (buf []byte, in time.Duration, closing bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	buf, s.out = s.out, spare
	due, in := h.wantsWake(s)
	s.pausing = time.Time{}
	if due && in > 0 {
		s.pausing = time.Now().Add(in)
	}
	if due && in == 0 {
		h.sentWake(s)
		buf = append(buf, s.held...)
		s.held = s.held[:0]
		buf = appendFrame(buf, frameWake, encodeNumbers(uint64(h.written), h.control.last))
	}
	if h.ending.exit != nil && !s.told {
		s.told = true
		body, _ := json.Marshal(h.ending.exit)
		buf = appendFrame(buf, frameExit, encodeNumbers(uint64(h.written), h.control.last), body)
	}
	if len(buf) > 0 {
		h.moved.Broadcast()
	}
	return buf, in, s.closing
}

// handle does what one frame asks. An error ends the connection.
func (h *holder) handle(s *serverConn, t frameType, payload []byte) error {
	switch t {
	case frameConsumed:
		off, _, err := decodeOffset(payload)
		if err != nil {
			return err
		}
		h.consumedBy(s, off)
		return nil
	case framePace:
		pace, _, err := decodeNumber(payload)
		if err != nil {
			return err
		}
		h.setPace(s, time.Duration(min(pace, uint64(maxPace.Milliseconds())))*time.Millisecond)
		return nil
	case frameReply:
		at, data, err := decodeOffset(payload)
		if err != nil {
			return err
		}
		h.enqueue(op{kind: opReply, at: at, data: data, from: s})
		return nil
	case frameTyped:
		return h.takeTyped(s, payload)
	case frameInput, frameResize, frameSignal, frameEnd, frameNote, frameVerdict, frameRelease:
		q, data, err := decodeRequest(payload)
		if err != nil {
			return err
		}
		code, text, later := h.request(s, t, q, data)
		if !later {
			h.answer(s, q.ID, code, text)
		}
	}
	return nil // a type this version does not know
}

// answer acknowledges a request and waits while too much waits for a server
// that does not read.
func (h *holder) answer(s *serverConn, id uint32, code ackCode, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ack(s, id, code, text)
	for len(s.out) > maxOut && h.server == s {
		h.moved.Wait()
	}
}

// request does one acknowledged thing. later says that the answer comes when
// it is done.
func (h *holder) request(s *serverConn, t frameType, q request, data []byte) (code ackCode, text string, later bool) {
	if len(q.Mark) > maxMark {
		return ackBad, "mark is too long", false
	}
	o := op{mark: q.Mark, id: q.ID, from: s}
	switch t {
	case frameInput:
		if len(data) > MaxInput {
			return ackBad, "input is too long", false
		}
		o.kind, o.data, o.by = opInput, data, q.By
		code = h.enqueue(o)
		return code, "", code == ackDone
	case frameResize:
		if err := checkSize(q.Cols, q.Rows); err != nil {
			return ackBad, err.Error(), false
		}
		o.kind, o.cols, o.rows = opResize, q.Cols, q.Rows
		return h.enqueue(o), "", false
	case frameSignal:
		o.kind, o.sig = opSignal, syscall.Signal(q.Sig)
		return h.enqueue(o), "", false
	case frameEnd:
		h.end(time.Duration(q.Grace)*time.Millisecond, q.Mark)
	case frameNote:
		if q.Kind == "" {
			return ackBad, "a note needs a kind", false
		}
		if err := h.record(q.Kind, q.Data); err != nil {
			return ackBad, err.Error(), false
		}
	case frameVerdict:
		code, text = h.verdict(q, data)
		return code, text, false
	case frameRelease:
		return h.release(q.Hook, GoneReleased), "", false
	}
	return ackDone, "", false
}

// takeTyped queues what a person types.
func (h *holder) takeTyped(s *serverConn, payload []byte) error {
	id, mark, data, err := decodeTyped(payload)
	if err != nil {
		return err
	}
	defer runtime.Gosched() // the goroutine that types goes first: the next frame is a while away
	code, text := ackBad, "mark is too long or no JSON, or input is too long"
	if len(mark) <= maxMark && len(data) <= MaxInput && (len(mark) == 0 || json.Valid(mark)) {
		code, text = h.enqueue(op{kind: opInput, typed: true, data: data, mark: mark, id: id, from: s}), ""
	}
	if code != ackDone {
		h.answer(s, id, code, text)
	}
	return nil
}

// consumedBy takes the server's word for how far it has read.
func (h *holder) consumedBy(s *serverConn, off int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.heard, s.still = time.Now(), false
	s.consumed = min(off, h.written+readSize) // what is in the files may be read before it is counted
	if s.woken {
		s.woken, s.wokenTo = false, min(s.wokenTo, s.consumed) // what it left unread is announced again
	}
	h.wake()
	h.moved.Broadcast()
}

// setPace sets how far apart wakes for output are to be.
func (h *holder) setPace(s *serverConn, pace time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.pace, s.paced = pace, time.Time{}
	s.notify()
}

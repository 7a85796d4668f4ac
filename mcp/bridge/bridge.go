// Package bridge connects a client of the Model Context Protocol with a server that may go away. Clients
// start a server as a child process, and none starts it again when it has died. So the bridge is the
// child: it stays, and dials the server again.
//
// One goroutine reads the client, one reads the current connection, and one dials. Link has what they
// share: what the client said when it began, and the requests without an answer. When a connection is
// lost, requests that only read are sent again on the next one. Each other one is answered with an error,
// because no program knows whether it had an effect. What the client asks while there is no connection waits
// for the next one, for Patience.
package bridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Options are what a bridge needs. Dial opens a connection to a server; an error of it is shown to the
// client. Again says whether a tool may be called again when its answer is lost.
type Options struct {
	In       io.Reader
	Out      io.Writer
	Dial     func(context.Context) (io.ReadWriteCloser, error)
	Again    func(tool string) bool
	Patience time.Duration // how long a request waits for a connection
	Longest  time.Duration // how long a request that was sent again waits for its answer, from its beginning
	Pause    time.Duration // between two dials at first; it doubles up to LongestPause
}

// LongestPause is the longest time between two dials.
const LongestPause = 5 * time.Second

const (
	mostLine    = 2 << 20 // bytes of a message
	mostWaiting = 64      // requests without an answer; one more is refused
)

// errNoServer is the answer's text when there is no connection.
var errNoServer = errors.New("no connection to the server yet")

// Run serves the client until In ends.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	l := &link{Options: o, ctx: ctx, waiting: map[string]*request{}, lost: make(chan struct{}, 1)}
	var dialing sync.WaitGroup
	dialing.Go(l.keepDialed)
	err := l.readClient()
	cancel()
	l.mu.Lock()
	if l.conn != nil {
		_ = l.conn.Close()
	}
	l.mu.Unlock()
	dialing.Wait()
	return err
}

// message is what the bridge reads of a message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string `json:"name"`
	} `json:"params"`
}

// request is one that the client has no answer to yet.
type request struct {
	line    []byte
	message message
	began   time.Time
	sent    bool // on the current connection
	timer   *time.Timer
}

type link struct {
	Options
	ctx  context.Context
	lost chan struct{} // the connection has ended

	mu          sync.Mutex // of the fields below, and of writes to Out and to conn
	conn        io.ReadWriteCloser
	why         error  // of the last failed dial
	begin       []byte // the client's initialize
	initialized []byte // and what it said when it had the answer
	waiting     map[string]*request
	order       []string // of waiting
}

// ours is the id of the initialize that the bridge sends again.
const ours = `"berth-bridge"`

// readClient passes the client's messages on.
func (l *link) readClient() error {
	in := bufio.NewReaderSize(l.In, 64<<10)
	for {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the client: %w", err)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		l.take(line)
	}
}

func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > mostLine:
			return nil, fmt.Errorf("a message has more than %d bytes", mostLine)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(line) > 0 && errors.Is(err, io.EOF):
			return line, nil
		}
		return line, err
	}
}

// take handles one message of the client.
func (l *link) take(line []byte) {
	var m message
	isRequest := json.Unmarshal(line, &m) == nil && len(m.ID) > 0 && m.Method != ""
	l.mu.Lock()
	defer l.mu.Unlock()
	switch m.Method {
	case "initialize":
		l.begin = line
	case "notifications/initialized":
		l.initialized = line
	}
	if !isRequest {
		if l.conn != nil {
			l.write(line)
		}
		return
	}
	key := string(m.ID)
	if _, double := l.waiting[key]; double || len(l.waiting) >= mostWaiting {
		l.fail(m, "LIMIT", fmt.Sprintf("%d requests have no answer yet, or one has this id", len(l.waiting)), nil)
		return
	}
	r := &request{line: line, message: m, began: time.Now()}
	l.waiting[key], l.order = r, append(l.order, key)
	if l.conn != nil {
		r.sent = true
		l.write(line)
		return
	}
	r.timer = time.AfterFunc(l.Patience, func() { l.expire(key, r) })
}

// expire answers a request that has waited too long.
func (l *link) expire(key string, r *request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting[key] != r {
		return
	}
	l.drop(key)
	if r.sent {
		l.fail(r.message, "NOT_READY", "the server went away and has not answered since: call again", nil)
		return
	}
	why := l.why
	if why == nil {
		why = errNoServer
	}
	l.fail(r.message, "NOT_READY", "the server can't be reached: "+why.Error()+". The call had no effect: try again later", nil)
}

// drop forgets a request.
func (l *link) drop(key string) {
	if r := l.waiting[key]; r != nil && r.timer != nil {
		r.timer.Stop()
	}
	delete(l.waiting, key)
	for i, k := range l.order {
		if k == key {
			l.order = append(l.order[:i:i], l.order[i+1:]...)
			break
		}
	}
}

// fail answers a request with an error: a tool's call with a result that a model reads, all else with an
// error of the protocol.
func (l *link) fail(m message, code, text string, details map[string]any) {
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	if m.Method == "tools/call" {
		said, _ := json.Marshal(map[string]any{"error": map[string]any{"code": code, "message": text, "details": details}})
		answer["result"] = map[string]any{"isError": true, "content": []any{map[string]any{"type": "text", "text": string(said)}}}
	} else {
		answer["error"] = map[string]any{"code": -32000, "message": code + ": " + text}
	}
	line, _ := json.Marshal(answer)
	_, _ = l.Out.Write(append(line, '\n')) // a client that is gone ends In too
}

// write sends a line to the server. If that fails, the connection has ended, and its reader sees why.
func (l *link) write(line []byte) {
	if !bytes.HasSuffix(line, []byte("\n")) {
		line = append(line[:len(line):len(line)], '\n')
	}
	_, _ = l.conn.Write(line)
}

// keepDialed keeps a connection until the client has ended.
func (l *link) keepDialed() {
	pause := l.Pause
	for l.ctx.Err() == nil {
		conn, err := l.Dial(l.ctx)
		if err == nil {
			var reached bool
			reached, err = l.serve(conn)
			if reached {
				pause = l.Pause
			}
		}
		l.mu.Lock()
		l.why = err
		l.mu.Unlock()
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-l.ctx.Done():
			timer.Stop()
		}
		pause = min(2*pause, LongestPause)
	}
}

// serve uses a connection until it ends. reached says that the server has answered on it.
func (l *link) serve(conn io.ReadWriteCloser) (reached bool, err error) {
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 64<<10)
	l.mu.Lock()
	again := l.begin != nil && l.initialized != nil
	if again {
		l.conn = conn
		l.write(withID(l.begin, ours))
	}
	l.mu.Unlock()
	if again {
		// The server may answer requests in any order, so nothing else is sent before.
		if _, err := readLine(in); err != nil {
			l.mu.Lock()
			l.conn = nil
			l.mu.Unlock()
			return false, fmt.Errorf("greet the server: %w", err)
		}
	}
	l.join(conn, again)
	for {
		line, err := readLine(in)
		if err != nil {
			l.leave()
			return reached, fmt.Errorf("the connection ended: %w", err)
		}
		reached = true
		l.answer(line)
	}
}

// join sends what waits for a connection.
func (l *link) join(conn io.ReadWriteCloser, again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = conn
	if again {
		l.write(l.initialized)
	}
	for _, key := range l.order {
		r := l.waiting[key]
		if r.sent {
			continue
		}
		if r.timer != nil {
			r.timer.Stop()
			r.timer = time.AfterFunc(max(l.Longest-time.Since(r.began), time.Second), func() { l.expire(key, r) })
		}
		r.sent = true
		l.write(r.line)
	}
}

// leave settles the requests that the lost connection had.
func (l *link) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = nil
	for _, key := range append([]string(nil), l.order...) {
		r := l.waiting[key]
		if !r.sent {
			continue
		}
		if r.message.Method != "tools/call" || l.Again(r.message.Params.Name) {
			r.sent = false
			if r.timer == nil {
				r.timer = time.AfterFunc(l.Patience, func() { l.expire(key, r) })
			}
			continue
		}
		l.drop(key)
		l.fail(r.message, "NOT_READY", "the connection to the server was lost while "+r.message.Params.Name+" ran: look whether it had an effect before you call it again",
			map[string]any{"effect": "unknown"})
	}
}

// answer passes a message of the server on, and forgets the request that it answers. An answer to a
// request that was answered already is dropped.
func (l *link) answer(line []byte) {
	var m message
	l.mu.Lock()
	defer l.mu.Unlock()
	if json.Unmarshal(line, &m) == nil && len(m.ID) > 0 && m.Method == "" {
		if l.waiting[string(m.ID)] == nil {
			return
		}
		l.drop(string(m.ID))
	}
	_, _ = l.Out.Write(line)
}

// withID is a message with another id.
func withID(line []byte, id string) []byte {
	var m map[string]json.RawMessage
	if json.Unmarshal(line, &m) != nil {
		return line
	}
	m["id"] = json.RawMessage(id)
	changed, err := json.Marshal(m)
	if err != nil {
		return line
	}
	return changed
}

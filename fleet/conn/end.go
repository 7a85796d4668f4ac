package conn

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"berth/api"
)

// Options are the limits of an end. A zero field has its default.
type Options struct {
	Window  int           // bytes that the other end may send before this one has read them: 512 KiB
	Alive   time.Duration // pause between two signs of life: 3 s
	Silence time.Duration // time without a frame after which the other end is gone: 15 s
	Streams int           // at once: 1024
}

func (o Options) withDefaults() Options {
	if o.Window <= 0 {
		o.Window = 512 << 10
	}
	if o.Alive <= 0 {
		o.Alive = 3 * time.Second
	}
	if o.Silence <= 0 {
		o.Silence = 15 * time.Second
	}
	if o.Streams <= 0 {
		o.Streams = 1024
	}
	return o
}

// Why a stream ended, or didn't open.
var (
	ErrAbsent       = errors.New("the host isn't connected to the fleet")
	ErrGone         = errors.New("the other end is gone")
	ErrSilent       = errors.New("the other end has stopped answering")
	ErrDisconnected = errors.New("the connection to the fleet is lost")
	ErrLost         = errors.New("bytes were lost on the way")
	ErrBusy         = errors.New("too many connections are open")
	ErrDropped      = errors.New("the host was removed from the fleet")
	ErrReset        = errors.New("the other end has ended the connection")
)

// Subjects of a member. The name must be one token of a subject: CheckName.
func subjectOpen(member string) string { return "berth.to." + member + ".open" }
func prefixTo(member string) string    { return "berth.to." + member + ".c." }
func prefixFrom(member string) string  { return "berth.from." + member + ".c." }

// opposite is the other subject of a stream.
func opposite(subject string) string {
	if rest, ok := strings.CutPrefix(subject, "berth.to."); ok {
		return "berth.from." + rest
	}
	return "berth.to." + strings.TrimPrefix(subject, "berth.from.")
}

// CheckName refuses a member's name that isn't one token of a NATS subject, or that a session's name
// could be confused with: host/session.
func CheckName(name string) error { return api.CheckHost(name) }

// end is what a Dialer and a Listener have in common: the streams of one NATS connection.
type end struct {
	nc *nats.Conn
	o  Options

	mu      sync.Mutex
	streams map[string]*stream // by the subject that this end reads
	closed  bool

	subs []*nats.Subscription
	stop chan struct{}
	done chan struct{}
}

// open starts an end. The NATS connection must not keep what is published while it is broken: such
// bytes would arrive after their stream has ended.
func open(nc *nats.Conn, o Options) (*end, error) {
	if nc.Opts.ReconnectBufSize >= 0 {
		return nil, errors.New("the NATS connection needs nats.ReconnectBufSize(-1)")
	}
	e := &end{nc: nc, o: o.withDefaults(), streams: map[string]*stream{}, stop: make(chan struct{}), done: make(chan struct{})}
	status := nc.StatusChanged(nats.RECONNECTING, nats.CLOSED)
	go e.watch(status)
	return e, nil
}

func (e *end) subscribe(subject string, handle nats.MsgHandler) error {
	sub, err := e.nc.Subscribe(subject, handle)
	if err != nil {
		return fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	e.subs = append(e.subs, sub)
	return nil
}

// watch ends the streams when the NATS connection breaks, and gives signs of life until close.
func (e *end) watch(status chan nats.Status) {
	defer close(e.done)
	defer e.nc.RemoveStatusListener(status)
	tick := time.NewTicker(e.o.Alive)
	defer tick.Stop()
	for {
		select {
		case <-e.stop:
			return
		case _, open := <-status:
			if !open { // the NATS connection was closed for good
				status = nil
			}
			for _, s := range e.snapshot() {
				s.end(ErrDisconnected)
			}
		case now := <-tick.C:
			for _, s := range e.snapshot() {
				s.beat(now)
			}
		}
	}
}

func (e *end) snapshot() []*stream {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]*stream, 0, len(e.streams))
	for _, s := range e.streams {
		out = append(out, s)
	}
	return out
}

// add makes the stream that this end reads on in.
func (e *end) add(in string, local, remote Addr) (*stream, error) {
	s := newStream(e, in, local, remote)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return nil, errClosed
	case e.streams[in] != nil:
		return nil, fmt.Errorf("the stream %s is open already", in)
	case len(e.streams) >= e.o.Streams:
		return nil, ErrBusy
	}
	e.streams[in] = s
	return s, nil
}

func (e *end) remove(s *stream) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.streams[s.in] == s {
		delete(e.streams, s.in)
	}
}

// receive passes a message on to its stream. It never waits for a stream's reader.
func (e *end) receive(m *nats.Msg) {
	e.mu.Lock()
	s := e.streams[m.Subject]
	e.mu.Unlock()
	if m.Header.Get("Status") == "503" { // no process reads what was sent
		if s != nil {
			s.absent()
		}
		return
	}
	f, err := parse(m.Data)
	if s == nil {
		if err == nil && f.kind != kindReset {
			_ = e.send(opposite(m.Subject), "", frame{kind: kindReset, data: []byte("it isn't open here")})
		}
		return
	}
	if err != nil {
		s.fail(err)
		return
	}
	s.take(f)
}

// send publishes a frame. If no process reads the subject, NATS says so on reply.
func (e *end) send(subject, reply string, f frame) error {
	return e.nc.PublishMsg(&nats.Msg{Subject: subject, Reply: reply, Data: f.append(make([]byte, 0, frameHead+len(f.data)))})
}

// close ends all streams, and returns when the end's goroutine has returned. It leaves the NATS
// connection open.
func (e *end) close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return errClosed
	}
	e.closed = true
	e.mu.Unlock()
	for _, s := range e.snapshot() {
		_ = s.Close()
	}
	var errs []error
	for _, sub := range e.subs {
		if err := sub.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
			errs = append(errs, err)
		}
	}
	close(e.stop)
	<-e.done
	return errors.Join(errs...)
}

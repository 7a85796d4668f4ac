package conn

import (
	"errors"
	"net"
	"strings"

	"github.com/nats-io/nats.go"
)

// backlog is how many streams wait for Accept at once.
const backlog = 64

// Listener is a member's net.Listener.
type Listener struct {
	*end
	member string
	queue  chan *stream
	gone   chan struct{} // closed by Close
}

// Listen listens for streams to member on nc, which must be closed later than the listener.
func Listen(nc *nats.Conn, member string, o Options) (*Listener, error) {
	if err := CheckName(member); err != nil {
		return nil, err
	}
	e, err := open(nc, o)
	if err != nil {
		return nil, err
	}
	l := &Listener{end: e, member: member, queue: make(chan *stream, backlog), gone: make(chan struct{})}
	err = l.subscribe(prefixTo(member)+">", l.receive)
	if err == nil {
		err = l.subscribe(subjectOpen(member), l.asked)
	}
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// asked opens a stream for a dialer, which reads on the message's reply.
func (l *Listener) asked(m *nats.Msg) {
	key, ours := strings.CutPrefix(m.Reply, prefixFrom(l.member))
	f, err := parse(m.Data)
	if err != nil || f.kind != kindOpen || !ours || key == "" {
		return
	}
	s, err := l.add(prefixTo(l.member)+key, Addr(l.member), "gateway")
	if err != nil {
		_ = l.send(m.Reply, "", frame{kind: kindReset, data: []byte(err.Error())})
		return
	}
	s.mu.Lock() // the end's goroutine knows it already
	s.opened, s.limit = true, f.number
	s.mu.Unlock()
	select {
	case l.queue <- s:
	default:
		s.fail(ErrBusy)
		return
	}
	if err := l.send(s.out, s.in, frame{kind: kindAccept, number: uint64(l.o.Window)}); err != nil {
		s.end(ErrDisconnected)
	}
}

// Accept waits for a stream. Its error is net.ErrClosed, after Close.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case <-l.gone:
		return nil, errClosed
	default:
	}
	select {
	case <-l.gone:
		return nil, errClosed
	case s := <-l.queue:
		return s, nil
	}
}

// Close ends the listener and all its streams, also those that were accepted: without the listener
// no frame of theirs is read.
func (l *Listener) Close() error {
	err := l.close()
	if !errors.Is(err, errClosed) {
		close(l.gone)
	}
	return err
}

// Addr is the member's name.
func (l *Listener) Addr() net.Addr { return Addr(l.member) }

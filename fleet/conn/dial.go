package conn

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/nats-io/nats.go"
)

// Dialer opens streams to members. Its methods may be called from any goroutine.
type Dialer struct {
	*end
	name string // of this dialer, in its streams' subjects
}

// NewDialer makes a dialer for nc, which must be closed later than the dialer.
func NewDialer(nc *nats.Conn, o Options) (*Dialer, error) {
	e, err := open(nc, o)
	if err != nil {
		return nil, err
	}
	d := &Dialer{e, nats.NewInbox()[len(nats.InboxPrefix):]}
	if err := d.subscribe(prefixFrom("*")+d.name+".*", d.receive); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// Dial opens a stream to a member. The error is ErrAbsent, at once, when the member isn't connected, and
// ctx's when it doesn't answer.
func (d *Dialer) Dial(ctx context.Context, member string) (net.Conn, error) {
	if err := CheckName(member); err != nil {
		return nil, err
	}
	in := prefixFrom(member) + d.name + "." + nats.NewInbox()[len(nats.InboxPrefix):]
	s, err := d.add(in, "gateway", Addr(member))
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", member, err)
	}
	if err := d.ask(ctx, s, member); err != nil {
		s.fail(err)
		return nil, fmt.Errorf("dial %s: %w", member, err)
	}
	return s, nil
}

func (d *Dialer) ask(ctx context.Context, s *stream, member string) error {
	if err := d.send(subjectOpen(member), s.in, frame{kind: kindOpen, number: uint64(d.o.Window)}); err != nil {
		return fmt.Errorf("%w: %w", ErrDisconnected, err)
	}
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.opened {
			s.endLocked(context.Cause(ctx))
		}
	})
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.opened && s.err == nil && !s.closed {
		s.writing.changed.Wait()
	}
	switch {
	case s.opened: // it may have ended since, and what has arrived can be read
		return nil
	case s.closed:
		return errClosed
	}
	return s.err
}

// Drop ends all streams to a member. One that is dialled meanwhile may stay.
func (d *Dialer) Drop(member string) {
	for _, s := range d.snapshot() {
		if s.remote == Addr(member) {
			s.fail(ErrDropped)
		}
	}
}

// Close ends all streams.
func (d *Dialer) Close() error { return d.close() }

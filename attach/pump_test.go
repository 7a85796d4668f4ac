package attach

import (
	"context"
	"io"
	"sync"
)

// pumpSize is how far a Pump reads ahead: a packet of SSH's.
const pumpSize = 32 << 10

// Pump makes an Input of a reader whose reads cannot be cancelled. It reads
// ahead one buffer; then it waits, so that the sender does.
type Pump struct {
	chunks chan []byte   // unbuffered: a chunk offered is not lost when no reader takes it
	done   chan struct{} // closed by Close
	once   sync.Once

	err error // set before chunks is closed

	mu   sync.Mutex
	rest []byte
}

// NewPump starts reading r. The goroutine that does so ends when r gives an
// error, or at Close together with a return from r's Read: the owner of r
// closes it.
func NewPump(r io.Reader) *Pump {
	p := &Pump{chunks: make(chan []byte), done: make(chan struct{})}
	go p.run(r)
	return p
}

func (p *Pump) run(r io.Reader) {
	defer close(p.chunks)
	buf := make([]byte, pumpSize)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			select {
			case p.chunks <- append([]byte(nil), buf[:n]...):
			case <-p.done:
				p.err = io.ErrClosedPipe
				return
			}
		}
		if err != nil {
			p.err = err
			return
		}
	}
}

// ReadContext implements Input.
func (p *Pump) ReadContext(ctx context.Context, b []byte) (int, error) {
	if n := p.take(b); n > 0 {
		return n, nil
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	select {
	case c, ok := <-p.chunks:
		if !ok {
			return 0, p.err
		}
		n := copy(b, c)
		if n < len(c) {
			p.Unread(c[n:])
		}
		return n, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (p *Pump) take(b []byte) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := copy(b, p.rest)
	if p.rest = p.rest[n:]; len(p.rest) == 0 {
		p.rest = nil
	}
	return n
}

// Unread implements Input.
func (p *Pump) Unread(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest = append(append([]byte(nil), b...), p.rest...)
}

// Close makes the pump give up an unread chunk.
func (p *Pump) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

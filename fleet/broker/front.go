package broker

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// What one client may send in a second, and after a quiet time. NATS itself takes all that comes, also more than the
// gateway can read, and then ends the gateway's connection.
const (
	clientRate  = 8 << 20
	clientBurst = 1 << 20
)

// Of a client that isn't known to be a host or a gateway yet. It can't ask more than to join: many that asked without
// end had the gateway hear of its hosts 7 s late. A new connection begins with the burst.
const (
	strangerRate  = 64 << 10
	strangerBurst = 64 << 10
)

// acceptPause is between two tries to take a connection.
const acceptPause = 50 * time.Millisecond

// copyBytes is a buffer of a connection, which has two.
const copyBytes = 8 << 10

// front is where clients connect. It passes on what they send to the NATS server, which listens at loopback alone, no
// faster than clientRate. TLS is between the client and the NATS server.
type front struct {
	listener net.Listener
	to       string
	running  sync.WaitGroup
	taken    chan struct{} // has one while there are new connections

	mu        sync.Mutex
	closed    bool
	open      map[net.Conn]struct{} // of both sides
	strangers map[int]*rate.Limiter // by the port that the NATS server sees
}

// known gives a client the share of a host.
func (f *front) known(port int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l := f.strangers[port]; l != nil {
		l.SetBurst(clientBurst)
		l.SetLimit(clientRate)
		delete(f.strangers, port)
	}
}

// hasStrangers says whether there are clients that aren't known.
func (f *front) hasStrangers() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.strangers) > 0
}

// serve passes on connections until close.
func (f *front) serve() {
	f.running.Go(func() {
		for {
			client, err := f.listener.Accept()
			if err != nil {
				if f.over() {
					return
				}
				time.Sleep(acceptPause) // the client is gone, or there are no descriptors: a later one may get in
				continue
			}
			select {
			case f.taken <- struct{}{}:
			default:
			}
			f.running.Go(func() { f.pass(client) })
		}
	})
}

// pass copies both ways until one side ends.
func (f *front) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", f.to)
	if err != nil {
		return // the NATS server ends, and the client dials again
	}
	defer server.Close()
	limiter := rate.NewLimiter(strangerRate, strangerBurst)
	if !f.keep(limiter, client, server) {
		return
	}
	defer f.drop(client, server)
	ctx, cancel := context.WithCancel(context.Background())
	end := func() { // either side's end is the other's: a client that has closed its half reads no more
		cancel()
		_, _ = client.Close(), server.Close()
	}
	var running sync.WaitGroup
	running.Go(func() {
		defer end()
		_, _ = io.CopyBuffer(plain{server}, paced{ctx, client, limiter}, make([]byte, copyBytes))
	})
	defer running.Wait()
	defer end()
	_, _ = io.CopyBuffer(plain{client}, plain{server}, make([]byte, copyBytes))
}

// plain hides a connection's own ways to copy, which hold two pipes for each.
type plain struct{ io.ReadWriter }

// paced is what a client sends, within its share.
type paced struct {
	ctx     context.Context
	from    io.Reader
	limiter *rate.Limiter
}

func (p paced) Read(b []byte) (int, error) {
	n, err := p.from.Read(b)
	if wait := p.limiter.WaitN(p.ctx, n); err == nil && wait != nil {
		err = fmt.Errorf("pace a client: %w", wait)
	}
	return n, err
}

func (f *front) keep(limiter *rate.Limiter, client, server net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[client], f.open[server] = struct{}{}, struct{}{}
	f.strangers[portOf(server)] = limiter
	return !f.closed
}

func (f *front) drop(client, server net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, client)
	delete(f.open, server)
	delete(f.strangers, portOf(server))
}

func portOf(c net.Conn) int { return c.LocalAddr().(*net.TCPAddr).Port }

func (f *front) over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// close ends all connections, and returns when none is left.
func (f *front) close() {
	f.mu.Lock()
	f.closed = true
	_ = f.listener.Close()
	for c := range f.open {
		_ = c.Close()
	}
	f.mu.Unlock()
	f.running.Wait()
}

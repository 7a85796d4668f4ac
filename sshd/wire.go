package sshd

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"berth/rawio"
)

// quickReads is for how many reads of a connection, and after the opening of each of its channels, the
// kernel is asked to acknowledge at once. A handshake with one exec takes about a dozen.
const (
	quickReads        = 24
	quickReadsChannel = 6
)

// wire is the network side of a connection. It knows when the client last sent something. It also keeps
// the client's Nagle algorithm from waiting for our delayed acknowledgements, which costs ssh two
// stalls of 40 ms per login (53 ms instead of 10).
type wire struct {
	net.Conn
	backlog
	stream   io.ReadWriter   // of Conn
	raw      syscall.RawConn // nil unless TCP
	accepted time.Time
	heard    atomic.Int64 // nanoseconds from accepted to the last byte read
	wrote    atomic.Int64 // nanoseconds from accepted to the end of the last write
	writing  atomic.Int32 // writes under way
	quick    atomic.Int32 // reads still to be acknowledged at once
	failed   atomic.Bool  // a read or write has failed, or it was closed
	closed   chan struct{}
	closing  sync.Once
}

func newWire(c net.Conn) *wire {
	w := &wire{Conn: c, stream: c, accepted: time.Now(), closed: make(chan struct{})}
	if socket, ok := c.(syscall.Conn); ok {
		if s, err := rawio.New(socket); err == nil {
			w.stream = s
		}
	}
	if t, ok := c.(*net.TCPConn); ok {
		w.raw, _ = t.SyscallConn()
		w.quick.Store(quickReads)
		w.acknowledge()
	}
	return w
}

func (w *wire) Read(p []byte) (int, error) {
	if err := w.ahead(p); err != nil {
		w.failed.Store(true)
		return 0, err
	}
	n, err := w.stream.Read(p)
	if n > 0 {
		if !w.received(n) {
			<-w.closed // closed when the connection ends, after its sessions have sent the reason
			return 0, net.ErrClosed
		}
		w.heard.Store(int64(time.Since(w.accepted)))
		// x/crypto reads the version line byte by byte; those reads aren't messages.
		if len(p) > 1 && w.quick.Load() > 0 {
			w.quick.Add(-1)
			w.acknowledge()
		}
	}
	if err != nil {
		w.failed.Store(true)
	}
	return n, err
}

func (w *wire) Write(p []byte) (int, error) {
	w.begin() // while it waits nothing that asks for an answer is passed on
	w.writing.Add(1)
	n, err := w.stream.Write(p)
	w.wrote.Store(int64(time.Since(w.accepted)))
	w.writing.Add(-1)
	w.backlog.end()
	if err != nil {
		w.failed.Store(true)
	}
	return n, err
}

func (w *wire) Close() error {
	w.failed.Store(true)
	w.closing.Do(func() { close(w.closed) })
	return w.Conn.Close()
}

// expectSmall says that small messages follow that wait for each other.
func (w *wire) expectSmall() {
	if w.quick.Load() < quickReadsChannel {
		w.quick.Store(quickReadsChannel)
	}
}

// acknowledge asks the kernel to acknowledge now. The kernel goes back to delaying by itself, so this
// is repeated after reads.
func (w *wire) acknowledge() {
	if w.raw != nil {
		_ = w.raw.Control(quickAck)
	}
}

// connected says whether the kernel still has the connection. A connection that the client has closed
// can have unread bytes left.
func (w *wire) connected() bool {
	if w.raw == nil {
		return false
	}
	var gone error
	err := w.raw.Control(func(fd uintptr) { _, gone = unix.Getpeername(int(fd)) })
	return err == nil && gone == nil
}

// silent is how long the client has sent nothing.
func (w *wire) silent() time.Duration {
	return time.Since(w.accepted) - time.Duration(w.heard.Load())
}

// mute is the time since the last write; 0 while a write waits for the client.
func (w *wire) mute() time.Duration {
	if w.writing.Load() > 0 {
		return 0
	}
	return time.Since(w.accepted) - time.Duration(w.wrote.Load())
}

func (w *wire) gone() bool { return w.failed.Load() }

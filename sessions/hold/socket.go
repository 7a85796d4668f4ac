package hold

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"berth/rawio"
)

// maxQueue bounds the connections that wait for a holder to accept them. With Go's 4096, a process that connects without
// end has a server wait for more than answerWithin.
const maxQueue = 16

// socket is a connection between a server and a holder: each key and each echo passes one. It has one
// reader and one writer at a time.
type socket struct {
	*net.UnixConn
	stream *rawio.Stream
}

func newSocket(c *net.UnixConn) (*socket, error) {
	stream, err := rawio.New(c)
	return &socket{c, stream}, err
}

func (s *socket) Read(p []byte) (int, error)  { return s.stream.Read(p) }
func (s *socket) Write(p []byte) (int, error) { return s.stream.Write(p) }

// shortenQueue has a listener keep at most maxQueue connections that were not accepted yet.
func shortenQueue(l *net.UnixListener) error {
	raw, err := l.SyscallConn()
	if err != nil {
		return fmt.Errorf("shorten the socket's queue: %w", err)
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = unix.Listen(int(fd), maxQueue) }); err != nil {
		return fmt.Errorf("shorten the socket's queue: %w", err)
	}
	return os.NewSyscallError("listen", failed)
}

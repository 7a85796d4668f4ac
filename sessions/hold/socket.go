package hold

import (
	"net"

	"berth/rawio"
)

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

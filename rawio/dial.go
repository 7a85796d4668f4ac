package rawio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
)

// dialEvery is the pause between two tries to connect.
const dialEvery = time.Millisecond

// Dial connects to a Unix socket. Go's sockets don't block, so connect fails while as many connections as the kernel
// keeps wait to be accepted, such as those of a process that connects without end. Dial then tries again until ctx ends.
func Dial(ctx context.Context, path string) (*net.UnixConn, error) {
	var d net.Dialer
	for {
		conn, err := d.DialContext(ctx, "unix", path)
		if err == nil {
			return conn.(*net.UnixConn), nil
		}
		if !errors.Is(err, syscall.EAGAIN) {
			return nil, err
		}
		select {
		case <-time.After(dialEvery):
		case <-ctx.Done():
			return nil, fmt.Errorf("too many connections wait to be accepted: %w", err)
		}
	}
}

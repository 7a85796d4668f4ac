package hold

import (
	"errors"
	"net"
	"syscall"
	"testing"
)

// TestDialAmongSilentConnections: connections that say nothing delay a server, and don't have it turned away.
func TestDialAmongSilentConnections(t *testing.T) {
	spec := testSpec(t, "cat")
	start(t, spec)
	for range maxHandshakes + 1 {
		c, err := net.Dial("unix", spec.Socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	l, err := Dial(t.Context(), spec.Dir)
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}

// TestQueueIsShort: a process that connects without end puts few connections in front of a server's.
func TestQueueIsShort(t *testing.T) {
	spec := testSpec(t, "cat")
	start(t, spec)
	for range maxHandshakes + 4*maxQueue {
		c, err := net.Dial("unix", spec.Socket)
		if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ECONNREFUSED) { // the latter on macOS
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	t.Error("more connections than the queue has wait")
}

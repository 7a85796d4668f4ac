package sshd

import (
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// deaf is a client's connection that stops reading when now is set.
type deaf struct {
	net.Conn
	now    atomic.Bool
	closed chan struct{}
}

func (d *deaf) Read(p []byte) (int, error) {
	n, err := d.Conn.Read(p)
	if err == nil && d.now.Load() {
		<-d.closed
		return 0, net.ErrClosed
	}
	return n, err
}

// TestKeyExchangeThatNeverEnds: the server cuts a client that starts a key exchange and never
// ends it, even if the client sends a byte now and then, because output is held meanwhile. It
// doesn't cut a client that answers no question and ends each key exchange.
func TestKeyExchangeThatNeverEnds(t *testing.T) {
	const interval = 100 * time.Millisecond
	h := start(t, describe, func(o *Options) { o.Limits.KeepAlive, o.Limits.KeepAliveMissed = interval, 2 })
	const says = "client doesn't end a key exchange"
	connect := func() (*deaf, gossh.Conn, <-chan *gossh.Request) {
		raw, err := net.Dial("tcp", h.server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		d := &deaf{Conn: raw, closed: make(chan struct{})}
		t.Cleanup(func() { close(d.closed); raw.Close() })
		config := &gossh.ClientConfig{User: "agents", Auth: []gossh.AuthMethod{gossh.PublicKeys(h.admin.signer)}, HostKeyCallback: gossh.InsecureIgnoreHostKey()}
		config.RekeyThreshold = 64 << 10
		conn, channels, requests, err := gossh.NewClientConn(d, "", config)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for c := range channels {
				_ = c.Reject(gossh.Prohibited, "")
			}
		}()
		return d, conn, requests
	}
	some := make([]byte, 16<<10)

	_, well, _ := connect() // it answers no question, and sends requests that need no answer
	for range 10 {
		if _, _, err := well.SendRequest("x", false, some); err != nil {
			t.Fatal(err)
		}
		time.Sleep(interval) // the test needs real time to pass: only time may cut the client
	}
	if strings.Contains(h.log.String(), says) {
		t.Error("a client that ends its key exchanges was cut")
	}

	d, conn, requests := connect()
	go gossh.DiscardRequests(requests)
	d.now.Store(true)
	for range 5 {
		if _, _, err := conn.SendRequest("x", false, some); err != nil {
			break
		}
	}
	for range 3 { // bytes of a packet that never ends
		time.Sleep(interval / 2)
		_, _ = d.Conn.Write([]byte{0})
	}
	eventually(t, "it is cut", func() bool { return strings.Contains(h.log.String(), says) })
}

package sshd

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"berth/keys"
)

// dial is a client of a key that opens no channel. The server's banner before the login goes into
// banner, if there is one.
func (h *harness) dial(k keyPair, banner ...*string) (*gossh.Client, error) {
	config := h.clientConfig()
	config.BannerCallback = func(message string) error {
		for _, b := range banner {
			*b += message
		}
		return nil
	}
	config.Auth = []gossh.AuthMethod{gossh.PublicKeys(k.signer)}
	c, err := gossh.Dial("tcp", h.server.Addr().String(), config)
	if err == nil {
		h.t.Cleanup(func() { c.Close() })
	}
	return c, err
}

// One key's connections do not shut out those of others, and when one of them
// ends there is room for another. That it had too many is not held against its source.
func TestConnectionsOfOneKey(t *testing.T) {
	h := start(t, newHolding().serve, func(o *Options) {
		o.Limits.Connections = 64
		o.Limits.Penalties = Penalties{From: time.Nanosecond, Exempt: []netip.Prefix{}}
	})
	greedy := newKey(t, h.dir, "greedy")
	h.keys.set(greedy.public(), keys.Identity{Name: "greedy", Role: keys.Viewer})
	var open []*gossh.Client
	for range 16 {
		c, err := h.dial(greedy)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	told := ""
	if _, err := h.dial(greedy, &told); err == nil || !strings.Contains(told, "you already have 16 connections open") {
		t.Fatalf("the 17th connection of 64: %v, output %q", err, told)
	}
	if _, err := h.dial(h.admin); err != nil {
		t.Errorf("another key: %v", err)
	}
	open[0].Close()
	eventually(t, "there is room again", func() bool { _, err := h.dial(greedy); return err == nil })
}

// So it is with the processes of one session on the local socket, also of those
// that say nothing.
func TestConnectionsOnTheSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "sshd") // short enough for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	h := start(t, newHolding().serve, func(o *Options) { o.Limits.Connections, o.Socket, o.Local = 64, socket, keys.Admin })
	for range 64 {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
	if _, err := h.dial(h.admin); err != nil {
		t.Errorf("over TCP: %v", err)
	}
}

// A login that does nothing more still counts as one: a client that only tries whether a key may
// log in is in the audit log.
func TestLoginWithoutChannel(t *testing.T) {
	h := start(t, newHolding().serve)
	c, err := h.dial(h.admin)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	eventually(t, "the login is audited", func() bool { return len(h.audited()) == 1 })
	if l := h.audited()[0]; !l.Accepted || l.Identity.Name != "admin" || l.User != "agents" {
		t.Errorf("%+v", l)
	}
}

// A connection that never opened a channel ends with its key, too.
func TestRevocationWithoutChannel(t *testing.T) {
	h := start(t, newHolding().serve)
	other := newKey(t, h.dir, "other")
	h.keys.set(other.public(), keys.Identity{Name: "other", Role: keys.Viewer})
	c, err := h.dial(other)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	h.keys.remove(other.public())
	receive(t, "the connection's end", ended)
}

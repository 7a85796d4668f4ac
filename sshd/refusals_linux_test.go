package sshd

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"
)

// TestRefusalsWithoutEnd: connections that are refused again and again write a few lines of the server's log and their
// number: over TCP from any address of this machine, and on the socket.
func TestRefusalsWithoutEnd(t *testing.T) {
	var socket string
	h := start(t, describe, withSocket(&socket, nil), func(o *Options) { o.Limits.Share, o.Limits.Connections = 1, 16 })
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(socket)) })
	const most, enough = 3 * rateBurst * refusalLines, 5 * rateBurst * refusalLines // the test may take a second or two
	lines := func(what string) int { return strings.Count(h.log.String(), what) }

	stranger := newKey(t, h.dir, "stranger")
	config := h.clientConfig()
	config.Auth = []gossh.AuthMethod{gossh.PublicKeys(stranger.signer)}
	for i := range enough {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(i+1))}}
		conn, err := d.Dial("tcp", h.server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := gossh.NewClientConn(conn, "", config); err == nil {
			t.Fatal("a stranger has logged in")
		}
		_ = conn.Close()
	}
	eventually(t, "all logins are refused", func() bool { return h.server.Stats().Refused.Logins == enough })
	if n := lines("login refused"); n < 1 || n > most {
		t.Errorf("%d lines about %d refused logins", n, enough)
	}
	left := enough - lines("login refused")
	h.server.reportRefusals()
	if want := fmt.Sprintf("left_out=%d", left); lines(want) != 1 {
		t.Errorf("no line with %s", want)
	}

	for h.server.Stats().Refused.Full < enough {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	if n := lines("connection refused"); n < 1 || n > most {
		t.Errorf("%d lines about %d refused connections", n, enough)
	}
}

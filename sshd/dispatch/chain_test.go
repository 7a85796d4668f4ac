package dispatch

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"berth/keys"
	"berth/sshd"
	"berth/sshd/local"
	"berth/tui"
)

// What panics in a middleware of the chain ends its session alone. Without Commands each of them does.
func TestPanicsInTheChain(t *testing.T) {
	dir, err := os.MkdirTemp("", "chain") // short enough for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	host, err := gossh.NewSignerFromSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	socket := filepath.Join(dir, "s")
	server, err := sshd.New(sshd.Options{
		Socket: socket, HostKeys: []gossh.Signer{host}, Local: keys.Admin, Log: log,
		Handler: (&Dispatcher{Log: log}).Handler(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx) }()
	for _, words := range [][]string{{"ls"}, {"attach", "x"}, nil} {
		var out, complaint bytes.Buffer
		status, err := local.Run(t.Context(), socket, words, strings.NewReader(""), &out, &complaint, false)
		if err != nil || status != 1 || out.Len() > 0 || !strings.HasPrefix(complaint.String(), "berth: ") {
			t.Errorf("%q: status %d, %v, %q, %q", words, status, err, out.String(), complaint.String())
		}
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if n := strings.Count(logged.String(), "a call panicked"); n != 3 {
		t.Errorf("%d panics in the log:\n%s", n, logged.String())
	}
}

// A verb that panics in a dashboard fails alone. Without Commands each verb does.
func TestPanicInTheDashboard(t *testing.T) {
	var logged bytes.Buffer
	h := host{d: &Dispatcher{Log: slog.New(slog.NewTextHandler(&logged, nil))}}
	if done := h.Run(t.Context(), tui.Act{Words: []string{"ls"}}); done.Status != 1 || !strings.HasPrefix(done.Err, "internal error") {
		t.Errorf("%+v", done)
	}
	if !strings.Contains(logged.String(), "a verb of the dashboard panicked") {
		t.Errorf("the log has %q", logged.String())
	}
}

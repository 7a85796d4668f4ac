package metrics

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// Connections beyond the bound are closed, so that a local user can't take the server's descriptors;
// a closed one makes room again.
func TestConnectionsAreBounded(t *testing.T) {
	m := &Metrics{registry: prometheus.NewRegistry()}
	at, stop, err := m.Serve("127.0.0.1:0", quiet())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	var held []net.Conn
	for range mostScrapers {
		c, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if status := scrape(t, c); status != "HTTP/1.1 200" { // so that it is accepted
			t.Fatalf("%q", status)
		}
		held = append(held, c)
	}
	over, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer over.Close()
	_ = over.SetDeadline(time.Now().Add(10 * time.Second))
	if n, err := over.Read(make([]byte, 1)); n != 0 || err == nil || os.IsTimeout(err) {
		t.Errorf("one connection too many: %d bytes, %v", n, err)
	}
	_ = held[0].Close()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) { // polls: the server learns of the end by itself
		c, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		status := scrape(t, c)
		_ = c.Close()
		if status == "HTTP/1.1 200" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a closed connection makes no room")
		}
	}
}

// scrape asks once and returns the start of the answer.
func scrape(t *testing.T, c net.Conn) string {
	t.Helper()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: berth\r\n\r\n")
	b := make([]byte, len("HTTP/1.1 200"))
	n, _ := io.ReadFull(c, b)
	return string(b[:n])
}

// A socket that answers is another program's, and a file is a person's: both stay.
func TestSocketInTheWay(t *testing.T) {
	m := &Metrics{registry: prometheus.NewRegistry()}
	dir, err := os.MkdirTemp("", "m")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket, file := filepath.Join(dir, "s"), filepath.Join(dir, "f")
	_, stop, err := m.Serve(socket, quiet())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if _, _, err := m.Serve(socket, quiet()); err == nil || !strings.Contains(err.Error(), "another program listens") {
		t.Errorf("a socket in use: %v", err)
	}
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.Serve(file, quiet()); err == nil {
		t.Error("a file was taken for a socket")
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "mine" {
		t.Errorf("the file: %q %v", b, err)
	}
	client := http.Client{Transport: &http.Transport{Dial: func(string, string) (net.Conn, error) { return net.Dial("unix", socket) }, DisableKeepAlives: true}}
	for path, want := range map[string]int{"/metrics": 200, "/": 404, "/debug/pprof/": 404} {
		r, err := client.Get("http://berth" + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
}

package faults

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// received are the numbers of the audit lines that a receiver took, with how often it took each.
type received struct {
	mu   sync.Mutex
	seen map[uint64]int
}

func (r *received) take(line string) {
	var e struct{ N uint64 }
	if json.Unmarshal([]byte(line), &e) != nil || e.N == 0 {
		return // a line that a kill cut off
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[e.N]++
}

// missing counts the lines up to n that never came.
func (r *received) missing(n uint64) (count int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := uint64(1); i <= n; i++ {
		if r.seen[i] == 0 {
			count++
		}
	}
	return count
}

// receiver is the other side. It comes and goes.
type receiver interface {
	start(t *testing.T)
	kill() // as a crash: what it was given and didn't take is lost
	flags() []string
}

// webReceiver takes batches by HTTP. Every third one it takes, and then doesn't answer.
type webReceiver struct {
	*received
	addr   string
	server *http.Server
	count  int
}

func (w *webReceiver) flags() []string {
	return []string{"--audit-ship-http=http://" + w.addr + "/audit", "--audit-ship-token=secret"}
}

func (w *webReceiver) start(t *testing.T) {
	l, err := net.Listen("tcp", w.addr)
	must(t, err)
	w.addr = l.Addr().String()
	w.server = &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("Authorization") != "Bearer secret" || r.Header.Get("Content-Type") != "application/x-ndjson" {
			panic(http.ErrAbortHandler)
		}
		for line := range strings.Lines(string(body)) {
			w.take(line)
		}
		w.mu.Lock()
		w.count++
		silent := w.count%3 == 0
		w.mu.Unlock()
		if silent {
			panic(http.ErrAbortHandler)
		}
	})}
	go func() { _ = w.server.Serve(l) }() // ends with kill
}

func (w *webReceiver) kill() { _ = w.server.Close() }

// syslogReceiver takes the frames of RFC 6587. A killed one takes none of the connection's messages.
type syslogReceiver struct {
	*received
	addr string
	l    net.Listener

	open  sync.Mutex
	conns map[net.Conn]bool
}

func (s *syslogReceiver) flags() []string { return []string{"--audit-ship-syslog=tcp://" + s.addr} }

func (s *syslogReceiver) start(t *testing.T) {
	l, err := net.Listen("tcp", s.addr)
	must(t, err)
	s.addr, s.l = l.Addr().String(), l
	s.open.Lock()
	s.conns = map[net.Conn]bool{}
	s.open.Unlock()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // it was killed
			}
			s.open.Lock()
			s.conns[conn] = true
			s.open.Unlock()
			go s.serve(conn)
		}
	}()
}

func (s *syslogReceiver) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	var lines []string
	for {
		size, err := in.ReadString(' ')
		if err != nil {
			break
		}
		n, err := strconv.Atoi(strings.TrimSpace(size))
		if err != nil {
			return
		}
		message := make([]byte, n)
		if _, err := io.ReadFull(in, message); err != nil {
			return
		}
		_, line, _ := strings.Cut(string(message), " - {")
		lines = append(lines, "{"+line)
	}
	s.open.Lock()
	alive := s.conns[conn]
	s.open.Unlock()
	for _, line := range lines {
		if alive {
			s.take(line)
		}
	}
}

func (s *syslogReceiver) kill() {
	_ = s.l.Close()
	s.open.Lock()
	defer s.open.Unlock()
	for conn := range s.conns {
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
	s.conns = map[net.Conn]bool{}
}

// commandReceiver is a program that is started for each batch. While it is away it fails; every third
// time it takes the batch and fails all the same.
type commandReceiver struct {
	*received
	dir string
}

func (c *commandReceiver) flags() []string {
	return []string{"--audit-ship-command=" + filepath.Join(c.dir, "take"), "--audit-ship-command=" + c.dir}
}

func (c *commandReceiver) start(t *testing.T) {
	const script = "#!/bin/sh\ncd $1\ntest -e here || exit 1\ncat >> lines\necho x >> count\ntest $(($(wc -l < count) % 3)) != 0\n"
	must(t, os.WriteFile(filepath.Join(c.dir, "take"), []byte(script), 0o755))
	must(t, os.WriteFile(filepath.Join(c.dir, "here"), nil, 0o600))
}

func (c *commandReceiver) kill() { _ = os.Remove(filepath.Join(c.dir, "here")) }

func (c *commandReceiver) missing(n uint64) int {
	text, err := os.ReadFile(filepath.Join(c.dir, "lines"))
	if err != nil {
		return int(n)
	}
	c.mu.Lock()
	clear(c.seen)
	c.mu.Unlock()
	for line := range strings.Lines(string(text)) {
		c.take(line)
	}
	return c.received.missing(n)
}

// TestAuditIsShipped kills the server and the receiver of the audit log again and again: each line of the
// log arrives.
func TestAuditIsShipped(t *testing.T) {
	for name, to := range map[string]interface {
		receiver
		missing(n uint64) int
	}{
		"http":    &webReceiver{received: &received{seen: map[uint64]int{}}, addr: "127.0.0.1:0"},
		"syslog":  &syslogReceiver{received: &received{seen: map[uint64]int{}}, addr: "127.0.0.1:0"},
		"command": &commandReceiver{received: &received{seen: map[uint64]int{}}, dir: t.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			to.start(t)
			h := newHost(t, checked, to.flags()...)
			for round := range 4 {
				h.start()
				if round == 0 {
					h.create("one", "--", "cat")
				}
				for i := range 5 {
					h.run("tag", "one", fmt.Sprintf("t%d", i))
				}
				to.kill()
				for i := range 5 {
					h.run("tag", "one", "--remove", fmt.Sprintf("t%d", i))
				}
				waitFor(t, "health to say that the lines aren't shipped", func() bool {
					return strings.Contains(strings.Join(h.health().Problems, "\n"), "the audit log isn't shipped after line")
				})
				h.kill()
				to.start(t)
			}
			h.start()
			var last uint64
			for line := range strings.Lines(string(h.run("audit", "--json"))) {
				var e struct{ N uint64 }
				must(t, json.Unmarshal([]byte(line), &e))
				last = max(last, e.N)
			}
			waitFor(t, fmt.Sprintf("the %d lines to arrive", last), func() bool { return to.missing(last) == 0 })
			h.kill()
			to.kill()
		})
	}
}

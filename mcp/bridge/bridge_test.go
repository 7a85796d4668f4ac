package bridge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// bench is a bridge between a client and servers, which the test plays both.
type bench struct {
	t       *testing.T
	client  io.WriteCloser
	answers *bufio.Scanner
	dials   chan net.Conn // the next dial's connection; nil: it fails
	ended   chan error
}

func newBench(t *testing.T, patience time.Duration) *bench {
	in, client := io.Pipe()
	out, toClient := io.Pipe()
	b := &bench{t: t, client: client, answers: bufio.NewScanner(out), dials: make(chan net.Conn), ended: make(chan error, 1)}
	o := Options{
		In: in, Out: toClient, Pause: time.Millisecond, Patience: patience, Longest: patience,
		Again: func(tool string) bool { return tool == "look" },
		Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
			select {
			case c := <-b.dials:
				if c == nil {
					return nil, errors.New("no server is there")
				}
				return c, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
	}
	go func() { b.ended <- Run(t.Context(), o) }()
	t.Cleanup(func() {
		_ = client.Close()
		if err := <-b.ended; err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) say(line string) {
	b.t.Helper()
	if _, err := io.WriteString(b.client, line+"\n"); err != nil {
		b.t.Fatal(err)
	}
}

// hears checks the next line to the client.
func (b *bench) hears(want ...string) {
	b.t.Helper()
	if !b.answers.Scan() {
		b.t.Fatalf("the client's connection ended: %v", b.answers.Err())
	}
	for _, w := range want {
		if !strings.Contains(b.answers.Text(), w) {
			b.t.Fatalf("the client has %s, want %s", b.answers.Text(), w)
		}
	}
}

// server is one connection's end.
type server struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Scanner
}

func (b *bench) serve() *server {
	ours, theirs := net.Pipe()
	b.dials <- theirs
	return &server{b.t, ours, bufio.NewScanner(ours)}
}

func (s *server) gets(method, id string) {
	s.t.Helper()
	_ = s.conn.SetDeadline(time.Now().Add(20 * time.Second))
	if !s.in.Scan() {
		s.t.Fatalf("the server's connection ended, want %s: %v", method, s.in.Err())
	}
	var m struct {
		Method string
		ID     json.RawMessage
	}
	if err := json.Unmarshal(s.in.Bytes(), &m); err != nil || m.Method != method || string(m.ID) != id {
		s.t.Fatalf("the server has %s, want %s %s", s.in.Text(), method, id)
	}
}

func (s *server) say(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.conn, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

func call(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`, id, tool)
}

func TestServerGoes(t *testing.T) {
	b := newBench(t, time.Minute)
	b.say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`)
	b.dials <- nil // the first dial fails: the client waits
	s := b.serve()
	s.gets("initialize", "0")
	s.say(`{"jsonrpc":"2.0","id":0,"result":{"first":true}}`)
	b.hears(`"first":true`)
	b.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	s.gets("notifications/initialized", "")
	b.say(call(1, "look"))
	s.gets("tools/call", "1")
	b.say(call(2, "change"))
	s.gets("tools/call", "2")
	s.conn.Close()
	b.hears(`"id":2`, `"isError":true`, `NOT_READY`, `\"effect\":\"unknown\"`)
	b.say(call(3, "change")) // there is no connection: it waits, and nothing is unknown of it
	s = b.serve()
	s.gets("initialize", ours)
	s.say(`{"jsonrpc":"2.0","id":"berth-bridge","result":{"second":true}}`)
	s.gets("notifications/initialized", "")
	s.gets("tools/call", "1")
	s.gets("tools/call", "3")
	s.say(`{"jsonrpc":"2.0","id":3,"result":{"three":3}}`)
	b.hears(`"three":3`)
	s.say(`{"jsonrpc":"2.0","id":2,"result":{"late":true}}`) // it was answered already
	s.say(`{"jsonrpc":"2.0","id":1,"result":{"one":1}}`)
	b.hears(`"one":1`)
}

func TestNoServer(t *testing.T) {
	b := newBench(t, 50*time.Millisecond)
	b.say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
	b.dials <- nil
	b.hears(`"id":0`, `"error"`, `NOT_READY`, `the server can't be reached`)
	b.say(call(1, "change"))
	b.dials <- nil
	b.hears(`"id":1`, `"isError":true`, `NOT_READY`, "had no effect")
}

// A client has a bounded number of requests without an answer, each with an id of its own.
func TestRefusals(t *testing.T) {
	b := newBench(t, time.Minute)
	b.say(call(0, "look"))
	b.say(call(0, "look"))
	b.hears(`"id":0`, `LIMIT`)
	for i := 1; i < mostWaiting; i++ {
		b.say(call(i, "look"))
	}
	b.say(call(1000, "look"))
	b.hears(`"id":1000`, `LIMIT`)
}

package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth/api"
	"berth/commands"
)

// requests is a client's input: many requests, counted as they are read.
type requests struct {
	left int
	line strings.Reader
	read atomic.Int64
}

func (r *requests) Read(p []byte) (int, error) {
	if r.line.Len() == 0 {
		if r.left == 0 {
			return 0, io.EOF
		}
		r.left--
		r.line.Reset(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"_meta":{"x":"%s"}}}`+"\n", r.left, strings.Repeat("x", 100<<10)))
	}
	n, err := r.line.Read(p)
	r.read.Add(int64(n))
	return n, err
}

// A client that sends requests and reads no answers isn't read from without end. It goes on when it reads.
func TestAnswersThatAreNotRead(t *testing.T) {
	in := &requests{left: 1000}
	const most = 2 * mostUnanswered * 100 << 10
	answers, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, &commands.Service{}, commands.Request{}, nil, in, out) }()
	for before := int64(-1); before != in.read.Load(); time.Sleep(200 * time.Millisecond) { // until it waits
		if before = in.read.Load(); before > most {
			t.Errorf("%d bytes were read", before)
			break
		}
	}
	drained := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, answers)
		close(drained)
	}()
	for deadline := time.Now().Add(30 * time.Second); in.read.Load() < 1000*100<<10; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it stopped after %d bytes", in.read.Load())
		}
	}
	cancel()
	_ = out.Close()
	<-drained
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// What a client sends ends its own connection at most. Without a service each tool panics.
func TestOddMessages(t *testing.T) {
	service := &commands.Service{Log: slog.New(slog.DiscardHandler)}
	methods := []string{
		"ping", "initialize", "notifications/initialized", "notifications/cancelled", "notifications/progress", "tools/list", "tools/call", "prompts/list",
		"resources/read", "logging/setLevel", "completion/complete", "roots/list", "sampling/createMessage", "elicitation/create", "server/discover", "subscriptions/listen", "x", "",
	}
	params := []string{
		"", `,"params":null`, `,"params":{}`, `,"params":[]`, `,"params":"x"`, `,"params":{"name":"list_sessions","arguments":{}}`,
		`,"params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`,
		`,"params":{"requestId":1,"progressToken":{}}`, `,"params":{"_meta":{"progressToken":null}}`,
	}
	const hello = `{"jsonrpc":"2.0","id":"h","method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
	for _, method := range methods {
		for _, p := range params {
			for _, id := range []string{"", `,"id":1`, `,"id":null`, `,"id":"a"`, `,"id":{}`} {
				odd := `{"jsonrpc":"2.0","method":"` + method + `"` + id + p + "}\n"
				for _, first := range []string{"", hello} {
					_ = Serve(t.Context(), service, commands.Request{}, func() error { return nil }, strings.NewReader(first+odd+odd+"["+strings.TrimSpace(odd)+"]\n"), io.Discard)
				}
			}
		}
	}
}

// Each call of a tool counts as a verb of the caller.
func TestCallsAreCounted(t *testing.T) {
	many := func() error { return api.Errorf(api.CodeLimit, "too many") }
	in := `{"jsonrpc":"2.0","id":"h","method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_sessions","arguments":{}}}
`
	answers, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	open, closing := io.Pipe()
	go func() {
		ended <- Serve(ctx, &commands.Service{Log: slog.New(slog.DiscardHandler)}, commands.Request{}, many, io.MultiReader(strings.NewReader(in), open), out)
	}()
	lines := bufio.NewScanner(answers)
	for lines.Scan() && !strings.Contains(lines.Text(), `"id":2`) {
	}
	if text := lines.Text(); !strings.Contains(text, "too many") || !strings.Contains(text, `"isError":true`) {
		t.Error(text)
	}
	cancel()
	_ = closing.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

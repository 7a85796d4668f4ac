package mcp

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
	go func() { ended <- Serve(ctx, &commands.Service{}, commands.Request{}, in, out) }()
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
					_ = Serve(t.Context(), service, commands.Request{}, strings.NewReader(first+odd+odd+"["+strings.TrimSpace(odd)+"]\n"), io.Discard)
				}
			}
		}
	}
}

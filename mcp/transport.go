package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostUnanswered bounds the requests of one client that aren't answered yet. The next one isn't read before: the
// library queues without a bound what it reads, also while the client doesn't read its answers.
const mostUnanswered = 2 * mostCalls

// transport is the client's connection: a message a line. It takes no batches, whose answers the library would
// collect.
type transport struct {
	in  io.Reader
	out io.Writer
}

// Connect starts to read the client's lines.
func (t transport) Connect(context.Context) (sdk.Connection, error) {
	c := &connection{
		transport: t, lines: make(chan line), unanswered: make(chan struct{}, mostUnanswered), closed: make(chan struct{}),
	}
	go c.readLines()
	return c, nil
}

// connection is a connected transport. A goroutine reads lines until in ends; Close doesn't wait for it, because the
// caller of Serve ends in.
type connection struct {
	transport
	lines      chan line
	unanswered chan struct{} // one for each request that isn't answered
	closing    sync.Once
	closed     chan struct{}
	writing    sync.Mutex
}

type line struct {
	data []byte
	err  error
}

func (c *connection) readLines() {
	in := bufio.NewReaderSize(c.in, 64<<10)
	for {
		data, err := readLine(in)
		select {
		case c.lines <- line{data, err}:
		case <-c.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

// readLine reads a line of at most mostLine bytes.
func readLine(in *bufio.Reader) ([]byte, error) {
	var data []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(data)+len(part) > mostLine {
			return nil, fmt.Errorf("a message has more than %d bytes", mostLine)
		}
		data = append(data, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(data) > 0: // the last line may have no end
			return data, nil
		default:
			return data, err
		}
	}
}

// Read returns the next message.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case c.unanswered <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.closed:
		return nil, io.EOF
	}
	message, err := c.next(ctx)
	if request, ok := message.(*jsonrpc.Request); !ok || !request.IsCall() {
		<-c.unanswered
	}
	return message, err
}

func (c *connection) next(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case l := <-c.lines:
		if l.err != nil {
			return nil, l.err
		}
		message, err := jsonrpc.DecodeMessage(l.data)
		if err != nil {
			return nil, fmt.Errorf("read a message: %w", err)
		}
		return message, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.closed:
		return nil, io.EOF
	}
}

// Write sends a message. It waits while the client doesn't read.
func (c *connection) Write(_ context.Context, message jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	c.writing.Lock()
	_, err = c.out.Write(append(data, '\n'))
	c.writing.Unlock()
	if _, ok := message.(*jsonrpc.Response); ok {
		select {
		case <-c.unanswered:
		default: // of a request that Read didn't return
		}
	}
	return err
}

// Close ends the reading of messages. The edge closes the client's channel.
func (c *connection) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return nil
}

// SessionID is empty: a connection is one session.
func (c *connection) SessionID() string { return "" }

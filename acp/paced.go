package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	// mostUnanswered bounds the requests of one editor that aren't answered yet. The next one isn't read
	// before: the SDK has a goroutine for each request that it reads, also while the editor doesn't read
	// its answers.
	mostUnanswered = 2 * mostCalls
	// answersWithin is how long the answers may take to what a client asked before it closed its input, as a script does
	// that has nothing more to ask. The SDK ends the connection at the input's end.
	answersWithin = 2 * time.Second
	// mostLine bounds one message of the editor, in bytes.
	mostLine = 8 << 20
)

// paced is an editor's connection, a message a line.
type paced struct {
	ctx        context.Context
	in         *bufio.Reader
	out        io.Writer
	unanswered chan struct{} // one for each request that isn't answered
	rest       []byte        // of the line that is being read
	ready      chan struct{} // closed when the SDK may read: its goroutines start before its logger is set
}

func newPaced(ctx context.Context, in io.Reader, out io.Writer) *paced {
	return &paced{ctx: ctx, in: bufio.NewReaderSize(in, 64<<10), out: out, unanswered: make(chan struct{}, mostUnanswered), ready: make(chan struct{})}
}

// kind is what paced reads of a message: a request has both, an answer has no method.
type kind struct {
	ID     *json.RawMessage `json:"id"`
	Method string           `json:"method"`
}

// Read returns a part of the next line. It is called by one goroutine.
func (p *paced) Read(to []byte) (int, error) {
	<-p.ready
	if len(p.rest) == 0 {
		line, err := p.line()
		if err != nil {
			p.settle()
			return 0, err
		}
		var k kind
		if json.Unmarshal(line, &k) == nil && k.ID != nil && k.Method != "" {
			select {
			case p.unanswered <- struct{}{}:
			case <-p.ctx.Done():
				return 0, io.EOF
			}
		}
		p.rest = line
	}
	n := copy(to, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// settle waits until all requests are answered, within answersWithin. Nothing is read afterwards.
func (p *paced) settle() {
	limit := time.NewTimer(answersWithin)
	defer limit.Stop()
	for range cap(p.unanswered) { // it is full of our own once each request has given its place back
		select {
		case p.unanswered <- struct{}{}:
		case <-p.ctx.Done():
			return
		case <-limit.C:
			return
		}
	}
}

func (p *paced) line() ([]byte, error) {
	var line []byte
	for {
		part, err := p.in.ReadSlice('\n')
		if len(line)+len(part) > mostLine {
			return nil, fmt.Errorf("a message has more than %d bytes", mostLine)
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, err // a message without its end is none
		default:
			return line, nil
		}
	}
}

// Write sends one message. The SDK writes one at a time.
func (p *paced) Write(line []byte) (int, error) {
	n, err := p.out.Write(line)
	var k kind
	if json.Unmarshal(line, &k) == nil && k.Method == "" {
		select {
		case <-p.unanswered:
		default: // of a request that Read didn't see
		}
	}
	return n, err
}

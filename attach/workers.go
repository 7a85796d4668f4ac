package attach

import (
	"context"
	"io"
	"sync/atomic"
)

// output writes buffers to the client, one at a time, so that a client that
// takes nothing blocks this goroutine and no other.
type output struct {
	buffers chan []byte
	done    chan error // one for each buffer
	prompt  promptOutput
	busy    bool // the owner's: a buffer is under way
}

// promptSize is how much goes to the client without a goroutine in between:
// echoes. More has to be taken before there is the next.
const promptSize = 1 << 10

func newOutput(w io.Writer) *output {
	out := &output{buffers: make(chan []byte, 1), done: make(chan error, 1)}
	out.prompt, _ = w.(promptOutput)
	go func() {
		defer close(out.done)
		for b := range out.buffers {
			_, err := w.Write(b)
			out.done <- err
		}
	}()
	return out
}

// send starts a write; the owner calls it only when not busy and does not
// touch b until done.
func (o *output) send(b []byte) {
	o.busy = true
	o.buffers <- b
}

// try writes a little at once, if nothing is in its way.
func (o *output) try(b []byte) bool {
	return o.prompt != nil && !o.busy && o.straight(b)
}

// straight is try for any goroutine, while the owner sees to it that nothing is
// in the way.
func (o *output) straight(b []byte) bool {
	return len(b) <= promptSize && o.prompt.TryWrite(b)
}

// close waits for the goroutine to end.
func (o *output) close() {
	close(o.buffers)
	for range o.done {
	}
}

// readInput hands what In gives to a channel until ctx is done. A chunk is
// valid until the next is received.
func readInput(ctx context.Context, in Input, chunks chan<- []byte, failed chan<- error) {
	var buffers [2][4 << 10]byte
	for i := 0; ; i ^= 1 {
		buf := buffers[i][:]
		n, err := in.ReadContext(ctx, buf)
		if n > 0 {
			select {
			case chunks <- buf[:n]:
			case <-ctx.Done():
				in.Unread(buf[:n])
				return
			}
		}
		if err != nil {
			if ctx.Err() == nil {
				failed <- err
			}
			return
		}
	}
}

// opKind is something a client asks of its session that may take a while.
type opKind int

const (
	opType opKind = iota
	opTake
	opRelease
	opWho
)

type op struct {
	kind opKind
	data []byte
}

type opResult struct {
	op     op
	people []Person
	err    error
}

// opLimit is how much typing may wait for the program to read. Beyond it the
// client's input is not read: a paste larger than this waits in its terminal.
const opLimit = 1 << 20

// ops does what is asked, in order, beside the client's loop.
type ops struct {
	next    chan op
	results chan opResult
	waiting []op
	size    int // bytes in waiting
	busy    bool

	member  Member
	soon    atomic.Int64 // bytes typed by TryType and not answered
	refused chan error   // an answer that was an error; holds one
}

// soonLimit is how much may be typed ahead of its answer without a wait.
const soonLimit = 4 << 10

func newOps(ctx context.Context, m Member) *ops {
	o := &ops{next: make(chan op, 1), results: make(chan opResult, 1), member: m, refused: make(chan error, 1)}
	go func() {
		defer close(o.results)
		for p := range o.next {
			o.results <- do(ctx, m, p)
		}
	}()
	return o
}

func do(ctx context.Context, m Member, p op) opResult {
	r := opResult{op: p}
	switch p.kind {
	case opType:
		r.err = m.Type(ctx, p.data)
	case opTake:
		r.err = m.Take(ctx)
	case opRelease:
		r.err = m.Release(ctx)
	case opWho:
		r.people, r.err = m.Who(ctx)
	}
	return r
}

// typed types b at once if it can, after everything that was asked before.
func (o *ops) typed(b []byte) {
	n := int64(len(b))
	if !o.busy && len(o.waiting) == 0 && o.soon.Load()+n <= soonLimit {
		o.soon.Add(n)
		if o.member.TryType(b, func(err error) { o.answered(n, err) }) {
			return
		}
		o.soon.Add(-n)
	}
	o.ask(op{kind: opType, data: b})
}

// answered is called when typing ahead has come to its end.
func (o *ops) answered(n int64, err error) {
	o.soon.Add(-n)
	if err == nil {
		return
	}
	select {
	case o.refused <- err:
	default: // one is already reported
	}
}

// ask queues p; typing is joined to typing.
func (o *ops) ask(p op) {
	o.size += len(p.data)
	if n := len(o.waiting); n > 0 && p.kind == opType && o.waiting[n-1].kind == opType {
		o.waiting[n-1].data = append(o.waiting[n-1].data, p.data...)
	} else {
		o.waiting = append(o.waiting, p)
	}
	o.start()
}

func (o *ops) start() {
	if o.busy || len(o.waiting) == 0 {
		return
	}
	p := o.waiting[0]
	o.waiting = o.waiting[1:]
	o.size -= len(p.data)
	o.busy = true
	o.next <- p
}

// finished is called for each result. Refused typing takes what was typed
// after it along: the rest of a word alone must not arrive later.
func (o *ops) finished(r opResult) {
	o.busy = false
	if r.op.kind == opType && r.err != nil {
		for len(o.waiting) > 0 && o.waiting[0].kind == opType {
			o.size -= len(o.waiting[0].data)
			o.waiting = o.waiting[1:]
		}
	}
	o.start()
}

func (o *ops) full() bool { return o.size >= opLimit }

// close waits for the goroutine to end; its context is done.
func (o *ops) close() {
	close(o.next)
	for range o.results {
	}
}

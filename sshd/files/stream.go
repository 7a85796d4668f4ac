package files

import (
	"context"
	"encoding/binary"
	"io"
)

// inFlight is the most requests of one channel that have no answer yet. pkg/sftp answers in the order of the requests.
// So what was read for later ones, 32 KiB each, is kept while an earlier one, such as the opening of a long recording, takes
// its time or the client doesn't read its answer.
const inFlight = 16

// stream is a channel in the form that pkg/sftp wants. It reads no further request while inFlight of them wait for their
// answers. pkg/sftp reads from one goroutine at a time and writes from one. The session closes the channel.
type stream struct {
	ctx     context.Context
	in      io.Reader
	out     io.Writer
	slots   chan struct{} // one for each request without an answer
	entered bool          // the request that is read next has its slot
	asked   packets
	said    packets
}

func newStream(ctx context.Context, in io.Reader, out io.Writer) *stream {
	return &stream{ctx: ctx, in: in, out: out, slots: make(chan struct{}, inFlight)}
}

// Read reads at most to the end of a request, because pkg/sftp asks for no more.
func (s *stream) Read(p []byte) (int, error) {
	if !s.entered {
		select {
		case s.slots <- struct{}{}:
			s.entered = true
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		}
	}
	n, err := s.in.Read(p)
	if s.asked.pass(p[:n]) > 0 {
		s.entered = false
	}
	return n, err
}

// Write writes a part of an answer. After an error no request follows either, because the channel is gone.
func (s *stream) Write(p []byte) (int, error) {
	n, err := s.out.Write(p)
	for range s.said.pass(p[:n]) {
		<-s.slots
	}
	return n, err
}

func (*stream) Close() error { return nil }

// packets finds where the packets of one direction end. Each has its length before it.
type packets struct {
	head [4]byte
	have int    // bytes of head
	left uint32 // bytes of the packet that are still to come, once head is whole
}

// pass takes in the next bytes, and returns how many packets end in them.
func (k *packets) pass(p []byte) (ended int) {
	for len(p) > 0 {
		if k.have < len(k.head) {
			n := copy(k.head[k.have:], p)
			k.have, p = k.have+n, p[n:]
			if k.have < len(k.head) {
				return ended
			}
			k.left = binary.BigEndian.Uint32(k.head[:])
		}
		n := min(len(p), int(k.left))
		k.left, p = k.left-uint32(n), p[n:]
		if k.left == 0 {
			k.have = 0
			ended++
		}
	}
	return ended
}

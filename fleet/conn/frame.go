package conn

import (
	"encoding/binary"
	"errors"
)

// kind is what a frame says. The numbers are the protocol: they don't change.
type kind byte

const (
	kindOpen   kind = 1 // the gateway asks for a stream; number: how many bytes the member may send
	kindAccept kind = 2 // the member has it; number: how many bytes the gateway may send
	kindData   kind = 3 // number: offset of the first byte
	kindCredit kind = 4 // number: offset up to which the other end may send
	kindFinish kind = 5 // nothing follows in this direction; number: all bytes of it
	kindReset  kind = 6 // the stream is over; the rest is why
	kindAlive  kind = 7 // number: bytes sent before
)

// frameHead is the length of a frame without its bytes: the kind and the number.
const frameHead = 1 + 8

// maxData is how many bytes a frame carries. A packet of SSH fits, and NATS takes 1 MiB.
const maxData = 60 << 10

var errFrame = errors.New("a frame can't be read")

type frame struct {
	kind   kind
	number uint64
	data   []byte
}

func (f frame) append(to []byte) []byte {
	to = append(to, byte(f.kind))
	to = binary.BigEndian.AppendUint64(to, f.number)
	return append(to, f.data...)
}

// parse reads a frame, whose data then shares b.
func parse(b []byte) (frame, error) {
	if len(b) < frameHead || kind(b[0]) < kindOpen || kind(b[0]) > kindAlive {
		return frame{}, errFrame
	}
	return frame{kind: kind(b[0]), number: binary.BigEndian.Uint64(b[1:frameHead]), data: b[frameHead:]}, nil
}

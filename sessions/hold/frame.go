package hold

import (
	"encoding/binary"
	"errors"
	"io"
)

// A frame on the socket is a length, a type and a payload:
//
//	uint32 length of the payload, big endian
//	uint8  type
//	payload
//
// Unknown types are skipped, and bytes added after a known payload are
// ignored, so that either side may be the older one.
type frameType byte

const (
	frameHello    frameType = 1  // to the holder: hello
	frameWelcome  frameType = 2  // to the server: Welcome
	frameRefuse   frameType = 3  // to the server: refusal
	frameWake     frameType = 4  // to the server: uint64 written, uint64 control
	frameConsumed frameType = 5  // to the holder: uint64 offset
	frameInput    frameType = 6  // to the holder: request head, then the bytes
	frameReply    frameType = 7  // to the holder: uint64 offset, then the bytes
	frameResize   frameType = 8  // to the holder: request head
	frameSignal   frameType = 9  // to the holder: request head
	frameEnd      frameType = 10 // to the holder: request head
	frameNote     frameType = 11 // to the holder: request head
	frameAck      frameType = 12 // to the server: uint32 id, uint8 code, text
	frameBytes    frameType = 13 // to the server: uint64 offset, then output that is in no file
	frameRecord   frameType = 14 // to the server: a control line that is in no file
	frameExit     frameType = 15 // to the server: Exit
	frameBye      frameType = 16 // to the server: refusal; the connection ends
	framePace     frameType = 17 // to the holder, if its Welcome has Credit: uint64 milliseconds
	frameTyped    frameType = 18 // to the holder, if its Welcome has Types: uint32 id, uint32 length of the mark, mark, then the bytes

	// 32 to 63 are the hooks'.
)

const (
	frameHeader = 5
	// maxPayload leaves room for a request head before MaxInput bytes.
	maxPayload = MaxInput + 64<<10
)

var errFrameTooLarge = errors.New("frame is larger than the protocol allows")

// appendFrame appends one frame whose payload is the parts in a row.
func appendFrame(dst []byte, t frameType, parts ...[]byte) []byte {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(n))
	dst = append(dst, byte(t))
	for _, p := range parts {
		dst = append(dst, p...)
	}
	return dst
}

// readFrame reads one whole frame. A stream that ends inside a frame is
// io.ErrUnexpectedEOF and nothing of the frame is returned.
func readFrame(r io.Reader) (frameType, []byte, error) {
	return readFrameUpTo(r, maxPayload)
}

// readSmallFrame is readFrame where only short frames are expected.
func readSmallFrame(r io.Reader) (frameType, []byte, error) {
	return readFrameUpTo(r, 4<<10)
}

// readFrameHead reads a frame's type and the length of its payload.
func readFrameHead(r io.Reader) (frameType, int, error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, 0, err
	}
	n := binary.BigEndian.Uint32(head[:4])
	if n > maxPayload {
		return 0, 0, errFrameTooLarge
	}
	return frameType(head[4]), int(n), nil
}

func readFrameUpTo(r io.Reader, most int) (frameType, []byte, error) {
	t, n, err := readFrameHead(r)
	if err != nil {
		return 0, nil, err
	}
	if n > most {
		return 0, nil, errFrameTooLarge
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(r, payload); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return t, payload, nil
}

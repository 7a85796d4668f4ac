package hold

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// The protocol versions this build speaks.
const (
	minVersion = 1
	maxVersion = 1
)

// Protocols are the versions that this build speaks, oldest first.
func Protocols() (list []int) {
	for v := minVersion; v <= maxVersion; v++ {
		list = append(list, v)
	}
	return list
}

// hello is the first frame a server sends.
type hello struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// Welcome is the holder's state at the moment it took the server on.
type Welcome struct {
	// Version is the protocol version both sides speak from here on.
	Version int `json:"version"`
	// The starts are opaque: compare them, with the pid, and no more.
	HolderPID   int    `json:"holder_pid"`
	HolderStart string `json:"holder_start"`
	ChildPID    int    `json:"child_pid"`
	ChildStart  string `json:"child_start"`
	// Written is the offset of the next byte of output.
	Written int64 `json:"written"`
	// Control is the number of the last control record.
	Control uint64 `json:"control"`
	Cols    int    `json:"cols"`
	Rows    int    `json:"rows"`
	// StaleOffset is the offset the output had reached a second ago: a query
	// that ended at or before it is no longer answered.
	StaleOffset int64 `json:"stale_offset"`
	// LastReply is the offset of the last query that was answered.
	LastReply int64 `json:"last_reply"`
	// Queued are the marks of messages an earlier server handed over that
	// will still be typed and have no record yet, in order.
	Queued []json.RawMessage `json:"queued,omitempty"`
	// Credit is how many bytes of output beyond the last frameConsumed wakes
	// may tell of without waiting for the next one, which is not sent before
	// that. 0 is a holder which waits for one after each wake.
	Credit int64 `json:"credit,omitempty"`
	// Types says that the holder takes frameTyped.
	Types bool `json:"types,omitempty"`
	// TakesHooks says that the holder listens for hooks, and Hooks are those
	// that wait for a verdict, oldest first.
	TakesHooks bool          `json:"takes_hooks,omitempty"`
	Hooks      []WaitingHook `json:"hooks,omitempty"`
}

// Exit is how the program ended.
type Exit struct {
	Code int `json:"code"`
	// Signal is the name of the signal that ended it ("SIGKILL"), or empty.
	Signal string `json:"signal,omitempty"`
	// Left is how many processes of its tree could not be ended.
	Left int `json:"left,omitempty"`
	// OOMLimit is the limit of memory in bytes that it had reached when the kernel ended it, or 0.
	OOMLimit int64 `json:"oom_limit,omitempty"`
}

// refusal is why the holder ends the conversation.
type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

const (
	refuseVersion  = "version"
	refusePeer     = "peer"
	refuseReplaced = "replaced"
)

// request is the head of everything a server asks for. Each type uses some
// of the fields.
type request struct {
	ID    uint32          `json:"id"`
	Mark  json.RawMessage `json:"mark,omitempty"`
	By    int64           `json:"by_ns,omitempty"` // of an input: not after this time of the monotonic clock
	Cols  int             `json:"cols,omitempty"`
	Rows  int             `json:"rows,omitempty"`
	Sig   int             `json:"signal,omitempty"`
	Grace int64           `json:"grace_ms,omitempty"`
	Kind  string          `json:"kind,omitempty"`
	Data  json.RawMessage `json:"data,omitempty"`
	// Hook and Status are of verdicts and releases.
	Hook   uint64 `json:"hook,omitempty"`
	Status int    `json:"status,omitempty"`
}

// ackCode answers a request.
type ackCode byte

const (
	ackDone ackCode = iota
	ackBusy
	ackEnded
	ackBad
	ackNotWaiting
	ackLate
)

// ackError is the error an acknowledgement stands for.
func ackError(c ackCode, text string) error {
	switch c {
	case ackDone:
		return nil
	case ackBusy:
		return ErrBusy
	case ackEnded:
		return ErrEnded
	case ackNotWaiting:
		return ErrNotWaiting
	case ackLate:
		return ErrLate
	}
	return fmt.Errorf("%w: %s", ErrBadRequest, text)
}

var errShort = errors.New("frame is too short for its type")

// encodeRequest is the payload of a request with data after its head.
func encodeRequest(q request) ([]byte, error) {
	head, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("encoding a request: %w", err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(head))), head...), nil
}

// encodeTyped is the head of a frameTyped.
func encodeTyped(id uint32, mark []byte) []byte {
	p := make([]byte, 0, 8+len(mark))
	p = binary.BigEndian.AppendUint32(p, id)
	p = binary.BigEndian.AppendUint32(p, uint32(len(mark)))
	return append(p, mark...)
}

// decodeTyped splits a frameTyped.
func decodeTyped(p []byte) (id uint32, mark, data []byte, err error) {
	if len(p) < 4 {
		return 0, nil, nil, errShort
	}
	mark, data, err = splitHead(p[4:])
	return binary.BigEndian.Uint32(p), mark, data, err
}

// decodeRequest splits a payload into head and data.
func decodeRequest(p []byte) (request, []byte, error) {
	var q request
	head, data, err := splitHead(p)
	if err != nil {
		return q, nil, err
	}
	if err := json.Unmarshal(head, &q); err != nil {
		return q, nil, fmt.Errorf("decoding a request: %w", err)
	}
	return q, data, nil
}

// splitHead parts a payload that begins with the length of its head.
func splitHead(p []byte) (head, data []byte, err error) {
	if len(p) < 4 {
		return nil, nil, errShort
	}
	n := binary.BigEndian.Uint32(p)
	p = p[4:]
	if uint64(n) > uint64(len(p)) {
		return nil, nil, errShort
	}
	return p[:n], p[n:], nil
}

// encodeNumbers is the payload of frames that are counters.
func encodeNumbers(n ...uint64) []byte {
	p := make([]byte, 0, 8*len(n))
	for _, v := range n {
		p = binary.BigEndian.AppendUint64(p, v)
	}
	return p
}

// decodeNumber takes one counter off the front.
func decodeNumber(p []byte) (uint64, []byte, error) {
	if len(p) < 8 {
		return 0, nil, errShort
	}
	return binary.BigEndian.Uint64(p), p[8:], nil
}

// decodeOffset is decodeNumber for a place in the output.
func decodeOffset(p []byte) (int64, []byte, error) {
	n, rest, err := decodeNumber(p)
	if err == nil && int64(n) < 0 {
		err = fmt.Errorf("offset %d is out of range", n)
	}
	return int64(n), rest, err
}

func encodeAck(id uint32, c ackCode, text string) []byte {
	p := binary.BigEndian.AppendUint32(nil, id)
	return append(append(p, byte(c)), text...)
}

func decodeAck(p []byte) (uint32, ackCode, string, error) {
	if len(p) < 5 {
		return 0, 0, "", errShort
	}
	return binary.BigEndian.Uint32(p), ackCode(p[4]), string(p[5:]), nil
}

// chooseVersion is the newest version both sides know.
func chooseVersion(h hello) (int, error) {
	v := min(h.Max, maxVersion)
	if v < max(h.Min, minVersion) {
		return 0, fmt.Errorf("server speaks versions %d to %d, holder %d to %d", h.Min, h.Max, minVersion, maxVersion)
	}
	return v, nil
}

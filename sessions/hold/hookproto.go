package hold

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"
)

// The hook socket speaks the frames of the server's socket:
//
//	berth-hold hook       holder
//	hook            ────▶          who, how long, and the event's JSON
//	                ◀────  taken   the number of its record, 0 for one that has none
//	                ◀────  answer  the verdict (ask only)
//	delivered       ────▶          its bytes are written to the agent
//	                ◀────  letGo   no verdict will come (ask only)
//
// A connection that ends is an asker that has hung up, or a holder that has
// nothing to say.
const (
	frameHook      frameType = 32 // to the holder: hookHead, then the payload
	frameTaken     frameType = 33 // to the asker: uint64 record
	frameAnswer    frameType = 34 // to the asker: uint32 exit status, then bytes for its stdout
	frameDelivered frameType = 35 // to the holder: nothing
	frameLetGo     frameType = 36 // to the asker: nothing

	// On the server's socket.
	frameVerdict frameType = 40 // to the holder: request head, then bytes for the asker's stdout
	frameRelease frameType = 41 // to the holder: request head
)

// HookSocketEnv names the hook socket in the environment of everything in a
// session whose Spec has one.
const HookSocketEnv = "BERTH_HOOK_SOCKET"

const (
	// MaxHookPayload is the most of an event's payload that is taken; what is
	// beyond it is cut off.
	MaxHookPayload = 4 << 20
	// MaxVerdict is the most bytes a verdict may have for the agent.
	MaxVerdict = 1 << 20
	// maxHookInline is the largest payload that is part of the control record.
	maxHookInline = 64 << 10
	// hookHeadSize is how much of a larger one does.
	hookHeadSize = 16 << 10
	// maxEventName bounds the name an asker gives its event.
	maxEventName = 64
	// maxHold bounds HOLD and GRACE: longer than any turn lasts.
	maxHold = 30 * 24 * time.Hour
)

// hookHead goes before an event's payload.
type hookHead struct {
	Event string `json:"event,omitempty"`
	// Ask says that a verdict is waited for, at most HoldMillis, and at most
	// GraceMillis without a server.
	Ask         bool  `json:"ask,omitempty"`
	HoldMillis  int64 `json:"hold_ms,omitempty"`
	GraceMillis int64 `json:"grace_ms,omitempty"`
	// Bytes is the payload's whole length, when less than that follows.
	Bytes int64 `json:"bytes,omitempty"`
}

// hold and grace are the two waits, within bounds.
func (q hookHead) hold() time.Duration  { return boundedMillis(q.HoldMillis) }
func (q hookHead) grace() time.Duration { return boundedMillis(q.GraceMillis) }

func boundedMillis(ms int64) time.Duration {
	return time.Duration(min(max(ms, 0), maxHold.Milliseconds())) * time.Millisecond
}

// encodeHook is the payload of frameHook but for the event's own bytes.
func encodeHook(q hookHead) ([]byte, error) {
	head, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("encode a hook: %w", err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(head))), head...), nil
}

// decodeHook splits what encodeHook and the payload are together.
func decodeHook(p []byte) (hookHead, []byte, error) {
	var q hookHead
	head, payload, err := splitHead(p)
	if err != nil {
		return q, nil, err
	}
	if err := json.Unmarshal(head, &q); err != nil {
		return q, nil, fmt.Errorf("decode a hook: %w", err)
	}
	if !plainName(q.Event) {
		q.Event = ""
	}
	if len(payload) > MaxHookPayload {
		q.Bytes = max(q.Bytes, int64(len(payload)))
		payload = payload[:MaxHookPayload]
	}
	return q, payload, nil
}

// plainName reports whether a name is one an agent's event may have.
func plainName(s string) bool {
	if len(s) > maxEventName {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.', c == ':', c == '/':
		default:
			return false
		}
	}
	return true
}

func encodeAnswer(status int, stdout []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(status)), stdout...)
}

func decodeAnswer(p []byte) (status int, stdout []byte, err error) {
	if len(p) < 4 {
		return 0, nil, errShort
	}
	n := binary.BigEndian.Uint32(p)
	if n > 255 {
		return 0, nil, fmt.Errorf("exit status %d is out of range", n)
	}
	return int(n), p[4:], nil
}

package hold

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"berth/api"
)

// Kinds of control records about hooks. The number of a hook's own record is
// its id; those that follow name it. One that waits for a verdict ends with
// KindDelivered or KindGone, but where the holder was killed.
const (
	KindHook      = "hook"      // HookData: an event of the agent's
	KindVerdict   = "verdict"   // VerdictData: written before the verdict is sent
	KindDelivered = "delivered" // DeliveredData: its bytes are in the agent's hands
	KindGone      = "gone"      // GoneData: it waits no more
	KindCoalesced = "coalesced" // CoalescedData: events too many to be recorded one by one
)

// HookData is the data of KindHook.
type HookData struct {
	// Event is the name given on the command line of `berth-hold hook`, or empty.
	Event string `json:"event,omitempty"`
	// Ask says that the hook waits for a verdict: at most HoldMillis, and at
	// most GraceMillis while no server is connected.
	Ask         bool  `json:"ask,omitempty"`
	HoldMillis  int64 `json:"hold_ms,omitempty"`
	GraceMillis int64 `json:"grace_ms,omitempty"`
	PID         int   `json:"pid"`
	// Bytes is the payload's length as the agent wrote it.
	Bytes int64 `json:"bytes"`
	// Payload is the agent's JSON where it has at most 64 KiB. A longer one
	// has its beginning in Head, and ReadHook gives it whole if File is set.
	Payload json.RawMessage `json:"payload,omitempty"`
	Head    string          `json:"head,omitempty"`
	File    bool            `json:"file,omitempty"`
	// Malformed says that the payload isn't JSON: Raw has it where it is short.
	Malformed bool   `json:"malformed,omitempty"`
	Raw       []byte `json:"raw,omitempty"`
	// Truncated says that it was longer than MaxHookPayload and was cut there.
	Truncated bool `json:"truncated,omitempty"`
}

// VerdictData is the data of KindVerdict. Stdout is left out when it is
// longer than 64 KiB.
type VerdictData struct {
	Hook   uint64          `json:"hook"`
	Status int             `json:"status"`
	Bytes  int             `json:"bytes"`
	Stdout string          `json:"stdout,omitempty"`
	Mark   json.RawMessage `json:"mark,omitempty"`
}

// DeliveredData is the data of KindDelivered.
type DeliveredData struct {
	Hook uint64 `json:"hook"`
}

// GoneData is the data of KindGone. Answered says that there had been a
// verdict: it was not taken.
type GoneData struct {
	Hook     uint64 `json:"hook"`
	Why      string `json:"why"`
	Answered bool   `json:"answered,omitempty"`
}

// Why a hook waits no more.
const (
	GoneHungUp   = "hung_up"   // its process ended, or the agent let it go
	GoneHeld     = "held"      // HOLD is over
	GoneNoServer = "no_server" // GRACE is over
	GoneReleased = "released"  // the server let it go
	GoneEnded    = "ended"     // the program has ended
	GoneBusy     = "busy"      // more wait already than may
	GoneLost     = "lost"      // the holder was killed; its successor says so
)

// CoalescedData is the data of KindCoalesced: how many events between the two
// times have no record, by the names they were given.
type CoalescedData struct {
	From   api.Time       `json:"from"`
	To     api.Time       `json:"to"`
	Count  int            `json:"count"`
	Events map[string]int `json:"events"`
}

// describeHook makes the record of a hook, without File.
func describeHook(q hookHead, payload []byte, pid int) HookData {
	d := HookData{
		Event: q.Event, Ask: q.Ask, PID: pid,
		Bytes:     max(q.Bytes, int64(len(payload))),
		Malformed: !json.Valid(payload),
	}
	if q.Ask {
		d.HoldMillis, d.GraceMillis = q.hold().Milliseconds(), q.grace().Milliseconds()
	}
	d.Truncated = d.Bytes > int64(len(payload))
	switch {
	case len(payload) > maxHookInline:
		d.Head = wholeRunes(payload[:hookHeadSize])
	case d.Malformed:
		d.Raw = payload
	default:
		d.Payload = payload
	}
	return d
}

// wholeRunes drops a character cut in two at the end.
func wholeRunes(p []byte) string {
	for i := 1; i < utf8.UTFMax && i <= len(p); i++ {
		if c := p[len(p)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(p[len(p)-i:]) {
				p = p[:len(p)-i]
			}
			break
		}
	}
	return string(p)
}

// ReadHook gives the whole payload of hook n of a session's folder, as the
// agent wrote it where it is longer than 64 KiB, else as the record has it.
// A file is read only if the record says so: it can be another hook's, whose
// record was lost. os.ErrNotExist says that the payload is not kept.
func ReadHook(dir string, n uint64) ([]byte, error) {
	var found HookData
	enough := errors.New("found")
	err := ReadControl(dir, n-min(n, 1), func(r Record) error {
		if r.N == n && r.Kind == KindHook {
			if err := json.Unmarshal(r.Data, &found); err != nil {
				return fmt.Errorf("decode hook %d: %w", n, err)
			}
		}
		return enough
	})
	if err != nil && !errors.Is(err, enough) {
		return nil, err
	}
	switch {
	case found.File:
		return ReadHookFile(dir, n)
	case len(found.Payload) > 0:
		return found.Payload, nil
	case found.Malformed && found.Head == "":
		return found.Raw, nil
	}
	return nil, fmt.Errorf("the payload of hook %d is no longer stored: %w", n, os.ErrNotExist)
}

// ReadHookFile gives the payload of hook n, whose record has File set. A full
// disk may not have the record yet, which the server then has got as a frame.
func ReadHookFile(dir string, n uint64) ([]byte, error) {
	data, err := os.ReadFile(segmentName(filepath.Join(dir, hooksDir), n, hookExt))
	if err != nil {
		return nil, fmt.Errorf("read the payload of hook %d: %w", n, err)
	}
	return data, nil
}

// unendedHooks finds the hooks that a log leaves waiting.
type unendedHooks []GoneData

func (u *unendedHooks) see(r Record) {
	switch r.Kind {
	case KindHook:
		var d HookData
		if json.Unmarshal(r.Data, &d) == nil && d.Ask {
			*u = append(*u, GoneData{Hook: r.N, Why: GoneLost})
		}
	case KindVerdict, KindDelivered, KindGone:
		var d GoneData // all three name the hook
		if json.Unmarshal(r.Data, &d) != nil {
			return
		}
		i := slices.IndexFunc(*u, func(w GoneData) bool { return w.Hook == d.Hook })
		switch {
		case i < 0:
		case r.Kind == KindVerdict:
			(*u)[i].Answered = true
		default:
			*u = slices.Delete(*u, i, i+1)
		}
	}
}

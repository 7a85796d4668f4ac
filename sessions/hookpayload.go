package sessions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"berth/api"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/track"
)

// shortPayload is how an event has a payload that is too long for it: as its beginning.
const shortPayload = `"payload":null,"head":`

// WholeHook is a hook event with its whole payload in place of its beginning. It is the
// event as it is if that has all of it, or if the payload is gone or was cut.
func (s *Session) WholeHook(line events.Line) []byte {
	at := bytes.Index(line.Raw, []byte(shortPayload)) // quotes in strings are escaped
	if at < 0 || line.Cause == 0 {
		return line.Raw
	}
	payload, err := hold.ReadHook(s.dir, line.Cause)
	var whole bytes.Buffer
	if err != nil || json.Compact(&whole, payload) != nil {
		return line.Raw
	}
	rest := line.Raw[at+len(shortPayload):]
	head := json.NewDecoder(bytes.NewReader(rest))
	if err := head.Decode(new(string)); err != nil {
		return line.Raw
	}
	return slices.Concat(line.Raw[:at], []byte(`"payload":`), whole.Bytes(), rest[head.InputOffset():])
}

// HookPayload is the whole payload of the hook event with this number. It fails with
// NOT_FOUND if there is no such event, or its payload was dropped as old.
func (s *Session) HookPayload(ctx context.Context, seq uint64) ([]byte, error) {
	name := s.Status().Name
	none := api.Errorf(api.CodeNotFound, "%s has no hook event with the number %d: watch --type hook shows their seq", name, seq).With("session", name)
	if seq == 0 || seq > s.reg.events.LastSeq(s.id) {
		return nil, none
	}
	line, err := s.reg.events.FollowSession(s.id, seq-1).Next(ctx)
	if err != nil {
		return nil, err
	}
	var e track.HookEvent
	if line.Seq != seq || line.Type != "hook" || line.Cause == 0 || json.Unmarshal(line.Raw, &e) != nil || e.Event == "coalesced" {
		return nil, none
	}
	payload, err := hold.ReadHook(s.dir, line.Cause)
	switch {
	case err == nil && len(payload) > 0:
		return payload, nil
	case len(e.Payload) > 0 && string(e.Payload) != "null":
		return e.Payload, nil
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return nil, api.Errorf(api.CodeNotFound, "the payload of hook event %d of %s is gone; the event holds its beginning", seq, name).With("session", name)
	}
	return nil, err
}

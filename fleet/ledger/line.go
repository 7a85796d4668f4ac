package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"berth/api"
	"berth/fleet/registry"
	"berth/sessions/events"
)

// mostLine bounds a line of a host, in bytes. The largest event is a hook of 64 KiB, whose text JSON may escape.
const mostLine = 512 << 10

// Line is an event of a host as a Follower gives it. Its session is HOST/NAME, and its cursor the fleet's.
type Line struct {
	events.Line
	Host string // empty for a gap in the stream, which is of all hosts
}

// head is what the ledger knows of an event.
type head struct {
	Type    string   `json:"type"`
	Session *string  `json:"session"`
	ID      *string  `json:"id"`
	Seq     *uint64  `json:"seq"`
	Time    api.Time `json:"time"`
	Host    string   `json:"host"`
	Cursor  string   `json:"host_cursor"` // in the host's own log
}

// cursorField is the only field of a host's line that isn't in what is stored: it gets the stream's number.
const cursorField = "cursor"

// heads are the names of the fields that the ledger writes. A reader of JSON may ignore the case of letters, so a host's
// other fields have none of these names in any case.
var heads = []string{cursorField, "type", "session", "id", "seq", "time", "host", "host_cursor"}

// Characters of an event's type and of an id. A regular expression for them would be compiled at each start of berth.
const (
	typeLetters = "abcdefghijklmnopqrstuvwxyz_"
	idLetters   = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"
)

// isWord says whether a text has 1 to most characters, all of these.
func isWord(text, letters string, most int) bool {
	return text != "" && len(text) <= most && strings.Trim(text, letters) == ""
}

// errCursor is a line without its place in the host's log: nothing can stand for it.
var errCursor = errors.New("a line of a host has no cursor")

// stored makes of a host's line what the stream keeps. A line that isn't an event becomes a gap: its host is of another
// version, or lies.
func stored(host string, raw []byte, now time.Time) (data []byte, cursor uint64, err error) {
	var line bytes.Buffer
	fields := map[string]json.RawMessage{}
	err = json.Compact(&line, bytes.ToValidUTF8(raw, []byte("\uFFFD"))) // a reader prints it as one line
	if err == nil {
		err = json.Unmarshal(line.Bytes(), &fields)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", errCursor, err)
	}
	var text string
	if err := json.Unmarshal(fields[cursorField], &text); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", errCursor, err)
	}
	if cursor, err = events.ParseCursor(text); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", errCursor, err)
	}
	h, err := readHead(fields)
	if err != nil || line.Len() > mostLine {
		h, fields = head{Type: events.TypeGap, Time: api.At(now)}, map[string]json.RawMessage{
			"from": fields[cursorField], "to": fields[cursorField], "why": json.RawMessage(`"the host sent an event that its gateway can't read"`),
		}
	}
	h.Host, h.Cursor = host, text
	if h.Session != nil {
		name := host + "/" + *h.Session
		h.Session = &name
	}
	if data, err = json.Marshal(h); err != nil {
		return nil, 0, fmt.Errorf("write an event: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if slices.ContainsFunc(heads, func(h string) bool { return strings.EqualFold(h, name) }) {
			continue
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, 0, fmt.Errorf("write an event: %w", err)
		}
		data = append(data[:len(data)-1], ',')
		data = append(append(append(append(data, key...), ':'), fields[name]...), '}')
	}
	return data, cursor, nil
}

// readHead reads and checks the fields that are used to judge who may see an event.
func readHead(fields map[string]json.RawMessage) (h head, err error) {
	for _, f := range []struct {
		name string
		to   any
	}{{"type", &h.Type}, {"session", &h.Session}, {"id", &h.ID}, {"seq", &h.Seq}, {"time", &h.Time}} {
		if err := json.Unmarshal(fields[f.name], f.to); err != nil {
			return h, fmt.Errorf("read %s: %w", f.name, err)
		}
	}
	switch {
	case !isWord(h.Type, typeLetters, 40):
		return h, errors.New("the type isn't one")
	case h.ID != nil && !isWord(*h.ID, idLetters, 64):
		return h, errors.New("the id isn't one")
	case h.Session != nil && h.ID == nil:
		return h, errors.New("a session without its id")
	case h.ID == nil && h.Type != events.TypeGap: // every watcher gets it, of whatever session
		return h, errors.New("an event of no session")
	case h.Session != nil:
		return h, api.CheckName(*h.Session)
	}
	return h, nil
}

// read makes a line of what the stream keeps.
func read(data []byte, cursor uint64) (Line, error) {
	var h head
	if err := json.Unmarshal(data, &h); err != nil {
		return Line{}, fmt.Errorf("read event %s: %w", registry.FormatCursor(cursor), err)
	}
	raw := append(fmt.Appendf(nil, `{"cursor":%q,`, registry.FormatCursor(cursor)), data[1:]...)
	line := Line{events.Line{Cursor: cursor, Type: h.Type, Time: h.Time.Time, Raw: raw}, h.Host}
	if h.Session != nil {
		line.Session = *h.Session
	}
	if h.ID != nil {
		line.ID = *h.ID
	}
	if h.Seq != nil {
		line.Seq = *h.Seq
	}
	return line, nil
}

// gap makes the line in place of messages that the stream has removed.
func gap(from, to uint64, now time.Time) Line {
	raw := fmt.Appendf(nil, `{"cursor":%q,"type":"gap","session":null,"id":null,"seq":null,"time":%q,"host":null,"host_cursor":null,"from":%q,"to":%q,"why":"the gateway has removed old events: those of a host are in its own log"}`,
		registry.FormatCursor(to), now.UTC().Format(api.TimeLayout), registry.FormatCursor(from), registry.FormatCursor(to))
	return Line{Line: events.Line{Cursor: to, Type: events.TypeGap, Time: now, From: from, Raw: raw}}
}

package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"berth/api"
)

// headerFields are the names Data must not use.
var headerFields = map[string]bool{
	"cursor": true, "type": true, "session": true, "id": true,
	"seq": true, "time": true, "cause_record": true,
}

// marshalData gives Data as a JSON object on one line.
func marshalData(data any) ([]byte, error) {
	if data == nil {
		return nil, nil
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(data); err != nil {
		return nil, fmt.Errorf("encode event data: %w", err)
	}
	object := bytes.TrimSpace(b.Bytes())
	if string(object) == "null" {
		return nil, nil
	}
	if len(object) < 2 || object[0] != '{' {
		return nil, fmt.Errorf("event data of type %T is not a JSON object", data)
	}
	if name, ok := reservedKey(object); ok {
		return nil, fmt.Errorf("event data of type %T has the header's field %q", data, name)
	}
	return object, nil
}

// reservedKey looks for a header field among the keys of a compact JSON object,
// not of the objects inside it.
func reservedKey(object []byte) (string, bool) {
	depth, key := 0, true
	for i := 0; i < len(object); i++ {
		switch object[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			key = depth == 1
		case '"':
			start := i + 1
			for i++; i < len(object) && object[i] != '"'; i++ {
				if object[i] == '\\' {
					i++
				}
			}
			if depth == 1 && key && i <= len(object) && headerFields[string(object[start:i])] {
				return string(object[start:i]), true
			}
			key = false
		}
	}
	return "", false
}

// encode writes the event as one JSON object, header first.
func encode(e Event, data []byte) []byte {
	b := make([]byte, 0, 160+len(e.Session)+len(e.ID)+len(data))
	b = append(b, `{"cursor":"e`...)
	b = strconv.AppendUint(b, e.Cursor, 10)
	b = append(b, `","type":`...)
	b = appendString(b, e.Type)
	b = append(b, `,"session":`...)
	b = appendName(b, e.Session)
	b = append(b, `,"id":`...)
	b = appendName(b, e.ID)
	b = append(b, `,"seq":`...)
	if e.Seq == 0 {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendUint(b, e.Seq, 10)
	}
	b = append(b, `,"time":"`...)
	b = e.Time.UTC().AppendFormat(b, api.TimeLayout)
	b = append(b, '"')
	if len(data) > 2 {
		b = append(b, ',')
		b = append(b, data[1:len(data)-1]...)
	}
	if e.Cause != 0 {
		b = append(b, causeField...)
		b = strconv.AppendUint(b, e.Cause, 10)
	}
	return append(b, '}')
}

const causeField = `,"cause_record":`

func appendName(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return appendString(b, s)
}

func appendString(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, err := json.Marshal(s)
			if err != nil { // a string always marshals
				quoted = []byte(`""`)
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func (e Event) line(raw []byte) Line {
	return Line{
		Cursor: e.Cursor, Type: e.Type, Session: e.Session, ID: e.ID, Seq: e.Seq,
		Time: e.Time, Cause: e.Cause, Raw: raw,
	}
}

// gapData is what a gap says beside the header.
type gapData struct {
	From     string          `json:"from"`
	To       string          `json:"to"`
	FromSeq  uint64          `json:"from_seq,omitempty"` // when one session is followed
	ToSeq    uint64          `json:"to_seq,omitempty"`
	Why      string          `json:"why"`
	Sessions map[string]head `json:"sessions,omitempty"` // in files only: what was numbered before it was lost
}

// gapLine makes the line that stands for the cursors from..to. It has the
// cursor of the last, so that a watch resumed there continues after it.
func gapLine(e Event, d gapData) Line {
	e.Type = TypeGap
	from, err := ParseCursor(d.From)
	if err != nil {
		from = e.Cursor
	}
	data, err := marshalData(d)
	if err != nil { // strings and numbers always marshal
		data = nil
	}
	line := e.line(encode(e, data))
	line.From, line.lost = from, d.Sessions
	return line
}

var errForm = errors.New("not an event line")

// parseLine reads the header of a line, and of a gap its range. It does not
// look whether the rest is valid JSON.
func parseLine(raw []byte) (Line, error) {
	line, ok := parseOwn(raw)
	if !ok {
		var err error
		if line, err = parseAny(raw); err != nil {
			return Line{}, err
		}
	}
	line.Raw = raw
	if line.Type == TypeGap {
		var d gapData
		if err := json.Unmarshal(raw, &d); err != nil {
			return Line{}, fmt.Errorf("%w: %w", errForm, err)
		}
		from, err := ParseCursor(d.From)
		if err != nil || from > line.Cursor {
			from = line.Cursor
		}
		line.From, line.lost = from, d.Sessions
	}
	return line, nil
}

// parseAny reads a header in any order and spelling.
func parseAny(raw []byte) (Line, error) {
	var h struct {
		Cursor  string   `json:"cursor"`
		Type    string   `json:"type"`
		Session string   `json:"session"`
		ID      string   `json:"id"`
		Seq     uint64   `json:"seq"`
		Time    api.Time `json:"time"`
		Cause   uint64   `json:"cause_record"`
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return Line{}, fmt.Errorf("%w: %w", errForm, err)
	}
	cursor, err := ParseCursor(h.Cursor)
	if err != nil || cursor == 0 || h.Type == "" {
		return Line{}, errForm
	}
	return Line{
		Cursor: cursor, Type: h.Type, Session: h.Session, ID: h.ID,
		Seq: h.Seq, Time: h.Time.Time, Cause: h.Cause,
	}, nil
}

// parseOwn reads a header as encode writes it, without decoding JSON.
func parseOwn(raw []byte) (line Line, ok bool) {
	s := scan{rest: raw}
	s.expect(`{"cursor":"e`)
	line.Cursor = s.number()
	s.expect(`","type":`)
	line.Type = s.name()
	s.expect(`,"session":`)
	line.Session = s.name()
	s.expect(`,"id":`)
	line.ID = s.name()
	s.expect(`,"seq":`)
	if !s.null() {
		line.Seq = s.number()
	}
	s.expect(`,"time":`)
	stamp := s.name()
	if s.bad || line.Cursor == 0 || line.Cursor > maxCursor || line.Type == "" {
		return Line{}, false
	}
	t, err := time.Parse(api.TimeLayout, stamp)
	if err != nil {
		return Line{}, false
	}
	line.Time = t
	line.Cause = trailingCause(raw)
	return line, true
}

// trailingCause reads the cause, which encode writes last.
func trailingCause(raw []byte) uint64 {
	end := len(raw) - 1
	if end < 0 || raw[end] != '}' {
		return 0
	}
	start := end
	for start > 0 && raw[start-1] >= '0' && raw[start-1] <= '9' {
		start--
	}
	if start == end || !bytes.HasSuffix(raw[:start], []byte(causeField)) {
		return 0
	}
	n, err := strconv.ParseUint(string(raw[start:end]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// scan reads pieces off the front; after the first that does not fit it is bad.
type scan struct {
	rest []byte
	bad  bool
}

func (s *scan) expect(text string) {
	if s.bad || len(s.rest) < len(text) || string(s.rest[:len(text)]) != text {
		s.bad = true
		return
	}
	s.rest = s.rest[len(text):]
}

func (s *scan) number() uint64 {
	var n uint64
	i := 0
	for ; i < len(s.rest) && s.rest[i] >= '0' && s.rest[i] <= '9'; i++ {
		n = n*10 + uint64(s.rest[i]-'0')
	}
	if i == 0 || i > 19 {
		s.bad = true
		return 0
	}
	s.rest = s.rest[i:]
	return n
}

func (s *scan) null() bool {
	if bytes.HasPrefix(s.rest, []byte("null")) {
		s.rest = s.rest[4:]
		return true
	}
	return false
}

// name reads a string without escapes, or null as the empty string.
func (s *scan) name() string {
	if s.bad || s.null() {
		return ""
	}
	if len(s.rest) == 0 || s.rest[0] != '"' {
		s.bad = true
		return ""
	}
	for i := 1; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\\':
			s.bad = true
			return ""
		case '"':
			text := string(s.rest[1:i])
			s.rest = s.rest[i+1:]
			return text
		}
	}
	s.bad = true
	return ""
}

// fragment is what can be read of a line that is cut or damaged.
type fragment struct {
	cursor uint64 // 0 if unknown
	id     string
}

func parseFragment(raw []byte) (f fragment) {
	s := scan{rest: raw}
	s.expect(`{"cursor":"e`)
	n := s.number()
	s.expect(`",`)
	if s.bad || n > maxCursor {
		return f
	}
	f.cursor = n
	s.expect(`"type":`)
	s.name()
	s.expect(`,"session":`)
	s.name()
	s.expect(`,"id":`)
	id := s.name()
	if !s.bad {
		f.id = id
	}
	return f
}

// Gap is the fields of a gap, beside those of the head.
func Gap() any { return gapData{} }

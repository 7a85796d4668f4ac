package hold

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"berth/api"
)

// Kinds of control records that the holder writes by itself. Others are the
// server's notes.
const (
	KindStarted = "started" // StartedData
	KindInput   = "input"   // InputData: just before its first byte is typed
	KindResize  = "resize"  // ResizeData: once it is in force
	KindReply   = "reply"   // ReplyData
	KindSignal  = "signal"  // SignalData
	KindEnd     = "end"     // EndData: a caller asked for the program's end
	KindLoss    = "loss"    // LossData
	KindOOM     = "oom"     // OOMData
	KindExit    = "exit"    // Exit: the last one of this program; a restart continues the same journal
)

// A Record is one line of the control log.
type Record struct {
	// N counts from 1 and never repeats; numbers missing were dropped.
	N uint64 `json:"n"`
	// Time is the wall clock's.
	Time api.Time `json:"time"`
	// Offset is the end of the output at that time.
	Offset int64           `json:"offset"`
	Kind   string          `json:"kind"`
	Data   json.RawMessage `json:"data,omitempty"`
}

// StartedData is the data of KindStarted.
type StartedData struct {
	PID   int    `json:"pid"`
	Start string `json:"start"`
	Cols  int    `json:"cols"`
	Rows  int    `json:"rows"`
}

// InputData is the data of KindInput: how much, never what.
type InputData struct {
	Bytes int             `json:"bytes"`
	Mark  json.RawMessage `json:"mark,omitempty"`
}

// ResizeData is the data of KindResize.
type ResizeData struct {
	Cols int             `json:"cols"`
	Rows int             `json:"rows"`
	Mark json.RawMessage `json:"mark,omitempty"`
}

// ReplyData is the data of KindReply: the query answered ended at offset At.
type ReplyData struct {
	At    int64 `json:"at"`
	Bytes int   `json:"bytes"`
}

// SignalData is the data of KindSignal.
type SignalData struct {
	Signal string          `json:"signal"`
	Mark   json.RawMessage `json:"mark,omitempty"`
}

// EndData is the data of KindEnd.
type EndData struct {
	GraceMillis int64           `json:"grace_ms"`
	Mark        json.RawMessage `json:"mark,omitempty"`
}

// LossData is the data of KindLoss: output from From up to To, or so many
// control records, could not be written.
type LossData struct {
	From    int64  `json:"from"`
	To      int64  `json:"to"`
	Records int    `json:"records,omitempty"`
	Why     string `json:"why"`
}

// encodeData is the line of a record with this data.
func encodeData(r Record, data any) ([]byte, error) {
	if d, ok := data.(InputData); ok && r.Kind == KindInput {
		if line, ok := encodeInput(r, d); ok {
			return line, nil
		}
	}
	raw, err := encodePlain(data)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", r.Kind, err)
	}
	r.Data = raw
	return encodeRecord(r)
}

// encodeInput is encodeData for the record that each key makes: without
// reflection, it costs a fifth.
func encodeInput(r Record, d InputData) ([]byte, bool) {
	if r.Time.IsZero() {
		return nil, false
	}
	line := make([]byte, 0, 128+len(d.Mark))
	line = append(line, `{"n":`...)
	line = strconv.AppendUint(line, r.N, 10)
	line = append(line, `,"time":"`...)
	line = r.Time.UTC().AppendFormat(line, api.TimeLayout)
	line = append(line, `","offset":`...)
	line = strconv.AppendInt(line, r.Offset, 10)
	line = append(line, `,"kind":"`+KindInput+`","data":{"bytes":`...)
	line = strconv.AppendInt(line, int64(d.Bytes), 10)
	if len(d.Mark) > 0 {
		mark := bytes.NewBuffer(append(line, `,"mark":`...))
		if json.Compact(mark, d.Mark) != nil {
			return nil, false
		}
		line = mark.Bytes()
	}
	return append(line, "}}\n"...), true
}

// encodeRecord is the record's line, with its newline.
func encodeRecord(r Record) ([]byte, error) {
	line, err := encodePlain(r)
	if err != nil {
		return nil, fmt.Errorf("encoding a %s record: %w", r.Kind, err)
	}
	return line, nil
}

// encodePlain is v's JSON and a newline, with no character of an agent's
// escaped for the sake of HTML.
func encodePlain(v any) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return buf.Bytes(), err
}

// decodeRecord reads one line. A line cut short is an error.
func decodeRecord(line []byte) (Record, error) {
	if r, ok := decodeInput(line); ok {
		return r, nil
	}
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return Record{}, fmt.Errorf("decoding a control record: %w", err)
	}
	if r.N == 0 || r.Kind == "" || r.Offset < 0 {
		return Record{}, fmt.Errorf("control record %.40q has no number, kind or offset", line)
	}
	return r, nil
}

// decodeInput is decodeRecord for what encodeInput made, which the server reads between a key and
// its echo. It is false for any other line.
func decodeInput(line []byte) (r Record, ok bool) {
	n, rest, ok := cutNumber(line, `{"n":`)
	if !ok || n == 0 {
		return r, false
	}
	const quoted = len(api.TimeLayout) + 2
	rest, ok = bytes.CutPrefix(rest, []byte(`,"time":`))
	if !ok || len(rest) < quoted || rest[quoted-1] != '"' || r.Time.UnmarshalJSON(rest[:quoted]) != nil {
		return r, false
	}
	offset, rest, ok := cutNumber(rest[quoted:], `,"offset":`)
	if !ok || offset > math.MaxInt64 {
		return r, false
	}
	rest, ok = bytes.CutPrefix(rest, []byte(`,"kind":"`+KindInput+`","data":`))
	data, whole := bytes.CutSuffix(bytes.TrimSuffix(rest, []byte{'\n'}), []byte{'}'})
	if !ok || !whole || !json.Valid(data) {
		return r, false
	}
	r.N, r.Offset, r.Kind, r.Data = n, int64(offset), KindInput, bytes.Clone(data)
	return r, true
}

// Input is the data of a record of KindInput.
func (r Record) Input() (d InputData, err error) {
	n, rest, ok := cutNumber(r.Data, `{"bytes":`)
	mark, marked := bytes.CutPrefix(rest, []byte(`,"mark":`))
	mark, whole := bytes.CutSuffix(mark, []byte{'}'})
	if ok && marked && whole && n <= math.MaxInt32 && json.Valid(mark) {
		return InputData{Bytes: int(n), Mark: mark}, nil
	}
	err = json.Unmarshal(r.Data, &d)
	return d, err
}

// cutNumber takes a number after a prefix off the front.
func cutNumber(p []byte, prefix string) (n uint64, rest []byte, ok bool) {
	p, ok = bytes.CutPrefix(p, []byte(prefix))
	digits := 0
	for digits < len(p) && '0' <= p[digits] && p[digits] <= '9' {
		digits++
	}
	n, err := strconv.ParseUint(string(p[:digits]), 10, 64)
	return n, p[digits:], ok && err == nil && (digits == 1 || p[0] != '0')
}

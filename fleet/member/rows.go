package member

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	"berth/agent"
	"berth/api"
	"berth/fleet/registry"
)

// mostRow bounds a row, in bytes. Only a prompt is longer, and a gateway's list isn't where a person reads that.
const mostRow = 64 << 10

// Depths of JSON. A reader in Go takes no more levels than deepest, and a row is a few levels deep where it is read.
const (
	deepest = 10000
	around  = 8
)

// line is a row as it is sent.
type line struct {
	row  api.Session
	data []byte // empty for a row that can't be sent
}

// encode writes rows, as many as one message of most bytes may have, without the message's number, and sums them up.
// A prompt that is too large is abridged, so that it keeps no other session out; so are the largest ones if all rows
// are too much.
func encode(most int, all func() ([]api.Session, []string)) (fields []byte, sum uint64) {
	rows, pending := all()
	rows, pending = rows[:min(len(rows), registry.MostRows)], pending[:min(len(pending), registry.MostRows)]
	ids, err := json.Marshal(pending)
	if err != nil { // texts can be written
		ids = []byte("null")
	}
	lines := make([]line, 0, len(rows))
	for _, row := range rows {
		l := line{row, written(row)}
		if l.data == nil {
			l = l.abridged()
		}
		if l.data != nil {
			lines = append(lines, l)
		}
	}
	lines = fitting(lines, most-100-len(ids))
	list := make([][]byte, len(lines))
	for i, l := range lines {
		list[i] = l.data
	}
	fields = fmt.Appendf(nil, `"sessions":[%s],"pending":%s`, bytes.Join(list, []byte(",")), ids)
	h := fnv.New64a()
	_, _ = h.Write(fields)
	return fields, h.Sum64()
}

// fitting are lines of at most so many bytes.
func fitting(lines []line, most int) []line {
	total := size(lines)
	if total <= most {
		return lines
	}
	largest := make([]*line, len(lines))
	for i := range lines {
		largest[i] = &lines[i]
	}
	slices.SortStableFunc(largest, func(a, b *line) int { return cmp.Compare(len(b.data), len(a.data)) })
	for _, l := range largest {
		if total <= most {
			return lines
		}
		if less := l.abridged(); less.data != nil && len(less.data) < len(l.data) {
			total -= len(l.data) - len(less.data)
			*l = less
		}
	}
	for size(lines) > most && len(lines) > 0 {
		lines = lines[:len(lines)/2]
	}
	return lines
}

func size(lines []line) int {
	total := 0
	for _, l := range lines {
		total += len(l.data) + len(",")
	}
	return total
}

// abridged is a line without the row's long texts.
func (l line) abridged() line {
	if p := agent.RequestOf(l.row.Prompt); p != nil {
		whole, _ := json.Marshal(p) // none if it can't be written: then nothing says how long it is
		l.row.Prompt = p.Abridged(len(whole))
	}
	if f := l.row.Failure; f != nil {
		short := *f
		short.Text = agent.Brief(f.Text)
		l.row.Failure = &short
	}
	if a := l.row.Activity; a != nil {
		short := *a
		short.Input = agent.Brief(a.Input)
		l.row.Activity = &short
	}
	l.data = written(l.row)
	return l
}

// written is a row as JSON; nil if it is too large or too deep, or can't be written. HTML isn't escaped: with that a row
// could be six times as long, and its prompt would be another text.
func written(row api.Session) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(row); err != nil || out.Len() > mostRow {
		return nil
	}
	data := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	if len(data) > deepest && !json.Valid(slices.Concat(bytes.Repeat([]byte("["), around), data, bytes.Repeat([]byte("]"), around))) {
		return nil
	}
	return data
}

func withNumber(number uint64, fields []byte) []byte {
	return fmt.Appendf(nil, `{"number":%d,%s}`, number, fields)
}

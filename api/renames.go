package api

import (
	"bytes"
	"slices"
	"sync"
)

// Version is the version of the JSON that verbs answer with. Version 2 has the new names of Renames beside
// the old ones; version 3 will have the new ones alone.
const Version = 2

// Rename is a field that has a new name. While both are printed, their values are equal.
type Rename struct {
	Old, New string
	// In are the objects whose field it is: the name of the field that the object or its list is the value
	// of. An answer itself has the verb's name, and an event its type and the word event. Empty: any object.
	In []string
	// Text: only a field with a string is meant. Another field with that name has an object or a bool.
	Text bool
}

// Renames are the fields that version 2 renames, so that one thing has one name in all answers: times end in
// _at, sizes in _bytes, ids in _id unless they are the session's own, and a caller's name is identity.
func Renames() []Rename {
	return []Rename{
		{Old: "since", New: "since_at"},
		{Old: "expires", New: "expires_at"},
		{Old: "time", New: "happened_at"},
		{Old: "started", New: "started_at"},
		{Old: "created", New: "created_at"},
		{Old: "opened", New: "opened_at", In: []string{"asked"}},
		{Old: "due", New: "due_at", In: []string{"pending"}},
		{Old: "saved", New: "saved_at", In: []string{"transcript"}},
		{Old: "revoked", New: "revoked_at", In: []string{"guest"}},
		{Old: "at", New: "committed_at", In: []string{"commits"}},
		{Old: "bytes", New: "size_bytes"},
		{Old: "total_written", New: "written_bytes"},
		{Old: "output", New: "output_bytes", In: []string{"limits"}},
		{Old: "longest", New: "longest_bytes", In: []string{"hooks"}},
		{Old: "id", New: "prompt_id", In: []string{"prompt", "prompts"}},
		{Old: "prompt", New: "prompt_id", Text: true},
		{Old: "type", New: "prompt_type", In: []string{"prompt", "prompts", "asked", "respond"}},
		{Old: "nudge", New: "nudge_id", Text: true},
		{Old: "id", New: "queue_id", In: []string{"queued"}},
		{Old: "id", New: "turn_id", In: []string{"turn"}},
		{Old: "name", New: "identity", In: []string{"guest"}},
		{Old: "by", New: "created_by", In: []string{"guest", "session_created event"}},
	}
}

// Foreign says whether a field's value isn't Berth's own: an agent's or a caller's JSON, whose names stay.
func Foreign(field string) bool { return foreign[field] }

var foreign = map[string]bool{"payload": true, "entry": true, "schema": true, "meta": true, "env": true, "raw_input": true}

// Unversioned says whether a verb's JSON keeps its names: the audit log's lines are chained by their hashes,
// and schemas and helps are about names.
func Unversioned(verb string) bool { return verb == "audit" || verb == "schema" || verb == "help" }

// NewNameOf finds the rename of a field of an object.
func NewNameOf(object, field string) (Rename, bool) {
	for _, r := range renamed()[field] {
		if len(r.In) == 0 || slices.Contains(r.In, object) {
			return r, true
		}
	}
	return Rename{}, false
}

var renamed = sync.OnceValue(func() map[string][]Rename {
	by := map[string][]Rename{}
	for _, r := range Renames() {
		by[r.Old] = append(by[r.Old], r)
	}
	return by
})

// WithNewNames adds the new names to a line of JSON, at the end of each object. The line is unchanged if it
// isn't valid JSON, such as a damaged line of a log.
func WithNewNames(line []byte, object string) []byte {
	w := widening{in: line}
	if !w.value(object, false) || w.copied == 0 {
		return line
	}
	return append(w.out, line[w.copied:]...)
}

// widening scans a line once. It decodes nothing: a watch prints thousands of events a second.
type widening struct {
	in     []byte
	at     int
	depth  int
	out    []byte
	copied int // how much of in is in out
}

// deepest bounds the recursion. Berth's own answers are far flatter.
const deepest = 200

// value passes one value. The names in a foreign one stay.
func (w *widening) value(object string, isForeign bool) bool {
	switch w.next() {
	case '{':
		return w.object(object, isForeign)
	case '[':
		return w.list(object, isForeign)
	case '"':
		return w.text()
	}
	start := w.at
	for w.at < len(w.in) && bytes.IndexByte([]byte(",]} \t\r\n"), w.in[w.at]) < 0 {
		w.at++
	}
	return w.at > start
}

// next passes blanks and returns the byte after them; 0 at the end.
func (w *widening) next() byte {
	for ; w.at < len(w.in); w.at++ {
		if c := w.in[w.at]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
	}
	return 0
}

// text passes a string.
func (w *widening) text() bool {
	for w.at++; w.at < len(w.in); w.at++ {
		switch w.in[w.at] {
		case '\\':
			w.at++
		case '"':
			w.at++
			return true
		}
	}
	return false
}

func (w *widening) list(object string, isForeign bool) bool {
	if w.depth++; w.depth > deepest {
		return false
	}
	w.at++
	if w.next() != ']' {
		for {
			if !w.value(object, isForeign) {
				return false
			}
			if w.next() != ',' {
				break
			}
			w.at++
		}
	}
	w.depth--
	return w.pass(']')
}

func (w *widening) object(object string, isForeign bool) bool {
	if w.depth++; w.depth > deepest {
		return false
	}
	w.at++
	type added struct {
		name  string
		value []byte
	}
	var more []added
	var names [][]byte
	for w.next() == '"' {
		start := w.at
		if !w.text() {
			return false
		}
		name := w.in[start+1 : w.at-1]
		if w.next(); !w.pass(':') {
			return false
		}
		first := w.next()
		start = w.at
		if !w.value(string(name), isForeign || foreign[string(name)]) {
			return false
		}
		if !isForeign {
			names = append(names, name)
			if r, ok := NewNameOf(object, string(name)); ok && (!r.Text || first == '"') {
				more = append(more, added{r.New, w.in[start:w.at]})
			}
		}
		if w.next() != ',' {
			break
		}
		w.at++
	}
	w.next()
	end := w.at
	for _, one := range more {
		if slices.ContainsFunc(names, func(n []byte) bool { return string(n) == one.name }) {
			continue
		}
		w.out = append(append(w.out, w.in[w.copied:end]...), `,"`+one.name+`":`...)
		w.out = append(w.out, one.value...)
		w.copied = end
	}
	w.depth--
	return w.pass('}')
}

// pass passes one byte.
func (w *widening) pass(c byte) bool {
	if w.at >= len(w.in) || w.in[w.at] != c {
		return false
	}
	w.at++
	return true
}

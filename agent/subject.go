package agent

import (
	"encoding/json"
	"maps"
	"slices"
)

// Subject is what a permission is about, read from its tool's input, so that a person can judge
// it. Each field of the input is in exactly one part of it: nothing is left out.
type Subject struct {
	Command   string   // of a shell; empty when it is about something else
	Changes   []Change // of files
	Arguments Input    // the fields that are neither
}

// Change is what a tool would do to one file.
type Change struct {
	File  string
	Does  Does
	To    string      // the new name, when the file is moved
	Edits []Edit      // in their order; the next one works on what the one before left
	Text  *string     // the file's whole new text; nil when the tool replaces parts
	Patch []PatchLine // of a patch, as it is written
}

// Does is the kind of a change.
type Does string

// The kinds of changes.
const (
	Edits   Does = "edit"
	Writes  Does = "write"
	Adds    Does = "add"
	Deletes Does = "delete"
)

// Edit replaces a text in a file.
type Edit struct {
	Old, New string
	Every    bool // each place that has the old text, instead of one
}

// PatchLine is a line of a patch: Sign is '+', '-', ' ', or '@' for a line that says where the
// lines below it belong.
type PatchLine struct {
	Sign byte
	Text string
}

// TakeTexts moves these fields out of the input. It is nil, and moves nothing, unless each of them
// is a text.
func (in Input) TakeTexts(names ...string) []string {
	texts := make([]string, 0, len(names))
	for _, name := range names {
		s, err := in.Text(name)
		if err != nil || s == nil {
			return nil
		}
		texts = append(texts, *s)
	}
	for _, name := range names {
		delete(in, name)
	}
	return texts
}

// TakeFlag moves a field out of the input and says whether it is true. A field that is neither true
// nor false stays.
func (in Input) TakeFlag(name string) bool {
	value := string(in[name])
	if value == "true" || value == "false" {
		delete(in, name)
	}
	return value == "true"
}

// Names are the names of the fields, sorted.
func (in Input) Names() []string { return slices.Sorted(maps.Keys(in)) }

// ReadSubject reads the subject from a tool's input. take moves what it knows out of the input and
// into the subject; what it leaves becomes the arguments. ok is false for an input that can't be
// read: it is shown as the agent sent it.
func ReadSubject(raw json.RawMessage, take func(in Input, s *Subject)) (s Subject, ok bool) {
	in, err := ReadInput(raw)
	if err != nil {
		return Subject{}, false
	}
	take(in, &s)
	s.Arguments = in
	return s, true
}

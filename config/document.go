package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml/ast"
)

// Document has the fields of a session that a caller gives with new, restart, fork or profile: those of a profile
// in berth.yaml.
type Document struct {
	Session
	Set []string // names of the fields that it sets, in the order of Session's
}

// Bounds of a document. The parser's time grows with the square of its length, and faster with its depth.
const (
	MaxDocument      = 64 << 10
	maxDocumentDepth = 64
)

// parsing lets one document be parsed at a time: callers can keep one processor busy, not all.
var parsing sync.Mutex

// notInDocument are fields of a session that no document has, with what to do instead.
var notInDocument = map[string]string{
	"name":     "give the name as a word, such as new NAME",
	"profile":  "give it as --profile P",
	"env_file": "the server opens no file for a caller: give the values in env",
}

// ParseDocument reads a YAML or JSON document. from names it in messages. The error is a Problems with every
// mistake and its place.
func ParseDocument(from string, data []byte) (Document, error) {
	var doc Document
	one := func(text, remedy string) (Document, error) {
		return doc, Problems{{File: from, Text: text, Remedy: remedy}}
	}
	if len(data) > MaxDocument {
		return one(fmt.Sprintf("the document is longer than %d bytes", MaxDocument), "leave out what a profile can have")
	}
	if deepest(data) > maxDocumentDepth {
		return one("the document is nested too deeply", "write it out flatter")
	}
	if json.Valid(data) {
		data = []byte(strings.ReplaceAll(string(data), "\t", " ")) // JSON may be indented by tabs, and YAML may not
	}
	parsing.Lock()
	defer parsing.Unlock()
	d := &decoder{file: from, verbatim: true, anchors: map[string]ast.Node{}, places: map[string]place{}, without: notInDocument}
	d.decode(data, reflect.ValueOf(&doc.Session).Elem())
	problems := d.problems
	if problems.orNil() == nil {
		problems = append(problems, locate(doc.Validate(), d, nil)...)
	}
	for _, name := range fieldNames(reflect.TypeFor[Session]()) {
		if _, ok := d.places[name]; ok {
			doc.Set = append(doc.Set, name)
		}
	}
	if len(doc.Set) == 0 && len(problems) == 0 {
		return one("the document sets no field", "write fields of a profile, such as cwd: /src")
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return a.Line - b.Line })
	return doc, problems.orNil()
}

// deepest counts how deep brackets are nested. Brackets in texts count too.
func deepest(data []byte) (most int) {
	depth := 0
	for _, b := range data {
		switch b {
		case '[', '{':
			depth++
			most = max(most, depth)
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return most
}

package agent

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// TestSign: the digest covers what is asked, also where only the text and the options of a question
// are known.
func TestSign(t *testing.T) {
	ask := func(text string, options ...string) string {
		r := &Request{Type: PromptQuestion, Title: Pointer("line"), Text: Pointer(text), Options: options}
		r.Sign()
		return r.Digest
	}
	one := ask("Keep all?", "Yes", "No")
	if ask("Keep all?", "Yes", "No") != one {
		t.Error("the same question has two digests")
	}
	if ask("Delete all?", "Yes", "No") == one || ask("Keep all?", "No", "Yes") == one {
		t.Error("another question has the same digest")
	}
}

// TestWhole: a prompt that came as JSON has its digest if nothing of it was lost.
func TestWhole(t *testing.T) {
	plain := &Request{ID: "p1", Type: PromptQuestion, Questions: []Question{{Text: "Which?", Options: []string{"a"}}}}
	short := &Request{ID: "p2", Type: PromptPermission, Options: []string{"Yes", "No"}}
	short.SetInput("make")
	long := &Request{ID: "p3", Type: PromptPermission}
	long.SetInput(strings.Repeat("make ", 100))
	raw := &Request{ID: "p4", Type: PromptPermission, Raw: json.RawMessage(`{"command":"make"}`)}
	raw.SetInput("make")
	alike := &Request{ID: "p5", Type: PromptPermission, Alike: true}
	for _, c := range []struct {
		r     *Request
		whole bool
	}{{plain, true}, {short, true}, {long, false}, {raw, false}, {alike, true}} {
		c.r.Sign()
		data, err := json.Marshal(c.r.Clone())
		var r Request
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err != nil || r.Whole() != c.whole {
			t.Errorf("%s: whole %v, want %v (%v)", r.ID, r.Whole(), c.whole, err)
		}
		other := "another"
		if r.Tool = &other; r.Whole() {
			t.Errorf("%s has its digest of another tool", r.ID)
		}
	}
}

// TestRequestOf: the fields of another host's form keep their order and their numbers, so that its digest is that of
// what is shown.
func TestRequestOf(t *testing.T) {
	form := &Request{ID: "p1", Type: PromptForm, Schema: json.RawMessage(`{"type":"object","properties":{"z":{"default":9007199254740993},"a":{"default":1e400,"title":"<b>"}}}`)}
	form.Sign()
	var data bytes.Buffer
	e := json.NewEncoder(&data)
	e.SetEscapeHTML(false)
	if err := e.Encode(form); err != nil {
		t.Fatal(err)
	}
	if r := RequestOf(json.RawMessage(data.Bytes())); r == nil || !r.Whole() || string(r.Schema) != string(form.Schema) {
		t.Errorf("%s became %+v", data.Bytes(), r)
	}
	if r := RequestOf(json.RawMessage(`{"id":7}`)); r != nil {
		t.Errorf("no prompt became %+v", r)
	}
}

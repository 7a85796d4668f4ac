package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"berth/agent"
)

// Pages of a text fit into an answer, join to the whole text, and cut no character.
func TestPage(t *testing.T) {
	text := strings.Repeat("日本語 <tag> \"quoted\" \n\x01", 3000) + "\xff end"
	whole, from, pages := "", 0, 0
	for {
		part, next := page(text, from, 1000)
		said, err := json.Marshal(part)
		if err != nil || len(said) > 1002 || len(part) == 0 {
			t.Fatalf("page %d from %d: %d bytes as JSON, %v", pages, from, len(said), err)
		}
		if next > 0 && !utf8.ValidString(part) {
			t.Fatalf("page %d ends within a character", pages)
		}
		whole += part
		if pages++; next == 0 {
			break
		}
		from = next
	}
	if whole != text || pages < 50 {
		t.Fatalf("%d pages have %d bytes of %d", pages, len(whole), len(text))
	}
}

// A prompt that is too long for an answer is cut, and says so. Nothing of it passes for the whole: it has no
// digest. One that fits has all of its input.
func TestLongPrompt(t *testing.T) {
	p := agent.Request{ID: "p1", Digest: "d1", Type: agent.PromptPermission}
	p.SetInput(strings.Repeat("rm -rf /tmp/x; ", 5000))
	uncut(&p)
	short, cut := fit(&p)
	said, err := json.Marshal(short)
	if err != nil || !cut || len(said) > mostPrompt || short.ID != "p1" || short.Digest != "" || p.Digest != "d1" {
		t.Fatalf("%d bytes, cut %t, %v, digest %q", len(said), cut, err, short.Digest)
	}
	p.SetInput(strings.Repeat("x", agent.InputLimit) + " end")
	if short, cut := fit(&p); !cut || short.Digest != "" { // the rest couldn't be read
		t.Errorf("a part of the input: cut %t, digest %q", cut, short.Digest)
	}
	uncut(&p)
	if short, cut := fit(&p); cut || short.Digest != "d1" || !strings.HasSuffix(*short.Input, " end") {
		t.Errorf("the whole input: cut %t, digest %q, %q", cut, short.Digest, *short.Input)
	}
	p.SetInPart()
	uncut(&p)
	if short, cut := fit(&p); cut || !short.InPart() {
		t.Errorf("what no one knows more of: cut %t", cut)
	}
}

// The events of wait have no digest of a prompt, and all fields of a server's form, whatever their names are. An answer to a
// prompt that they don't show whole needs the digest.
func TestPromptsOfEvents(t *testing.T) {
	p := agent.Request{ID: "p1", Digest: "d1", Type: agent.PromptForm, Schema: json.RawMessage(`{"properties":{"name":{},"digest":{"default":"all"}}}`)}
	event := agent.Encoded(map[string]any{"type": "prompt", "prompt": &p})
	said := string(awaited{Events: []json.RawMessage{event}}.fit().Events[0])
	if strings.Contains(said, "d1") || !strings.Contains(said, `"digest":{"default":"all"}`) {
		t.Errorf("%s", said)
	}
	if !inEvent(&p) {
		t.Error("a short form isn't whole")
	}
	p.Text = agent.Pointer(strings.Repeat("x", mostField-mostHead))
	if inEvent(&p) {
		t.Error("a long text is whole")
	}
	p.Text, p.InputTruncated, p.InputBytes = nil, true, 1000
	if inEvent(&p) {
		t.Error("the beginning of an input is whole")
	}
}

// Pages of two prompts have different marks, also if their digests begin alike. A mark says nothing of the digest's end.
func TestMarkOf(t *testing.T) {
	const a, b = "0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdee"
	if markOf(a) == markOf(b) || len(markOf(a)) != len(a) || strings.Contains(a, markOf(a)[:8]) {
		t.Errorf("%s and %s", markOf(a), markOf(b))
	}
}

// Every tool's schema can be resolved, refuses what it doesn't know, and names verbs.
func TestTools(t *testing.T) {
	for _, one := range tools {
		shape, err := one.schema().Resolve(nil)
		if err != nil {
			t.Errorf("%s: %v", one.name, err)
			continue
		}
		if _, err := read(shape, json.RawMessage(`{"unknown":1}`)); err == nil {
			t.Errorf("%s takes an unknown argument", one.name)
		}
		if len(one.verbs) == 0 || one.reads && one.ends {
			t.Errorf("%s: verbs %v, reads %t, ends %t", one.name, one.verbs, one.reads, one.ends)
		}
	}
}

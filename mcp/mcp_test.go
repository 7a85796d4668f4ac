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

// A prompt that is too long for an answer is cut, and says so.
func TestLongPrompt(t *testing.T) {
	long := strings.Repeat("rm -rf /tmp/x; ", 5000)
	raw, err := json.Marshal(agent.Request{ID: "p1", Type: agent.PromptPermission, Input: &long})
	if err != nil {
		t.Fatal(err)
	}
	prompt, cut := fit((*json.RawMessage)(&raw))
	said, err := json.Marshal(prompt)
	if err != nil || !cut || len(said) > mostPrompt || !strings.Contains(string(said), `"id":"p1"`) {
		t.Fatalf("%d bytes, cut %t, %v", len(said), cut, err)
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

package generic

import (
	"strings"
	"testing"
	"unicode"
)

// FuzzHook: a program's report is a fact or an error, and its text can't control a terminal.
func FuzzHook(f *testing.F) {
	f.Add([]byte(`{"berth":"state","state":"prompt","message":"a\u001b[2J\u202eb\u200bc\nd\u0007"}`))
	f.Add([]byte(`{"berth":"state","state":"idle"}`))
	f.Add([]byte(`{"berth":"state","state":"error","message":"\ud800"}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		facts, err := Driver{}.Hook(payload)
		if (err == nil) != (len(facts) > 0) {
			t.Fatalf("%v with %d facts", err, len(facts))
		}
		for _, fact := range facts {
			if r := fact.Request; r != nil && r.Title != nil && strings.ContainsFunc(*r.Title, func(r rune) bool { return unicode.IsControl(r) || r == 0x202e }) {
				t.Fatalf("%q asks %q", payload, *r.Title)
			}
		}
	})
}

package terminal

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestEscapeJSON: an agent's text in JSON controls no terminal and reads as
// what it is; programs read the same as before.
func TestEscapeJSON(t *testing.T) {
	for _, s := range []string{
		"plain", "", "Grüße, 世界 👩‍💻 ✳", "a\u009b2Jb\x7f", "rm \u202etxt.exe\u2069", "zero\u200bwidth\ufeff", "tag\U000e0041", "\x1b[31m\n\"\\",
	} {
		in, err := json.Marshal(map[string]string{s: s})
		if err != nil {
			t.Fatal(err)
		}
		out := EscapeJSON(append(in, '\n'))
		var back map[string]string
		if err := json.Unmarshal(out, &back); err != nil || back[s] != s {
			t.Errorf("%q became %s, %v", s, out, err)
		}
		for _, r := range strings.TrimSuffix(string(out), "\n") {
			if isUnsafe(r) {
				t.Errorf("%q: %U is in %s", s, r, out)
			}
		}
	}
	if got := string(EscapeJSON([]byte("{\"a\":\"\x9b\xff é\"}"))); got != `{"a":"\ufffd\ufffd é"}` {
		t.Error(got)
	}
	for _, whole := range []string{`{"a":"é"}`, "{}\n"} {
		if got := string(EscapeJSON([]byte(whole))); got != whole {
			t.Error(got)
		}
	}
}

package outbox

import (
	"errors"
	"strings"
	"testing"
)

// TestEchoed: a terminal that draws what is typed draws the marks of a paste too, also where it takes characters out or shows
// control characters. An agent draws none.
func TestEchoed(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                   false,
		"❯ word":                             false,
		"\x1b[2;3Hword\x1b[7m \x1b[m":        false,
		"sword":                              false,
		"\x1b[200~word\x1b[201~":             true,
		"^[[200~word^[[201~":                 true,
		"^[[200word^[[201":                   true,
		"^[[word^[[":                         true,
		"\x1b[200~\nword\x1b[201~\n":         true, // VKILL is ~
		"\x1b[200~\r\nword\x1b[201~":         true,
		"\x1b[200\b \bword\x1b[201\b \b":     true, // VERASE
		"\x1b[200^\bword\x1b[201^\b":         true, // VLNEXT
		"\x1b[200^R\r\n\x1b[200word":         true, // VREPRINT
		"❯\u00a0word":                        false,
		"\x1b[38;5;200m› word":               false,
		"❯ word\x1b[H\x1b[200~word\x1b[201~": true,
		strings.Repeat(".", echoMost+1):      true,
	} {
		all := "before" + text
		read := func(buf []byte, at int64) (int, error) { return copy(buf[:min(len(buf), 7)], all[at:]), nil }
		if got := echoed(read, int64(len("before")), int64(len(all)), "word"); got != want {
			t.Errorf("%.40q: %v", text, got)
		}
	}
	if !echoed(func([]byte, int64) (int, error) { return 0, errors.New("no disk") }, 0, 1, "word") {
		t.Error("output that can't be read has no echo")
	}
}

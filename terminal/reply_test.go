package terminal

import (
	"strings"
	"testing"
)

func TestRepliesOfTheCorpus(t *testing.T) {
	// What the reference leaves unanswered and this terminal does not.
	own := map[string]string{
		"kitty-query":      "\x1b[?0u",
		"kitty-push-query": "\x1b[?5u",
		"osc4":             "\x1b]4;1;rgb:cdcd/0000/0000\x1b\\",
		"osc10":            "\x1b]10;rgb:e5e5/e5e5/e5e5\x1b\\",
		"osc11":            "\x1b]11;rgb:0000/0000/0000\x1b\\",
		"theme996":         "\x1b[?997;1n",
		"win18t":           "\x1b[8;24;80t",
		"xtgettcap":        "\x1bP1+r544e=787465726D2D323536636F6C6F72\x1b\\",
		"xtversion":        "\x1bP>|berth\x1b\\",
	}
	for _, s := range corpus(t, "reply") {
		var got strings.Builder
		last := int64(-1)
		term := New(Options{Cols: s.Cols, Rows: s.Rows, Handlers: Handlers{Reply: func(reply []byte, at int64) {
			got.Write(reply)
			if at <= last || at > int64(len(s.Bytes)) {
				t.Errorf("%s: reply at %d after one at %d", s.Name, at, last)
			}
			last = at
		}}})
		s.play(term, s.thirteen(), nil)
		want := s.Replies
		if want == "" {
			want = own[s.Name]
		}
		if got.String() != want {
			t.Errorf("%s: reply %q, want %q", s.Name, got.String(), want)
		}
		if last != int64(len(s.Bytes)) {
			t.Errorf("%s: reply at %d, the query ends at %d", s.Name, last, len(s.Bytes))
		}
	}
}

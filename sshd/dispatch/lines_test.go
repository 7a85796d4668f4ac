package dispatch

import (
	"bytes"
	"strings"
	"testing"
)

// TestLinesOfHosts: each line of a host says whose it is, whatever the host writes.
func TestLinesOfHosts(t *testing.T) {
	const object, messages, shaped = 0, 1, 2
	for _, c := range []struct {
		kind       int
		text, want string
	}{
		{object, `{"session":"api"}` + "\n", `{"session":"api","host":"box2"}` + "\n"},
		{object, `{"session":"api"}` + "\r\n", `{"session":"api","host":"box2"}` + "\r\n"},
		{object, `{"session":"api","host":"box3"}`, `{"host":"box2","session":"api"}`},
		{object, `{"session":"api","h\u006fst":"box3"}`, `{"host":"box2","session":"api"}`},
		{object, "{}\n", `{"host":"box2"}` + "\n"},
		{object, `{"session":"api"} {"host":"box3"}`, `box2: {"session":"api"} {"host":"box3"}`},
		{object, "null\n", "box2: null\n"},
		{object, "api: ended\nbox3: ended\n", "box2: api: ended\nbox2: box3: ended\n"},
		{object, "a\rbox3: ended\n", "box2: a␍box3: ended\n"},
		{object, "\x1b[2J\x1b]52;c;eA==\a{\u202e\n", "box2: ␛[2J␛]52;c;eA==␇{\n"},
		{object, "no end", "box2: no end"},
		{messages, `{"session":"api"}` + "\n", `box2: {"session":"api"}` + "\n"},
		{shaped, "api\x1b[2J\n", "api␛[2J\n"},
		{shaped, `{"session":"api"}` + "\n", `{"session":"api","host":"box2"}` + "\n"},
	} {
		var got bytes.Buffer
		l := &lines{to: &got, messages: c.kind == messages, shaped: c.kind == shaped}
		part := l.part("box2")
		for _, b := range []byte(c.text) { // however it arrives
			if _, err := part.Write([]byte{b}); err != nil {
				t.Fatal(err)
			}
		}
		if part.flush(); got.String() != c.want {
			t.Errorf("%q is printed as %q, wanted %q", c.text, got.String(), c.want)
		}
	}
}

// TestLongLineOfAHost: a host whose line has no end fills no memory.
func TestLongLineOfAHost(t *testing.T) {
	var got bytes.Buffer
	part := (&lines{to: &got}).part("box2")
	for range 3 {
		if _, err := part.Write([]byte(strings.Repeat("x", longestLine))); err != nil {
			t.Fatal(err)
		}
	}
	if len(part.rest) > longestLine || got.Len() < longestLine {
		t.Errorf("%d bytes are kept, %d printed", len(part.rest), got.Len())
	}
}

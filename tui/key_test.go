package tui

import (
	"slices"
	"strings"
	"testing"
)

// keysOf are the names of the keys in b, fed as it is cut.
func keysOf(parts ...string) []string {
	var d decoder
	var names []string
	for _, p := range parts {
		d.feed([]byte(p))
		for k, ok := d.next(); ok; k, ok = d.next() {
			name := k.Name
			if name == "paste" {
				name += "=" + k.Text
			}
			names = append(names, name)
		}
	}
	return names
}

func TestKeys(t *testing.T) {
	for in, want := range map[string]string{
		"aß漢":                     "a ß 漢",
		"\r\t\x7f\x03":            "enter tab backspace ctrl+c",
		"\x1b[A\x1bOB\x1b[Z":      "up down shift+tab",
		"\x1b[5~\x1b[6~\x1b[1;5C": "pgup pgdown ctrl+right",
		"\x1b[13;3u\x1b[97u":      "alt+enter a",
		"\x1b\r\x1bb":             "alt+enter alt+b",
		"\x1b[200~q\nq\x1b[201~x": "paste=q\nq x",
		"\x1b]11;rgb:0/0/0\x07j":  "j",
		"\x1b[?62;22cj":           "j",
		"\x1b[24;80Rj":            "j",
		"\x1b[<0;1;1Mj\x1b[Ij":    "j j",
		"\xffj\u202ej":            "j j",
		"\x1b[\x01j":              "ctrl+a j",
	} {
		if got := strings.Join(keysOf(in), " "); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		// However the bytes are cut, the keys are the same.
		var cut []string
		for i := range len(in) {
			cut = append(cut, in[i:i+1])
		}
		if got := strings.Join(keysOf(cut...), " "); got != want {
			t.Errorf("%q byte by byte: %q, want %q", in, got, want)
		}
	}
}

func TestEscapeAlone(t *testing.T) {
	var d decoder
	d.feed([]byte{0x1b})
	if k, ok := d.next(); ok {
		t.Fatalf("an ESC that may go on is %q", k.Name)
	}
	if d.hold() != escapeHold {
		t.Fatal("nobody waits for the rest")
	}
	d.expire()
	if k, ok := d.next(); !ok || k.Name != "esc" {
		t.Fatalf("an ESC alone is %q", k.Name)
	}
}

// TestNothingIsLost: what follows a key is still there for somebody else.
func TestNothingIsLost(t *testing.T) {
	var d decoder
	d.feed([]byte("\rhello\x1b[A\x1b[200~half"))
	if k, _ := d.next(); k.Name != "enter" {
		t.Fatal(k.Name)
	}
	if got := string(d.rest()); got != "hello\x1b[A\x1b[200~half" {
		t.Errorf("%q is left", got)
	}
}

func TestRepliesAreNoKeys(t *testing.T) {
	var d decoder
	d.feed([]byte("a\x1b]11;rgb:ffff/ffff/ffff\x1b\\b\x1b[?1;2cc"))
	for range 3 {
		d.next()
	}
	if got := d.takeReplies(); !slices.Equal(got, []string{"]11;rgb:ffff/ffff/ffff", "da"}) {
		t.Errorf("replies %q", got)
	}
	d = decoder{buf: []byte("x\x1b]11;rgb:0/0/0\x07\x1b[Ay\x1b[?1c\x1b[")}
	if got := string(d.keepKeys()); got != "x\x1b[Ay\x1b[" {
		t.Errorf("keys %q", got)
	}
}

func TestIsLight(t *testing.T) {
	for reply, want := range map[string][2]bool{
		"]11;rgb:ffff/ffff/ffff": {true, true}, "]11;rgb:00/00/00": {false, true}, "]11;rgb:fd/f6/e3": {true, true},
		"]11;rgb:0000/2b2b/3636": {false, true}, "]11;rgb:x/y/z": {false, false}, "]10;rgb:f/f/f": {false, false}, "]11;rgb:fffff/0/0": {false, false},
	} {
		if light, ok := isLight(reply); light != want[0] || ok != want[1] {
			t.Errorf("%q: %v %v", reply, light, ok)
		}
	}
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte("a\x1b[A\x1b[200~x\x1b[201~\x1b]11;\x07"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var d decoder
		d.feed(b)
		for k, ok := d.next(); ok; k, ok = d.next() {
			if k.Name == "" {
				t.Error("a key without a name")
			}
		}
		d.expire()
		for _, ok := d.next(); ok; _, ok = d.next() {
		}
		if len(d.rest()) > 0 {
			t.Errorf("%q never becomes anything", b)
		}
	})
}

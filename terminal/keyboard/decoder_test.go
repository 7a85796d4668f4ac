package keyboard

import (
	"slices"
	"strings"
	"testing"
)

// keysOf are the names of the keys in b, fed as it is cut.
func keysOf(parts ...string) []string {
	var d Decoder
	var names []string
	for _, p := range parts {
		d.Feed([]byte(p))
		for k, ok := d.Next(); ok; k, ok = d.Next() {
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
		"\x1b[27;5;99~\x1b[99;5u": "ctrl+c ctrl+c",
		"\x1b[97;2u\x1b[97;3u":    "A alt+a",
		"\x1b[97;1:3u\x1b[57441u": "",
		"\x1b[9;2u\x1b[32u":       "shift+tab  ",
		"\x1b[113;7u\x1b[1;2A":    "ctrl+alt+q up",
		"\x1b[32;10;20Mj":         "j",
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
	var d Decoder
	d.Feed([]byte{0x1b})
	if k, ok := d.Next(); ok {
		t.Fatalf("an ESC that may go on is %q", k.Name)
	}
	if d.Hold() != EscapeHold {
		t.Fatal("no timer waits for the rest")
	}
	d.Expire()
	if k, ok := d.Next(); !ok || k.Name != "esc" {
		t.Fatalf("an ESC alone is %q", k.Name)
	}
}

// TestSplitSequence: the rest of a sequence or of a character has more time than that of an ESC.
func TestSplitSequence(t *testing.T) {
	for _, begin := range []string{"\x1b[2", "\x1b[200", "\x1b]11;", "\xe6\xbc"} {
		var d Decoder
		d.Feed([]byte(begin))
		if k, ok := d.Next(); ok || d.Hold() != SequenceHold {
			t.Errorf("%q: key %q, %v for the rest", begin, k.Name, d.Hold())
		}
	}
}

// TestNothingIsLost: what follows a key is still there for the next reader.
func TestNothingIsLost(t *testing.T) {
	var d Decoder
	d.Feed([]byte("\rhello\x1b[A\x1b[200~half"))
	if k, _ := d.Next(); k.Name != "enter" {
		t.Fatal(k.Name)
	}
	if got := string(d.Rest()); got != "hello\x1b[A\x1b[200~half" {
		t.Errorf("%q is left", got)
	}
}

func TestRepliesAreNoKeys(t *testing.T) {
	var d Decoder
	d.Feed([]byte("a\x1b]11;rgb:ffff/ffff/ffff\x1b\\b\x1b[?1;2cc"))
	for range 3 {
		d.Next()
	}
	if got := d.TakeReplies(); !slices.Equal(got, []string{"]11;rgb:ffff/ffff/ffff", "da"}) {
		t.Errorf("replies %q", got)
	}
	if keys, replies := Sift([]byte("x\x1b]11;rgb:0/0/0\x07\x1b[Ay\x1b[?1c\x1b[")); string(keys) != "x\x1b[Ay\x1b[" || len(replies) != 2 {
		t.Errorf("keys %q, replies %q", keys, replies)
	}
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte("a\x1b[A\x1b[200~x\x1b[201~\x1b]11;\x07"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var d Decoder
		d.Feed(b)
		for k, ok := d.Next(); ok; k, ok = d.Next() {
			if k.Name == "" {
				t.Error("a key without a name")
			}
		}
		d.Expire()
		for _, ok := d.Next(); ok; _, ok = d.Next() {
		}
		if len(d.Rest()) > 0 {
			t.Errorf("%q never becomes anything", b)
		}
	})
}

// TestMouse: each form that a terminal or a phone's client sends, whole and byte by byte.
func TestMouse(t *testing.T) {
	for in, want := range map[string][]MouseEvent{
		"\x1b[<0;5;7M\x1b[<0;5;7m":              {{Left, Press, 4, 6, 0}, {Left, Release, 4, 6, 0}},    // SGR
		"\x1b[M \x25\x27\x1b[M#\x25\x27":        {{Left, Press, 4, 6, 0}, {Unnamed, Release, 4, 6, 0}}, // X10 coordinates, mode 1000
		"\x1b[32;5;7M\x1b[35;5;7M":              {{Left, Press, 4, 6, 0}, {Unnamed, Release, 4, 6, 0}}, // urxvt
		"\x1b[<64;1;1M\x1b[<65;1;1M\x1b[M`!!":   {{WheelUp, Press, 0, 0, 0}, {WheelDown, Press, 0, 0, 0}, {WheelUp, Press, 0, 0, 0}},
		"\x1b[<2;300;200M\x1b[<1;1;1M":          {{Right, Press, 299, 199, 0}, {Middle, Press, 0, 0, 0}},
		"\x1b[<4;2;2M\x1b[<20;2;2M\x1b[<8;2;2m": {{Left, Press, 1, 1, Shift}, {Left, Press, 1, 1, Shift | Ctrl}, {Left, Release, 1, 1, Alt}},
		"\x1b[<32;2;2M\x1b[<35;2;2M":            {{Left, Move, 1, 1, 0}, {Unnamed, Move, 1, 1, 0}},
		"\x1b[M \xff\xff":                       {{Left, Press, 222, 222, 0}}, // the last place of X10
		"\x1b[M \x00\x00\x1b[<0;0;1M\x1b[<0;1M": nil,                          // no place
		"\x1b[<0;99999999999;1M\x1b[<-1;1;1M":   nil,
		"\x1b[<65;1;1m":                         nil,
	} {
		for _, step := range []int{len(in), 1} {
			d := Decoder{Mouse: true}
			var got []MouseEvent
			for i := 0; i < len(in); i += step {
				d.Feed([]byte(in[i : i+step]))
				for k, ok := d.Next(); ok; k, ok = d.Next() {
					if k.Name != MouseKey {
						t.Errorf("%q: the key %q", in, k.Name)
					}
					got = append(got, k.Mouse)
				}
			}
			if !slices.Equal(got, want) || len(d.Rest()) > 0 {
				t.Errorf("%q: %+v, want %+v", in, got, want)
			}
		}
	}
	if keys, _ := Sift([]byte("x\x1b[<0;5;7My\x1b[M !!z")); string(keys) != "xyz" {
		t.Errorf("%q are keys", keys)
	}
}

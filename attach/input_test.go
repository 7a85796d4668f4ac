package attach

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"berth/terminal/keyboard"
)

// described is a parser's result in one line.
func described(parts []input) string {
	var b strings.Builder
	var text []byte
	flush := func() {
		if len(text) > 0 {
			quoted := fmt.Sprintf("%q", text)
			b.WriteString(" text:" + quoted[1:len(quoted)-1])
			text = nil
		}
	}
	for _, p := range parts {
		if p.kind == inputText {
			text = append(text, p.data...)
			continue
		}
		flush()
		switch p.kind {
		case inputMouse:
			fmt.Fprintf(&b, " mouse:%q", p.data)
		case inputFocus:
			fmt.Fprintf(&b, " focus:%q", p.data)
		case inputCommand:
			fmt.Fprintf(&b, " command:%q", p.key)
		}
	}
	flush()
	return strings.TrimPrefix(b.String(), " ")
}

// fed feeds all of b, as a client does that no command ends.
func fed(p *inputParser, b []byte) (all []input) {
	for left := b; len(left) > 0; {
		var parts []input
		parts, left = p.feed(left)
		all = append(all, parts...)
	}
	return all
}

func TestInput(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"text", "ls -l\r", `text:ls -l\r`},
		{"arrows and Alt", "\x1b[A\x1bOB\x1bx\x1b[1;5C", `text:\x1b[A\x1bOB\x1bx\x1b[1;5C`},
		{"umlauts", "äöü日本", `text:äöü日本`},
		{"prefix", "a\x1ddb", `text:a command:'d' text:b`},
		{"doubled", "a\x1d\x1db", `text:a\x1db`},
		{"thrice", "\x1d\x1d\x1dd", `text:\x1d command:'d'`},
		{"prefix, no character", "\x1däx", `command:'\x00' text:x`},
		{"prefix, arrow", "\x1d\x1b[Ax", `command:'\x00' text:x`},
		{"Escape, prefix", "\x1b\x1dd", `text:\x1b command:'d'`},
		{"modifyOtherKeys", "\x1b[27;5;93~d", `command:'d'`},
		{"modifyOtherKeys, doubled", "\x1b[27;5;93~\x1b[27;5;93~", `text:\x1b[27;5;93~`},
		{"modifyOtherKeys, other key", "\x1b[27;5;105~", `text:\x1b[27;5;105~`},
		{"kitty", "\x1b[93;5ud", `command:'d'`},
		{"kitty with locks", "\x1b[93;197uw", `command:'w'`},
		{"kitty press and release", "\x1b[93;5:1u\x1b[93;5:3u\x1b[100;1:1u\x1b[100;1:3ux", `command:'d' text:x`},
		{"kitty repeat", "\x1b[93;5:1u\x1b[93;5:2u\x1b[93;5:2u\x1b[93;5:3ud", `command:'d'`},
		{"kitty doubled", "\x1b[93;5:1u\x1b[93;5:3u\x1b[93;5:1u\x1b[93;5:3u", `text:\x1b[93;5:1u\x1b[93;5:3u`},
		{"kitty, Ctrl on its own", "\x1b[57442;5:1u\x1b[93;5:1u\x1b[93;5:3u\x1b[57442;1:3u\x1b[108;1:1u\x1b[108;1:3u",
			`text:\x1b[57442;5:1u\x1b[57442;1:3u command:'l'`},
		{"kitty, shifted", "\x1b[93;5u\x1b[47;2u", `command:'?'`},
		{"kitty, shifted key in the code", "\x1b[93;5u\x1b[223:63;2u", `command:'?'`},
		{"kitty, text in the code", "\x1b[93;5u\x1b[223;2;63u", `command:'?'`},
		{"kitty, release of another", "\x1b[97;1:3u", `text:\x1b[97;1:3u`},
		{"kitty, more modifiers", "\x1b[93;6ux", `text:\x1b[93;6ux`},
		{"paste", "\x1b[200~a\x1ddb\x1b[93;5u\x1b[?62c\x1b[201~\x1dl", `text:\x1b[200~a\x1ddb\x1b[93;5u\x1b[?62c\x1b[201~ command:'l'`},
		{"paste, false ends", "\x1b[200~\x1b[20\x1b[201\x1b\x1b[201~\x1dl", `text:\x1b[200~\x1b[20\x1b[201\x1b\x1b[201~ command:'l'`},
		{"prefix, paste", "\x1d\x1b[200~x\x1b[201~", `text:\x1b[200~x\x1b[201~`},
		{"mouse", "a\x1b[<0;10;20M\x1b[<0;10;20mb", `text:a mouse:"\x1b[<0;10;20M" mouse:"\x1b[<0;10;20m" text:b`},
		{"mouse X10", "\x1b[M\x20\x1d\x1bb", `mouse:"\x1b[M \x1d\x1b" text:b`},
		{"mouse urxvt", "\x1b[32;10;20M", `mouse:"\x1b[32;10;20M"`},
		{"focus", "\x1b[I\x1b[O", `focus:"\x1b[I" focus:"\x1b[O"`},
		{"linux console", "\x1b[[Ax", `text:\x1b[[Ax`},
		{"DA", "a\x1b[?62;22c\x1b[>1;10;0c\x1b[=1cb", `text:ab`},
		{"CPR", "\x1b[24;80R\x1b[1;1R\x1b[1;17R\x1b[?3;4R", ``},
		{"F3", "\x1b[1;2R\x1b[R\x1bOR\x1b[1;5:3R\x1b[13~", `text:\x1b[1;2R\x1b[R\x1bOR\x1b[1;5:3R\x1b[13~`},
		{"DECRPM, flags, DSR, window, theme", "\x1b[?2026;2$y\x1b[4;1$y\x1b[?5u\x1b[0n\x1b[8;24;80t\x1b[?997;1n\x1b[>4;2m", ``},
		{"colours", "\x1b]10;rgb:ffff/ffff/ffff\x07\x1b]11;rgb:0/0/0\x1b\\\x1b]4;1;rgb:1/2/3\x1b\\x", `text:x`},
		{"XTVERSION, XTGETTCAP, DECRQSS, DA3", "\x1bP>|xterm(370)\x1b\\\x1bP1+r544e=41\x1b\\\x1bP1$r0m\x1b\\\x1bP!|00\x1b\\x", `text:x`},
		{"kitty graphics, titles", "\x1b_Gi=1;OK\x1b\\\x1b]lmine\x1b\\\x1b]L\x1b\\x", `text:x`},
		{"Alt-P and a word", "\x1bPwd\r", `text:\x1bPwd\r`},
		{"Alt-]", "\x1b]x", `text:\x1b]x`},
		{"prefix within a string", "\x1b]10;\x1dd", `text:\x1b]10; command:'d'`},
		{"control within a sequence", "\x1b[1\x03", `text:\x1b[1\x03`},
		{"overlong", "\x1b[" + strings.Repeat("1;", 50) + "x", `text:\x1b[` + strings.Repeat("1;", 50) + "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newInputParser(DefaultPrefixes)
			parts := append(fed(p, []byte(c.in)), p.flush()...)
			if got := described(parts); got != c.want {
				t.Errorf("whole: got %s\nwant %s", got, c.want)
			}
			for cut := 1; cut < len(c.in); cut++ {
				p := newInputParser(DefaultPrefixes)
				parts := append(fed(p, []byte(c.in[:cut])), fed(p, []byte(c.in[cut:]))...)
				parts = append(parts, p.flush()...)
				if got := described(parts); got != c.want {
					t.Errorf("cut at %d: got %s\nwant %s", cut, got, c.want)
				}
			}
		})
	}
}

func TestLoneEscapeIsShort(t *testing.T) {
	p := newInputParser(DefaultPrefixes)
	if fed(p, []byte("\x1b")); p.hold() != keyboard.EscapeHold {
		t.Errorf("hold %v", p.hold())
	}
	if got := described(p.flush()); got != `text:\x1b` || p.hold() != 0 {
		t.Errorf("%s, then hold %v", got, p.hold())
	}
	fed(p, []byte("\x1b[9"))
	if p.hold() != keyboard.SequenceHold {
		t.Errorf("hold %v", p.hold())
	}
	fed(p, []byte("3;5u"))
	if p.hold() != 0 {
		t.Errorf("hold %v", p.hold())
	}
	fed(p, []byte("x\x1b[200~x"))
	if p.hold() != keyboard.PasteHold || p.state != statePaste {
		t.Errorf("hold %v", p.hold())
	}
	p.flush()
	if got := described(fed(p, []byte("\x1dd"))); got != "command:'d'" {
		t.Errorf("after a lost paste end: %s", got)
	}
}

func TestOtherPrefix(t *testing.T) {
	p := newInputParser("\x02")
	if got := described(fed(p, []byte("\x1d\x02d\x1b[98;5ul\x1b[27;5;98~w"))); got != `text:\x1d command:'d' command:'l' command:'w'` {
		t.Error(got)
	}
	if p.label() != "Ctrl-b" {
		t.Error(p.label())
	}
}

// By default there are two prefix keys. Typed after a prefix, either is the program's.
func TestTwoPrefixes(t *testing.T) {
	p := newInputParser(DefaultPrefixes)
	got := described(fed(p, []byte("\x1dd\x1cd\x1c\x1c\x1d\x1d\x1d\x1cx\x1b[92;5ud")))
	if want := `command:'d' command:'d' text:\x1c\x1d\x1cx command:'d'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if p.labels() != `Ctrl-] or Ctrl-\` {
		t.Error(p.labels())
	}
}

// FuzzInput: wherever the input is cut, the same comes of it; all that comes is
// of the input, in order; and without an ESC or a prefix it is all of the input.
func FuzzInput(f *testing.F) {
	f.Add([]byte("a\x1ddb\x1b[93;5uw"), uint8(3))
	f.Add([]byte("\x1b[200~x\x1b[201~\x1b[?1;2c\x1b]10;rgb:0/0/0\x07\x1bP>|x\x1b\\"), uint8(7))
	f.Add([]byte("\x1b[M   \x1b[<1;2;3M\x1b[I\x1b[1;2R\x1b[[A\x1bO1;2P"), uint8(1))
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		whole := newInputParser(DefaultPrefixes)
		want := append(fed(whole, in), whole.flush()...)
		cut := newInputParser(DefaultPrefixes)
		var got []input
		for b := in; len(b) > 0; {
			n := min(int(size)%7+1, len(b))
			got = append(got, fed(cut, b[:n])...)
			if len(cut.pending) > stringLimit {
				t.Fatalf("%d bytes held", len(cut.pending))
			}
			b = b[n:]
		}
		got = append(got, cut.flush()...)
		if described(got) != described(want) {
			t.Fatalf("%q: whole %s\ncut %s", in, described(want), described(got))
		}
		var out []byte
		for _, p := range want {
			out = append(out, p.data...)
		}
		rest := in
		for _, b := range out {
			i := bytes.IndexByte(rest, b)
			if i < 0 {
				t.Fatalf("%q gave %q", in, out)
			}
			rest = rest[i+1:]
		}
		if !bytes.ContainsAny(in, "\x1b\x1d") && !bytes.Equal(in, out) {
			t.Fatalf("%q gave %q", in, out)
		}
	})
}

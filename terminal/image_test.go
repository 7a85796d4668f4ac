package terminal

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"
)

// An image leaves its name and size, and nothing of its data; the row keeps its width.
func TestImagePlaceholder(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 320, 200))); err != nil {
		t.Fatal(err)
	}
	data := base64.StdEncoding.EncodeToString(b.Bytes())
	large := data + strings.Repeat("A", 2*maxString)
	name := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, c := range []struct{ in, want string }{
		// iTerm2
		{"\x1b]1337;File=name=" + name("logo.png") + ";inline=1:" + data + "\x07", "[image logo.png 320x200]"},
		{"\x1b]1337;File=inline=1;name=" + name("/a/dir/logo.png") + ":" + large + "\x1b\\", "[image logo.png 320x200]"},
		{"\x1b]1337;MultipartFile=inline=1;name=" + name("m.gif") + "\x07\x1b]1337;FilePart=" + data + "\x07\x1b]1337;FileEnd\x07", "[image m.gif]"},
		{"\x1b]1337;File=name=" + name("a\x1b]0;t\x07\u202eb.png") + ";inline=1:?\x07", "[image a]0;tb.png]"},
		{"\x1b]1337;File=name=" + name(strings.Repeat("n", 500)) + ";inline=1:?\x07", "[image " + strings.Repeat("n", 33)},
		{"\x1b]1337;File=name=" + name("download") + ":" + data + "\x07", ""},
		{"\x1b]1337;SetMark\x07", ""},
		// kitty
		{"\x1b_Ga=T,f=100;" + data + "\x1b\\", "[image 320x200]"},
		{"\x1b_Ga=T,f=100,m=1;" + data[:48] + "\x1b\\\x1b_Gm=1;" + data[48:80] + "\x1b\\\x1b_Gm=0;" + data[80:] + "\x1b\\", "[image 320x200]"},
		{"\x1b_Ga=T,f=24,s=10,v=20;" + large + "\x1b\\", "[image 10x20]"},
		{"\x1b_Ga=T,t=f,f=100;" + name("/tmp/plot.png") + "\x1b\\", "[image plot.png]"},
		{"\x1b_Gi=1,a=q,s=1,v=1;AAAA\x1b\\\x1b_Ga=t,i=1,s=1,v=1;AAAA\x1b\\\x1b_Ga=d\x1b\\\x1b_other\x1b\\", ""},
		{"\x1b_Ga=p,i=1\x1b\\", "[image]"},
		{"text\r\x1b_Ga=T,z=-1;\x1b\\", "text"}, // below the text
		// The cursor stays. At the end of the row it waits to wrap, and there the image has no place.
		{"a\x1b_Ga=T,C=1,f=24,s=10,v=20;\x1b\\b\x1b[3b", "abbbbge 10x20]"},
		{"a\x1b_Ga=T,C=1,f=24,s=10,v=20;\x1b\\\x1b[2b", "aaamage 10x20]"},
		{strings.Repeat("x", 38) + "\x1b_Ga=T,C=1\x1b\\y", strings.Repeat("x", 38) + "yi"},
		{strings.Repeat("x", 40) + "\x1b_Ga=T,C=1\x1b\\", strings.Repeat("x", 40)},
		{"\x1b]1337;File=inline=1;doNotMoveCursor=1:?\x07ab", "abmage]"},
		{"\x1b]1337;File=inline=1;doNotMoveCursor=0:?\x07ab", "[image]ab"},
		{"a\x1b_Ga=T,C=1,m=1;" + data[:48] + "\x1b\\\x1b_Gm=0;" + data[48:] + "\x1b\\b", "abimage 320x200]"},
		{"\x1b[4habc\r\x1b_Ga=p,C=1\x1b\\", "[image]abc"},
		// sixel
		{"\x1bP0;1;0q\"1;1;64;32#0~~~\x1b\\", "[image 64x32]"},
		{"\x1bPq" + large + "\x1b\\", "[image]"},
		{"\x1bPq#0~~~", ""},
		{"\x1bPq#0~~~\x18", ""},
		// No room.
		{strings.Repeat("x", 36) + "\x1b_Ga=p\x1b\\", strings.Repeat("x", 36) + "[ima"},
	} {
		for _, piece := range []int{len(c.in), 7} {
			term := New(Options{Cols: 40, Rows: 5})
			for in := c.in; in != ""; in = in[min(piece, len(in)):] {
				fmt.Fprint(term, in[:min(piece, len(in))])
			}
			if got := term.Snapshot(0).Text()[0]; got != c.want[:min(len(c.want), 40)] {
				t.Errorf("%.60q: %q, want %q", c.in, got, c.want)
			}
			if term.Title() != "" {
				t.Errorf("%.60q: title %q", c.in, term.Title())
			}
		}
	}
}

// A client that follows has the same picture after an image that leaves the cursor in its place: in the last
// row, at its end, in a region with the origin at its top.
func TestImageStaysForClients(t *testing.T) {
	image := "\x1b_Ga=T,C=1,f=24,s=10,v=20;AAAA\x1b\\"
	for _, in := range []string{
		"a" + image + "b\r\n" + image + "c",
		"\x1b[5;36H" + image + "xyz12\r\nend",
		strings.Repeat("x", 40) + image + "y",
		"\x1b[2;4r\x1b[?6h\x1b[2;39H" + image + "xy\r\nz",
		"one\x1b[2Ge\u0301" + image + "\u0301 two\x1b]1337;File=inline=1;doNotMoveCursor=1:?\x07\x1b[31mred",
	} {
		session, client := New(Options{Cols: 40, Rows: 5}), New(Options{Cols: 40, Rows: 5})
		session.SetPass(true)
		for i := range len(in) {
			session.Write([]byte(in[i : i+1]))
			client.Write(session.TakePass())
		}
		want, got := session.Snapshot(0), client.Snapshot(0)
		if strings.Join(got.Text(), "\n") != strings.Join(want.Text(), "\n") || got.Cursor != want.Cursor {
			t.Errorf("%q: the client has %q at %+v, want %q at %+v", in, got.Text(), got.Cursor, want.Text(), want.Cursor)
		}
	}
}

package paint

import (
	"testing"

	"berth/terminal"
)

func TestLook(t *testing.T) {
	for _, c := range []struct {
		term string
		env  map[string]string
		want Look
	}{
		{"xterm-256color", nil, Look{Depth256, true, false}},
		{"xterm-256color", map[string]string{"COLORTERM": "truecolor"}, Look{DepthTrue, true, false}},
		{"xterm-kitty", map[string]string{"LANG": "C"}, Look{DepthTrue, false, false}},
		{"screen.xterm-256color", map[string]string{"LANG": "C", "LC_ALL": "de_DE.UTF-8"}, Look{Depth256, true, false}},
		{"linux", nil, Look{Depth16, true, true}},
		{"dumb", map[string]string{"COLORTERM": "truecolor"}, Look{DepthNone, true, true}},
	} {
		if got := NewLook(c.term, c.env); got != c.want {
			t.Errorf("%s %v: %+v, want %+v", c.term, c.env, got, c.want)
		}
	}
}

func TestColors(t *testing.T) {
	style := terminal.Style{Fg: terminal.RGB(255, 0, 10), Bg: terminal.Palette(236), Underline: terminal.CurlyUnderline, Attr: terminal.Bold}
	for d, want := range map[Depth]string{
		DepthTrue: "\x1b[0;1;4:3;38;2;255;0;10;48;5;236m",
		Depth256:  "\x1b[0;1;4;38;5;196;48;5;236m",
		Depth16:   "\x1b[0;1;4;91;40m",
		DepthNone: "\x1b[0;1;4m",
	} {
		if got := string(Look{Depth: d}.AppendStyle(nil, style, terminal.Style{})); got != want {
			t.Errorf("depth %d: %q, want %q", d, got, want)
		}
	}
	link := terminal.Style{Link: "https://example.org/"}
	if got := string(Look{Depth: Depth256}.AppendStyle(nil, link, terminal.Style{})); got != "\x1b[0m\x1b]8;;https://example.org/\x1b\\" {
		t.Errorf("%q", got)
	}
	evil := terminal.Style{Link: "file:///etc/passwd"}
	if got := string(Look{Depth: Depth256}.AppendStyle(nil, evil, link)); got != "\x1b[0m\x1b]8;;\x1b\\" {
		t.Errorf("%q", got)
	}
}

package tui

import (
	"strings"
	"testing"

	"berth/agent"
	"berth/terminal"
	"berth/terminal/paint"
)

// TestNamesFirst: a name is there in full, and no line reaches into the next, however
// narrow the list is.
func TestNamesFirst(t *testing.T) {
	long := "refactor-the-payment-service-v2x" // the longest there is
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 20}, {40, 12}, {25, 7}, {20, 5}, {200, 60}} {
		m := started(size[0], size[1], world(at(long, agent.Working, 5), at("b", agent.Idle, 300)))
		rows := strings.Split(drawn(m), "\n")
		want := long
		if room := size[0] - 4 - 1; room < len(long) {
			want = long[:room-1]
		}
		if !strings.Contains(rows[1], want) {
			t.Errorf("%dx%d shows %q", size[0], size[1], rows[1])
		}
		second := strings.TrimLeft(rows[2], "▌• ")
		if list, _, _ := strings.Cut(second, "│"); !strings.HasPrefix(second, "○ b") || !strings.Contains(list, " 5h") {
			t.Errorf("%dx%d: the next row is %q", size[0], size[1], rows[2])
		}
	}
	m := started(25, 7, world(at("api", agent.Prompt, 5)))
	if row := strings.Split(drawn(m), "\n")[1]; !strings.Contains(row, "◆ api") || !strings.HasSuffix(row, "5m") {
		t.Errorf("at 25x7 a short name leaves room for its age: %q", row)
	}
}

// TestLightPreview: a program draws for the background that it is told it has, so that
// a light terminal shows its screen on that, and not white on white.
func TestLightPreview(t *testing.T) {
	term := terminal.New(terminal.Options{Cols: 80, Rows: 24})
	_, _ = term.Write([]byte("\x1b[97mwhite \x1b[0mplain"))
	for _, c := range []struct {
		depth paint.Depth
		light bool
		bg    terminal.Color
	}{{paint.Depth256, true, terminal.PlainBackground}, {paint.Depth16, true, terminal.PlainBackground}, {paint.Depth256, false, terminal.DefaultColor}, {paint.DepthNone, true, terminal.DefaultColor}} {
		m := started(120, 36, world(at("alpha", agent.Idle, 1)))
		m.SetLook(paint.Look{Depth: c.depth, UTF8: true}, c.light)
		m.screenOf, m.screen = "id-alpha", term.Snapshot(0)
		f := NewFrame(120, 36)
		m.Draw(f)
		x := m.layout().side.x
		for _, at := range []int{x, x + 6, x + 40} {
			if got := f.palette.styles[f.cells[2*f.cols+at].style]; got.Bg != c.bg || c.light && c.depth != paint.DepthNone && got.Fg == terminal.DefaultColor {
				t.Errorf("depth %d, light %v: column %d has %+v", c.depth, c.light, at-x, got)
			}
		}
	}
}

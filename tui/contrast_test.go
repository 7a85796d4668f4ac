package tui

import (
	"fmt"
	"math"
	"testing"

	"berth/agent"
	"berth/terminal"
	"berth/terminal/paint"
)

// emulator is how a terminal draws its 16 colours, and its own background and text.
type emulator struct {
	name       string
	light      bool
	background uint32
	text       uint32
	colours    [16]uint32
}

// emulators are those of common terminals.
var emulators = []emulator{
	{"xterm", false, 0x000000, 0xe5e5e5, xterm},
	{"VS Code dark", false, 0x1e1e1e, 0xcccccc, [16]uint32{0x000000, 0xcd3131, 0x0dbc79, 0xe5e510, 0x2472c8, 0xbc3fbc, 0x11a8cd, 0xe5e5e5, 0x666666, 0xf14c4c, 0x23d18b, 0xf5f543, 0x3b8eea, 0xd670d6, 0x29b8db, 0xe5e5e5}},
	{"GNOME dark", false, 0x1d1d1d, 0xffffff, gnome},
	{"Linux console", false, 0x000000, 0xaaaaaa, [16]uint32{0x000000, 0xaa0000, 0x00aa00, 0xaa5500, 0x0000aa, 0xaa00aa, 0x00aaaa, 0xaaaaaa, 0x555555, 0xff5555, 0x55ff55, 0xffff55, 0x5555ff, 0xff55ff, 0x55ffff, 0xffffff}},
	{"VS Code light", true, 0xffffff, 0x333333, [16]uint32{0x000000, 0xcd3131, 0x107c10, 0x949800, 0x0451a5, 0xbc05bc, 0x0598bc, 0x555555, 0x666666, 0xcd3131, 0x14ce14, 0xb5ba00, 0x0451a5, 0xbc05bc, 0x0598bc, 0xa5a5a5}},
	{"GNOME light", true, 0xffffff, 0x1d1d1d, gnome},
	{"Solarized light", true, 0xfdf6e3, 0x586e75, xterm},
}

var (
	xterm = [16]uint32{0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff}
	gnome = [16]uint32{0x171421, 0xc01c28, 0x26a269, 0xa2734c, 0x12488b, 0xa347ba, 0x2aa1b3, 0xd0cfcc, 0x5e5c64, 0xf66151, 0x33d17a, 0xe9ad0c, 0x2a7bde, 0xc061cb, 0x33c7de, 0xffffff}
)

// rgb is a colour as this terminal draws it.
func (p emulator) rgb(c terminal.Color, byDefault uint32) uint32 {
	switch {
	case c == terminal.DefaultColor:
		return byDefault
	case c&^0xff != terminal.Palette(0):
		return uint32(c) & 0xffffff
	case uint8(c) < 16:
		return p.colours[uint8(c)]
	}
	r, g, b, _ := c.RGBA()
	return r>>8<<16 | g>>8<<8 | b>>8
}

// contrast is the contrast of a cell's text with its background, as WCAG 2 defines it. Faint text is
// drawn halfway between the two.
func (p emulator) contrast(s terminal.Style) float64 {
	fg, bg := p.rgb(s.Fg, p.text), p.rgb(s.Bg, p.background)
	if s.Attr&terminal.Reverse != 0 {
		fg, bg = bg, fg
	}
	if s.Attr&terminal.Faint != 0 {
		fg = fg>>1&0x7f7f7f + bg>>1&0x7f7f7f
	}
	return ratio(fg, bg)
}

func ratio(a, b uint32) float64 {
	light, dark := luminance(a), luminance(b)
	if light < dark {
		light, dark = dark, light
	}
	return (light + 0.05) / (dark + 0.05)
}

func luminance(c uint32) float64 {
	var sum float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := float64(c>>(16-8*i)&0xff) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

// onTerminal is a style as a terminal of that depth has it.
func onTerminal(s terminal.Style, depth paint.Depth) terminal.Style {
	term := terminal.New(terminal.Options{Cols: 2, Rows: 1})
	look := paint.Look{Depth: depth, UTF8: true}
	_, _ = term.Write(append(look.AppendStyle(nil, s, terminal.Style{}), 'x')) // never fails
	return term.Snapshot(0).Lines[0].Cell(0).Style
}

// TestContrast: the text of each tone is legible on the terminal's background and on the selected row,
// in each theme. WCAG asks for 4.5; for dim text and a terminal's own 16 colours 3 is enough.
func TestContrast(t *testing.T) {
	for _, p := range emulators {
		for _, depth := range []paint.Depth{paint.DepthTrue, paint.Depth256, paint.Depth16} {
			th := newTheme(paint.Look{Depth: depth, UTF8: true}, p.light)
			check := func(what string, s terminal.Style, least float64) {
				t.Helper()
				if got := p.contrast(onTerminal(s, depth)); got < least {
					t.Errorf("%s, depth %d: %s has a contrast of %.1f, want %.1f", p.name, depth, what, got, least)
				}
			}
			for of := range tones {
				least := 4.5
				switch {
				case of == edge: // lines
					continue
				case of == faint || of == over || depth == paint.Depth16:
					least = 3
				}
				check(fmt.Sprintf("tone %d", of), th.style(of), least)
				check(fmt.Sprintf("tone %d in the selected row", of), th.selected(th.style(of)), least)
			}
			check("the badge", th.badge(), map[bool]float64{true: 3, false: 4.5}[depth == paint.Depth16])
		}
	}
}

// TestPreviewContrast: a light terminal shows what an agent draws with the contrast that it has on the
// background that the agent was given.
func TestPreviewContrast(t *testing.T) {
	drawings := map[string]string{"plain": "0", "bold": "1", "faint": "2", "true colour": "38;2;153;153;153", "palette": "38;5;246", "on grey": "48;5;237", "dark on light": "38;5;16;48;5;255", "reverse": "7"}
	for n := 1; n < 16; n++ {
		drawings[fmt.Sprint("colour ", n)] = fmt.Sprint(map[bool]int{true: 30 + n, false: 82 + n}[n < 8])
	}
	for own, colours := range map[string]string{"": "", "own colours": "\x1b]10;#333333\x1b\\\x1b]11;#fafafa\x1b\\"} {
		for name, sgr := range drawings {
			term := terminal.New(terminal.Options{Cols: 60, Rows: 20})
			_, _ = term.Write([]byte(colours + "\x1b[" + sgr + "mx")) // never fails
			shot := term.Snapshot(0)
			given := emulator{background: 0x000000, text: 0xe5e5e5, colours: xterm}
			if colours != "" {
				given.background, given.text = 0xfafafa, 0x333333
			}
			want := given.contrast(shot.Lines[0].Cell(0).Style)
			for _, depth := range []paint.Depth{paint.DepthTrue, paint.Depth256, paint.Depth16} {
				m := started(120, 36, world(at("alpha", agent.Idle, 1)))
				m.SetScreen("id-alpha", shot, "")
				seen := shoot(m, 120, 36, depth, true)
				side := m.layout().side
				p := emulator{light: true, background: 0xffffff, text: 0x000000, colours: xterm}
				cell := seen.Lines[side.y+1].Cell(side.x)
				if cell.Rune != 'x' {
					t.Fatalf("the screen isn't at %d,%d: %q", side.x, side.y, seen.Text())
				}
				if got := p.contrast(cell.Style); got < min(want*0.8, 4.5) {
					t.Errorf("%s %s, depth %d: the contrast is %.1f, in the agent's terminal %.1f", name, own, depth, got, want)
				}
			}
		}
	}
}

package terminal

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// colors are what OSC 4, 10, 11 and 12 set.
type colors struct {
	foreground, background, cursor Color
	palette                        map[uint8]Color
}

func (c *colors) public() Colors {
	return Colors{
		Foreground: c.foreground, Background: c.background, Cursor: c.cursor,
		Palette: maps.Clone(c.palette),
	}
}

// PlainForeground and PlainBackground are reported to the program as the terminal's
// own colours, unless it or the options set others.
var (
	PlainForeground = RGB(0xe5, 0xe5, 0xe5)
	PlainBackground = RGB(0, 0, 0)
)

func firstSet(colors ...Color) Color {
	for _, c := range colors {
		if c != DefaultColor {
			return c
		}
	}
	return DefaultColor
}

func (t *Terminal) foreground() Color {
	return firstSet(t.colors.foreground, t.options.Foreground, PlainForeground)
}

func (t *Terminal) background() Color {
	return firstSet(t.colors.background, t.options.Background, PlainBackground)
}

func isDark(c Color) bool {
	r, g, b := c.components()
	return 299*int(r)+587*int(g)+114*int(b) < 128*1000
}

// RGBA makes a Color an image/color.Color. Palette entries have xterm's values.
func (c Color) RGBA() (r, g, b, a uint32) {
	red, green, blue := c.components()
	return uint32(red) * 0x101, uint32(green) * 0x101, uint32(blue) * 0x101, 0xffff
}

func (c Color) components() (r, g, b uint8) {
	if c&colorPalette != 0 {
		return paletteRGB(uint8(c)).components()
	}
	return uint8(c >> 16), uint8(c >> 8), uint8(c)
}

// paletteRGB is xterm's 256 colours.
func paletteRGB(n uint8) Color {
	basic := [16]uint32{
		0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
		0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
	}
	level := func(n uint8) uint8 {
		if n == 0 {
			return 0
		}
		return 55 + 40*n
	}
	switch {
	case n < 16:
		return colorRGB | Color(basic[n])
	case n < 232:
		n -= 16
		return RGB(level(n/36), level(n/6%6), level(n%6))
	}
	return RGB(8+10*(n-232), 8+10*(n-232), 8+10*(n-232))
}

// parseColor reads rgb:R/G/B with one to four hex digits each, or #RRGGBB and
// its shorter and longer forms.
func parseColor(s string) (Color, bool) {
	var parts []string
	if rest, ok := strings.CutPrefix(s, "rgb:"); ok {
		parts = strings.Split(rest, "/")
	} else if rest, ok := strings.CutPrefix(s, "#"); ok && len(rest)%3 == 0 && len(rest) > 0 {
		n := len(rest) / 3
		parts = []string{rest[:n], rest[n : 2*n], rest[2*n:]}
	}
	if len(parts) != 3 {
		return 0, false
	}
	var out [3]uint8
	for i, part := range parts {
		if len(part) == 0 || len(part) > 4 {
			return 0, false
		}
		n, err := strconv.ParseUint(part, 16, 16)
		if err != nil {
			return 0, false
		}
		full := uint64(1)<<(4*len(part)) - 1
		out[i] = uint8((n*255 + full/2) / full)
	}
	return RGB(out[0], out[1], out[2]), true
}

// colorReport is the report of a colour to a program.
func colorReport(c Color) string {
	r, g, b := c.components()
	return fmt.Sprintf("rgb:%02x%02x/%02x%02x/%02x%02x", r, r, g, g, b, b)
}

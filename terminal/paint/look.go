package paint

import (
	"strconv"
	"strings"

	"berth/terminal"
)

// Depth is how many colours a client's terminal can show.
type Depth int

const (
	DepthNone Depth = iota
	Depth16
	Depth256
	DepthTrue
)

// Look is what a client's terminal can do, as far as its environment says.
type Look struct {
	Depth Depth
	UTF8  bool
	Plain bool // understands little beyond cursor movement: no pass-through
}

// NewLook reads TERM, COLORTERM, LC_ALL, LC_CTYPE and LANG. SSH clients often
// send TERM alone, so missing values count as the common case.
func NewLook(term string, env map[string]string) Look {
	l := Look{Depth: Depth256, UTF8: true}
	switch base, _, _ := strings.Cut(term, "-"); {
	case term == "" || term == "dumb" || base == "vt100" || base == "vt102" || base == "vt220":
		l.Depth, l.Plain = DepthNone, true
	case term == "linux" || base == "ansi" || base == "cygwin" || base == "sun":
		l.Depth, l.Plain = Depth16, true
	case strings.HasSuffix(term, "-mono") || strings.HasSuffix(term, "-m"):
		l.Depth = DepthNone
	case strings.HasSuffix(term, "-direct"), strings.HasSuffix(term, "-truecolor"),
		strings.Contains(term, "kitty"), strings.Contains(term, "ghostty"),
		base == "alacritty", base == "foot", base == "wezterm", base == "contour":
		l.Depth = DepthTrue
	}
	if c := env["COLORTERM"]; (c == "truecolor" || c == "24bit") && !l.Plain && l.Depth != DepthNone {
		l.Depth = DepthTrue
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := env[name]; v != "" {
			v = strings.ToLower(v)
			l.UTF8 = strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
			break
		}
	}
	return l
}

// AppendStyle writes the SGR (and OSC 8) that makes the pen s, whatever it was.
func (l Look) AppendStyle(b []byte, s, before terminal.Style) []byte {
	b = append(b, "\x1b[0"...)
	for _, a := range attrCodes {
		if s.Attr&a.attr != 0 {
			b = append(b, a.code...)
		}
	}
	b = l.appendUnderline(b, s)
	b = l.appendColor(b, s.Fg, 30)
	b = l.appendColor(b, s.Bg, 40)
	b = append(b, 'm')
	if s.Link != before.Link && l.Depth >= Depth256 {
		b = append(b, "\x1b]8;;"...)
		if safeLink(s.Link) {
			b = append(b, s.Link...)
		}
		b = append(b, "\x1b\\"...)
	}
	return b
}

var attrCodes = []struct {
	attr terminal.Attr
	code string
}{
	{terminal.Bold, ";1"}, {terminal.Faint, ";2"}, {terminal.Italic, ";3"}, {terminal.Blink, ";5"},
	{terminal.Reverse, ";7"}, {terminal.Hidden, ";8"}, {terminal.Strike, ";9"}, {terminal.Overline, ";53"},
}

// appendUnderline uses the forms with colons only where they are sure to be
// read: others take 4:3 for faint italic or worse.
func (l Look) appendUnderline(b []byte, s terminal.Style) []byte {
	switch {
	case s.Underline == terminal.NoUnderline:
		return b
	case s.Underline == terminal.SingleUnderline || l.Depth != DepthTrue:
		b = append(b, ";4"...)
	default:
		b = append(b, ";4:"...)
		b = strconv.AppendInt(b, int64(s.Underline), 10)
	}
	if l.Depth != DepthTrue {
		return b
	}
	if n, ok := paletteOf(s.UnderlineColor); ok {
		b = append(b, ";58:5:"...)
		b = strconv.AppendInt(b, int64(n), 10)
	} else if r, g, bl, ok := rgbOf(s.UnderlineColor); ok {
		b = append(b, ";58:2::"...)
		b = appendNumbers(b, ':', int(r), int(g), int(bl))
	}
	return b
}

func paletteOf(c terminal.Color) (n uint8, ok bool) {
	return uint8(c), c&^0xff == terminal.Palette(0)
}

func rgbOf(c terminal.Color) (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c&^0xffffff == terminal.RGB(0, 0, 0)
}

// appendColor writes a foreground (base 30) or background (40) at the depth
// the terminal has.
func (l Look) appendColor(b []byte, c terminal.Color, base int) []byte {
	if l.Depth == DepthNone || c == terminal.DefaultColor {
		return b
	}
	n, ok := paletteOf(c)
	if !ok {
		r, g, bl, ok := rgbOf(c)
		if !ok {
			return b
		}
		if l.Depth == DepthTrue {
			b = append(b, ';')
			return appendNumbers(b, ';', base+8, 2, int(r), int(g), int(bl))
		}
		n = nearest256(r, g, bl)
	}
	if n >= 16 && l.Depth == Depth16 {
		n = nearest16(rgb256(n))
	}
	b = append(b, ';')
	switch {
	case n < 8:
		return strconv.AppendInt(b, int64(base+int(n)), 10)
	case n < 16:
		return strconv.AppendInt(b, int64(base+60+int(n)-8), 10)
	default:
		return appendNumbers(b, ';', base+8, 5, int(n))
	}
}

func appendNumbers(b []byte, sep byte, n ...int) []byte {
	for i, v := range n {
		if i > 0 {
			b = append(b, sep)
		}
		b = strconv.AppendInt(b, int64(v), 10)
	}
	return b
}

// safeLink lets web addresses through and nothing that could end the OSC.
func safeLink(s string) bool {
	if !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return r < 0x21 || r >= 0x7f }) < 0
}

var cubeSteps = [6]int{0, 95, 135, 175, 215, 255}

// nearest256 is the palette entry closest to a colour, of cube and grey ramp.
func nearest256(r, g, b uint8) uint8 {
	cr, cg, cb := cubeStep(r), cubeStep(g), cubeStep(b)
	grey := min(max((int(r)+int(g)+int(b))/3-3, 0)/10, 23)
	level := 8 + 10*grey
	toCube := distance(r, g, b, cubeSteps[cr], cubeSteps[cg], cubeSteps[cb])
	if distance(r, g, b, level, level, level) < toCube {
		return uint8(232 + grey)
	}
	return uint8(16 + 36*cr + 6*cg + cb)
}

func cubeStep(v uint8) int {
	switch {
	case v < 48:
		return 0
	case v < 115:
		return 1
	default:
		return (int(v) - 35) / 40
	}
}

func distance(r, g, b uint8, r2, g2, b2 int) int {
	dr, dg, db := int(r)-r2, int(g)-g2, int(b)-b2
	return dr*dr + dg*dg + db*db
}

// rgb256 is what entry n of 16 and above looks like.
func rgb256(n uint8) (r, g, b uint8) {
	if n >= 232 {
		v := 8 + 10*(n-232)
		return v, v, v
	}
	n -= 16
	return uint8(cubeSteps[n/36]), uint8(cubeSteps[n/6%6]), uint8(cubeSteps[n%6])
}

// nearest16 is the closest of xterm's 16 colours.
func nearest16(r, g, b uint8) uint8 {
	best, n := 1<<30, 0
	for i, c := range xterm16 {
		if d := distance(r, g, b, c[0], c[1], c[2]); d < best {
			best, n = d, i
		}
	}
	return uint8(n)
}

var xterm16 = [16][3]int{
	{0, 0, 0}, {205, 0, 0}, {0, 205, 0}, {205, 205, 0}, {0, 0, 238}, {205, 0, 205}, {0, 205, 205}, {229, 229, 229},
	{127, 127, 127}, {255, 0, 0}, {0, 255, 0}, {255, 255, 0}, {92, 92, 255}, {255, 0, 255}, {0, 255, 255}, {255, 255, 255},
}

// AppendCell writes a cell's character, or what stands for it where the client
// knows ASCII alone.
func (l Look) AppendCell(b []byte, c terminal.Cell) []byte {
	if c.Rune == 0 {
		return append(b, ' ')
	}
	if l.UTF8 || c.Rune < 0x7f && c.Rest == "" {
		b = append(b, string(c.Rune)...)
		return append(b, c.Rest...)
	}
	b = append(b, asciiFor(c.Rune))
	if c.Width == 2 {
		b = append(b, ' ')
	}
	return b
}

func asciiFor(r rune) byte {
	switch {
	case r < 0x7f:
		return byte(r)
	case r == 0xa0:
		return ' '
	case r == '─' || r == '━' || r == '═' || r == '–' || r == '—' || r == '╌':
		return '-'
	case r == '│' || r == '┃' || r == '║':
		return '|'
	case r >= 0x2500 && r <= 0x257f:
		return '+'
	case r == '•' || r == '●' || r == '⏺' || r == '∙':
		return '*'
	case r == '❯' || r == '›' || r == '→':
		return '>'
	case r >= 0x2580 && r <= 0x259f:
		return '#'
	}
	return '?'
}

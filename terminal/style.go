package terminal

import "strconv"

// SGR is the sequence that sets exactly this style, whatever was in force, but
// for the link, which is set by OSC 8.
func (s Style) SGR() string {
	return string(s.appendSGR(nil))
}

func (s Style) appendSGR(out []byte) []byte {
	return append(s.appendGraphics(append(out, "\x1b["...)), 'm')
}

// sgrNumbers are the SGR parameters of the attributes, in the order of their bits.
var sgrNumbers = [...]int{1, 2, 3, 5, 7, 8, 9, 53}

// appendGraphics adds the parameters of SGR.
func (s Style) appendGraphics(out []byte) []byte {
	out = append(out, '0')
	for i, n := range sgrNumbers {
		if s.Attr&(1<<i) != 0 {
			out = appendNumber(append(out, ';'), n)
		}
	}
	switch s.Underline {
	case NoUnderline:
	case SingleUnderline:
		out = append(out, ";4"...)
	default:
		out = appendNumber(append(out, ";4:"...), int(s.Underline))
	}
	out = appendColor(out, s.Fg, 30, 90, "38;5;", "38;2;", ";")
	out = appendColor(out, s.Bg, 40, 100, "48;5;", "48;2;", ";")
	return appendColor(out, s.UnderlineColor, 0, 0, "58:5:", "58:2::", ":")
}

// appendColor adds c: by its short number below 16 when it has one.
func appendColor(out []byte, c Color, basic, bright int, palette, direct, between string) []byte {
	if c == DefaultColor {
		return out
	}
	out = append(out, ';')
	n := uint8(c)
	switch {
	case c&colorPalette == 0:
		r, g, b := c.components()
		out = appendNumber(append(out, direct...), int(r))
		out = appendNumber(append(out, between...), int(g))
		return appendNumber(append(out, between...), int(b))
	case basic != 0 && n < 8:
		return strconv.AppendInt(out, int64(basic)+int64(n), 10)
	case basic != 0 && n < 16:
		return strconv.AppendInt(out, int64(bright)+int64(n)-8, 10)
	}
	return appendNumber(append(out, palette...), int(n))
}

// style is what the pen draws with.
func (p *pen) style() Style {
	return Style{
		Fg: p.fg, Bg: p.bg, UnderlineColor: p.extra.underlineColor,
		Attr:      Attr(p.attr & attrMask),
		Underline: Underline(p.attr & underlineMask >> underlineShift),
		Link:      p.extra.link,
	}
}

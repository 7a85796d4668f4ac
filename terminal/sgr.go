package terminal

// selectGraphics is SGR: it changes the pen.
func (t *Terminal) selectGraphics(p *params) {
	for i := 0; i < p.len; {
		end := i + 1
		for end < p.len && p.colon[end] {
			end++
		}
		switch n := p.at(i, 0); n {
		case 38, 48, 58:
			color, next, ok := extendedColor(p, i, end)
			if ok {
				t.setColor(n, color)
			}
			i = next
			continue
		case 4:
			style := SingleUnderline
			if end > i+1 {
				if sub := p.at(i+1, 1); sub >= 0 && sub <= int(DashedUnderline) {
					style = Underline(sub)
				}
			}
			t.setUnderline(style)
		default:
			t.setGraphic(n)
		}
		i = end
	}
}

// extendedColor reads 38, 48 or 58 at i, whose colon parameters end before end.
// next is where to go on.
func extendedColor(p *params, i, end int) (c Color, next int, ok bool) {
	if end > i+1 {
		c, ok = colonColor(p, i, end)
		return c, end, ok
	}
	switch p.at(i+1, 0) {
	case 5:
		n := p.at(i+2, 0)
		return Palette(uint8(n)), i + 3, n <= 255
	case 2:
		r, g, b := p.at(i+2, 0), p.at(i+3, 0), p.at(i+4, 0)
		return RGB(uint8(r), uint8(g), uint8(b)), i + 5, r <= 255 && g <= 255 && b <= 255
	}
	return 0, i + 2, false
}

// colonColor reads 38:5:n, 38:2:space:r:g:b and the older 38:2:r:g:b.
func colonColor(p *params, i, end int) (Color, bool) {
	switch p.at(i+1, 0) {
	case 5:
		n := p.at(i+2, 0)
		return Palette(uint8(n)), n <= 255
	case 2:
		at := i + 3
		if end-i == 5 { // 38:2:r:g:b
			at = i + 2
		}
		r, g, b := 0, 0, 0
		if at < end {
			r = p.at(at, 0)
		}
		if at+1 < end {
			g = p.at(at+1, 0)
		}
		if at+2 < end {
			b = p.at(at+2, 0)
		}
		return RGB(uint8(r), uint8(g), uint8(b)), r <= 255 && g <= 255 && b <= 255
	}
	return 0, false
}

func (t *Terminal) setColor(n int, c Color) {
	switch n {
	case 38:
		t.pen.fg = c
	case 48:
		t.pen.bg = c
	case 58:
		t.pen.extra.underlineColor = c
	}
}

func (t *Terminal) setUnderline(u Underline) {
	t.pen.attr = t.pen.attr&^underlineMask | uint32(u)<<underlineShift
}

// graphicOn and graphicOff are the attributes that SGR n sets and takes.
var (
	graphicOn  = [...]Attr{1: Bold, 2: Faint, 3: Italic, 5: Blink, 6: Blink, 7: Reverse, 8: Hidden, 9: Strike, 53: Overline}
	graphicOff = [...]Attr{22: Bold | Faint, 23: Italic, 25: Blink, 27: Reverse, 28: Hidden, 29: Strike, 55: Overline}
)

func (t *Terminal) setGraphic(n int) {
	pen := &t.pen
	switch {
	case n == 0:
		link, protected := pen.extra.link, pen.attr&cellProtected // ended by OSC 8 and DECSCA alone
		*pen = penOf(link)
		pen.attr = protected
	case n < len(graphicOn) && graphicOn[n] != 0:
		pen.attr |= uint32(graphicOn[n])
	case n < len(graphicOff) && graphicOff[n] != 0:
		pen.attr &^= uint32(graphicOff[n])
	case n == 21:
		t.setUnderline(DoubleUnderline)
	case n == 24:
		t.setUnderline(NoUnderline)
	case n >= 30 && n <= 37:
		pen.fg = Palette(uint8(n - 30))
	case n == 39:
		pen.fg = DefaultColor
	case n >= 40 && n <= 47:
		pen.bg = Palette(uint8(n - 40))
	case n == 49:
		pen.bg = DefaultColor
	case n == 59:
		pen.extra.underlineColor = DefaultColor
	case n >= 90 && n <= 97:
		pen.fg = Palette(uint8(n - 90 + 8))
	case n >= 100 && n <= 107:
		pen.bg = Palette(uint8(n - 100 + 8))
	}
}

func penOf(link string) pen { return pen{extra: extra{link: link}} }

// Package screens draws what a terminal shows, with its colours, as SVG for the
// docs.
package screens

import (
	"fmt"
	"html"
	"strings"

	"berth/terminal"
)

// The size of a cell in the picture.
const (
	cellWidth  = 8.4
	cellHeight = 17
	margin     = 10
)

// SVG draws a terminal with a dark or a light background.
func SVG(shot *terminal.Snapshot, light bool) string {
	fore, back := "#d0d0d0", "#1c1c1c"
	if light {
		fore, back = "#1c1c1c", "#ffffff"
	}
	var b strings.Builder
	width, height := float64(shot.Cols)*cellWidth+2*margin, shot.Rows*cellHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="14">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", back)
	for y, line := range shot.Lines {
		drawLine(&b, line, y, fore, back)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// drawLine draws a row's backgrounds and its text. It joins cells of one style.
func drawLine(b *strings.Builder, line *terminal.Line, y int, fore, back string) {
	for x := 0; x < line.Len(); {
		style := line.Cell(x).Style
		end, text := x, ""
		for end < line.Len() && line.Cell(end).Style == style {
			if c := line.Cell(end); c.Width > 0 {
				if c.Rune == 0 {
					c.Rune = ' '
				}
				text += string(c.Rune) + c.Rest
			}
			end++
		}
		fg, bg := color(style.Fg, fore), color(style.Bg, back)
		if style.Attr&terminal.Reverse != 0 {
			fg, bg = bg, fg
		}
		left, top := margin+float64(x)*cellWidth, margin+y*cellHeight
		if bg != back {
			fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", left, top, float64(end-x)*cellWidth, cellHeight, bg)
		}
		if strings.TrimSpace(text) != "" {
			weight := ""
			if style.Attr&terminal.Bold != 0 {
				weight = ` font-weight="bold"`
			}
			fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="%s"%s>%s</text>`+"\n",
				left, top+13, float64(end-x)*cellWidth, fg, weight, html.EscapeString(text))
		}
		x = end
	}
}

// color is a colour in SVG's notation.
func color(c terminal.Color, byDefault string) string {
	switch {
	case c == terminal.DefaultColor:
		return byDefault
	case c&^0xffffff == terminal.RGB(0, 0, 0):
		return fmt.Sprintf("#%06x", uint32(c)&0xffffff)
	}
	n := int(uint8(c))
	switch {
	case n < 16:
		return [16]string{
			"#000000", "#cd3131", "#0dbc79", "#e5e510", "#2472c8", "#bc3fbc", "#11a8cd", "#e5e5e5",
			"#666666", "#f14c4c", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff",
		}[n]
	case n >= 232:
		v := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", v, v, v)
	}
	steps := [6]int{0, 95, 135, 175, 215, 255}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", steps[n/36], steps[n/6%6], steps[n%6])
}

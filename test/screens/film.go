package screens

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"berth/terminal"
)

// Film is terminals next to each other, over time.
type Film struct {
	frames []frame
}

type frame struct {
	rows    [][]string // of each terminal, its rows as SVG
	sizes   [][2]int   // columns and rows of each
	caption string
	length  time.Duration
}

// Take adds what terminals show now, for a time, with a line about it below.
func (f *Film) Take(length time.Duration, caption string, shots ...*terminal.Snapshot) {
	now := frame{caption: caption, length: length}
	for _, shot := range shots {
		var rows []string
		for y, line := range shot.Lines {
			var b strings.Builder
			drawLine(&b, line, y, "#d0d0d0", "#1c1c1c")
			rows = append(rows, strings.ReplaceAll(b.String(), ` lengthAdjust="spacingAndGlyphs" xml:space="preserve"`, "")) // the whole film preserves blanks
		}
		if c := shot.Cursor; c.Visible && c.Row < len(rows) {
			rows[c.Row] += fmt.Sprintf(`<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="#d0d0d0" opacity=".6"/>`+"\n",
				margin+float64(c.Col)*cellWidth, margin+c.Row*cellHeight, cellWidth, cellHeight)
		}
		now.rows, now.sizes = append(now.rows, rows), append(now.sizes, [2]int{shot.Cols, shot.Rows})
	}
	f.frames = append(f.frames, now)
}

// between is the gap between terminals.
const between = 20

// SVG is the film as an animated picture that starts again at its end. A row that several frames have is in it
// once. A reader who wants no motion, and a program that draws none, see the first frame.
func (f *Film) SVG() string {
	var whole time.Duration
	for _, fr := range f.frames {
		whole += fr.length
	}
	var lefts []float64
	width, height := 0.0, 0
	for _, size := range f.frames[0].sizes {
		lefts = append(lefts, width)
		width += float64(size[0])*cellWidth + 2*margin + between
		height = max(height, size[1]*cellHeight+2*margin)
	}
	width -= between
	const forCaption = 34
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" width="%.0f" height="%d" font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="14">`+"\n", width, height+forCaption)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="6" fill="#303030"/>`+"\n")
	for i, size := range f.frames[0].sizes {
		fmt.Fprintf(&b, `<rect x="%.1f" width="%.1f" height="%d" rx="6" fill="#1c1c1c"/>`+"\n", lefts[i], float64(size[0])*cellWidth+2*margin, height)
	}
	// pieces are in the order of their first frame; when has the frames of each.
	var pieces []string
	when := map[string][]bool{}
	add := func(piece string, n int) {
		if when[piece] == nil {
			pieces, when[piece] = append(pieces, piece), make([]bool, len(f.frames))
		}
		when[piece][n] = true
	}
	for n, fr := range f.frames {
		for i, rows := range fr.rows {
			for _, row := range rows {
				if row == "" {
					continue
				}
				if i > 0 {
					row = fmt.Sprintf(`<g transform="translate(%.1f)">`+"\n%s</g>\n", lefts[i], row)
				}
				add(row, n)
			}
		}
		add(fmt.Sprintf(`<text x="%.1f" y="%d" text-anchor="middle" fill="#ffffff">%s</text>`+"\n", width/2, height+22, html.EscapeString(fr.caption)), n)
	}
	var shown [][]bool // the distinct values of when
	var style, body strings.Builder
	for _, p := range pieces {
		k := slices.IndexFunc(shown, func(s []bool) bool { return slices.Equal(s, when[p]) })
		if k < 0 {
			k, shown = len(shown), append(shown, when[p])
		}
		fmt.Fprintf(&body, `<g class="c%d">`+"\n%s</g>\n", k, p)
	}
	for k, s := range shown {
		if !slices.Contains(s, false) {
			continue
		}
		fmt.Fprintf(&style, ".c%d{visibility:%s;animation:k%d %.1fs step-end infinite}\n@keyframes k%d{", k, visible(s[0]), k, whole.Seconds(), k)
		var at time.Duration
		for n, fr := range f.frames {
			if n == 0 || s[n] != s[n-1] {
				fmt.Fprintf(&style, "%.2f%%{visibility:%s}", 100*at.Seconds()/whole.Seconds(), visible(s[n]))
			}
			at += fr.length
		}
		style.WriteString("}\n")
	}
	fmt.Fprintf(&b, "<style>\n%s@media (prefers-reduced-motion: reduce){g{animation:none !important}}\n</style>\n", style.String())
	return b.String() + body.String() + "</svg>\n"
}

func visible(is bool) string {
	if is {
		return "visible"
	}
	return "hidden"
}

package tui

import "berth/terminal"

// pan is which part of a terminal wider than the preview is shown.
type pan struct {
	wrap bool   // rows are broken instead
	by   bool   // the person has chosen the columns; otherwise the cursor's are shown
	of   string // id of the session that left is for
	left int    // first column in the last picture
	most int    // maximum of left
}

// fit returns the first column to draw. auto is the one with the cursor in view.
func (p *pan) fit(id string, auto, cols, width int) int {
	if p.of != id {
		p.of, p.by = id, false
	}
	if p.most = max(cols-width, 0); p.most == 0 {
		p.by = false
	}
	if !p.by {
		p.left = auto
	}
	p.left = min(p.left, p.most)
	return p.left
}

// pressPreview handles the keys for a terminal wider than the preview.
func (m *Model) pressPreview(k Key) bool {
	p := &m.pan
	left := k.Name == "<" || k.Name == "shift+left"
	if !left && k.Name != ">" && k.Name != "shift+right" && k.Name != "z" {
		return false
	}
	s := m.current()
	if s == nil || !m.layout().preview || !m.world.May["screen"] {
		return true
	}
	switch {
	case k.Name == "z":
		p.wrap = !p.wrap
		m.Flash(map[bool]string{true: "long rows are broken: z shows them as they are", false: "rows are shown as they are: < and > scroll sideways"}[p.wrap], faint)
	case m.pictures[s.ID].screen == nil || p.of != s.ID: // not drawn yet
	case p.most == 0:
		m.Flash("the terminal isn't wider than this preview", faint)
	case p.wrap:
		m.Flash("long rows are broken, so there is nothing to scroll: z changes that", faint)
	default:
		step := max((m.pictures[s.ID].screen.Cols-p.most)/2, 1) // half of what is shown
		if left {
			step = -step
		}
		p.by, p.left = true, min(max(p.left+step, 0), p.most)
	}
	return true
}

// drawWrapped draws the end of a screen with its rows broken at the area's width.
func (m *Model) drawWrapped(a area, shot *terminal.Snapshot) {
	type piece struct{ row, left, cols int }
	var pieces []piece
	last := 0 // the last piece with text, or with the cursor
	for y, l := range shot.Lines {
		end := min(l.Len(), shot.Cols)
		for end > 0 && blankCell(l.Cell(end-1)) {
			end--
		}
		if shot.Cursor.Visible && shot.Cursor.Row == y {
			end = max(end, shot.Cursor.Col+1)
		}
		for left := 0; left == 0 || left < end; {
			cols := a.w
			if cols > 1 && l.Cell(left+cols).Width == 0 { // a wide character goes to the next row as a whole
				cols--
			}
			if pieces = append(pieces, piece{y, left, cols}); end > 0 {
				last = len(pieces) - 1
			}
			left += cols
		}
	}
	first := max(last-a.h+1, 0)
	for y, p := range pieces[first:min(len(pieces), first+a.h)] {
		row, cur := a.part(0, y, p.cols, 1), shot.Cursor
		m.drawLine(row, 0, shot.Lines[p.row], p.left, shot.Cols, shot.Colors)
		m.drawCursor(row, cur.Col-p.left, 0, cur.Visible && cur.Row == p.row)
	}
}

// blankCell reports whether a cell has no text.
func blankCell(c terminal.Cell) bool {
	return c.Width > 0 && c.Rest == "" && (c.Rune == 0 || c.Rune == ' ')
}

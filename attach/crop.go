package attach

import "berth/terminal"

// crop is the part of a session's screen that a smaller window shows. It stays
// where it is until the cursor comes near its edge.
type crop struct {
	top, left int
	placed    bool
}

// follow moves the crop so that a window of cols x rows over a screen of size
// width x height shows the cursor. A hidden cursor moves nothing once there is
// a place: programs hide it while they draw elsewhere.
func (c *crop) follow(cur terminal.Cursor, width, height, cols, rows int) {
	if !c.placed || cur.Visible {
		c.left = slide(c.left, cur.Col, width, cols, min(8, cols/4), cols/3)
		c.top = slide(c.top, cur.Row, height, rows, min(2, rows/4), 0)
		c.placed = true
	}
	c.left = min(max(c.left, 0), max(width-cols, 0))
	c.top = min(max(c.top, 0), max(height-rows, 0))
}

// slide gives the first place of a window of n over size from which at is at
// least margin away from the window's edges, if the screen's own edges let it.
// When it has to move it moves by step more, so that typing on does not move
// it with every key.
func slide(first, at, size, n, margin, step int) int {
	switch {
	case size <= n:
		return 0
	case at < first+margin:
		first = at - margin - step
	case at >= first+n-margin:
		first = at - n + 1 + margin + step
	}
	return min(max(first, 0), size-n)
}

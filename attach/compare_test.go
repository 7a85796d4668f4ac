package attach

import (
	"fmt"
	"reflect"
	"strings"

	"berth/terminal"
	"berth/terminal/paint"
)

// cellAt is a cell as compared: blanks are all alike.
func cellAt(l *terminal.Line, i int) terminal.Cell {
	c := l.Cell(i)
	if c.Rune == 0 && c.Width != 0 {
		c.Rune = ' '
	}
	return c
}

// samePicture says how a client's terminal differs from the session's, "" for
// not at all.
func samePicture(got, want *terminal.Snapshot) string {
	if got.Cols != want.Cols || got.Rows != want.Rows {
		return fmt.Sprintf("size %dx%d, want %dx%d", got.Cols, got.Rows, want.Cols, want.Rows)
	}
	for y := range want.Lines {
		for x := range want.Cols {
			if g, w := cellAt(got.Lines[y], x), cellAt(want.Lines[y], x); g != w {
				return fmt.Sprintf("row %d column %d is %+v, want %+v\ngot\n%s\nwant\n%s", y, x, g, w, text(got), text(want))
			}
		}
	}
	if got.Cursor != want.Cursor {
		return fmt.Sprintf("cursor %+v, want %+v", got.Cursor, want.Cursor)
	}
	if !reflect.DeepEqual(got.Modes, want.Modes) {
		return fmt.Sprintf("modes %+v, want %+v", got.Modes, want.Modes)
	}
	if got.Title != want.Title {
		return fmt.Sprintf("title %q, want %q", got.Title, want.Title)
	}
	return ""
}

// sameCrop says how a client's terminal differs from the part of the session's
// picture whose first cell is at top, left.
func sameCrop(got, want *terminal.Snapshot, top, left int) string {
	for y := range got.Rows {
		for x := range got.Cols {
			w := paint.Blank
			if top+y < want.Rows && left+x < want.Cols {
				w = cellAt(want.Lines[top+y], left+x)
				head := w
				if w.Width == 0 {
					head = cellAt(want.Lines[top+y], left+x-1)
				}
				if w.Width == 0 && x == 0 || w.Width == 2 && x == got.Cols-1 || !paint.Fits(head) {
					w = terminal.Cell{Rune: ' ', Width: 1, Style: w.Style}
				}
			}
			if g := cellAt(got.Lines[y], x); g != w {
				return fmt.Sprintf("row %d column %d is %+v, want %+v (crop from %d,%d)\ngot\n%s\nwant\n%s",
					y, x, g, w, top, left, text(got), text(want))
			}
		}
	}
	c := want.Cursor
	inside := c.Row >= top && c.Row < top+got.Rows && c.Col >= left && c.Col < left+got.Cols
	switch {
	case got.Cursor.Visible != (inside && c.Visible):
		return fmt.Sprintf("cursor %+v, want %+v from %d,%d", got.Cursor, c, top, left)
	case inside && (got.Cursor.Row != c.Row-top || got.Cursor.Col != c.Col-left):
		return fmt.Sprintf("cursor %+v, want %+v less %d,%d", got.Cursor, c, top, left)
	}
	return ""
}

func text(s *terminal.Snapshot) string {
	return "  |" + strings.Join(s.Text(), "\n  |")
}

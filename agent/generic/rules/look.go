package rules

import "berth/terminal"

// cursorIn reports whether the cursor is between two byte offsets of the row.
func (s *sheet) cursorIn(row, from, to int) bool {
	if s.view.Cursor.Row != s.from+row {
		return false
	}
	text := s.rows[row]
	left := terminal.StringWidth(text[:from])
	return s.view.Cursor.Col >= left && s.view.Cursor.Col < left+terminal.StringWidth(text[from:to])
}

// inverseIn reports whether any of the row between two byte offsets is inverse.
func (s *sheet) inverseIn(row, from, to int) bool {
	for _, span := range s.view.Lines[s.from+row].Spans {
		if span.Inverse && span.From < to && span.To > from {
			return true
		}
	}
	return false
}

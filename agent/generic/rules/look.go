package rules

import "berth/terminal"

// cursorIn says whether the cursor stands in that stretch of the row, given in
// bytes.
func (s *sheet) cursorIn(row, from, to int) bool {
	if s.view.Cursor.Row != s.from+row {
		return false
	}
	text := s.rows[row]
	left := terminal.StringWidth(text[:from])
	return s.view.Cursor.Col >= left && s.view.Cursor.Col < left+terminal.StringWidth(text[from:to])
}

// inverseIn says whether any of that stretch is drawn inverse.
func (s *sheet) inverseIn(row, from, to int) bool {
	for _, span := range s.view.Lines[s.from+row].Spans {
		if span.Inverse && span.From < to && span.To > from {
			return true
		}
	}
	return false
}

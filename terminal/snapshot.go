package terminal

// Snapshot is the screen at one moment. It never changes and may be read by
// many. A row unchanged between two snapshots is the identical *Line in both.
type Snapshot struct {
	Cols, Rows int
	Lines      []*Line // Rows of them
	History    []*Line // lines above the main screen, oldest first
	Cursor     Cursor
	Modes      Modes
	Title      string
	Colors     Colors
	Revision   uint64
	Offset     int64   // bytes of the stream it shows
	Turns      []int64 // offsets where the agent's turns began, oldest first; only with History
}

// Colors are the terminal's own colours as the program set them; a DefaultColor
// is one it left alone.
type Colors struct {
	Foreground, Background, Cursor Color
	Palette                        map[uint8]Color // nil when none is set
}

// Snapshot is the screen as it is, with at most scrollback lines of history.
func (t *Terminal) Snapshot(scrollback int) *Snapshot {
	s := &Snapshot{
		Cols:     t.cols,
		Rows:     t.rows,
		Lines:    make([]*Line, t.rows),
		Cursor:   t.Cursor(),
		Modes:    t.Modes(),
		Title:    t.title,
		Colors:   t.colors.public(),
		Revision: t.revision,
		Offset:   t.offset,
	}
	copy(s.Lines, t.scr.rows)
	for _, l := range s.Lines {
		l.frozen = true
	}
	if n := min(scrollback, t.history.len()); n > 0 {
		s.Turns = append(s.Turns, t.turns...)
		s.History = make([]*Line, n)
		for i := range s.History {
			l := t.history.at(t.history.len() - n + i)
			l.frozen = true
			s.History[i] = l
		}
	}
	return s
}

// Text is the rows' text, each without blanks at its end.
func (s *Snapshot) Text() []string {
	text := make([]string, len(s.Lines))
	for i, l := range s.Lines {
		text[i] = l.Text()
	}
	return text
}

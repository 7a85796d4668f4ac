package terminal

import "time"

// MinCols and the others are the sizes a screen can have; any other is brought within
// them. A wide character needs two columns. The product of the upper bounds keeps the
// cells of one screen within some tens of megabytes.
const (
	MinCols, MinRows = 2, 1
	MaxCols, MaxRows = 1000, 500
)

const (
	// syncLimit is how long a synchronized update may hide what is written.
	syncLimit = 150 * time.Millisecond
)

// pen is what the next cells are drawn with.
type pen struct {
	cell  // its ch is 0, and its attr names no extra
	extra extra
}

// erased is a cell as an erase leaves it: the pen's background, nothing else.
func (p *pen) erased() cell { return cell{bg: p.bg} }

// savedCursor is what DECSC keeps.
type savedCursor struct {
	x, y     int // x is a column: waiting says that a wrap was pending at the last one
	pen      pen
	charsets [4]byte
	shift    int
	origin   bool
	waiting  bool
	set      bool
}

// screen is one of the two grids, with what belongs to it.
type screen struct {
	rows        []*Line
	x, y        int // x is cols when a wrap is pending
	top, bottom int // first and last row of the scrolling region
	saved       savedCursor
	kitty       []int // keyboard flags, the last in force
}

// Terminal is an emulator: it takes a program's output and holds the screen the
// program sees. It is not safe for concurrent use; what it hands out
// (snapshots, byte slices) is.
type Terminal struct {
	options    Options
	cols, rows int
	main, alt  *screen
	scr        *screen // one of the two
	history    history
	spare      *Line // storage to be used again

	pen      pen
	charsets [4]byte // G0 to G3: 'B', '0' or 'A'
	shift    int     // which of them is in force
	modes    modes
	tabs     []int // sorted columns; nil for every eighth
	title    string
	titles   []string // XTPUSHTITLE
	colors   colors

	join joiner // clusters that go on
	last rune   // for REP

	parser parser
	pass   pass

	offset   int64   // of the first byte of the Write under way
	turns    []int64 // offsets where the agent's turns began, oldest first
	pos      int     // index in it of the byte being handled
	revision uint64
	panics   int
}

// New is a terminal with an empty screen. Sizes are brought within 2 to 1000
// columns and 1 to 500 rows.
func New(o Options) *Terminal {
	if o.Now == nil {
		o.Now = time.Now
	}
	t := &Terminal{options: o}
	t.cols, t.rows = clampSize(o.Cols, o.Rows)
	t.history.max = max(o.Scrollback, 0)
	t.clear()
	return t
}

func clampSize(cols, rows int) (int, int) {
	return min(max(cols, MinCols), MaxCols), min(max(rows, MinRows), MaxRows)
}

// clear is the state of a new terminal, but for its history, parser and offset.
func (t *Terminal) clear() {
	t.main, t.alt = newScreen(t.rows), newScreen(t.rows)
	t.scr = t.main
	t.pen = pen{}
	t.charsets, t.shift = [4]byte{'B', 'B', 'B', 'B'}, 0
	t.modes = defaultModes()
	t.tabs = nil
	t.title, t.titles = "", nil
	t.colors = colors{}
	t.join, t.last = joiner{}, 0
	t.revision++
}

func newScreen(rows int) *screen {
	s := &screen{rows: make([]*Line, rows), bottom: rows - 1}
	for i := range s.rows {
		s.rows[i] = &Line{}
	}
	return s
}

// Write takes a program's output. It always takes all of it. A panic inside
// costs the screen, which is begun anew, and is counted by Panics.
func (t *Terminal) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		rest = rest[t.write(rest):]
	}
	return len(p), nil
}

func (t *Terminal) write(p []byte) (taken int) {
	defer func() {
		if fault := recover(); fault != nil {
			t.panics++
			t.parser = parser{}
			t.clear()
			t.history.clear()
			t.passRebuild()
			taken = min(max(t.pos, 0)+1, len(p))
		}
		t.offset += int64(taken)
		t.pos = 0
	}()
	t.pos = 0
	t.feed(p)
	return len(p)
}

// Panics is how often a Write had to begin the screen anew.
func (t *Terminal) Panics() int { return t.panics }

// Size is the screen's size in cells.
func (t *Terminal) Size() (cols, rows int) { return t.cols, t.rows }

// Offset is how many bytes of the stream have been taken.
func (t *Terminal) Offset() int64 { return t.offset }

// mostTurns is how many turns' starts are remembered.
const mostTurns = 1000

// MarkTurn remembers that a turn of the agent began with what was typed at a stream offset. Turns that nothing
// was typed for count as part of the turn before.
func (t *Terminal) MarkTurn(offset int64) {
	if n := len(t.turns); n > 0 && t.turns[n-1] >= offset {
		return
	}
	t.turns = append(t.turns, offset)
	if len(t.turns) > mostTurns {
		t.turns = t.turns[1:]
	}
}

// SetOffset says where in the stream the next Write begins.
func (t *Terminal) SetOffset(offset int64) { t.offset = offset }

// Revision grows with every change that can be seen.
func (t *Terminal) Revision() uint64 { return t.revision }

// InSync says whether the program is inside a synchronized update (mode 2026)
// younger than 150 ms: what is on the screen is not meant to be seen yet.
func (t *Terminal) InSync() bool {
	if !t.modes.sync {
		return false
	}
	age := t.options.Now().Sub(t.modes.syncSince)
	return age >= 0 && age < syncLimit
}

// Title is the window title, cleaned of what cannot be printed.
func (t *Terminal) Title() string { return t.title }

// Cursor is where the cursor is and how it looks.
func (t *Terminal) Cursor() Cursor {
	s := t.scr
	return Cursor{
		Row:         s.y,
		Col:         min(s.x, t.cols-1),
		Visible:     t.modes.cursor,
		PendingWrap: s.x >= t.cols,
		Shape:       t.modes.shape,
	}
}

// at is the stream offset just after the byte being handled.
func (t *Terminal) at() int64 {
	return t.offset + int64(t.pos) + 1
}

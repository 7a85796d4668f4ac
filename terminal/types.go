package terminal

import (
	"time"
	"unicode/utf8"
)

// Color is a cell's colour: the default, one of the 256 palette entries, or RGB.
type Color uint32

const (
	colorPalette Color = 1 << 24
	colorRGB     Color = 2 << 24
)

// DefaultColor is the terminal's own foreground or background.
const DefaultColor Color = 0

// Palette is entry n of the 256-colour palette.
func Palette(n uint8) Color { return colorPalette | Color(n) }

// RGB is a direct colour.
func RGB(r, g, b uint8) Color {
	return colorRGB | Color(r)<<16 | Color(g)<<8 | Color(b)
}

// Attr is a set of text attributes.
type Attr uint16

// Text attributes, as SGR sets them.
const (
	Bold Attr = 1 << iota
	Faint
	Italic
	Blink
	Reverse
	Hidden
	Strike
	Overline
)

// Underline is the style of an underline.
type Underline uint8

// Underline styles, numbered as in SGR 4:n.
const (
	NoUnderline Underline = iota
	SingleUnderline
	DoubleUnderline
	CurlyUnderline
	DottedUnderline
	DashedUnderline
)

// Style is how a cell is drawn. Styles are comparable.
type Style struct {
	Fg, Bg, UnderlineColor Color
	Attr                   Attr
	Underline              Underline
	Link                   string // OSC 8 target, empty for none
}

// Cell is one column of a line, as handed out of a snapshot.
type Cell struct {
	Rune  rune   // first rune; 0 or ' ' is blank
	Rest  string // the further runes of a cluster, mostly empty
	Width int    // 1 or 2; 0 for the right half of a wide cluster
	Style Style
}

// Show puts a cluster's runes into the cell.
func (c *Cell) Show(cluster string) {
	first, size := utf8.DecodeRuneInString(cluster)
	c.Rune, c.Rest = first, cluster[size:]
}

// Cursor is the cursor's place from 0, and look.
type Cursor struct {
	Row, Col    int
	Visible     bool
	PendingWrap bool
	Shape       int // DECSCUSR parameter 0-6
}

// MouseMode is which mouse events the program asked for.
type MouseMode int

// Mouse modes, by their DEC private mode number.
const (
	MouseNone   MouseMode = 0
	MouseX10    MouseMode = 9
	MouseClick  MouseMode = 1000
	MouseDrag   MouseMode = 1002
	MouseMotion MouseMode = 1003
)

// Modes are the modes a client's terminal has to be put into to stand in for
// this one.
type Modes struct {
	AltScreen       bool
	AppCursor       bool // DECCKM
	AppKeypad       bool // DECKPAM
	BracketedPaste  bool
	FocusEvents     bool
	Mouse           MouseMode
	MouseSGR        bool // 1006
	AutoWrap        bool
	Insert          bool
	Origin          bool
	NewLine         bool  // LNM
	ReverseVideo    bool  // DECSCNM
	KittyFlags      int   // the kitty keyboard flags in force
	ModifyOther     int   // xterm modifyOtherKeys level
	ThemeUpdates    bool  // 2031; the server's to answer, so neither repaints nor the clients' stream set it
	AlternateScroll bool  // 1007
	Tabs            []int // columns of tab stops, nil for every eighth
}

// Notice is something the program sent to its terminal in addition to the screen: a bell
// (OSC -1), or a notification or signal by OSC 7, 9, 99, 133, 777, 7501. Its
// payload is UTF-8 of at most 64 KB, as the program wrote it: see Printable.
type Notice struct {
	OSC     int
	Payload string
	At      int64 // stream offset just after it
}

// Handlers are called from within Write, on its goroutine; nil ones are left out.
// They must not call back into the Terminal.
type Handlers struct {
	// Reply is the answer to a query that ended at stream offset at (the
	// offset just after the query's last byte). Offsets rise with every call.
	Reply  func(reply []byte, at int64)
	Title  func(title string)
	Notice func(Notice)
	// Clipboard is what the program writes to the clipboard by OSC 52: the
	// selections, a semicolon and base64, at most 64 KB and of these characters
	// alone.
	Clipboard func(write string)
}

// Options of a new Terminal.
type Options struct {
	Cols, Rows int
	Scrollback int // lines kept above the main screen
	Handlers   Handlers
	Now        func() time.Time // the clock for synchronized updates; nil is time.Now

	// The answers to OSC 10 and 11 queries until the program sets colours of its
	// own; DefaultColor is light grey on black.
	Foreground, Background Color
}

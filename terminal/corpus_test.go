package terminal

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// stream is one recorded output with the screen a reference terminal shows
// after it (see docs/decisions/emulator.md).
type stream struct {
	Name  string
	Bytes []byte

	Cols   int `json:"input_cols"`
	Rows   int `json:"input_rows"`
	Resize []struct {
		Offset, Cols, Rows int
	}
	expected
	AltScreen     bool   `json:"alt_screen"`
	Title         string `json:"title"`
	CursorVisible bool   `json:"cursor_visible"`
	Replies       string
	Scrollback    int
	Modes         struct {
		AppCursor, BracketedPaste, Focus, Wrap, Insert, Origin bool
		Mouse                                                  string
	}
	// Graphemes is the screen of the reference with cluster widths, where it differs.
	Graphemes   *expected `json:"grapheme_variant"`
	Checkpoints []struct {
		expected
		Offset    int
		AltScreen bool `json:"alt_screen"`
	}
}

type expected struct {
	Lines  []string
	Styles [][]run
	Cursor struct {
		Row, Col    int
		PendingWrap bool `json:"pending_wrap"`
	}
}

// run is [start, length, "fg/bg/attributes"].
type run struct {
	start, length int
	style         string
}

func (r *run) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&r.start, &r.length, &r.style})
}

// corpus is the streams of one group: esc, tui, agent or reply.
func corpus(t testing.TB, group string) []*stream {
	t.Helper()
	streams, err := loadCorpus(group)()
	if err != nil {
		t.Fatalf("reading corpus %s: %v", group, err)
	}
	return streams
}

var corpora sync.Map

func loadCorpus(group string) func() ([]*stream, error) {
	load, _ := corpora.LoadOrStore(group, sync.OnceValues(func() ([]*stream, error) {
		return readCorpus(filepath.Join("testdata", group+".tar.gz"))
	}))
	return load.(func() ([]*stream, error))
}

func readCorpus(path string) ([]*stream, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var streams []*stream
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return streams, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		if name, ok := strings.CutSuffix(h.Name, ".bytes"); ok {
			streams = append(streams, &stream{Name: name, Bytes: content})
			continue
		}
		if err := json.Unmarshal(content, streams[len(streams)-1]); err != nil {
			return nil, fmt.Errorf("%s: %w", h.Name, err)
		}
	}
}

func contested(t testing.TB) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "contested.json"))
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]string)
	if err := json.Unmarshal(b, &names); err != nil {
		t.Fatal(err)
	}
	return names
}

// fixedClock keeps synchronized updates from depending on the time of the test.
func fixedClock() time.Time { return time.Unix(1_700_000_000, 0) }

// referenceScrollback is how many lines the reference kept.
const referenceScrollback = 1000

func (s *stream) terminal() *Terminal {
	return New(Options{Cols: s.Cols, Rows: s.Rows, Scrollback: referenceScrollback, Now: fixedClock})
}

// play writes the stream from its first byte on in the pieces that end at the
// offsets of cuts, with the resizes where they were, and calls at after each
// piece.
func (s *stream) play(term *Terminal, cuts []int, at func(offset int)) {
	s.playFrom(term, 0, cuts, at)
}

func (s *stream) playFrom(term *Terminal, from int, cuts []int, at func(offset int)) {
	ends := make(map[int]bool)
	for _, cut := range cuts {
		ends[cut] = true
	}
	for _, r := range s.Resize {
		ends[r.Offset] = true
	}
	start := from
	for i := from; i <= len(s.Bytes); i++ {
		if !ends[i] && i != len(s.Bytes) {
			continue
		}
		term.Write(s.Bytes[start:i])
		if i != from || i == 0 {
			for _, r := range s.Resize {
				if r.Offset == i {
					term.Resize(r.Cols, r.Rows)
				}
			}
		}
		if at != nil {
			at(i)
		}
		start = i
	}
}

// thirteen are the ends of 13 pieces of about one length.
func (s *stream) thirteen() []int {
	cuts := make([]int, 0, 13)
	for i := 1; i <= 13; i++ {
		cuts = append(cuts, len(s.Bytes)*i/13)
	}
	return cuts
}

// difference is empty when the snapshot shows what was expected.
func (e *expected) difference(s *Snapshot, styles bool) string {
	c := s.Cursor
	if c.Row != e.Cursor.Row || c.Col != e.Cursor.Col || c.PendingWrap != e.Cursor.PendingWrap {
		return fmt.Sprintf("cursor %d,%d pending %v, want %+v", c.Row, c.Col, c.PendingWrap, e.Cursor)
	}
	if len(e.Lines) != s.Rows {
		return fmt.Sprintf("%d rows, want %d", s.Rows, len(e.Lines))
	}
	for y, l := range s.Lines {
		got := strings.TrimRight(strings.ReplaceAll(l.Text(), "\u00a0", " "), " ")
		want := strings.TrimRight(strings.ReplaceAll(e.Lines[y], "\u00a0", " "), " ")
		if got != want {
			return fmt.Sprintf("row %d\n got %q\nwant %q", y, got, want)
		}
	}
	if !styles {
		return ""
	}
	for y, l := range s.Lines {
		want := make([]string, s.Cols)
		for _, r := range e.Styles[y] {
			for x := r.start; x < r.start+r.length && x < s.Cols; x++ {
				want[x] = r.style
			}
		}
		for x := range want {
			if want[x] == "" {
				want[x] = "d/d/"
			}
			if got := referenceStyle(l.Cell(x).Style); got != want[x] {
				return fmt.Sprintf("style at %d,%d is %s, want %s: %q", y, x, got, want[x], l.Text())
			}
		}
	}
	return ""
}

func referenceStyle(s Style) string {
	color := func(c Color) string {
		switch {
		case c == DefaultColor:
			return "d"
		case c&colorPalette != 0:
			return fmt.Sprintf("p%d", uint8(c))
		}
		return fmt.Sprintf("#%06x", uint32(c)&0xffffff)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s/", color(s.Fg), color(s.Bg))
	for _, a := range []struct {
		on     bool
		letter byte
	}{
		{s.Attr&Bold != 0, 'B'}, {s.Attr&Faint != 0, 'D'}, {s.Attr&Italic != 0, 'I'}, {s.Underline != NoUnderline, 'U'},
		{s.Attr&Blink != 0, 'K'}, {s.Attr&Reverse != 0, 'V'}, {s.Attr&Hidden != 0, 'H'}, {s.Attr&Strike != 0, 'S'},
	} {
		if a.on {
			b.WriteByte(a.letter)
		}
	}
	return b.String()
}

// difference is empty when the terminal is as the reference was at the end.
func (s *stream) difference(term *Terminal) string {
	snap := term.Snapshot(0)
	diff := s.expected.difference(snap, true)
	if diff != "" && s.Graphemes != nil && s.Graphemes.difference(snap, true) == "" {
		diff = ""
	}
	if diff != "" {
		return diff
	}
	m := snap.Modes
	want := s.Modes
	mouse := map[MouseMode]string{MouseNone: "none", MouseX10: "x10", MouseClick: "vt200", MouseDrag: "drag", MouseMotion: "any"}[m.Mouse]
	switch {
	case m.AltScreen != s.AltScreen:
		return fmt.Sprintf("alternate screen %v", m.AltScreen)
	case snap.Title != s.Title && cleanText(s.Title, maxTitle) != snap.Title:
		return fmt.Sprintf("title %q, want %q", snap.Title, s.Title)
	case snap.Cursor.Visible != s.CursorVisible:
		return fmt.Sprintf("cursor visible %v", snap.Cursor.Visible)
	case m.AppCursor != want.AppCursor, m.BracketedPaste != want.BracketedPaste, m.FocusEvents != want.Focus,
		m.AutoWrap != want.Wrap, m.Insert != want.Insert, m.Origin != want.Origin, mouse != want.Mouse:
		return fmt.Sprintf("modes %+v, want %+v", m, want)
	}
	return ""
}

func TestCorpus(t *testing.T) {
	either := contested(t)
	for _, group := range []struct {
		name string
		bar  float64 // share that must be right
	}{{"esc", 0.95}, {"tui", 1}, {"agent", 0.97}} {
		t.Run(group.name, func(t *testing.T) {
			right, total := 0, 0
			points, pointsTotal := 0, 0
			for _, s := range corpus(t, group.name) {
				term := s.terminal()
				s.play(term, s.thirteen(), nil)
				diff := s.difference(term)
				if term.Panics() > 0 {
					t.Errorf("%s: panic", s.Name)
				}
				if _, ok := either[s.Name]; !ok {
					total++
					if diff == "" {
						right++
					} else {
						t.Logf("%s: %s", s.Name, diff)
					}
				}
				good := s.checkpointsRight(t)
				points += good
				pointsTotal += len(s.Checkpoints)
			}
			t.Logf("%d of %d streams, %d of %d checkpoints right", right, total, points, pointsTotal)
			if float64(right) < group.bar*float64(total) {
				t.Errorf("%d of %d streams right, want %.0f %%", right, total, group.bar*100)
			}
			if float64(points) < group.bar*float64(pointsTotal) {
				t.Errorf("%d of %d checkpoints right, want %.0f %%", points, pointsTotal, group.bar*100)
			}
		})
	}
}

// checkpointsRight is how many of the screens on the way are as the reference's.
func (s *stream) checkpointsRight(t *testing.T) int {
	cuts := s.thirteen()
	for _, c := range s.Checkpoints {
		cuts = append(cuts, c.Offset)
	}
	good := 0
	term := s.terminal()
	s.play(term, cuts, func(offset int) {
		for _, c := range s.Checkpoints {
			if c.Offset != offset {
				continue
			}
			snap := term.Snapshot(0)
			diff := c.expected.difference(snap, false)
			if diff == "" && snap.Modes.AltScreen != c.AltScreen {
				diff = "alternate screen"
			}
			if diff == "" {
				good++
			} else {
				t.Logf("%s at %d: %s", s.Name, offset, diff)
			}
		}
	})
	return good
}

package terminal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// everyStream calls f with each stream of the corpus as a subtest of its group.
// These tests have one goroutine each, so with the race detector, which slows
// them down tenfold and can find nothing, every fourth stream is enough.
func everyStream(t *testing.T, f func(t *testing.T, s *stream)) {
	for _, group := range []string{"esc", "tui", "agent", "reply"} {
		t.Run(group, func(t *testing.T) {
			for i, s := range corpus(t, group) {
				if raceDetector && i%4 != 0 {
					continue
				}
				t.Run(s.Name, func(t *testing.T) { f(t, s) })
			}
		})
	}
}

// sameLine says where two lines look different; "" when nowhere. A blank that
// was printed and one that was erased look the same.
func sameLine(a, b *Line, cols int) string {
	for x := range cols {
		ca, cb := a.Cell(x), b.Cell(x)
		if ca.Rune == ' ' {
			ca.Rune = 0
		}
		if cb.Rune == ' ' {
			cb.Rune = 0
		}
		if ca != cb {
			return fmt.Sprintf("column %d: %+v, want %+v (%q)", x, ca, cb, b.Text())
		}
	}
	return ""
}

// samePicture says how got looks different from want; "" when it does not.
func samePicture(got, want *Snapshot) string {
	if got.Cols != want.Cols || got.Rows != want.Rows {
		return "size"
	}
	for y := range want.Lines {
		if diff := sameLine(got.Lines[y], want.Lines[y], want.Cols); diff != "" {
			return fmt.Sprintf("row %d %s", y, diff)
		}
	}
	if got.Cursor != want.Cursor {
		return fmt.Sprintf("cursor %+v, want %+v", got.Cursor, want.Cursor)
	}
	gotModes, wantModes := got.Modes, want.Modes
	gotModes.ThemeUpdates, wantModes.ThemeUpdates = false, false // kept from clients
	if !reflect.DeepEqual(gotModes, wantModes) {
		return fmt.Sprintf("modes %+v, want %+v", gotModes, wantModes)
	}
	if got.Title != want.Title {
		return fmt.Sprintf("title %q, want %q", got.Title, want.Title)
	}
	if !reflect.DeepEqual(got.Colors, want.Colors) {
		return fmt.Sprintf("colors %+v, want %+v", got.Colors, want.Colors)
	}
	return ""
}

// sameState is samePicture and what is not seen at once: margins, pen, keyboard
// flags, and the other screen.
func sameState(got, want *Terminal) string {
	if diff := samePicture(got.Snapshot(0), want.Snapshot(0)); diff != "" {
		return diff
	}
	gotPen, wantPen := got.pen, want.pen
	wantPen.attr &^= cellProtected // clients get what an erase leaves, not what it would spare
	if gotPen != wantPen {
		return fmt.Sprintf("pen %+v, want %+v", gotPen, wantPen)
	}
	if got.modes.sync != want.modes.sync || got.modes.blink != want.modes.blink {
		return "mode 2026 or 12"
	}
	for i, pair := range [][2]*screen{{got.main, want.main}, {got.alt, want.alt}} {
		g, w := pair[0], pair[1]
		if i == 1 && want.scr == want.main {
			continue
		}
		if w == want.scr && (g.top != w.top || g.bottom != w.bottom) {
			return fmt.Sprintf("margins %d-%d, want %d-%d", g.top, g.bottom, w.top, w.bottom)
		}
		if !slices.Equal(g.kitty, w.kitty) {
			return fmt.Sprintf("screen %d: keyboard %v, want %v", i, g.kitty, w.kitty)
		}
		for y := range w.rows {
			if diff := sameLine(g.rows[y], w.rows[y], want.cols); diff != "" {
				return fmt.Sprintf("screen %d row %d %s", i, y, diff)
			}
		}
	}
	return ""
}

// quiet is a terminal of the size of like that fails the test when asked anything.
func quiet(t *testing.T, like *Terminal) *Terminal {
	return New(Options{
		Cols: like.cols, Rows: like.rows, Scrollback: referenceScrollback, Now: fixedClock,
		Handlers: Handlers{Reply: func(reply []byte, _ int64) { t.Errorf("a query got through: reply %q", reply) }},
	})
}

func TestRepaintGivesPictureAndModes(t *testing.T) {
	everyStream(t, func(t *testing.T, s *stream) {
		term := s.terminal()
		s.play(term, s.thirteen(), func(offset int) {
			fresh := quiet(t, term)
			fresh.Write(term.Repaint(RepaintOptions{}))
			if diff := sameState(fresh, term); diff != "" {
				t.Errorf("repaint at %d: %s", offset, diff)
			}
			fresh.Write(term.Repaint(RepaintOptions{}))
			if diff := sameState(fresh, term); diff != "" {
				t.Errorf("repaint over itself at %d: %s", offset, diff)
			}
		})
		dirty := quiet(t, term)
		dirty.Write([]byte("\x1b[?1049h\x1b[>5u\x1b[3;4r\x1b[?6;1;5;1000;1006;2004h\x1b[4h\x1b[20h\x1b[31;44mmess\x1b]8;;http://x/\x07\x1b7\x1b[?25l\x1b[3g\x1b[>4;2m\x1b]11;#fff\x07"))
		dirty.Write(term.Repaint(RepaintOptions{}))
		if diff := sameState(dirty, term); diff != "" {
			t.Errorf("repaint over a mess: %s", diff)
		}
	})
}

func TestRepaintHistory(t *testing.T) {
	for _, s := range corpus(t, "agent") {
		term := s.terminal()
		s.play(term, nil, nil)
		fresh := quiet(t, term)
		fresh.Write(term.Repaint(RepaintOptions{History: 100}))
		if diff := sameState(fresh, term); diff != "" {
			t.Errorf("%s: %s", s.Name, diff)
		}
		got, want := fresh.Snapshot(1000).History, term.Snapshot(100).History
		if len(got) != len(want) {
			t.Errorf("%s: %d lines of history, want %d", s.Name, len(got), len(want))
			continue
		}
		for i := range want {
			if diff := sameLine(got[i], want[i], term.cols); diff != "" {
				t.Errorf("%s: history %d %s", s.Name, i, diff)
			}
		}
	}
}

// TestCheckpointAnywhere cuts each stream at sampled offsets, in the middle of
// sequences and runes too, and goes on with what a checkpoint gives.
func TestCheckpointAnywhere(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	everyStream(t, func(t *testing.T, s *stream) {
		whole := s.terminal()
		s.play(whole, nil, nil)
		want := whole.Checkpoint()
		var cuts []int
		if len(s.Bytes) < 200 {
			for i := range s.Bytes {
				cuts = append(cuts, i)
			}
		} else {
			cuts = append(s.thirteen(), len(s.Bytes)/2, len(s.Bytes)-1)
			for range 4 {
				cuts = append(cuts, random.IntN(len(s.Bytes)))
			}
		}
		points := make(map[int][]byte)
		term := s.terminal()
		s.play(term, cuts, func(offset int) { points[offset] = term.Checkpoint() })
		for offset, point := range points {
			again, err := Restore(Options{Scrollback: referenceScrollback, Now: fixedClock}, point)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(again.Checkpoint(), point) {
				t.Fatalf("a checkpoint of what was restored at %d is another", offset)
			}
			s.playFrom(again, offset, nil, nil)
			if again.Offset() != int64(len(s.Bytes)) {
				t.Errorf("from %d: offset %d, want %d", offset, again.Offset(), len(s.Bytes))
			}
			if diff := sameState(again, whole); diff != "" {
				t.Errorf("from %d: %s", offset, diff)
			}
			if got := again.withoutRevision(); !bytes.Equal(got, whole.withoutRevision()) {
				t.Errorf("from %d: another state than in one go", offset)
			}
		}
		if len(want) > 4<<20 {
			t.Errorf("checkpoint of %d bytes", len(want))
		}
	})
}

// withoutRevision is the checkpoint with what depends on how often was written
// left out: the revision, and clusters that no cell names.
func (t *Terminal) withoutRevision() []byte {
	c := *t
	c.revision = 0
	return c.Checkpoint()
}

func TestRestoreRefusesDamage(t *testing.T) {
	term := New(Options{Cols: 40, Rows: 10, Scrollback: 10})
	term.Write([]byte("some \x1b[31mtext\x1b]8;;https://example.com/\x07link e\u0301"))
	point := term.Checkpoint()
	for i := range point {
		damaged := bytes.Clone(point)
		damaged[i] ^= 0x41
		if _, err := Restore(Options{}, damaged); err == nil {
			t.Fatalf("byte %d changed without an error", i)
		}
		if _, err := Restore(Options{}, point[:i]); err == nil {
			t.Fatalf("cut at %d without an error", i)
		}
	}
}

// TestPassGivesTheSamePicture feeds the filtered stream to a second terminal,
// taken in pieces at arbitrary cuts, from the start and from a repaint midway.
func TestPassGivesTheSamePicture(t *testing.T) {
	everyStream(t, func(t *testing.T, s *stream) {
		term := s.terminal()
		term.SetPass(true)
		viewer := quiet(t, term)
		var late *Terminal
		half := len(s.Bytes) / 2
		s.play(term, append(s.thirteen(), half, half+1, half+2), func(offset int) {
			out := term.TakePass()
			viewer.Write(out)
			if late != nil {
				late.Write(out)
			}
			if c, r := viewer.Size(); c != term.cols || r != term.rows {
				viewer.Resize(term.cols, term.rows)
				if late != nil {
					late.Resize(term.cols, term.rows)
				}
			}
			if offset == half {
				late = quiet(t, term)
				late.Write(term.Repaint(RepaintOptions{}))
			}
		})
		if diff := samePicture(viewer.Snapshot(0), term.Snapshot(0)); diff != "" {
			t.Errorf("from the start: %s", diff)
		}
		if len(s.Resize) == 0 {
			if diff := samePicture(late.Snapshot(0), term.Snapshot(0)); diff != "" {
				t.Errorf("from a repaint: %s", diff)
			}
		}
	})
}

// TestRepaintIsOneUpdate: a client that has begun a synchronized update sees
// nothing of a repaint before its end.
func TestRepaintIsOneUpdate(t *testing.T) {
	for _, c := range []struct{ in, end string }{{"text", "\x1b[?2026l"}, {"\x1b[?1049h\x1b[?2026htext", "\x1b[?2026h"}} {
		term := New(Options{Cols: 20, Rows: 5, Now: fixedClock})
		term.Write([]byte(c.in))
		out := term.Repaint(RepaintOptions{})
		if !bytes.HasSuffix(out, []byte(c.end)) || bytes.Count(out, []byte("2026")) != 1 {
			t.Errorf("after %q: %q", c.in, out)
		}
	}
}

// TestCheckpointKeepsTurns: where turns began, and which text came at which offset, is in a checkpoint. One of an
// earlier version, which ends before that, can still be read.
func TestCheckpointKeepsTurns(t *testing.T) {
	term := New(Options{Cols: 20, Rows: 3, Scrollback: 50})
	for i := range 10 {
		term.MarkTurn(term.Offset())
		fmt.Fprintf(term, "turn %d\r\nand more\r\n", i)
	}
	point := term.Checkpoint()
	again, err := Restore(Options{Scrollback: 50}, point)
	if err != nil {
		t.Fatal(err)
	}
	want, got := term.Snapshot(50), again.Snapshot(50)
	if !slices.Equal(got.Turns, want.Turns) || len(got.Turns) != 10 {
		t.Errorf("turns %v, want %v", got.Turns, want.Turns)
	}
	for i, l := range got.History {
		if l.Offset() != want.History[i].Offset() || l.Offset() == 0 {
			t.Errorf("line %d is from %d, want %d", i, l.Offset(), want.History[i].Offset())
		}
	}
	few, err := Restore(Options{Scrollback: 4}, point) // with a lower limit
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range few.Snapshot(50).History {
		if l.Offset() != want.History[len(want.History)-4+i].Offset() {
			t.Errorf("line %d of few is from %d", i, l.Offset())
		}
	}
	var places encoder
	places.places(term)
	old := point[:len(point)-4-len(places.out)]
	again, err = Restore(Options{Scrollback: 50}, binary.BigEndian.AppendUint32(old, crc32.ChecksumIEEE(old)))
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Snapshot(50); !slices.Equal(got.Text(), want.Text()) || len(got.Turns) != 0 {
		t.Errorf("%q with turns %v", got.Text(), got.Turns)
	}
}

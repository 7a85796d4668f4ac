package terminal

import (
	"bytes"
	"fmt"
	"testing"
)

// invariants says what of the grid does not hold; nil when all does.
func (t *Terminal) invariants() error {
	if t.panics > 0 {
		return fmt.Errorf("%d panics", t.panics)
	}
	if t.history.len() > t.history.max {
		return fmt.Errorf("%d lines of history, limit %d", t.history.len(), t.history.max)
	}
	for i, s := range []*screen{t.main, t.alt} {
		switch {
		case len(s.rows) != t.rows:
			return fmt.Errorf("screen %d: %d rows of %d", i, len(s.rows), t.rows)
		case s.x < 0 || s.x > t.cols || s.y < 0 || s.y >= t.rows:
			return fmt.Errorf("screen %d: cursor %d,%d", i, s.y, s.x)
		case s.top < 0 || s.top > s.bottom || s.bottom >= t.rows:
			return fmt.Errorf("screen %d: margins %d-%d", i, s.top, s.bottom)
		case len(s.kitty) > maxKitty:
			return fmt.Errorf("screen %d: %d keyboard flags", i, len(s.kitty))
		}
		for y, l := range s.rows {
			if err := l.invariants(t.cols); err != nil {
				return fmt.Errorf("screen %d row %d: %w", i, y, err)
			}
		}
	}
	for i := range t.history.len() {
		if err := t.history.at(i).invariants(MaxCols); err != nil {
			return fmt.Errorf("history %d: %w", i, err)
		}
	}
	return nil
}

func (l *Line) invariants(cols int) error {
	if len(l.cells) > cols {
		return fmt.Errorf("%d cells of %d", len(l.cells), cols)
	}
	if most := 2*cap(l.cells) + 16 + MaxCols; len(l.clusters) > most || len(l.extras) > most {
		return fmt.Errorf("%d clusters, %d extras", len(l.clusters), len(l.extras))
	}
	for x, c := range l.cells {
		wide := c.ch&cellWide != 0
		tail := c.ch&cellTail != 0
		switch {
		case wide && (x+1 == len(l.cells) || l.cells[x+1].ch&cellTail == 0):
			return fmt.Errorf("half a wide cell at %d", x)
		case tail && (x == 0 || l.cells[x-1].ch&cellWide == 0):
			return fmt.Errorf("right half alone at %d", x)
		case c.ch&cellCluster != 0 && int(c.ch&cellValue) >= len(l.clusters):
			return fmt.Errorf("no cluster %d at %d", c.ch&cellValue, x)
		case int(c.attr>>extraShift) > len(l.extras):
			return fmt.Errorf("no extra %d at %d", c.attr>>extraShift, x)
		}
	}
	return nil
}

// FuzzWrite writes arbitrary bytes in two pieces with a resize between, on small
// screens where edges are near. Whatever comes, the grid stays whole; snapshots,
// repaints and checkpoints give it back; and what clients are sent shows the
// same and asks nothing.
func FuzzWrite(f *testing.F) {
	for _, group := range []string{"esc", "reply"} {
		for _, s := range corpus(f, group) {
			f.Add(s.Bytes, uint8(s.Cols), uint8(s.Rows), uint16(len(s.Bytes)/2), uint8(20), uint8(5))
		}
	}
	for _, s := range corpus(f, "agent") {
		if len(s.Bytes) < 12_000 {
			f.Add(s.Bytes[:4000], uint8(s.Cols), uint8(s.Rows), uint16(1500), uint8(80), uint8(24))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, cols, rows uint8, cut uint16, cols2, rows2 uint8) {
		term := New(Options{Cols: int(cols % 130), Rows: int(rows % 50), Scrollback: 30, Now: fixedClock})
		term.SetPass(true)
		viewer := quiet(t, term)
		half := min(int(cut), len(data))
		term.Write(data[:half])
		before := term.Snapshot(10)
		texts := before.Text()
		checkGivenBack(t, term, viewer)

		point := term.Checkpoint()
		term.Resize(int(cols2%130), int(rows2%50))
		if err := term.invariants(); err != nil {
			t.Fatalf("after resize: %v", err)
		}
		viewer = quiet(t, term)
		viewer.Write(term.Repaint(RepaintOptions{History: 5}))
		term.Write(data[half:])
		checkGivenBack(t, term, viewer)

		again, err := Restore(Options{Scrollback: 30, Now: fixedClock}, point)
		if err != nil {
			t.Fatal(err)
		}
		again.Resize(int(cols2%130), int(rows2%50))
		again.Write(data[half:])
		if diff := sameState(again, term); diff != "" {
			t.Fatalf("from a checkpoint: %s", diff)
		}
		for i, text := range before.Text() {
			if text != texts[i] {
				t.Fatalf("row %d of a snapshot changed from %q to %q", i, texts[i], text)
			}
		}
	})
}

func checkGivenBack(t *testing.T, term, viewer *Terminal) {
	t.Helper()
	if err := term.invariants(); err != nil {
		t.Fatal(err)
	}
	fresh := quiet(t, term)
	fresh.Write(term.Repaint(RepaintOptions{History: 5}))
	if diff := sameState(fresh, term); diff != "" {
		t.Fatalf("repaint: %s", diff)
	}
	viewer.Write(term.TakePass())
	if diff := samePicture(viewer.Snapshot(0), term.Snapshot(0)); diff != "" {
		t.Fatalf("for clients: %s", diff)
	}
	again, err := Restore(Options{Scrollback: 30, Now: fixedClock}, term.Checkpoint())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Checkpoint(), term.Checkpoint()) {
		t.Fatal("a checkpoint of what was restored is another")
	}
	if err := again.invariants(); err != nil {
		t.Fatalf("restored: %v", err)
	}
}

// FuzzRestore takes arbitrary bytes for a checkpoint's content.
func FuzzRestore(f *testing.F) {
	term := New(Options{Cols: 20, Rows: 4, Scrollback: 10})
	term.Write([]byte("a\r\n\x1b[31mb\u4f60\u597d e\u0301\x1b]8;;http://x/\x07c\x1b[?1049hd\x1b["))
	point := term.Checkpoint()
	f.Add(point[len(checkpointVersion) : len(point)-4])
	f.Fuzz(func(t *testing.T, content []byte) {
		d := &decoder{in: content}
		term := New(Options{Cols: 10, Rows: 10, Scrollback: 10})
		if d.state(term); d.failed || len(d.in) > 0 {
			return
		}
		term.panics = 0 // those that are on record
		if err := term.invariants(); err != nil {
			t.Fatal(err)
		}
		term.Write([]byte("text\u4f60\u0301\x1b[2;2H\x1b[K\x1b[?1049l\r\n"))
		term.Resize(7, 3)
		if err := term.invariants(); err != nil {
			t.Fatal(err)
		}
		term.Repaint(RepaintOptions{History: 10})
		term.Snapshot(10).Text()
	})
}

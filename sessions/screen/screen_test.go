package screen

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"berth/terminal"
)

// stage is a session for its screen alone.
type stage struct {
	*Screen
	now                        time.Time
	holder, past, read, needed bool
	cols, rows                 int
	log                        []string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	st := &stage{now: time.Now(), holder: true, needed: true, cols: 20, rows: 4}
	note := func(what string) func() { return func() { st.log = append(st.log, what) } }
	st.Screen = New(Env{
		Now: func() time.Time { return st.now },
		Options: func() terminal.Options {
			return terminal.Options{Cols: st.cols, Rows: st.rows, Scrollback: 100, Now: func() time.Time { return st.now }}
		},
		Answer: func(data []byte, at int64) bool {
			if st.holder {
				st.log = append(st.log, fmt.Sprintf("answer %d", at))
			}
			return st.holder
		},
		Past: func() bool { return st.past }, Read: func() bool { return st.read },
		Sized: func(cols, rows int) { st.cols, st.rows = cols, rows }, Resizing: note("resizing"), Resized: note("resized"),
		Needed: func() bool { return st.needed }, Dropped: note("dropped"),
	})
	if restored, err := st.Restore(nil); restored || err != nil {
		t.Fatalf("%v, %v", restored, err)
	}
	return st
}

func (st *stage) logged(t *testing.T, want ...string) {
	t.Helper()
	if !reflect.DeepEqual(st.log, want) {
		t.Errorf("%q happened, want %q", st.log, want)
	}
	st.log = nil
}

func (st *stage) text() string {
	return strings.TrimRight(strings.Join(st.Terminal().Snapshot(0).Text(), "\n"), "\n ")
}

// A query is answered once, also by the next server, which reads the output again.
func TestQueryIsAnsweredOnce(t *testing.T) {
	st := newStage(t)
	const query = "\x1b[6n"
	st.Write([]byte(query))
	st.logged(t, "answer 4")
	next := newStage(t)
	next.Answer(st.Answered())
	next.Write([]byte(query + query))
	next.logged(t, "answer 8")
	// Without a holder the query stays unanswered, so the next server may answer it.
	next.holder = false
	next.Write([]byte(query))
	if next.logged(t); next.Answered() != 8 {
		t.Errorf("it counts as answered up to %d", next.Answered())
	}
}

// No caller gets a picture from inside a synchronized update, or from before what the last server saw.
func TestPictureIsSettled(t *testing.T) {
	st := newStage(t)
	seen := 0
	look := func() { st.WhenSettled(func() { seen++ }) }
	if look(); seen != 1 {
		t.Fatal("a settled picture is kept back")
	}
	st.Write([]byte("\x1b[?2026h"))
	look()
	if st.Settle(); seen != 1 || !st.Awaited() || st.Due(st.now).After(st.now.Add(settleEvery)) {
		t.Errorf("%d callers saw a half drawn picture; the loop looks again at %s", seen-1, st.Due(st.now))
	}
	st.past = true
	st.Write([]byte("\x1b[?2026l"))
	if st.Settle(); seen != 1 {
		t.Error("a caller saw an old picture")
	}
	st.past = false
	if st.Settle(); seen != 2 || st.Awaited() || !st.Due(st.now).IsZero() {
		t.Errorf("after the update %d callers saw the picture; the loop looks again at %s", seen-1, st.Due(st.now))
	}
	st.past = true
	look()
	if st.Close(); seen != 3 {
		t.Error("at the loop's end a caller is left waiting")
	}
}

// A new program in an old session finds a new terminal: no modes, and no title. The history stays. On a screen
// that a driver reads, nothing of the program before is left.
func TestProgramStartsOnAFreshScreen(t *testing.T) {
	for _, read := range []bool{false, true} {
		st := newStage(t)
		st.read = read
		st.Begin(true, 20, 4)
		st.Write([]byte("\x1b]0;old\x07one\r\ntwo\x1b[?2004h\x1b[?1049hdialog\x1b["))
		at := st.Offset()
		st.Begin(false, 30, 5)
		snap := st.Terminal().Snapshot(10)
		text := st.text()
		if left := strings.Contains(text, "two"); left == read || strings.Contains(text, "dialog") {
			t.Errorf("read by a driver %v: the screen is %q", read, text)
		}
		if read && (len(snap.History) < 2 || !strings.Contains(snap.History[1].Text(), "two")) {
			t.Errorf("the history has %d lines", len(snap.History))
		}
		if st.Offset() != at || st.Terminal().Title() != "" || !reflect.DeepEqual(st.Terminal().Modes(), newStage(t).Terminal().Modes()) {
			t.Errorf("offset %d after %d, title %q, modes %+v", st.Offset(), at, st.Terminal().Title(), st.Terminal().Modes())
		}
		if cols, rows := st.Terminal().Size(); cols != 30 || rows != 5 || st.cols != 30 {
			t.Errorf("size %dx%d", cols, rows)
		}
		st.logged(t, "resizing", "resized")
	}
}

// Output that is gone ends the sequence that it began in.
func TestSkip(t *testing.T) {
	st := newStage(t)
	st.Write([]byte("a\x1b]0;tit"))
	if from := st.Skip(100); from != 8 || st.Offset() != 100 {
		t.Errorf("from %d to %d", from, st.Offset())
	}
	if st.Write([]byte("b")); st.text() != "ab" || st.Offset() != 101 {
		t.Errorf("screen %q at %d", st.text(), st.Offset())
	}
}

// An ended session's emulator leaves memory a minute after the last look, and the next server
// restores the same picture.
func TestIdleEmulatorIsDropped(t *testing.T) {
	st := newStage(t)
	st.Write([]byte("\x1b]0;a title\x07bye"))
	saved := st.Terminal().Checkpoint()
	st.Use()
	late := st.now.Add(dropAfter + time.Second)
	if st.DropIfIdle(late); st.Terminal() == nil || !st.Due(st.now).IsZero() {
		t.Error("a session that needs its emulator lost it")
	}
	st.needed = false
	if st.DropIfIdle(st.now.Add(dropAfter)); st.Terminal() == nil || !st.Due(st.now).Equal(late) {
		t.Errorf("it is dropped too soon, or looked at again at %s", st.Due(st.now))
	}
	if st.DropIfIdle(late); st.Terminal() != nil || !st.Due(late).IsZero() {
		t.Error("it is kept")
	}
	st.logged(t, "dropped")
	if title, offset := st.Recalled(); title != "a title" || offset != 15 {
		t.Errorf("%q at %d is left of it", title, offset)
	}
	if restored, err := st.Restore(saved); !restored || err != nil || st.text() != "bye" {
		t.Errorf("%v, %v: %q", restored, err, st.text())
	}
	if restored, err := st.Restore([]byte("torn")); restored || err == nil || st.text() != "" {
		t.Errorf("of a torn checkpoint: %v, %v: %q", restored, err, st.text())
	}
}

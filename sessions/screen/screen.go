// Package screen is a session's screen: the emulator, what it answers to the program's queries, and
// the callers that wait for a picture that is not half drawn. It lives on the session's loop, and
// needs no lock.
//
// A session that runs has its emulator in memory. The emulator of an ended session is dropped when
// no client has looked at it for a minute, and restored when one looks again.
package screen

import (
	"strings"
	"time"

	"berth/terminal"
)

const (
	// dropAfter is how long an ended session's emulator is unused before it leaves memory.
	dropAfter = time.Minute
	// settleEvery is how often the loop looks whether a synchronized update has ended, while a
	// caller waits for that.
	settleEvery = 10 * time.Millisecond
)

// Env is what the screen uses of its session.
type Env struct {
	Now func() time.Time
	// Options are those of a new emulator, with the size that the session has. The screen sets
	// their Handlers.Reply itself.
	Options func() terminal.Options
	// Answer passes the answer to a query, which ended at that offset of the output, to the holder.
	// It is false without a holder.
	Answer func(data []byte, at int64) bool
	// Past says that the output written last was printed to the server before this one, and that
	// more of it follows.
	Past func() bool
	// Read says that a driver reads the screen.
	Read func() bool
	// Sized keeps the size. Resizing and Resized are called before and after the emulator gets
	// another one.
	Sized             func(cols, rows int)
	Resizing, Resized func()
	// Needed says that a session keeps its emulator, also if no caller looks. Dropped is called when
	// the emulator has left memory.
	Needed  func() bool
	Dropped func()
}

// Screen is one session's screen.
type Screen struct {
	env      Env
	term     *terminal.Terminal // nil: not in memory
	answered int64              // queries that ended at or before it are not answered again
	waiting  []func()           // they run when the picture is settled
	usedAt   time.Time          // when a caller last wanted it
	title    string             // of the emulator that is not in memory
	offset   int64              // likewise
}

// New is a screen without an emulator.
func New(env Env) *Screen { return &Screen{env: env} }

// Terminal is the emulator; nil for an ended session that no client looks at.
func (s *Screen) Terminal() *terminal.Terminal { return s.term }

// Restore makes the emulator from what its Checkpoint saved. Without that, or if it can't be read,
// the emulator is empty; restored is false then.
func (s *Screen) Restore(saved []byte) (restored bool, err error) {
	options := s.env.Options()
	options.Handlers.Reply = s.reply
	if len(saved) > 0 {
		term, failed := terminal.Restore(options, saved)
		if failed == nil {
			s.term = term
			return true, nil
		}
		err = failed
	}
	s.term = terminal.New(options)
	return false, err
}

// Recall takes in the title and the offset of an emulator that is not in memory.
func (s *Screen) Recall(title string, offset int64) { s.title, s.offset = title, offset }

// Recalled gives the title and the offset of the emulator when it was last in memory.
func (s *Screen) Recalled() (title string, offset int64) { return s.title, s.offset }

// Offset is how much output the emulator has.
func (s *Screen) Offset() int64 { return s.term.Offset() }

// Write feeds the emulator with output.
func (s *Screen) Write(data []byte) { _, _ = s.term.Write(data) } // never fails

// Skip continues at an offset, because the output before it is gone. An escape sequence that is cut
// in two by that is cancelled.
func (s *Screen) Skip(to int64) (from int64) {
	from = s.term.Offset()
	s.Write([]byte{can})
	s.term.SetOffset(to)
	return from
}

// can is CAN, which ends any escape sequence.
const can = 0x18

// reply answers the program's query of its terminal, unless that was done before or is a replay. The
// holder has the last word: it types each answer once, and none that is late.
func (s *Screen) reply(data []byte, at int64) {
	if at > s.answered && s.env.Answer(data, at) {
		s.answered = at
	}
}

// Answered is the offset up to which queries were answered.
func (s *Screen) Answered() int64 { return s.answered }

// Answer takes in that queries up to an offset were answered.
func (s *Screen) Answer(at int64) { s.answered = max(s.answered, at) }

// freshStart puts the emulator into the state of a new terminal but for its history: normal screen,
// soft reset, mouse and other modes off, no title, below what was there.
const freshStart = "\x18\x1b]0;\x07\x1b[?1049l\x1b[!p\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l\x1b[<99u\x1b[>4;0m\x1b[0m\x1b[r\x1b[999;1H\r\n"

// Begin makes the emulator ready for a program that starts. First says that it is the session's
// first program.
func (s *Screen) Begin(first bool, cols, rows int) {
	if !first {
		at := s.term.Offset()
		s.Write([]byte(freshStart))
		if s.env.Read() {
			s.scrollOut()
		}
		s.term.SetOffset(at)
	}
	s.Resize(cols, rows)
}

// scrollOut moves what is on the screen into the history. A driver reads the screen: it would take a
// dialog that the program before left there for one of its own program.
func (s *Screen) scrollOut() {
	lines := s.term.Snapshot(0).Lines
	used := len(lines)
	for used > 0 && strings.TrimSpace(lines[used-1].Text()) == "" {
		used--
	}
	s.Write([]byte("\x1b[999;1H" + strings.Repeat("\n", used) + "\x1b[H"))
}

// Resize gives the emulator another size.
func (s *Screen) Resize(cols, rows int) {
	s.env.Sized(cols, rows)
	if oldCols, oldRows := s.term.Size(); oldCols == cols && oldRows == rows {
		return
	}
	s.env.Resizing()
	s.term.Resize(cols, rows)
	s.env.Resized()
}

// Unsettled says that the picture can't be shown: a synchronized update is under way, or what the
// last server saw is still being read again. An older picture would take a client back in time.
func (s *Screen) Unsettled() bool { return s.term != nil && (s.term.InSync() || s.env.Past()) }

// WhenSettled runs fn now, or when the picture can be shown.
func (s *Screen) WhenSettled(fn func()) {
	if s.Unsettled() {
		s.waiting = append(s.waiting, fn)
		return
	}
	fn()
}

// Awaited says that a caller waits for the picture.
func (s *Screen) Awaited() bool { return len(s.waiting) > 0 }

// Settle runs what waits for the picture, if that can be shown.
func (s *Screen) Settle() {
	if s.Awaited() && !s.Unsettled() {
		s.Close()
	}
}

// Close runs what waits for the picture, whatever the picture is.
func (s *Screen) Close() {
	ready := s.waiting
	s.waiting = nil
	for _, fn := range ready {
		fn()
	}
}

// Use notes that a caller wants the picture now.
func (s *Screen) Use() { s.usedAt = s.env.Now() }

// DropIfIdle frees the emulator of an ended session that no caller has wanted for a while.
func (s *Screen) DropIfIdle(now time.Time) {
	if s.idle() && now.Sub(s.usedAt) > dropAfter {
		s.Drop()
	}
}

// Drop frees the emulator.
func (s *Screen) Drop() {
	s.Recall(s.term.Title(), s.term.Offset())
	s.term = nil
	s.env.Dropped()
}

func (s *Screen) idle() bool { return s.term != nil && !s.env.Needed() }

// Due is when Settle or DropIfIdle may have something to do; zero: never.
func (s *Screen) Due(now time.Time) (at time.Time) {
	if s.idle() {
		at = s.usedAt.Add(dropAfter + time.Second)
	}
	if soon := now.Add(settleEvery); s.Awaited() && (at.IsZero() || soon.Before(at)) {
		at = soon
	}
	return at
}

package track

import (
	"testing"
	"time"

	"berth/agent"
	"berth/terminal"
)

// shower shows what the test sets.
type shower struct {
	speaker
	reading *agent.Reading
}

func (s *shower) Screen(*agent.View) *agent.Reading { return s.reading }

// TestScreenIsSaved: the next server doesn't see a dialog that another process has covered by then, or a mode of pastes that
// it has turned off. So a checkpoint is written as soon as this one has seen them, also if no prompt is opened.
func TestScreenIsSaved(t *testing.T) {
	b, saves := newBench(), 0
	shows := &shower{}
	term := terminal.New(terminal.Options{Cols: 80, Rows: 24})
	_, _ = term.Write([]byte("\x1b[?2004h"))
	b.env.Terminal, b.env.SaveSoon = func() *terminal.Terminal { return term }, func() { saves++ }
	b.d.driver, b.d.screen.reads, b.d.waking.live = shows, true, true
	dialog, composer := &agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptNotice, Partial: true}}, &agent.Reading{Composer: &agent.Composer{}}
	page := func(options ...agent.Option) *agent.Reading { // its look doesn't tell the pages apart
		return &agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptSetup, Title: "Setup", Options: options}}
	}
	pages := []*agent.Reading{page(agent.Option{Number: 1, Label: "Yes"}), page(agent.Option{Number: 1, Label: "Later"})}
	for i, reading := range []*agent.Reading{composer, dialog, composer, pages[0], pages[1], pages[0], pages[1]} {
		if i == 6 {
			b.d.fold.Typed(time.Now()) // the page before it is answered
		}
		shows.reading, saves = reading, 0
		b.readScreen()
		once := saves
		if b.readScreen(); once == 0 || saves != once {
			t.Errorf("screen %d: %d checkpoints, and then %d", i, once, saves)
		}
	}
	next := b.next(t, time.Now())
	if !next.d.screen.pasted {
		t.Error("the next server doesn't know that pastes were taken")
	}
}

// TestHeldScreen: a program's synchronized update keeps the screen from being read while it is half drawn. Another process can end one and
// begin the next in one write, and the screen is read nevertheless.
func TestHeldScreen(t *testing.T) {
	b, now := newBench(), time.Now()
	term := terminal.New(terminal.Options{Cols: 80, Rows: 24, Now: func() time.Time { return now }})
	b.env.Terminal, b.env.Now = func() *terminal.Terminal { return term }, func() time.Time { return now }
	b.d.driver, b.d.screen.reads = &shower{}, true
	_, _ = term.Write([]byte("\x1b[?2026h"))
	b.Printed()
	waited := time.Duration(0)
	for ; !b.mayLook(now) && waited < time.Second; waited += 10 * time.Millisecond {
		if now = now.Add(10 * time.Millisecond); waited%(80*time.Millisecond) == 0 {
			_, _ = term.Write([]byte("\x1b[?2026l\x1b[?2026h"))
		}
	}
	if waited < screenPace || waited > screenPace+syncMost+10*time.Millisecond {
		t.Errorf("the screen is read after %s", waited)
	}
}

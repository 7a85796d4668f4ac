package attach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"berth/terminal/keyboard"
)

// What comes after the key that leaves is put back as it was typed, also in the same packet: it is for the
// dashboard.
func TestKeysAfterLeavingAreKept(t *testing.T) {
	for typed, want := range map[string]string{
		"a\x1ddnext\x1b[A":      "next\x1b[A",
		"\x1dd\x1d?\x1d\x1dxä":  "\x1d?\x1d\x1dxä",
		"\x1dd\x1bj":            "\x1bj",
		"\x1dd\x1b\x1b[A":       "\x1b\x1b[A",
		"\x1db\x1b[200~a\x1dd":  "\x1b[200~a\x1dd",
		"\x1dd\x1b[<0;1;2M\x1b": "\x1b[<0;1;2M" + "\x1b[27u",
		"\x1ddj\x1b":            "j" + "\x1b[27u",
		"\x1dd\x1b\x1b":         "\x1b" + "\x1b[27u",
	} {
		s := newFakeSession(80, 24)
		p := attach(t, s, 80, 24, func(o *Options) { o.Dashboard = true })
		eventually(t, same(p, s))
		p.press(typed)
		if err := p.left(); err != nil && !errors.Is(err, ErrDashboard) {
			t.Fatal(err)
		}
		p.press("k") // much later than the ESC: it is a key of its own
		buf := make([]byte, 40)
		n, err := p.pump.ReadContext(context.Background(), buf)
		if err == nil && n < len(want)+1 {
			var more int
			more, err = p.pump.ReadContext(context.Background(), buf[n:])
			n += more
		}
		if err != nil || string(buf[:n]) != want+"k" {
			t.Errorf("%q: left %q, %v", typed, buf[:n], err)
		}
	}
}

// An ESC whose sequence arrives in two packets stays a part of it.
func TestCutSequenceAfterLeaving(t *testing.T) {
	s := newFakeSession(80, 24)
	clock := newFakeClock() // it doesn't go on: the ESC is still young
	p := attach(t, s, 80, 24, func(o *Options) { o.Clock = clock })
	eventually(t, same(p, s))
	p.press("\x1dd\x1b")
	p.press("[A")
	if err := p.left(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 40)
	if n, err := p.pump.ReadContext(context.Background(), buf); err != nil || string(buf[:n]) != "\x1b[A" {
		t.Errorf("left %q, %v", buf[:n], err)
	}
}

// The key that closes a message or the history is taken for that. The keys after it in the same packet are
// the program's, each once.
func TestKeysAfterClosingAreTyped(t *testing.T) {
	s := newFakeSession(80, 24)
	p := attach(t, s, 80, 24, nil)
	eventually(t, same(p, s))
	for _, c := range []struct{ typed, want string }{
		{"\x1d?qone", "one"},
		{"\x1d?\x1b[Atwo\x1b[B", "two\x1b[B"},
		{"\x1di three\r", "three\r"},
		{"\x1d[jqfour", "four"},
		{"\x1d[/x\rqfive\x1d?\x1b[200~six\x1b[201~", "five\x1b[200~six\x1b[201~"},
		{"\x1d[\x1b[200~q\x1b[201~qseven", "seven"},
		{"\x1d?q\x1d?q\x1d\x1deight", "\x1deight"},
		{"\x1d[q\x1d?qnine\x1d\x1b", "nine"},
	} {
		before := s.got()
		p.press(c.typed)
		eventually(t, func() string {
			if got := strings.TrimPrefix(s.got(), before); got != c.want {
				return fmt.Sprintf("%q: the program got %q, want %q", c.typed, got, c.want)
			}
			return ""
		})
	}
	eventually(t, same(p, s))
}

// A long paste closes a message and is typed whole.
func TestLongPasteAtAMessage(t *testing.T) {
	s := newFakeSession(80, 24)
	p := attach(t, s, 80, 24, nil)
	eventually(t, same(p, s))
	p.press("\x1d?")
	eventually(t, shows(p, "d  detach"))
	paste := keyboard.PasteStart + strings.Repeat("q pasted\r", 2000) + keyboard.PasteEnd
	p.press(paste)
	eventually(t, func() string {
		if got := s.got(); got != paste {
			return fmt.Sprintf("the program got %d bytes of %d", len(got), len(paste))
		}
		return ""
	})
}

// A client that takes nothing while the program copies several times gets the newest text.
func TestStalledClientGetsTheNewestCopy(t *testing.T) {
	s := newFakeSession(80, 24)
	p := attach(t, s, 80, 24, nil)
	eventually(t, same(p, s))
	resume := p.stall()
	s.write([]byte("a write that stalls"))
	s.mu.Lock()
	m := s.members[0]
	s.mu.Unlock()
	for _, text := range []string{"b25l", "dHdv", "dGhyZWU="} {
		m.clip <- "c;" + text // received before the next one fits
	}
	eventually(t, func() string {
		if len(m.clip) > 0 {
			return "the newest write waits"
		}
		return ""
	})
	resume()
	s.write([]byte("\r\nthe end"))
	eventually(t, shows(p, "the end"))
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := bytes.Count(p.raw, []byte("\x1b]52;")); n == 0 || !bytes.Contains(p.raw, []byte("\x1b]52;c;dGhyZWU=\x1b\\")) {
		t.Errorf("%d writes to the clipboard, without the newest", n)
	}
}

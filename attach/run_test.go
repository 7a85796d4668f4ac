package attach

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/terminal"
)

func same(p *person, s *fakeSession) func() string {
	return func() string { return samePicture(p.sees(), s.snapshot()) }
}

func shows(p *person, want string) func() string {
	return func() string {
		if t := text(p.sees()); !strings.Contains(t, want) {
			return fmt.Sprintf("no %q on\n%s", want, t)
		}
		return ""
	}
}

func TestSameSizeIsTheSamePicture(t *testing.T) {
	s := newFakeSession(60, 15)
	for i := range 40 {
		s.write(fmt.Appendf(nil, "line %d\r\n", i))
	}
	s.write([]byte("\x1b[1;31mred\x1b[0m \x1b]2;the title\x1b\\\x1b[?2004h\x1b[?1h日本 $ "))
	p := attach(t, s, 60, 15, nil)
	eventually(t, same(p, s))
	s.write([]byte("typed \x1b[4munder"))
	eventually(t, same(p, s))
	got := p.sees()
	var above []string
	for _, l := range got.History {
		above = append(above, l.Text())
	}
	all := strings.Join(above, "\n")
	if !strings.Contains(all, "$ ssh -t host attach alpha") || !strings.Contains(all, "line 0\nline 1\nline 2\n") {
		t.Errorf("scrollback lacks the shell's line or the history:\n%s", all)
	}
	s.write([]byte("\x1b[?1049h\x1b[2J\x1b[5;5Hvim\x1b[?1003h\x1b[?1006h\x1b[>1u"))
	eventually(t, same(p, s))
	if m := p.sees().Modes; !m.AltScreen || m.Mouse != terminal.MouseMotion || m.KittyFlags != 1 {
		t.Errorf("modes %+v", m)
	}
}

func TestViewerGetsNoMouse(t *testing.T) {
	s := newFakeSession(60, 15)
	ann := attach(t, s, 60, 15, nil)
	eventually(t, same(ann, s))
	s.written()
	s.write([]byte("\x1b[?1002h\x1b[?1006;1004h\x1b[?2004h"))
	p := attach(t, s, 60, 15, func(o *Options) { o.Identity = "bob" })
	eventually(t, func() string {
		if !p.sees().Modes.BracketedPaste {
			return "no picture yet"
		}
		return ""
	})
	s.write([]byte("\x1b[?1003;25h now"))
	eventually(t, shows(p, "now"))
	if m := p.sees().Modes; m.Mouse != 0 || m.MouseSGR || m.FocusEvents {
		t.Errorf("viewer's modes %+v", m)
	}
	p.press("\x1dw") // now a writer
	eventually(t, func() string {
		if m := p.sees().Modes; m.Mouse != terminal.MouseMotion || !m.MouseSGR || !m.FocusEvents {
			return fmt.Sprintf("writer's modes %+v", m)
		}
		return ""
	})
}

// With the lease free a click is the program's, and makes the writer, as a key
// does. Moving the mouse and going to another window do not.
func TestClickTakesAFreeLease(t *testing.T) {
	for name, c := range map[string]struct {
		modes, moves, click string
	}{
		"SGR":   {"\x1b[?1003;1006;1004h", "\x1b[I\x1b[<35;3;2M\x1b[<0;3;2m\x1b[O", "\x1b[<0;3;2M"},
		"X10":   {"\x1b[?1003;1004h", "\x1b[I\x1b[MC#\"\x1b[M##\"\x1b[O", "\x1b[M #\""},
		"urxvt": {"\x1b[?1003;1015h", "\x1b[67;3;2M\x1b[35;3;2M", "\x1b[32;3;2M"},
		"wheel": {"\x1b[?1003;1006h", "\x1b[<35;3;2M", "\x1b[<64;3;2M"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFakeSession(60, 15)
			s.write([]byte(c.modes + "ready"))
			p := attach(t, s, 60, 15, nil)
			eventually(t, same(p, s))
			if m := p.sees().Modes; m.Mouse != terminal.MouseMotion {
				t.Errorf("modes %+v", m)
			}
			p.press(c.moves + c.click)
			eventually(t, func() string {
				if got := s.got(); got != c.click {
					return fmt.Sprintf("typed %q", got)
				}
				return ""
			})
		})
	}
}

// TestStrictProgram: a process of the session can have a person's terminal send raw bytes for a move of the mouse, and the
// release of each key. An agent may take both for keys.
func TestStrictProgram(t *testing.T) {
	const sent = "a\r\n\x1b[MC1!\x1b[M 1!\x1b[32;17;1M\x1b[<35;17;1M\x1b[49;1:1u\x1b[49;1:3u\x1b[13;1:3ub"
	for strict, want := range map[bool]string{
		false: sent,
		true:  "a\r\x1b[<35;17;1M\x1b[49;1:1ub",
	} {
		t.Run(fmt.Sprint(strict), func(t *testing.T) {
			s := newFakeSession(60, 15)
			s.strict = strict
			s.write([]byte("\x1b[?1003h\x1b[=11uready"))
			p := attach(t, s, 60, 15, nil)
			eventually(t, same(p, s))
			p.press("a")
			eventually(t, func() string {
				if s.got() == "" {
					return "it has not got control"
				}
				return ""
			})
			p.press(sent[1:])
			eventually(t, func() string {
				if got := s.got(); got != want {
					return fmt.Sprintf("typed %q", got)
				}
				return ""
			})
		})
	}
}

func TestViewerTypesAndTakesOver(t *testing.T) {
	clock := newFakeClock()
	s := newFakeSession(60, 15)
	s.write([]byte("hello\r\n$ "))
	ann := attach(t, s, 60, 15, func(o *Options) { o.Clock = clock })
	eventually(t, same(ann, s))
	s.written()
	bob := attach(t, s, 60, 15, func(o *Options) { o.Identity, o.Clock = "bob", clock })
	eventually(t, same(bob, s))
	bob.press("ls\r")
	eventually(t, shows(bob, "ann is writing · Ctrl-] w takes over"))
	if got := s.got(); got != "" {
		t.Fatalf("a viewer's %q arrived", got)
	}
	s.write([]byte("more")) // the picture lives on below the message
	eventually(t, func() string {
		clock.advance(frameTime)
		return shows(bob, "$ more")()
	})
	clock.advance(noticeTime)
	eventually(t, same(bob, s))
	bob.press("\x1dw")
	eventually(t, shows(ann, "bob has taken over typing"))
	eventually(t, shows(bob, "you are writing now"))
	bob.press("ls\r")
	eventually(t, func() string {
		if got := s.got(); got != "ls\r" {
			return fmt.Sprintf("typed %q", got)
		}
		return ""
	})
	clock.advance(noticeTime)
	eventually(t, same(ann, s))
	eventually(t, same(bob, s))
}

// The status line takes a row from the session, and gives it back.
func TestStatusLine(t *testing.T) {
	s := newFakeSession(60, 15)
	s.follow = true
	s.write([]byte("hello\r\n$ "))
	wanted := make(chan bool, 3)
	p := attach(t, s, 60, 15, func(o *Options) { o.ShowStatusLine = func(on bool) { wanted <- on } })
	eventually(t, same(p, s))
	p.press("x\x1ds")
	eventually(t, shows(p, " alpha · idle · you write"))
	eventually(t, func() string { return sizeIs(s, 60, 14) })
	s.write([]byte("\x1b[14;1Hthe last row"))
	eventually(t, shows(p, "the last row"))
	p.resize(50, 20)
	eventually(t, func() string { return sizeIs(s, 50, 19) })
	p.press("\x1ds")
	eventually(t, same(p, s))
	if why := sizeIs(s, 50, 20); why != "" {
		t.Error(why)
	}
	if !<-wanted || <-wanted {
		t.Error("the choice isn't reported")
	}
	p.press("\x1ds")
	eventually(t, func() string { return sizeIs(s, 50, 19) })
	s.setMode("auto")
	eventually(t, shows(p, " alpha · idle · auto · you write"))
	p.resize(50, 3) // has no row to spare
	eventually(t, func() string { return sizeIs(s, 50, 3) })
	p.resize(50, 20)
	eventually(t, shows(p, " alpha · idle · auto · you write"))
}

func sizeIs(s *fakeSession, cols, rows int) string {
	if got := s.snapshot(); got.Cols != cols || got.Rows != rows {
		return fmt.Sprintf("the session is %dx%d, not %dx%d", got.Cols, got.Rows, cols, rows)
	}
	return ""
}

func TestReadOnlyIsTold(t *testing.T) {
	s := newFakeSession(60, 15)
	p := attach(t, s, 60, 15, func(o *Options) { o.ReadOnly = true })
	eventually(t, same(p, s))
	p.press("x")
	eventually(t, shows(p, "view only (--read-only): your typing isn't sent"))
	p.press("\x1d?")
	eventually(t, shows(p, "view only, as asked by --read-only"))
	viewer := attach(t, s, 60, 15, func(o *Options) { o.MayWrite = false })
	eventually(t, same(viewer, s))
	viewer.press("x")
	eventually(t, shows(viewer, "view only, your key may not type"))
	if s.got() != "" {
		t.Error("typing arrived")
	}
}

func TestSmallerWindowSeesACrop(t *testing.T) {
	s := newFakeSession(120, 40)
	for y := range 40 {
		s.write(fmt.Appendf(nil, "\x1b[%d;1H%s", y+1, strings.Repeat(fmt.Sprintf("%02d日本", y), 20)))
	}
	s.write([]byte("\x1b[30;90H"))
	clock := newFakeClock()
	p := attach(t, s, 61, 20, func(o *Options) { o.Clock = clock; o.ReadOnly = true })
	eventually(t, shows(p, "alpha is 120x40, you see 61x20"))
	clock.advance(hintTime)
	eventually(t, func() string { return findCrop(p, s) })
	if !p.sees().Modes.AltScreen {
		t.Error("a crop belongs on the alternate screen")
	}
	for _, at := range []string{"1;1", "40;120", "20;60", "21;61"} {
		s.write([]byte("\x1b[" + at + "H"))
		eventually(t, func() string {
			clock.advance(frameTime)
			return findCrop(p, s)
		})
	}
	p.press("\x1dd")
	if err := p.left(); err != nil {
		t.Fatal(err)
	}
	if got := p.sees(); got.Modes.AltScreen || got.Lines[0].Text() != "$ ssh -t host attach alpha" || !got.Cursor.Visible {
		t.Errorf("the client's own screen is not back:\n%s", text(got))
	}
}

// findCrop looks for a place of the session's picture that the person sees and
// that holds the cursor, if that is shown.
func findCrop(p *person, s *fakeSession) string {
	got, want := p.sees(), s.snapshot()
	first := ""
	for top := range max(want.Rows-got.Rows, 0) + 1 {
		for left := range max(want.Cols-got.Cols, 0) + 1 {
			c := want.Cursor
			if c.Visible && (c.Row < top || c.Row >= top+got.Rows || c.Col < left || c.Col >= left+got.Cols) {
				continue
			}
			why := sameCrop(got, want, top, left)
			if why == "" {
				return ""
			}
			if first == "" {
				first = why
			}
		}
	}
	return first
}

func TestWriterResizes(t *testing.T) {
	s := newFakeSession(80, 24)
	s.follow = true
	s.write([]byte("one\r\ntwo\r\n"))
	clock := newFakeClock()
	p := attach(t, s, 100, 30, func(o *Options) { o.Clock = clock })
	eventually(t, same(p, s))
	for _, size := range [][2]int{{90, 20}, {40, 10}, {120, 50}, {100, 30}} {
		p.resize(size[0], size[1])
		s.write([]byte("text "))
		eventually(t, same(p, s))
	}
	s.resize(80, 24) // by a verb
	s.write([]byte("\x1b[H\x1b[2Jsmaller"))
	eventually(t, func() string {
		clock.advance(time.Second)
		return sameCrop(p.sees(), s.snapshot(), 0, 0)
	})
}

func TestLagIsRepainted(t *testing.T) {
	s := newFakeSession(80, 24)
	p := attach(t, s, 80, 24, nil)
	eventually(t, same(p, s))
	resume := p.stall()
	chunk := bytes.Repeat([]byte("flood of \x1b[32mgreen\x1b[0m lines\r\n"), 2000)
	for range 40 {
		s.write(chunk)
	}
	s.write([]byte("the end"))
	resume()
	eventually(t, same(p, s))
	s.write([]byte(" and on"))
	eventually(t, same(p, s))
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.raw) > 2<<20 {
		t.Errorf("a stalled client was sent %d bytes", len(p.raw))
	}
}

func TestDetachRestoresTheTerminal(t *testing.T) {
	for name, c := range map[string]struct {
		cols, rows int
		stream     string
	}{
		"same size, main":      {80, 24, "one\r\ntwo"},
		"same size, alternate": {80, 24, "one\r\n\x1b[?1049h\x1b[2Jvim"},
		"crop":                 {60, 20, "one\r\n\x1b[?1049h\x1b[2Jvim"},
		"crop, main":           {60, 20, "one\r\n\x1b[10;70Hx"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFakeSession(80, 24)
			s.write([]byte(c.stream + "\x1b[?1;5;1000;1002;1006;1004;2004;1007h\x1b=\x1b[>5u\x1b[=7u\x1b[>4;2m\x1b[4h\x1b[?25l\x1b[3 q" +
				"\x1b[5;10r\x1b[?6h\x1b]2;theirs\x1b\\\x1b[31;44m"))
			p := attach(t, s, c.cols, c.rows, nil)
			p.mu.Lock()
			p.screen.Write([]byte("\x1b]2;mine\x1b\\"))
			p.mu.Unlock()
			eventually(t, func() string {
				if m := p.sees().Modes; !m.BracketedPaste || m.KittyFlags == 0 {
					return fmt.Sprintf("not painted yet: %+v", m)
				}
				return ""
			})
			p.press("\x1dd")
			if err := p.left(); err != nil {
				t.Fatal(err)
			}
			restored(t, p, "detached from alpha; come back with: ssh -t agents@host attach alpha")
		})
	}
}

// restored checks that a person's terminal is fit for a shell again.
func restored(t *testing.T, p *person, last string) {
	t.Helper()
	got := p.sees()
	fresh := terminal.New(terminal.Options{Cols: got.Cols, Rows: got.Rows})
	fresh.Write([]byte("\x1b[?7h"))
	if w := fresh.Modes(); fmt.Sprint(got.Modes) != fmt.Sprint(w) {
		t.Errorf("modes %+v, want %+v", got.Modes, w)
	}
	if got.Title != "" && got.Title != "mine" {
		t.Errorf("title %q", got.Title)
	}
	c := got.Cursor
	if !c.Visible || c.Shape != 0 || c.Col != 0 || c.Row == 0 {
		t.Fatalf("cursor %+v", c)
	}
	if l := got.Lines[c.Row-1].Text(); !strings.HasSuffix(last, l) || l == "" {
		t.Errorf("last line %q, want %q\n%s", l, last, text(got))
	}
	p.mu.Lock()
	p.screen.Write([]byte("$ x"))
	p.mu.Unlock()
	l := p.sees().Lines[c.Row]
	if l.Text() != "$ x" || l.Cell(0).Style != (terminal.Style{}) {
		t.Errorf("the prompt is %q in %+v", l.Text(), l.Cell(0).Style)
	}
	for y := c.Row + 1; y < got.Rows; y++ {
		if got.Lines[y].Text() != "" {
			t.Errorf("below the prompt is %q", got.Lines[y].Text())
		}
	}
}

func TestEndIsTold(t *testing.T) {
	s := newFakeSession(80, 24)
	p := attach(t, s, 80, 24, nil)
	eventually(t, same(p, s))
	s.write([]byte("bye"))
	s.finish("exit status 3")
	if err := p.left(); !errors.Is(err, ErrEnded) {
		t.Fatalf("Run gave %v", err)
	}
	restored(t, p, "alpha has ended: exit status 3")
	if t1 := text(p.sees()); !strings.Contains(t1, "bye") {
		t.Errorf("the last output is missing:\n%s", t1)
	}
}

func TestCancelledAndStalledClientIsHungUp(t *testing.T) {
	s := newFakeSession(80, 24)
	clock := newFakeClock()
	var shares Shares
	share, _ := shares.Join("ann")
	queued := func() int {
		share.mu.Lock()
		defer share.mu.Unlock()
		return share.bytes
	}
	p := attach(t, s, 80, 24, func(o *Options) { o.Clock, o.Share = clock, share })
	eventually(t, same(p, s))
	p.stall()
	written := 0
	eventually(t, func() string {
		s.write([]byte("x"))
		written++
		if n := queued(); n == 0 || n == written {
			return fmt.Sprintf("%d of %d bytes count as queued, beside what the stalled client has taken", n, written)
		}
		return ""
	})
	why := errors.New("the key was removed")
	p.cancel(why)
	eventually(t, func() string {
		clock.advance(leaveTime)
		if len(p.result) == 0 {
			return "Run did not return"
		}
		return ""
	})
	if err := p.left(); !errors.Is(err, why) {
		t.Fatalf("Run gave %v", err)
	}
	select {
	case <-p.hung:
	default:
		t.Error("Hangup was not called")
	}
	if n := queued(); n != 0 {
		t.Errorf("%d bytes count as queued for a client that has left", n)
	}
}

func TestKickedIsTold(t *testing.T) {
	s := newFakeSession(80, 24)
	p := attach(t, s, 80, 24, nil)
	eventually(t, same(p, s))
	s.mu.Lock()
	s.members[0].notices <- Notice{Kind: NoticeKicked, Text: "the session was removed"}
	s.mu.Unlock()
	var kicked *KickedError
	if err := p.left(); !errors.As(err, &kicked) {
		t.Fatalf("Run gave %v", err)
	}
	restored(t, p, "berth: the session was removed")
}

func TestPagerWhoStateHelp(t *testing.T) {
	s := newFakeSession(40, 12)
	for i := range 100 {
		s.write(fmt.Appendf(nil, "line %d\r\n", i))
	}
	p := attach(t, s, 40, 12, nil)
	eventually(t, same(p, s))
	p.press("\x1d[")
	eventually(t, shows(p, "of 100"))
	p.press("g")
	eventually(t, shows(p, "|line 0\n"))
	p.press("\x1b[6~")
	eventually(t, shows(p, "|line 11\n"))
	p.press("G")
	eventually(t, shows(p, "|line 99"))
	p.press("q")
	eventually(t, same(p, s))
	for key, want := range map[string]string{"l": "ann (you)", "i": "alpha · idle", "?": "d  detach"} {
		p.press("\x1d" + key)
		eventually(t, shows(p, want))
		p.press(" ")
		eventually(t, same(p, s))
	}
	if got := s.got(); got != "" {
		t.Errorf("the program got %q", got)
	}
	p.press("\x1d\x1d")
	eventually(t, func() string {
		if got := s.got(); got != "\x1d" {
			return fmt.Sprintf("the program got %q", got)
		}
		return ""
	})
}

package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/sessions"
	"berth/terminal"
	"berth/terminal/paint"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// at is a session that has been in a state for the given minutes.
func at(name string, state agent.State, minutes int) *sessions.Status {
	return &sessions.Status{
		Spec: sessions.Spec{ID: "id-" + name, Name: name, Agent: "claude", Command: []string{"x"}},
		View: sessions.View{Now: state, Since: noon.Add(-time.Duration(minutes) * time.Minute), StateSeq: uint64(minutes + 1)}, Cols: 80, Rows: 24,
	}
}

var everything = Rights{"attach": true, "screen": true, Typing: true}

func world(list ...*sessions.Status) World { return World{Sessions: list, May: everything} }

func started(cols, rows int, w World) *Model {
	m := NewModel(Person{Name: "ann", Role: "operator"}, nil, cols, rows, noon)
	m.SetLook(paint.Look{Depth: paint.Depth256, UTF8: true}, false)
	m.SetWorld(w, noon)
	return m
}

// shown draws the model, and reports that the terminal shows it since a time.
func shown(m *Model, since time.Time) {
	drawn(m)
	if m.Undrawn() {
		m.Drawn(1)
	}
	m.Shown(1, since)
}

// press presses keys, each when the picture has long been on the screen.
func press(m *Model, now time.Time, names ...string) (last Effect) {
	for _, n := range names {
		shown(m, now.Add(-settleTime))
		k := Key{Name: n}
		if len([]rune(n)) == 1 {
			k.Text = n
		}
		last = m.Press(k, now)
	}
	return last
}

func names(m *Model) string {
	var list []string
	for _, id := range m.order {
		list = append(list, strings.TrimPrefix(id, "id-"))
	}
	return strings.Join(list, " ")
}

// Text is the picture's rows without blanks at their ends.
func (f *Frame) Text() []string {
	rows := make([]string, f.rows)
	var b strings.Builder
	for y := range rows {
		b.Reset()
		for _, c := range f.cells[y*f.cols : (y+1)*f.cols] {
			switch {
			case c.ch > 0:
				b.WriteRune(c.ch)
			case c.ch < 0:
				b.WriteString(f.palette.clusters[-c.ch-1])
			}
		}
		rows[y] = strings.TrimRight(b.String(), " ")
	}
	return rows
}

func drawn(m *Model) string {
	f := NewFrame(m.cols, m.rows)
	m.Draw(f)
	return strings.Join(f.Text(), "\n")
}

// TestMovedByItself: a key right after the chosen session was removed doesn't act on the session in its
// place.
func TestMovedByItself(t *testing.T) {
	a, b := at("a", agent.Idle, 1), at("b", agent.Idle, 2)
	a.Driven, b.Driven = true, true
	m := started(80, 24, world(a, b))
	m.world.May = Rights{"attach": true, "kill": true, "nudge": true}
	rest := world(b)
	rest.May = m.world.May
	m.SetWorld(rest, later)
	for _, key := range []string{"o", "X", "m"} {
		if e := m.Press(Key{Name: key, Text: key}, later.Add(settleTime/2)); e != nil || m.confirm != nil || m.edit != nil || !strings.Contains(m.flash.text, "press again") {
			t.Errorf("key %s: got effect %v and message %q", key, e, m.flash.text)
		}
	}
	if e := m.Press(Key{Name: "o", Text: "o"}, later.Add(settleTime)); e != (Attach{ID: "id-b"}) {
		t.Errorf("o does %v", e)
	}
}

func TestInboxOrder(t *testing.T) {
	m := started(80, 24, world(
		at("zed", agent.Working, 1), at("abe", agent.Working, 9), at("old", agent.Idle, 30), at("new", agent.Idle, 2),
		at("dead", agent.Exited, 1), at("late", agent.Prompt, 1), at("first", agent.Prompt, 8), at("broken", agent.InError, 60), at("what", agent.Unknown, 0),
	))
	if got := names(m); got != "first late broken abe zed new old what dead" {
		t.Errorf("order %s", got)
	}
}

// TestNothingJumps: while the person presses keys, a change of state moves nothing. The chosen session
// stays chosen, and 5 s after the last key the list is sorted again.
func TestNothingJumps(t *testing.T) {
	a, b, c := at("a", agent.Working, 1), at("b", agent.Working, 1), at("c", agent.Idle, 1)
	m := started(80, 24, world(a, b, c))
	press(m, noon, "j")
	if m.selected != "id-b" {
		t.Fatalf("%s is chosen", m.selected)
	}
	c = at("c", agent.Prompt, 2)
	m.SetWorld(world(a, b, c, at("d", agent.Prompt, 5)), noon.Add(time.Second))
	if got := names(m); got != "a b c d" || m.selected != "id-b" {
		t.Errorf("while keys come: %s, %s chosen", got, m.selected)
	}
	if due := m.Due(); !due.Equal(noon.Add(calm)) {
		t.Errorf("looked at again at %v", due)
	}
	m.Tick(noon.Add(calm))
	if got := names(m); got != "d c a b" || m.selected != "id-b" {
		t.Errorf("when calm: %s, %s chosen", got, m.selected)
	}
	// When the chosen session is removed, the next one in its place is chosen.
	m.SetWorld(world(a, c), noon.Add(2*calm))
	if m.selected != "id-a" {
		t.Errorf("%q is chosen after the chosen session was removed", m.selected)
	}
	m.SetWorld(world(), noon.Add(2*calm))
	if m.selected != "" || press(m, noon, "enter") != nil {
		t.Error("a session is chosen in an empty list")
	}
}

func TestFilter(t *testing.T) {
	a, b := at("alpha", agent.Prompt, 1), at("beta", agent.Idle, 1)
	b.Tags = []string{"Web"}
	m := started(80, 24, world(a, b))
	for text, want := range map[string]string{"al": "alpha", "#web": "beta", "idle": "beta", "claude": "alpha beta", "claude #w": "beta", "nobody": "", "#idle": ""} {
		press(m, noon, "/")
		for _, r := range text {
			press(m, noon, string(r))
		}
		if got := names(m); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
		press(m, noon, "esc")
	}
	if got := names(m); got != "alpha beta" {
		t.Errorf("without a filter: %s", got)
	}
	// In a filter all keys are letters.
	if effect := press(m, noon, "/", "q", "?"); effect != nil || m.filter.text != "q?" || m.help {
		t.Errorf("filter %q, effect %v", m.filter.text, effect)
	}
}

func TestSeen(t *testing.T) {
	m := started(80, 24, world(at("a", agent.Prompt, 2), at("b", agent.Idle, 1), at("c", agent.Working, 1)))
	unseen := func() (list []string) {
		for _, s := range m.world.Sessions {
			if m.unseen(s) {
				list = append(list, s.Name)
			}
		}
		return list
	}
	if got := unseen(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("at first unseen: %v", got)
	}
	press(m, noon, "j", "j")
	if got := unseen(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("after a look: %v", got)
	}
	m.SetWorld(world(at("b", agent.Idle, 5)), noon)
	if got := unseen(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("after it rested anew: %v", got)
	}
}

func TestAttachNeedsARight(t *testing.T) {
	w := world(at("a", agent.Idle, 2))
	m := started(120, 30, w)
	if got := press(m, noon, "enter"); got != (Attach{ID: "id-a"}) {
		t.Errorf("enter gives %v", got)
	}
	w.May = Rights{"ls": true}
	m.SetWorld(w, noon)
	if got := press(m, noon, "enter", "o"); got != nil {
		t.Errorf("without the right enter gives %v", got)
	}
	m.flash = flash{}
	if strings.Contains(drawn(m), "attach") || m.Wanted() != "" {
		t.Error("a hint is shown without its right")
	}
	press(m, noon, "?")
	if strings.Contains(drawn(m), "attach") {
		t.Error("help lists a key without its right")
	}
}

func TestSmallTerminal(t *testing.T) {
	m := started(40, 12, world(at("a", agent.Idle, 2), at("b", agent.Idle, 3)))
	if m.Wanted() != "" {
		t.Error("the model wants a screen that isn't shown")
	}
	if got := press(m, noon, "enter"); got != nil || m.Wanted() != "id-a" {
		t.Errorf("enter gives %v, and shows %q", got, m.Wanted())
	}
	if got := press(m, noon, "enter"); got != (Attach{ID: "id-a"}) {
		t.Errorf("enter again gives %v", got)
	}
	press(m, noon, "esc")
	if m.Wanted() != "" {
		t.Error("esc doesn't go back to the list")
	}
}

// TestUnsafeText: no text of an agent reaches the client's terminal raw.
func TestUnsafeText(t *testing.T) {
	bad := "x\x1b]0;evil\x07\u202egnp.exe\u200b\x9b31m\ny"
	s := at("a", agent.Prompt, 1)
	s.Title, s.Tags, s.Agent = bad, []string{bad}, bad
	s.Request = &agent.Request{Tool: &bad, Input: &bad, Title: &bad, Text: &bad, Type: agent.PromptPermission}
	s.Writer = nil
	term := terminal.New(terminal.Options{Cols: 80, Rows: 24})
	fmt.Fprintf(term, "\x1b]8;;file:///etc/passwd\x1b\\link\x1b]8;;\x1b\\ \x1b[8msecret\x1b[0m a\u202eb")
	for _, size := range [][2]int{{80, 24}, {40, 12}, {200, 60}} {
		m := started(size[0], size[1], world(s))
		m.SetScreen("id-a", term.Snapshot(0), "")
		sc := newScreen(paint.Look{Depth: paint.DepthTrue, UTF8: true})
		sc.resize(size[0], size[1])
		out := string(sc.draw(m))
		for _, evil := range []string{"\x1b]0;", "\u202e", "\u200b", "\u009b", "\x1b]8", "secret"} {
			if strings.Contains(out, evil) {
				t.Errorf("%dx%d writes %q", size[0], size[1], evil)
			}
		}
	}
}

// TestDrawsWhatItSays: the bytes for a terminal make it show the frame, at every size, and whatever the
// terminal showed before.
func TestDrawsWhatItSays(t *testing.T) {
	var list []*sessions.Status
	for i, state := range []agent.State{agent.Prompt, agent.InError, agent.Working, agent.Idle, agent.Exited, agent.Starting} {
		for j := range 5 {
			s := at(fmt.Sprintf("s%d-%d", i, j), state, 3*i+j)
			s.Title = "漢字 und 👩‍👩‍👧 Täglich " + strings.Repeat("long ", j*4)
			list = append(list, s)
		}
	}
	shot := terminal.New(terminal.Options{Cols: 100, Rows: 40})
	fmt.Fprint(shot, "\x1b[31mred\x1b[0m 漢字 👩‍👩‍👧 e\u0301\r\n\x1b[44mblue\x1b[0m\x1b[30;90Hfar")
	sc := newScreen(paint.Look{Depth: paint.DepthTrue, UTF8: true})
	m := started(80, 24, world(list...))
	for _, size := range [][2]int{{80, 24}, {40, 12}, {20, 5}, {200, 60}, {300, 90}, {100, 10}, {19, 4}} {
		m.Resize(size[0], size[1])
		sc.resize(size[0], size[1])
		term := terminal.New(terminal.Options{Cols: size[0], Rows: size[1]})
		for _, key := range []string{"", "j", "G", "?", "x", "tab", "/", "s", "5", "esc", "k"} {
			if key != "" {
				press(m, noon, key)
			}
			m.SetScreen(m.selected, shot.Snapshot(0), "")
			term.Write(sc.draw(m))
			want := strings.Join(sc.was.Text(), "\n")
			if got := strings.Join(term.Snapshot(0).Text(), "\n"); got != want {
				t.Fatalf("%v after %q the terminal shows\n%s\nand should\n%s", size, key, got, want)
			}
		}
	}
}

// TestQuiet: an unchanged picture writes nothing.
func TestQuiet(t *testing.T) {
	m := started(120, 40, world(at("a", agent.Prompt, 1)))
	sc := newScreen(paint.Look{Depth: paint.DepthTrue, UTF8: true})
	sc.resize(120, 40)
	sc.draw(m)
	if b := sc.draw(m); len(b) > 0 {
		t.Errorf("writes %q again", b)
	}
	m.Tick(noon.Add(59 * time.Second))
	if b := sc.draw(m); len(b) > 0 {
		t.Errorf("writes %q although the minute is the same", b)
	}
}

// TestKeysForASessionThatEnded: a session ends by itself while a person types, and the dashboard
// gets the next keys. It ignores them until the person pauses. After a detach it accepts keys at
// once.
func TestKeysForASessionThatEnded(t *testing.T) {
	m := started(100, 20, world(at("a", agent.Idle, 1), at("b", agent.Idle, 2)))
	m.Back("a has ended: exit status 0", noon)
	now := noon
	for _, name := range []string{"q", "ctrl+c", "enter", "a", "n", "x", "y", "/", "?", "T"} {
		now = now.Add(settleTime - time.Millisecond)
		if e := m.Press(Key{Name: name, Text: name}, now); e != nil || m.confirm != nil || m.start != nil || m.edit != nil || m.help || m.detail || m.filter.typing {
			t.Fatalf("%s did something: %#v", name, e)
		}
		if !strings.Contains(m.flash.text, "no longer attached") {
			t.Errorf("%s: the person reads %q", name, m.flash.text)
		}
	}
	if e := m.Press(Key{Name: "q", Text: "q"}, now.Add(settleTime)); e != (Quit{}) {
		t.Errorf("a key after a pause: %#v", e)
	}
	m.Back("a has ended: exit status 0", now)
	m.Back("", now)
	if e := m.Press(Key{Name: "q", Text: "q"}, now.Add(time.Millisecond)); e != (Quit{}) {
		t.Errorf("a key after a detach: %#v", e)
	}
}

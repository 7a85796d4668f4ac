package tui

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/terminal"
	"berth/terminal/keyboard"
)

// pointer is a person's mouse over a dashboard that the terminal has shown since a time.
type pointer struct {
	t   *testing.T
	m   *Model
	now time.Time
}

// over draws the dashboard, and returns the target of a text: of the last such text that has one.
func (p *pointer) over(text string, since time.Time) (target, bool) {
	p.t.Helper()
	f := NewFrame(p.m.cols, p.m.rows)
	p.m.Draw(f)
	p.m.SetTargets(f.targets)
	if p.m.Undrawn() {
		p.m.Drawn(1)
	}
	p.m.Shown(1, since)
	p.m.Tick(p.now)
	p.m.Draw(f)
	found := target{}
	for y, row := range f.Text() {
		for x := 0; text != "" && strings.Contains(row[x:], text); x++ {
			x += strings.Index(row[x:], text)
			if t := f.targetAt(terminal.StringWidth(row[:x]), y); t != (target{}) {
				found = t
			}
		}
	}
	return found, found != target{} || strings.Contains(strings.Join(f.Text(), "\n"), text)
}

// click presses and lets go of the left button on a text that has long been there.
func (p *pointer) click(text string) Effect {
	p.t.Helper()
	return p.clickSince(text, p.now.Add(-settleTime))
}

func (p *pointer) clickSince(text string, since time.Time) Effect {
	p.t.Helper()
	t, ok := p.over(text, since)
	if !ok {
		p.t.Fatalf("%q isn't drawn:\n%s", text, drawn(p.m))
	}
	if e := p.m.Mouse(keyboard.MouseEvent{Button: keyboard.Left, What: keyboard.Press}, t, p.now); e != nil {
		p.t.Fatalf("the press alone: %v", e)
	}
	return p.m.Mouse(keyboard.MouseEvent{Button: keyboard.Unnamed, What: keyboard.Release}, t, p.now)
}

func (p *pointer) wheel(text string, button int) {
	p.t.Helper()
	t, ok := p.over(text, p.now.Add(-settleTime))
	if !ok {
		p.t.Fatalf("%q isn't drawn:\n%s", text, drawn(p.m))
	}
	p.m.Mouse(keyboard.MouseEvent{Button: button, What: keyboard.Press}, t, p.now)
}

func pointing(t *testing.T, m *Model) *pointer { return &pointer{t, m, noon.Add(time.Minute)} }

// A click chooses a session, also by its second line; two attach; the wheel goes through the list.
func TestClickList(t *testing.T) {
	for _, size := range [][2]int{{40, 20}, {80, 24}, {120, 36}, {200, 60}} {
		failed := at("broken", agent.InError, 3)
		failed.Failure = &api.Failure{Class: "other", Text: "no more credit"}
		p := pointing(t, started(size[0], size[1], world(failed, at("one", agent.Idle, 1), at("two", agent.Idle, 2), at("three", agent.Idle, 3))))
		for _, name := range []string{"two", "one", "three"} {
			if e := p.click(name); e != nil || p.m.selected != "id-"+name {
				t.Errorf("%v: a click on %s: %v, and %s is chosen", size, name, e, p.m.selected)
			}
			p.now = p.now.Add(time.Second)
		}
		if p.click("no more credit"); p.m.selected != "id-broken" {
			t.Errorf("%v: a click on the error chooses %s", size, p.m.selected)
		}
		p.wheel("one", keyboard.WheelDown)
		if at := p.m.selected; at == "id-broken" {
			t.Errorf("%v: the wheel stays at %s", size, at)
		}
		p.wheel("one", keyboard.WheelUp)
		if p.m.selected != "id-broken" {
			t.Errorf("%v: the wheel goes back to %s", size, p.m.selected)
		}
		p.click("two")
		p.now = p.now.Add(doubleTime + time.Millisecond)
		if e := p.click("two"); e != nil {
			t.Errorf("%v: two slow clicks: %v", size, e)
		}
		if e := p.click("two"); e != (Attach{"id-two"}) {
			t.Errorf("%v: a double click: %v", size, e)
		}
		if e := p.click("two"); e != nil {
			t.Errorf("%v: a third click: %v", size, e)
		}
	}
}

// A click on an option, or on a key's hint, does what the key does, and no more than it.
func TestClickCard(t *testing.T) {
	for text, want := range map[string]string{
		"Yes, always": "respond id-alpha --prompt p1 option 2", "allow": "respond id-alpha --prompt p1 accept", "No": "respond id-alpha --prompt p1 option 3",
	} {
		p := pointing(t, asking(80, 24, permission()))
		p.over("", p.now.Add(-settleTime))
		if got, _ := ran(t, p.click(text)); got != want {
			t.Errorf("a click on %s runs %q, want %q", text, got, want)
		}
	}
	p := pointing(t, asking(80, 24, permission()))
	if e := p.click("deny"); e != nil || p.m.edit == nil {
		t.Errorf("a click on deny: %v, the editor is %v", e, p.m.edit)
	}
	if e := p.click("Yes, always"); e != nil || p.m.editor.text != "" {
		t.Errorf("a click on an option while a reason is written: %v, %q", e, p.m.editor.text)
	}
	p.m.SetWorld(World{Sessions: append(p.m.world.Sessions, at("other", agent.Idle, 1)), May: p.m.world.May}, p.now)
	if p.click("other"); p.m.selected != "id-alpha" || p.m.edit == nil {
		t.Error("a click on another session while a reason is written")
	}
	p.click("closes this first") // the message, which covers the hint
	p.click("close")
	if p.m.edit != nil {
		t.Error("a click on the editor's hint doesn't close it")
	}

	viewer := asking(80, 24, permission())
	viewer.world.May = Rights{"attach": true, "screen": true}
	p = pointing(t, viewer)
	if e := p.click("Yes, always"); e != nil {
		t.Errorf("a viewer's click: %v", e)
	}

	long := permission()
	long.SetInput(strings.Repeat("echo one more line\n", 100))
	p = pointing(t, asking(80, 24, long))
	if e := p.click("Yes, always"); e != nil || !strings.Contains(p.m.flash.text, toEnd) {
		t.Errorf("an unread card: %v, %q", e, p.m.flash.text)
	}
	was := p.m.card.scroll
	p.wheel("echo one more line", keyboard.WheelDown)
	if p.m.card.scroll <= was {
		t.Error("the wheel doesn't scroll the card")
	}
}

// A click that comes right after something new was drawn was meant for what was there before. The same
// place may have another key by then.
func TestClickAtOnce(t *testing.T) {
	p := pointing(t, asking(80, 24, permission()))
	if e := p.clickSince("Yes, always", p.now.Add(-settleTime/2)); e != nil {
		t.Errorf("a click on a new card: %v", e)
	}
	p.now = p.now.Add(settleTime)
	ran(t, p.click("Yes, always"))

	p = pointing(t, asking(80, 24, permission()))
	before, _ := p.over("Yes, always", p.now.Add(-time.Hour))
	other := asking(80, 24, permission()) // the same question, of another prompt
	other.world.Sessions[0].Request.ID = "p2"
	p.m.SetWorld(other.world, p.now)
	p.m.Mouse(keyboard.MouseEvent{What: keyboard.Press}, before, p.now)
	after, _ := p.over("Yes, always", p.now)
	if e := p.m.Mouse(keyboard.MouseEvent{What: keyboard.Release}, after, p.now.Add(time.Hour)); e != nil {
		t.Errorf("pressed at one prompt and let go at the next: %v", e)
	}
	if _, ok := p.over("allow", p.now.Add(-settleTime/2)); ok {
		t.Errorf("a hint of the next prompt is drawn at once:\n%s", drawn(p.m))
	}
	for hint := range p.m.mouse.drawn {
		if hint.key == "y" {
			p.m.Mouse(keyboard.MouseEvent{Button: keyboard.Left, What: keyboard.Press}, hint, p.now)
			if e := p.m.Mouse(keyboard.MouseEvent{Button: keyboard.Left, What: keyboard.Release}, hint, p.now); e != nil || p.m.flash.text == "" {
				t.Errorf("the place of a hint of the next prompt: %v, %q", e, p.m.flash.text)
			}
		}
	}
}

// The confirmation of an action comes up where a person may just be clicking.
func TestClickConfirm(t *testing.T) {
	w := world(at("one", agent.Idle, 1))
	w.May = Rights{"attach": true, "kill": true}
	p := pointing(t, started(80, 24, w))
	p.over("one", p.now.Add(-time.Hour))
	press(p.m, p.now, "X")
	if e := p.clickSince("yes", p.now.Add(-settleTime/2)); e != nil || p.m.confirm == nil {
		t.Errorf("a click at once: %v", e)
	}
	p.wheel("one", keyboard.WheelDown)
	if p.click("one"); p.m.confirm == nil {
		t.Error("a click elsewhere ends the question")
	}
	p.now = p.now.Add(settleTime)
	if got, _ := ran(t, p.click("yes")); got != "kill id-one" {
		t.Errorf("a click on yes runs %q", got)
	}
}

// With Shift the terminal selects text; M gives it the mouse; a drag, another button and a covered part
// do nothing.
func TestClickNothing(t *testing.T) {
	p := pointing(t, started(80, 24, world(at("one", agent.Idle, 1), at("two", agent.Idle, 2))))
	one, _ := p.over("one", p.now)
	two, _ := p.over("two", p.now)
	p.m.Select("id-one")
	event := func(b, what, mods int, t target) {
		p.m.Mouse(keyboard.MouseEvent{Button: b, What: what, Mods: mods}, t, p.now)
	}
	for what, do := range map[string]func(){
		"shift": func() { event(0, keyboard.Press, keyboard.Shift, two); event(0, keyboard.Release, keyboard.Shift, two) },
		"right": func() { event(2, keyboard.Press, 0, two); event(2, keyboard.Release, 0, two) },
		"a drag": func() {
			event(0, keyboard.Press, 0, one)
			event(0, keyboard.Move, 0, two)
			event(0, keyboard.Release, 0, two)
		},
		"alone": func() { event(0, keyboard.Release, 0, two) },
		"empty": func() { event(0, keyboard.Press, 0, target{}); event(0, keyboard.Release, 0, target{}) },
	} {
		if do(); p.m.selected != "id-one" {
			t.Errorf("%s chooses %s", what, p.m.selected)
		}
	}
	press(p.m, p.now, "?")
	if at, ok := p.over("two", p.now.Add(-settleTime)); ok && at.session != "" {
		t.Error("the list is under the help")
	}
	p.click("any key")
	if p.m.help {
		t.Error("a click on the hint doesn't close the help")
	}
	press(p.m, p.now, "M")
	if p.click("two"); p.m.selected != "id-one" || len(p.m.mouse.drawn) > 0 {
		t.Error("the mouse is off, and a click counts")
	}
	press(p.m, p.now, "M")
	if p.click("two"); p.m.selected != "id-two" {
		t.Error("M doesn't turn the mouse on again")
	}
}

// TestMouseBytes sends what terminals and phones' clients send: a double click attaches, in each form, and
// nothing of it reaches the session. The terminal's modes are restored.
func TestMouseBytes(t *testing.T) {
	for name, click := range map[string]string{
		"SGR": "\x1b[<0;6;3M\x1b[<0;6;3m", "X10": "\x1b[M &#\x1b[M#&#", "urxvt": "\x1b[32;6;3M\x1b[35;6;3M",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			h, k, g, ended := playAt(t, ctx, false, time.Now, at("beta", agent.Idle, 1))
			g.shows(t, "beta")
			if m := g.term.Modes(); m.Mouse != terminal.MouseClick || !m.MouseSGR {
				t.Fatalf("the terminal's mouse is %v", m.Mouse)
			}
			g.mu.Lock()
			row := 1 + slices.IndexFunc(g.term.Snapshot(0).Text(), func(line string) bool { return strings.Contains(line, "beta") })
			g.mu.Unlock()
			k.press(strings.NewReplacer(";3", ";"+string(rune('0'+row)), "&#", "&"+string(rune(32+row))).Replace(click + click))
			if got := <-h.attached; got != "id-beta " {
				t.Errorf("the session gets %q", got)
			}
			g.shows(t, "sent away")
			cancel()
			_ = end(t, ended)
			if m := g.term.Modes(); m.Mouse != terminal.MouseNone || m.MouseSGR {
				t.Errorf("the terminal is left with %+v", m)
			}
		})
	}
}

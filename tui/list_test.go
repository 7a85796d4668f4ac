package tui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/sessions"
	"berth/terminal"
	"berth/terminal/paint"
)

// TestNamesFirst: in a list of any width a name is shown in full, and no row runs into the next one.
func TestNamesFirst(t *testing.T) {
	long := "refactor-the-payment-service-v2x" // nameMost columns
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 20}, {40, 12}, {25, 7}, {20, 5}, {200, 60}} {
		m := started(size[0], size[1], world(at(long, agent.Working, 5), at("b", agent.Idle, 300)))
		rows, want := drawn(m), long
		if room := size[0] - 4 - 1; room < len(long) {
			want = long[:room-1]
		}
		if !strings.Contains(rows, "● "+want) {
			t.Errorf("%dx%d lacks %q:\n%s", size[0], size[1], want, rows)
		}
		if !regexp.MustCompile(`(?m)^.{1,3}○ b [^│]* 5h`).MatchString(rows) {
			t.Errorf("%dx%d lacks the age of the other one:\n%s", size[0], size[1], rows)
		}
	}
	if rows := drawn(started(25, 7, world(at("api", agent.Prompt, 5)))); !regexp.MustCompile(`(?m)◆ api +5m$`).MatchString(rows) {
		t.Errorf("at 25x7 a short name leaves room for its age:\n%s", rows)
	}
}

// TestLongNamesAreToldApart: 32 names that differ in their last letter, at 120 columns.
func TestLongNamesAreToldApart(t *testing.T) {
	var list []*sessions.Status
	for i := range 32 {
		list = append(list, at(fmt.Sprintf("refactor-the-payment-service-v%02d", i), agent.States[i%len(agent.States)], i))
	}
	rows := drawn(started(120, 60, world(list...)))
	for _, s := range list {
		if !strings.Contains(rows, s.Name+" ") {
			t.Errorf("no row has %s:\n%s", s.Name, rows)
		}
	}
}

// TestAges: seconds are shown in the first minute, and only then is the picture drawn each second.
func TestAges(t *testing.T) {
	s := at("a", agent.Idle, 0)
	m := started(80, 24, world(s))
	m.Tick(noon.Add(9 * time.Second))
	if rows := drawn(m); !strings.Contains(rows, " 9s") || !m.Due().Equal(noon.Add(10*time.Second)) {
		t.Errorf("after 9 s, with the next picture at %v:\n%s", m.Due(), rows)
	}
	m.Tick(noon.Add(60 * time.Second))
	if rows := drawn(m); !strings.Contains(rows, " 1m") || !m.Due().Equal(noon.Add(2*time.Minute)) {
		t.Errorf("after a minute, with the next picture at %v:\n%s", m.Due(), rows)
	}
}

// TestLightPreview: Berth reports a dark background to programs, so a light terminal shows a session's
// screen on that background, and not white on white.
func TestLightPreview(t *testing.T) {
	term := terminal.New(terminal.Options{Cols: 80, Rows: 24})
	_, _ = term.Write([]byte("\x1b[97mwhite \x1b[0mplain"))
	for _, c := range []struct {
		depth paint.Depth
		light bool
		bg    terminal.Color
	}{{paint.Depth256, true, terminal.PlainBackground}, {paint.Depth16, true, terminal.PlainBackground}, {paint.Depth256, false, terminal.DefaultColor}, {paint.DepthNone, true, terminal.DefaultColor}} {
		m := started(120, 36, world(at("alpha", agent.Idle, 1)))
		m.SetLook(paint.Look{Depth: c.depth, UTF8: true}, c.light)
		m.SetScreen("id-alpha", term.Snapshot(0), "")
		f := NewFrame(120, 36)
		m.Draw(f)
		x := m.layout().side.x
		for _, at := range []int{x, x + 6, x + 40} {
			if got := f.palette.styles[f.cells[2*f.cols+at].style]; got.Bg != c.bg || c.light && c.depth != paint.DepthNone && got.Fg == terminal.DefaultColor {
				t.Errorf("depth %d, light %v: column %d has %+v", c.depth, c.light, at-x, got)
			}
		}
	}
}

// TestHeldRowsAreNotCounted: a session that was just answered keeps its place under the person's keys, and
// the heading above it no longer counts it.
func TestHeldRowsAreNotCounted(t *testing.T) {
	m := started(120, 36, world(at("a", agent.Prompt, 2), at("b", agent.Prompt, 1), at("c", agent.Idle, 3)))
	if got := drawn(m); !strings.Contains(got, "NEEDS INPUT  2") {
		t.Fatalf("at first:\n%s", got)
	}
	press(m, noon, "j", "k")
	m.SetWorld(world(at("a", agent.Idle, 0), at("b", agent.Prompt, 1), at("c", agent.Idle, 3)), noon)
	if got := drawn(m); m.order[0] != "id-a" || !strings.Contains(got, "NEEDS INPUT  1") || !strings.Contains(got, "IDLE  1") {
		t.Errorf("while the places are held (%v):\n%s", m.order, got)
	}
}

// TestMode: what an agent may do unasked has a column, or else a place above its screen, also on a phone.
func TestMode(t *testing.T) {
	s, mode := at("alpha", agent.Idle, 5), "acceptEdits"
	s.Agent, s.Mode = "claude", &mode
	for _, size := range [][2]int{{200, 60}, {120, 36}, {80, 24}, {40, 20}} {
		rows := drawn(started(size[0], size[1], world(s, at("b", agent.Idle, 300))))
		column := size[0] == 200 || size[0] == 80 // else the list has no room for it
		if got := strings.Count(rows, mode); got != map[bool]int{true: 2, false: 1}[column] {
			t.Errorf("%dx%d shows the mode %d times:\n%s", size[0], size[1], got, rows)
		}
		if titled := strings.Contains(rows, "MODE"); titled != column {
			t.Errorf("%dx%d has a column for it: %v\n%s", size[0], size[1], titled, rows)
		}
	}
}

// TestFamilies: children are below their parents in each group, those of one parent in the group's order, and stay there
// when the world comes again in another order. While the person presses keys, each keeps its place.
func TestFamilies(t *testing.T) {
	below := func(parent, name string, state agent.State, minutes int) *sessions.Status {
		s := at(name, state, minutes)
		s.Parent = "id-" + parent
		return s
	}
	list := []*sessions.Status{
		at("a", agent.Working, 9), at("lead", agent.Working, 9), below("lead", "x", agent.Working, 1), below("x", "b", agent.Working, 1), below("lead", "c", agent.Working, 1),
		below("lead", "asks", agent.Prompt, 1), below("gone", "d", agent.Working, 1),
		at("old", agent.Exited, 50), below("old", "new", agent.Exited, 10), at("between", agent.Exited, 30),
	}
	m := started(120, 36, world(list...))
	const want = "asks a d lead c x b between old new"
	if got := names(m); got != want {
		t.Errorf("the order is %q, want %q", got, want)
	}
	slices.Reverse(list)
	m.SetWorld(world(list...), noon)
	if got := names(m); got != want {
		t.Errorf("another time the order is %q", got)
	}
	rows := drawn(m)
	for _, want := range []string{"◆ asks ", "● lead ", "● └ c ", "● └ x ", "●   └ b ", "● d ", "└ new "} {
		if !strings.Contains(rows, want) {
			t.Errorf("no row has %q:\n%s", want, rows)
		}
	}
	press(m, noon, "j")
	m.SetWorld(world(append(list, below("lead", "e", agent.Working, 0))...), noon)
	if got := names(m); got != want+" e" {
		t.Errorf("after a key the order is %q", got)
	}
	if rows := drawn(m); !strings.Contains(rows, "● e ") {
		t.Errorf("one that isn't right below its parent is indented:\n%s", rows)
	}
}

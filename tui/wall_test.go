package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions"
	"berth/terminal"
	"berth/terminal/paint"
)

// walled is a Wall of idle sessions named a, b, c and so on, each with a picture.
func walled(cols, rows, n int) *Model {
	var list []*sessions.Status
	for i := range n {
		list = append(list, at(string(rune('a'+i)), agent.Idle, 1))
	}
	m := started(cols, rows, world(list...))
	press(m, noon, "W")
	for _, s := range list {
		m.SetScreen(s.ID, screenOf("the screen of "+s.Name), "")
	}
	return m
}

func screenOf(lines ...string) *terminal.Snapshot {
	term := terminal.New(terminal.Options{Cols: 80, Rows: 24})
	fmt.Fprint(term, strings.Join(lines, "\r\n"))
	return term.Snapshot(0)
}

// TestSpread: tiles cover their area without overlapping, none is too small unless the area is, and 12
// is the most.
func TestSpread(t *testing.T) {
	for _, size := range [][2]int{{20, 3}, {40, 18}, {80, 22}, {120, 34}, {200, 58}, {61, 16}, {300, 100}} {
		in := box{0, 1, size[0], size[1]}
		most := tilesIn(in)
		for n := 1; n <= most; n++ {
			all, covered := spread(n, in), map[[2]int]bool{}
			if len(all) != n {
				t.Fatalf("%v: %d tiles of %d", size, len(all), n)
			}
			for _, b := range all {
				if n > 1 && (b.w < min(tileCols, in.w) || b.h < tileRows) {
					t.Errorf("%v: %d tiles: %v is too small", size, n, b)
				}
				for y := b.y; y < b.y+b.h; y++ {
					for x := b.x; x < b.x+b.w; x++ {
						if covered[[2]int{x, y}] || x >= in.w || y > in.h {
							t.Fatalf("%v: %d tiles: %v overlaps or is outside", size, n, b)
						}
						covered[[2]int{x, y}] = true
					}
					covered[[2]int{b.x + b.w, y}] = b.x+b.w < in.w // the line between two
				}
			}
			for y := in.y; y < in.y+in.h; y++ {
				for x := range in.w {
					if !covered[[2]int{x, y}] {
						t.Fatalf("%v: %d tiles: nothing covers %d, %d", size, n, x, y)
					}
				}
			}
		}
	}
	if n := tilesIn(box{0, 1, 1000, 500}); n != 12 {
		t.Errorf("%d tiles on a large screen", n)
	}
	if n := tilesIn(box{0, 1, 40, 18}); n != 2 {
		t.Errorf("%d tiles on a phone", n)
	}
}

// TestWallKeys: keys move the focus among tiles and pages, zoom, and leave the Wall.
func TestWallKeys(t *testing.T) {
	m := walled(120, 36, 14) // 3x4 tiles, and 2 on the next page
	at := "a"
	for _, step := range strings.Fields("right:b down:e l:f j:i left:h k:e home:a end:n up:l down:m pgup:a pgdown:m g:a G:n h:m") {
		key, want, _ := strings.Cut(step, ":")
		if e := press(m, noon, key); e != nil || m.selected != "id-"+want {
			t.Fatalf("%s at %s: %v, focus on %s, want %s", key, at, e, m.selected, want)
		}
		at = want
	}
	if got := drawn(m); !strings.Contains(got, "13-14 of 14") || strings.Contains(got, "screen of l") || !strings.Contains(got, "screen of m") {
		t.Errorf("the second page:\n%s", got)
	}
	press(m, noon, "z")
	if got := drawn(m); strings.Contains(got, "screen of n") || !strings.Contains(got, "── m · idle") || m.Wanted() != "id-m" {
		t.Errorf("zoomed:\n%s", got)
	}
	if press(m, noon, "right"); m.selected != "id-n" || !m.wall.zoomed {
		t.Errorf("right shows %s, zoomed: %v", m.selected, m.wall.zoomed)
	}
	press(m, noon, "esc")
	if got := drawn(m); !strings.Contains(got, "screen of m") {
		t.Errorf("esc doesn't show the tiles:\n%s", got)
	}
	if e := press(m, noon, "enter"); e != nil || !m.wall.zoomed {
		t.Errorf("enter: %v, zoomed: %v", e, m.wall.zoomed)
	}
	if e := press(m, noon, "enter"); e != (Attach{"id-n"}) {
		t.Errorf("enter again: %v", e)
	}
	press(m, noon, "z")
	if e := press(m, noon, "q"); e != nil || m.wall.up || m.selected != "id-n" || !strings.Contains(drawn(m), "NAME") {
		t.Errorf("q: %v, the Wall is up: %v, %s is selected", e, m.wall.up, m.selected)
	}
}

// TestWallNextWaiting: Tab goes among the tiles that need input, on all pages, and says why if there is none.
func TestWallNextWaiting(t *testing.T) {
	w := world(at("a", agent.Idle, 1), waiting("first", 9), at("b", agent.Idle, 1), at("c", agent.Idle, 1), waiting("second", 5))
	w.May = answerer
	m := started(40, 20, w) // two tiles on a page
	press(m, later, "W", "G")
	if got := drawn(m); m.selected != "id-c" || !strings.Contains(got, "tab next") {
		t.Fatalf("at %s:\n%s", m.selected, got)
	}
	at := m.selected
	for _, step := range strings.Fields("tab:first tab:second shift+tab:first shift+tab:second z:second tab:first W:first") {
		key, want, _ := strings.Cut(step, ":")
		if e := press(m, later, key); e != nil || m.selected != "id-"+want {
			t.Fatalf("%s at %s: %v, focus on %s, want %s", key, at, e, m.selected, want)
		}
		at = m.selected
	}
	if m.detail || m.wall.up {
		t.Errorf("W leads to the list: the Wall is up %v, a session is shown %v", m.wall.up, m.detail)
	}
	press(m, later, "G", " ", "W", "tab") // a Wall of one marked session
	if m.selected != "id-c" || !strings.Contains(m.flash.text, "no other tile needs input") {
		t.Errorf("without such a tile: %s, %q", m.selected, m.flash.text)
	}
}

// TestWallFollows: the Wall follows the screens of the tiles on its page, slower than the preview, and a
// zoomed tile as fast.
func TestWallFollows(t *testing.T) {
	m := walled(40, 20, 5)
	all := func() (list []string) {
		for id, every := range m.Followed() {
			list = append(list, fmt.Sprintf("%s %v", id, every))
		}
		slices.Sort(list)
		return list
	}
	if got := all(); !slices.Equal(got, []string{"id-a 250ms", "id-b 250ms"}) {
		t.Errorf("follows %v", got)
	}
	press(m, noon, "G")
	if got := all(); !slices.Equal(got, []string{"id-e 250ms"}) {
		t.Errorf("on the last page it follows %v", got)
	}
	press(m, noon, "z")
	if got := m.Followed(); len(got) != 1 || got["id-e"] != frameTime {
		t.Errorf("zoomed, it follows %v", got)
	}
	press(m, noon, "?")
	if got := m.Followed(); len(got) != 0 {
		t.Errorf("under the help it follows %v", got)
	}
	w := m.world
	w.May = Rights{"attach": true}
	m.SetWorld(w, noon)
	if m.wall.up {
		t.Error("the Wall is up without the right to see screens")
	}
	if press(m, noon, "x", "W"); m.wall.up || !strings.Contains(m.flash.text, "may not see") {
		t.Errorf("W opens it: %v, %q", m.wall.up, m.flash.text)
	}
}

// TestWallHoldsStill: tiles keep their places when states change and time passes. New sessions come
// last, and the tile after a removed session takes its place and the focus.
func TestWallHoldsStill(t *testing.T) {
	m := walled(120, 36, 4)
	press(m, noon, "right")
	list := m.world.Sessions
	asks := at("c", agent.Prompt, 1)
	m.SetWorld(world(list[0], list[1], asks, list[3], at("new", agent.Prompt, 9)), noon.Add(time.Hour))
	if got := strings.Join(m.wall.tiles, " "); got != "id-a id-b id-c id-d id-new" || m.selected != "id-b" {
		t.Errorf("tiles %s, focus on %s", got, m.selected)
	}
	over := at("b", agent.Exited, 0)
	status := 3
	over.Exit = &api.Exit{Code: &status}
	m.SetWorld(world(list[0], over, asks, list[3]), noon.Add(time.Hour))
	if got := drawn(m); !strings.Contains(got, "□ b status 3") || !strings.Contains(got, "screen of b") {
		t.Errorf("the tile of an ended session:\n%s", got)
	}
	if e := press(m, noon, "o"); e != nil || !strings.Contains(m.flash.text, "has ended") {
		t.Errorf("o at an ended session: %v, %q", e, m.flash.text)
	}
	m.SetWorld(world(list[0], asks, list[3]), noon.Add(2*time.Hour))
	if m.selected != "id-c" {
		t.Errorf("after b was removed, the focus is on %s", m.selected)
	}
	if e := m.Press(Key{Name: "o", Text: "o"}, noon.Add(2*time.Hour)); e != nil || !strings.Contains(m.flash.text, "press again") {
		t.Errorf("o right after that: %v, %q", e, m.flash.text)
	}
	for _, k := range []string{"/", "p", "r", "o", "enter"} {
		press(m, noon.Add(3*time.Hour), k)
	}
	if got := strings.Join(m.wall.tiles, " "); got != "id-c" || m.selected != "id-c" {
		t.Errorf("filtered: tiles %s, focus on %s", got, m.selected)
	}
	m.SetWorld(world(), noon.Add(4*time.Hour))
	if got := drawn(m); m.selected != "" || !strings.Contains(got, "Nothing matches") || press(m, noon, "z", "right", "o") != nil {
		t.Errorf("an empty Wall:\n%s", got)
	}
}

// TestWallOfMarked: with marks, the Wall has the marked sessions only, and those that the person starts.
func TestWallOfMarked(t *testing.T) {
	m := walled(120, 36, 5)
	press(m, noon, "q", "g", "j", " ", "j", "j", " ", "g", "W")
	if got := strings.Join(m.wall.tiles, " "); got != "id-b id-d" || m.selected != "id-b" {
		t.Errorf("tiles %s, focus on %s", got, m.selected)
	}
	w := m.world
	w.Sessions = append(slices.Clone(w.Sessions), at("new", agent.Working, 0), at("other", agent.Working, 0))
	m.wanted = "id-new"
	m.SetWorld(w, noon)
	m.SetWorld(w, noon)
	if got := strings.Join(m.wall.tiles, " "); got != "id-b id-d id-new" || m.selected != "id-new" {
		t.Errorf("after a start: tiles %s, focus on %s", got, m.selected)
	}
}

// TestWallAnswers: the focused tile has the card. It takes keys under the conditions of the list: after
// it was read, and after it was there for a moment, also when the focus comes back or the tile is zoomed.
func TestWallAnswers(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {40, 20}, {20, 5}} {
		m := asking(size[0], size[1], permission())
		long := permission()
		long.ID = "p2"
		long.SetInput(strings.Repeat("echo one more line\n", 60))
		other := at("other", agent.Prompt, 0)
		other.Request = long
		w := m.world
		w.Sessions = append(w.Sessions, other)
		m.SetWorld(w, later)
		press(m, later, "W")
		drawn(m)
		m.Drawn(2)
		m.Shown(2, later)
		if e := m.Press(Key{Name: "2", Text: "2"}, later.Add(settleTime/2)); e != nil || !strings.Contains(m.flash.text, "press again") && !strings.Contains(m.flash.text, toEnd) {
			t.Errorf("%v: a key at once: %v, %q", size, e, m.flash.text)
		}
		readThrough(t, m)
		if got, _ := ran(t, press(m, later.Add(time.Second), "2")); got != "respond id-alpha --prompt p1 option 2" {
			t.Errorf("%v: 2 runs %q", size, got)
		}
		press(m, later.Add(time.Second), "tab")
		if e := press(m, later.Add(time.Second), "1"); e != nil || !strings.Contains(m.flash.text, toEnd) {
			t.Errorf("%v: an unread card: %v, %q", size, e, m.flash.text)
		}
		readThrough(t, m)
		press(m, later.Add(time.Second), "z") // another size: it must be read again
		if size[0] > 20 {
			if e := press(m, later.Add(time.Second), "1"); e != nil || !strings.Contains(m.flash.text, toEnd) {
				t.Errorf("%v: a zoomed card: %v, %q", size, e, m.flash.text)
			}
		}
		readThrough(t, m)
		if got, _ := ran(t, press(m, later.Add(2*time.Second), "1")); got != "respond id-other --prompt p2 option 1" {
			t.Errorf("%v: 1 runs %q", size, got)
		}
	}
}

// TestWallOfAViewer: a viewer reads cards, and answers none.
func TestWallOfAViewer(t *testing.T) {
	m := asking(120, 36, permission())
	m.world.May = Rights{"attach": true, "screen": true}
	press(m, later, "W")
	if got := drawn(m); !strings.Contains(got, "1  Yes") || strings.Contains(got, "allow") {
		t.Errorf("a viewer's card:\n%s", got)
	}
	for _, key := range []string{"1", "2", "y", "d", "t", "c", "m"} {
		if e := press(m, later.Add(time.Second), key); e != nil || m.edit != nil {
			t.Errorf("%s: %v, the editor is %v", key, e, m.edit)
		}
	}
}

// TestWallMouse: a click focuses a tile and answers in the focused one, after its key was there for a
// moment. Two clicks attach, and the wheel turns pages.
func TestWallMouse(t *testing.T) {
	m := asking(120, 36, permission())
	w := m.world
	w.Sessions = append(w.Sessions, at("other", agent.Idle, 3))
	m.SetWorld(w, later)
	press(m, later, "W")
	m.SetScreen("id-other", screenOf("quiet here"), "")
	p := pointing(t, m)
	if e := p.click("quiet here"); e != nil || m.selected != "id-other" {
		t.Errorf("a click on a screen: %v, focus on %s", e, m.selected)
	}
	if e := p.click("quiet here"); e != (Attach{"id-other"}) {
		t.Errorf("a double click: %v", e)
	}
	p.now = p.now.Add(time.Second)
	if e := p.click("◆ alpha"); e != nil || m.selected != "id-alpha" {
		t.Errorf("a click on a title: %v, focus on %s", e, m.selected)
	}
	if e := p.clickSince("Yes, always", p.now.Add(-settleTime/2)); e != nil {
		t.Errorf("a click on a new card: %v", e)
	}
	p.now = p.now.Add(settleTime)
	if got, _ := ran(t, p.click("Yes, always")); got != "respond id-alpha --prompt p1 option 2" {
		t.Errorf("a click on an option runs %q", got)
	}

	p = pointing(t, walled(40, 20, 5))
	if p.wheel("screen of b", 65); p.m.selected != "id-c" {
		t.Errorf("the wheel goes to %s", p.m.selected)
	}
	if p.wheel("screen of d", 64); p.m.selected != "id-a" {
		t.Errorf("the wheel goes back to %s", p.m.selected)
	}
}

// TestWallCutsNothingInHalf: a wide character at a tile's edge is drawn whole or not at all, and what an
// agent prints stays in its tile.
func TestWallCutsNothingInHalf(t *testing.T) {
	for cols := leastCols; cols <= 130; cols++ {
		m := walled(cols, 20, 4)
		for i, id := range m.wall.tiles {
			m.SetScreen(id, screenOf(strings.Repeat("a", i%2)+strings.Repeat("漢", 39), "\x1b[44mblue \x1b[7C"+strings.Repeat("字", 30)+strings.Repeat("\r", 1-i/2)), "") // the last two are scrolled sideways, to their cursor
		}
		f := NewFrame(cols, 20)
		m.Draw(f)
		first, boxes := m.wallPage()
		for _, b := range boxes[:len(boxes)-1] {
			for y := b.y; y < b.y+b.h && b.x+b.w < cols; y++ {
				if c := f.cells[y*cols+b.x+b.w]; c.ch != '│' && c.ch != '┬' {
					t.Fatalf("%d columns, page at %d: a tile goes over its edge:\n%s", cols, first, strings.Join(f.Text(), "\n"))
				}
			}
		}
		for y := range 20 {
			for x := range cols {
				c := f.cells[y*cols+x]
				if c.wide && (x+1 >= cols || f.cells[y*cols+x+1].ch != 0) {
					t.Fatalf("%d columns: half a character at %d, %d:\n%s", cols, x, y, strings.Join(f.Text(), "\n"))
				}
				if c.ch == 0 && (x == 0 || !f.cells[y*cols+x-1].wide) {
					t.Fatalf("%d columns: the right half alone at %d, %d:\n%s", cols, x, y, strings.Join(f.Text(), "\n"))
				}
			}
		}
	}
}

// TestWallAtRest: a Wall that nothing happens on writes nothing and has no clock but the minute's.
func TestWallAtRest(t *testing.T) {
	m := walled(120, 36, 12)
	sc := newScreen(paint.Look{Depth: paint.DepthTrue, UTF8: true})
	sc.resize(120, 36)
	sc.draw(m)
	if b := sc.draw(m); len(b) > 0 {
		t.Errorf("writes %q again", b)
	}
	m.Tick(noon.Add(calm))
	if due := m.Due(); !due.Equal(noon.Add(time.Minute)) {
		t.Errorf("draws again at %v", due)
	}
}

package tui

import (
	"fmt"
	"strings"
	"testing"

	"berth/agent"
	"berth/api"
	"berth/sessions"
	"berth/sessions/worktree"
)

// trio is a dashboard of three idle agents. All verbs are allowed.
func trio(cols, rows int) *Model {
	w := World{May: Rights{"attach": true, "screen": true, "nudge": true, "kill": true, "interrupt": true, "restart": true, "tag": true, "rm": true, "rename": true, "fork": true, "respond": true}}
	for _, name := range []string{"a1", "b2", "c3"} {
		s := at(name, agent.Idle, 1)
		s.Driven = true
		w.Sessions = append(w.Sessions, s)
	}
	return started(cols, rows, w)
}

// lines are the verbs of a batch, in words.
func lines(e Effect) string {
	a, _ := e.(Act)
	var all []string
	for _, one := range a.each {
		all = append(all, strings.Join(one.Words, " ")+one.Stdin)
	}
	return strings.Join(all, "|")
}

// TestMarks: acts apply to all marked sessions after one confirmation, and the result names the sessions where
// they failed. These stay marked.
func TestMarks(t *testing.T) {
	m := trio(80, 24)
	press(m, later, " ", "j", "j", " ", "k")
	if rows := drawn(m); !strings.Contains(rows, "✓○ a1") || !strings.Contains(rows, "✓○ c3") || strings.Contains(rows, "✓○ b2") || !strings.Contains(rows, "2 marked") {
		t.Errorf("the marks are drawn as\n%s", rows)
	}
	for key, want := range map[string]string{
		"i": "Interrupt 2 sessions: a1, c3?", "R": "Restart 2 sessions: a1, c3? A turn in progress is lost.", "X": "End the program of 2 sessions: a1, c3?",
		"x": "Remove 2 sessions? Their screens and output are deleted. 2 running: ended first. a1, c3",
	} {
		if e := press(m, later, key); e != nil || m.confirm == nil || m.confirm.text != want {
			t.Errorf("%s: %v, %+v", key, e, m.confirm)
		}
		if e := press(m, later, "n"); e != nil {
			t.Errorf("%s, without a yes: %v", key, e)
		}
	}
	e := press(m, later, "X", "y")
	if got := lines(e); got != "kill id-a1|kill id-c3" {
		t.Fatalf("X ends %q", got)
	}
	a := e.(Act)
	m.Finish(Done{Act: a, results: []Done{{Act: a.each[0], Out: `{}`}, {Act: a.each[1], Status: 1, Out: `{"error":{"code":"INTERNAL","message":"it stays"}}`}}}, later)
	if m.flash.text != "1 of 2 ended · failed: c3: it stays" || m.marks["id-a1"] || !m.marks["id-c3"] {
		t.Errorf("it says %q, and %v are marked", m.flash.text, m.marks)
	}
	// A mark goes with its session, and Esc removes all.
	w := m.world
	w.Sessions = w.Sessions[:2]
	m.SetWorld(w, later)
	if len(m.marks) != 0 {
		t.Errorf("marked are %v", m.marks)
	}
	press(m, later, " ", "esc")
	if len(m.marked()) != 0 {
		t.Error("esc removes no mark")
	}
	press(m, later, " ", " ")
	if len(m.marked()) != 0 {
		t.Error("space doesn't remove a mark")
	}
}

// TestMarkedTexts: a message and tags are for all marked sessions, whose number is written above the text.
func TestMarkedTexts(t *testing.T) {
	m := trio(80, 24)
	press(m, later, " ", "j", " ", "j")
	press(m, later, "m", "h", "i")
	if rows := drawn(m); !strings.Contains(rows, "Message to 2 sessions: a1, b2") {
		t.Errorf("the text is for\n%s", rows)
	}
	e := press(m, later, "enter")
	if got := lines(e); got != "nudge id-a1 -hi|nudge id-b2 -hi" {
		t.Fatalf("sends %q", got)
	}
	a := e.(Act)
	results := []Done{{Act: a.each[0], Out: `{"delivered":true}`}, {Act: a.each[1], Status: 1, Out: `{"error":{"code":"AGENT_BUSY","message":"it works"}}`}}
	m.Finish(Done{Act: a, results: results}, later)
	if m.flash.text != "1 of 2 have the message · failed: b2: it works" {
		t.Errorf("it says %q", m.flash.text)
	}
	if e = press(m, later, "m", "ctrl+q"); lines(e) != "nudge --queue id-b2 -hi" {
		t.Errorf("the kept text is sent as %q", lines(e))
	}
	a = e.(Act)
	m.Finish(Done{Act: a, results: []Done{{Act: a.each[0], Out: `{"queued":true,"queue_id":"q1"}`}}}, later)
	if m.flash.text != "1 have the message, 1 of them queued" || len(m.marked()) != 0 || len(m.drafts) != 0 {
		t.Errorf("it says %q, marked %v, kept %v", m.flash.text, m.marked(), m.drafts)
	}
	press(m, later, " ", "k", " ", "T", "n", "e", "w")
	if e = press(m, later, "enter"); lines(e) != "tag id-b2 new|tag id-c3 new" {
		t.Errorf("tags by %q", lines(e))
	}
}

// TestMarkedDrafts: a text that was not sent is offered for the same sessions alone.
func TestMarkedDrafts(t *testing.T) {
	m := trio(80, 24)
	press(m, later, " ", "m", "h", "i", "esc", " ", "j", " ", "m")
	if m.edit == nil || m.editor.text != "" {
		t.Errorf("for another session the editor has %q", m.editor.text)
	}
	press(m, later, "esc", " ", "m", "esc", "k", "m")
	if m.editor.text != "hi" {
		t.Errorf("for the same session the editor has %q", m.editor.text)
	}
}

// TestLongConfirmation: what many sessions lose is in the confirmation, and a list that is cut off says so.
func TestLongConfirmation(t *testing.T) {
	w := World{May: Rights{"rm": true}}
	for i := range 60 {
		w.Sessions = append(w.Sessions, at(fmt.Sprintf("worker-frontend-%02d", i), agent.Idle, 1))
	}
	m := started(40, 20, w)
	for range w.Sessions {
		press(m, later, " ", "j")
	}
	press(m, later, "x")
	rows := drawn(m)
	for _, want := range []string{"Remove 60 sessions?", "60 running: ended", "worker-frontend-05", "… and more", "y "} {
		if !strings.Contains(rows, want) {
			t.Errorf("no %q in\n%s", want, rows)
		}
	}
	m = started(40, 20, World{May: w.May, Sessions: w.Sessions[:12]})
	press(m, later, " ", "j", " ", "x")
	if rows := drawn(m); strings.Contains(rows, "and more") || !strings.Contains(rows, "worker-frontend-01") {
		t.Errorf("two sessions are drawn as\n%s", rows)
	}
}

// TestAnswersAreForOne: an answer never applies to several sessions.
func TestAnswersAreForOne(t *testing.T) {
	m := queue(80, 24)
	press(m, later, " ", "j", " ", "k")
	for _, k := range []string{"y", "1"} {
		if a, ok := press(m, later, k).(Act); !ok || len(a.each) > 0 || a.Session != "id-first" {
			t.Errorf("%s answers %+v", k, a)
		}
	}
}

// TestKeep: rename, fork and remove.
func TestKeep(t *testing.T) {
	words := func(e Effect) string {
		a, _ := e.(Act)
		return strings.Join(a.Words, " ")
	}
	m := trio(80, 24)
	if got := words(press(m, later, "N", "x", "enter")); got != "rename id-a1 a1x" {
		t.Errorf("N runs %q", got)
	}
	m.Finish(Done{Act: Act{Kind: "rename", Session: "id-a1", Name: "a1"}, Out: `{"session":"a1x"}`}, later)
	if m.flash.text != "a1 is now a1x" {
		t.Errorf("it says %q", m.flash.text)
	}
	if got := words(press(m, later, "F", "enter")); got != "fork id-a1" {
		t.Errorf("F runs %q", got)
	}
	if got := words(press(m, later, "F", "t", "2", "enter")); got != "fork id-a1 t2" {
		t.Errorf("F with a name runs %q", got)
	}
	m.Finish(Done{Act: Act{Kind: "fork", Session: "id-a1", Name: "a1"}, Out: `{"session":"t2","id":"id-t2"}`}, later)
	if m.flash.text != "t2 was started with the conversation of a1" || m.wanted != "id-t2" {
		t.Errorf("it says %q, and will select %q", m.flash.text, m.wanted)
	}
	s := m.current()
	s.Worktree = &worktree.Tree{Path: "/srv/trees/a1"}
	for _, c := range []struct {
		look      *worktree.Look
		over      bool
		asks, run string
	}{
		{&worktree.Look{Changed: 3}, false, "End the program of a1 and remove the session? Its screen and output are deleted. Its worktree stays, because files are changed (3): /srv/trees/a1", "rm id-a1 --force"},
		{nil, true, "Remove a1? Its screen and output are deleted. Its worktree goes too, unless it has changes or commits that no other branch has: /srv/trees/a1", "rm id-a1"},
	} {
		if s.Look = c.look; c.over {
			s.Now, s.Exit = agent.Exited, &api.Exit{}
		}
		press(m, later, "delete")
		if m.confirm == nil || m.confirm.text != c.asks {
			t.Errorf("it asks %+v", m.confirm)
		}
		s.Now, s.Exit = agent.Idle, nil // another person restarts it: what was confirmed is done, or refused
		if got := words(press(m, later, "y")); got != c.run {
			t.Errorf("after that it runs %q", got)
		}
	}
	for out, want := range map[string]string{
		`{}`: "a1 was removed",
		`{"worktree":{"removed":true,"path":"/t"}}`:               "a1 and its worktree were removed",
		`{"worktree":{"removed":false,"path":"/t","why":"work"}}`: "a1 was removed; its worktree stays: work · /t",
	} {
		m.Finish(Done{Act: Act{Kind: "rm", Session: "id-a1", Name: "a1"}, Out: out}, later)
		if m.flash.text != want {
			t.Errorf("after %s it says %q", out, m.flash.text)
		}
	}
}

// TestGroups: S groups by folder and by tag, and the title says so, and how many the filter leaves.
func TestGroups(t *testing.T) {
	var list []*sessions.Status
	for i, where := range []string{"/srv/b", "/srv/a", "/srv/b"} {
		s := at([]string{"one", "two", "three"}[i], agent.Idle, 1)
		s.Cwd, s.Tags = where, [][]string{{"z"}, {"y"}, nil}[i]
		list = append(list, s)
	}
	m := started(120, 36, world(list...))
	for _, want := range []string{"by folder: two one three", "by tag: two one three", "by state: one three two"} {
		press(m, later, "S")
		if rows := drawn(m); "by "+m.by.String()+": "+names(m) != want || !strings.Contains(rows, "3 sessions by "+m.by.String()) {
			t.Errorf("%s: %s, want %s\n%s", m.by, names(m), want, rows)
		}
	}
	press(m, later, "S", "/", "t", "enter")
	if rows := drawn(m); !strings.Contains(rows, "2 of 3 sessions by folder") || !strings.Contains(rows, "/SRV/A  1") && !strings.Contains(rows, "/srv/a  1") {
		t.Errorf("with a filter\n%s", rows)
	}
	if m.chosen().By != byFolder {
		t.Error("the grouping isn't remembered")
	}
	m = started(80, 24, world(list...))
	press(m, later, "/", "t", "enter", "S")
	m.flash = flash{}
	if rows := drawn(m); !strings.Contains(rows, "/t 2 of 3") || !strings.Contains(rows, "S by folder") {
		t.Errorf("at 80x24\n%s", rows)
	}
}

// TestHelpFits: at 80x24 all keys are shown at once, and no text is cut.
func TestHelpFits(t *testing.T) {
	m := trio(80, 24)
	for _, d := range actions() {
		m.world.May[d.verb] = true
	}
	m.world.May["new"], m.world.OwnCommand = true, true
	press(m, later, "?")
	rows := drawn(m)
	for _, h := range m.helpKeys() {
		if !strings.Contains(rows, h.key) || !strings.Contains(rows, h.does) {
			t.Errorf("%s %s isn't shown", h.key, h.does)
		}
	}
	if m.helpLast > 0 {
		t.Errorf("help scrolls by %d:\n%s", m.helpLast, rows)
	}
}

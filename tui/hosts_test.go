package tui

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions"
)

// on is a session of a host; the gateway is gw.
func on(host, name string, state agent.State, minutes int) *sessions.Status {
	s := at(name, state, minutes)
	s.Name = host + "/" + name
	if host != "gw" {
		s.ID = OnHost(host, "id-"+name)
	}
	return s
}

// fleetWorld has a gateway, a host, one that can't be reached, and one without sessions.
func fleetWorld() World {
	asks := on("box2", "api", agent.Prompt, 2)
	asks.Request = permission()
	asks.Request.ID, asks.Request.Digest = "p1", "d1"
	lost := on("box3", "api", agent.Unknown, 9)
	lost.Title = "last known: working"
	w := world(lost, on("box2", "web", agent.Idle, 5), asks, on("gw", "notes", agent.Idle, 3))
	w.Hosts = []FleetHost{
		{Name: "gw", Own: true, Reachable: true}, {Name: "box2", Reachable: true, Draining: true},
		{Name: "box3", Since: noon.Add(-3 * time.Minute)}, {Name: "box4", Reachable: true},
	}
	w.May = Rights{"attach": true, "respond": true, "screen": true, "kill": true, "rm": true, "rename": true, "watch": true, "worktree": true, "transcript": true, "audit": true}
	return w
}

// TestHosts: at a fleet's gateway the list is grouped by host, and each heading says how the host is. It is so at each
// size that has room for a heading.
func TestHosts(t *testing.T) {
	for _, size := range [][2]int{{120, 30}, {80, 24}, {50, 20}} {
		m := started(size[0], size[1], fleetWorld())
		rows := ""
		for range 5 { // the last rows too
			rows += drawn(m) + "\n"
			press(m, later, "j")
		}
		if names(m) != "notes box2/id-api box2/id-web box3/id-api" {
			t.Errorf("%v: the order is %s", size, names(m))
		}
		for _, want := range []string{
			"gw  gateway · 1 session", "box2  draining · 2 sessions · 1 needs input", "box3  unreachable for 3m · 1 session", "◆ box2/api", "last known: working",
		} {
			if !strings.Contains(rows, want) {
				t.Errorf("%v lacks %q:\n%s", size, want, rows)
			}
		}
	}
	if rows := drawn(started(120, 30, fleetWorld())); !strings.Contains(rows, "box4  reachable · no sessions") || !strings.Contains(rows, "4 sessions by host · box3 unreachable") {
		t.Errorf("a host without sessions, and the title:\n%s", rows)
	}
	w := fleetWorld()
	w.Sessions = nil
	if rows := drawn(started(50, 20, w)); !strings.Contains(rows, "box3  unreachable for 3m · no sessions") {
		t.Errorf("a fleet without sessions:\n%s", rows)
	}
}

// TestHostFilter: the filter takes a host's name, with or without its slash.
func TestHostFilter(t *testing.T) {
	for _, text := range []string{"box2/", "box2", "x2/ box"} {
		m := started(120, 30, fleetWorld())
		press(m, later, "/")
		press(m, later, strings.Split(text, "")...)
		press(m, later, "enter")
		if rows := drawn(m); names(m) != "box2/id-api box2/id-web" || strings.Contains(rows, "box4") || !strings.Contains(rows, "2 of 4 sessions") {
			t.Errorf("%q: %s\n%s", text, names(m), rows)
		}
	}
}

// TestHostGroupings: S goes from hosts to the other groupings and back, and what is chosen is remembered. One machine
// has no groups by host.
func TestHostGroupings(t *testing.T) {
	m := started(120, 30, fleetWorld())
	for _, want := range []string{"state", "folder", "tag", "host"} {
		press(m, later, "S")
		if !strings.Contains(m.flash.text, "grouped by "+want+" ·") || m.grouped().String() != want {
			t.Errorf("it says %q, want %s", m.flash.text, want)
		}
		again := started(120, 30, fleetWorld())
		again.choose(m.chosen())
		if again.grouped() != m.grouped() {
			t.Errorf("after a visit by %s the next is by %s", m.grouped(), again.grouped())
		}
	}
	m = started(120, 30, world(at("a", agent.Idle, 1)))
	for range 4 {
		press(m, later, "S")
		if strings.Contains(m.flash.text, "host") {
			t.Errorf("on one machine it says %q", m.flash.text)
		}
	}
}

// TestOtherHosts: what keys do with a session of another host. Verbs get the id with the host's name.
func TestOtherHosts(t *testing.T) {
	m := started(120, 30, fleetWorld())
	press(m, later, "j", "j")
	if e := press(m, later, "o"); e != (Attach{ID: "box2/id-web"}) {
		t.Errorf("o: %#v", e)
	}
	if words, _ := ran(t, press(m, later, "X", "y")); words != "kill box2/id-web" {
		t.Errorf("X runs %q", words)
	}
	if words, _ := ran(t, press(m, later, "E")); words != "watch box2/id-web --past --since 0" {
		t.Errorf("E runs %q", words)
	}
	if words, _ := ran(t, press(m, later, "D")); words != "worktree diff box2/id-web" {
		t.Errorf("D runs %q", words)
	}
	press(m, later, "N")
	if m.edit == nil || m.edit.text != "web" {
		t.Error("a new name begins without the old name's host")
	}
	press(m, later, "esc")
	for _, key := range []string{"h", "v", "A"} {
		if e := press(m, later, key); e != nil || m.talk != nil || !strings.Contains(m.flash.text, "not from here for a session of box2") {
			t.Errorf("%s: %#v, and it says %q", key, e, m.flash.text)
		}
	}
	if press(m, later, "x"); !strings.Contains(drawn(m), "A worktree goes too, unless") {
		t.Errorf("x asks without a word about a worktree:\n%s", drawn(m))
	}
	press(m, later, "n")
	if rows := drawn(m); !strings.Contains(rows, "Its screen is on box2") {
		t.Errorf("no word about its screen:\n%s", rows)
	}
	m.Finish(Done{Act: Act{Kind: "kill", Session: "box2/id-web", Name: "box2/web"}, Out: `{"session":"web"}`}, later)
	if m.flash.text != "box2/web has ended" {
		t.Errorf("it says %q", m.flash.text)
	}
	m.Finish(Done{Act: Act{Kind: "fork", Session: "box2/id-web", Name: "box2/web"}, Out: `{"session":"f","id":"id-f"}`}, later)
	if m.wanted != "box2/id-f" {
		t.Errorf("after a fork %q is wanted", m.wanted)
	}
	if m = started(120, 30, fleetWorld()); press(m, later, "G", "o") != nil || !strings.Contains(m.flash.text, "box3 is unreachable") {
		t.Errorf("attach to an unreachable host: %q", m.flash.text)
	}
	if rows := drawn(m); !strings.Contains(rows, "The list has what it last said") && !strings.Contains(rows, "it last said") {
		t.Errorf("no word about the lost host:\n%s", rows)
	}
}

// TestOtherHostsPrompt: an answer goes to the host with the prompt and the digest of what was shown. A prompt that may
// not be known whole is only refused.
func TestOtherHostsPrompt(t *testing.T) {
	m := started(120, 30, fleetWorld())
	press(m, later, "j")
	if words, _ := ran(t, press(m, later, "y")); words != "respond box2/id-api --prompt p1 --digest d1 accept" {
		t.Errorf("y runs %q", words)
	}
	w := fleetWorld()
	w.Cut = map[string]bool{"box2/id-api": true}
	m = started(120, 30, w)
	press(m, later, "j")
	if e := press(m, later, "y"); e != nil || !strings.Contains(m.flash.text, "may lack a part of what box2 asks") {
		t.Errorf("y at a part of a prompt: %#v, %q", e, m.flash.text)
	}
	if rows := drawn(m); !strings.Contains(rows, "o attach to answer") || strings.Contains(rows, "y allow") {
		t.Errorf("its keys:\n%s", rows)
	}
}

// TestFill: the host of a cut prompt is asked for the rest once. The card then begins again, so that a key counts only
// for what was read of all of it.
func TestFill(t *testing.T) {
	whole := permission()
	whole.ID, whole.Raw = "p1", []byte(`{"command":"npm install express"}`)
	whole.Sign()
	row := *whole.Clone()
	row.FullInput, row.Raw = "", nil
	rows := []api.Session{{Session: "api", ID: "01A", State: "prompt", Prompt: &row}}
	var kept HostRows
	look := func() World {
		r := kept.Of("box2", true, rows)[0]
		w := world(r.Status)
		w.Hosts, w.May = fleetWorld().Hosts, fleetWorld().May
		w.Cut = map[string]bool{r.Status.ID: r.Cut}
		return w
	}
	m := started(120, 30, look())
	shown(m, noon)
	if id, ask := m.Missing(); id != "box2/01A" || !ask {
		t.Fatalf("it asks %v for %q", ask, id)
	}
	if _, again := m.Missing(); again {
		t.Error("it asks again")
	}
	if e := press(m, later, "y"); e != nil {
		t.Errorf("y at a cut prompt: %#v", e)
	}
	other := *whole
	other.Digest = "another"
	if kept.Fill("box2/01A", &other); !look().Cut["box2/01A"] {
		t.Error("a prompt with another digest fills this one")
	}
	kept.Fill("box2/01A", whole)
	m.SetWorld(look(), later)
	if e := m.Press(Key{Name: "y", Text: "y"}, later); e != nil || m.world.Cut["box2/01A"] {
		t.Errorf("y before the whole prompt was shown: %#v", e)
	}
	if words, _ := ran(t, press(m, later.Add(time.Second), "y")); words != "respond box2/01A --prompt p1 --digest "+whole.Digest+" accept" {
		t.Errorf("y runs %q", words)
	}
	if _, ask := m.Missing(); ask {
		t.Error("it asks for a prompt that is whole")
	}
}

// TestFillLarge: a form that its host's row has no room for can be answered once the card has all of it, in its host's
// order. A text that no digest is of stays at its terminal.
func TestFillLarge(t *testing.T) {
	whole := &agent.Request{ID: "p1", Type: agent.PromptForm, Title: agent.Pointer("Pay?"), Channel: agent.ChannelHook, Ready: true,
		Schema: []byte(`{"type":"object","properties":{"zeta":{"type":"string","default":"z"},"alpha":{"type":"string"}},"required":[]}`)}
	whole.Sign()
	rows := []api.Session{{Session: "api", ID: "01A", State: "prompt", Prompt: whole.Abridged(70000)}}
	var kept HostRows
	look := func() World {
		r := kept.Of("box2", true, rows)[0]
		w := world(r.Status)
		w.Hosts, w.May = fleetWorld().Hosts, fleetWorld().May
		w.Cut = map[string]bool{r.Status.ID: r.Cut}
		return w
	}
	m := started(120, 30, look())
	shown(m, noon)
	if _, ask := m.Missing(); !ask || !strings.Contains(drawn(m), "Too large for this list. It has 70000 bytes") {
		t.Errorf("it isn't asked for:\n%s", drawn(m))
	}
	if e := press(m, later, "y"); e != nil {
		t.Errorf("y at a part of it: %#v", e)
	}
	kept.Fill("box2/01A", whole)
	m.SetWorld(look(), later)
	rowsDrawn := drawn(m)
	if zeta, alpha := strings.Index(rowsDrawn, "zeta"), strings.Index(rowsDrawn, "alpha"); zeta < 0 || alpha < zeta {
		t.Errorf("its fields:\n%s", rowsDrawn)
	}
	if words, _ := ran(t, press(m, later.Add(time.Second), "y")); words != "respond box2/01A --prompt p1 --digest "+whole.Digest+" accept" {
		t.Errorf("y runs %q", words)
	}
	notice := &agent.Request{ID: "p1", Type: agent.PromptNotice, Text: agent.Pointer("long")}
	notice.Sign()
	rows = []api.Session{{Session: "api", ID: "01A", State: "prompt", Prompt: notice.Abridged(70000)}}
	if kept.Fill("box2/01A", notice); !look().Cut["box2/01A"] {
		t.Error("a notice is taken for what it was once")
	}
	rows = []api.Session{{Session: "api", ID: "01A", State: "prompt", Prompt: whole.Abridged(mostFilled + 1)}}
	if kept.Fill("box2/01A", whole); !look().Cut["box2/01A"] {
		t.Error("a card has all of a prompt that it can't draw in time")
	}
}

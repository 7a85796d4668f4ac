package tui

import (
	"strings"
	"testing"

	"berth/agent"
	"berth/sessions"
	"berth/sessions/worktree"
)

// TestRights: without the right to an action, help doesn't list it and its key does nothing. With the right
// the key runs the verb.
func TestRights(t *testing.T) {
	for _, d := range actions() {
		s := at("alpha", agent.Working, 1)
		s.Driven, s.Worktree = true, &worktree.Tree{}
		m := started(80, 40, World{Sessions: []*sessions.Status{s}, May: Rights{"ls": true}})
		if e := press(m, later, d.key, "y"); e != nil || m.edit != nil || m.page != nil || m.talk != nil {
			t.Errorf("key %s without the right to %s: got effect %v, want none", d.key, d.verb, e)
		}
		press(m, later, "?")
		if strings.Contains(drawn(m), d.does) {
			t.Errorf("help lists %q without the right", d.does)
		}
		m = started(80, 40, World{Sessions: []*sessions.Status{s}, May: Rights{"ls": true, d.verb: true}})
		e := press(m, later, d.key)
		switch {
		case d.always:
			if e != nil || m.confirm == nil {
				t.Errorf("key %s asks for no confirmation", d.key)
			}
			if e = press(m, later, "n"); e != nil {
				t.Errorf("key %s is done although the person didn't confirm", d.key)
			}
			press(m, later, d.key)
			e = press(m, later, "y")
		case d.verb == "tag":
			e = press(m, later, "n", "e", "w", " ", "-", "o", "l", "d", "enter")
		case d.verb == "rename" || d.verb == "fork":
			e = press(m, later, "x", "enter")
		}
		if d.key == "v" {
			if m.talk == nil || m.talk.id != "id-alpha" || e != nil {
				t.Errorf("v opens %v, and does %v", m.talk, e)
			}
			continue
		}
		a, ok := e.(Act)
		if !ok {
			t.Errorf("%s does %v", d.key, e)
			continue
		}
		switch {
		case d.verb == "screen":
			if a.Kind != "history" {
				t.Errorf("%s is %s", d.key, a.Kind)
			}
		case len(a.Words) == 0 || a.Words[0] != d.verb || !strings.Contains(strings.Join(a.Words, " "), "id-alpha"):
			t.Errorf("%s runs %q", d.key, a.Words)
		}
		if d.verb == "tag" && strings.Join(a.Words, " ") != "tag id-alpha new --remove old" {
			t.Errorf("tags by %q", a.Words)
		}
		// The person loses the right before the confirmation.
		if d.always {
			press(m, later, d.key)
			m.SetWorld(World{Sessions: []*sessions.Status{s}, May: Rights{"ls": true}}, later)
			if e := press(m, later, "y"); e != nil {
				t.Errorf("key %s is done without its right", d.key)
			}
		}
	}
}

// answered answers what the form or the command bar asks, and what it asks then.
func answered(m *Model, e Effect, folders map[string]sessions.Folders, words ...string) {
	for {
		a, ok := e.(Ask)
		if !ok {
			return
		}
		t := Offered{Ask: a, folders: folders[a.text], words: words}
		switch a.what {
		case askAgents:
			t.agents = []sessions.Installed{{Agent: "claude"}, {Agent: "codex"}}
		case askVersions:
			t.agents = []sessions.Installed{{Agent: "claude", Version: "2.1.330"}, {Agent: "codex", Version: "0.30.0"}}
		case askWords:
			t.from = strings.LastIndexByte(a.text, ' ') + 1
		}
		e = m.Answer(t)
	}
}

// types presses keys, each when the server has answered what the key before asked.
func types(m *Model, folders map[string]sessions.Folders, keys ...string) (last Effect) {
	for _, k := range keys {
		last = press(m, later, k)
		answered(m, last, folders)
	}
	return last
}

func TestStart(t *testing.T) {
	w := world(at("a", agent.Idle, 1))
	m := started(80, 24, w)
	if press(m, later, "n"); m.start != nil || !strings.Contains(m.flash.text, "operator: you may not start sessions") {
		t.Errorf("the form opens without the right to start a session: %s", m.flash.text)
	}
	w.May = Rights{"new": true, "nudge": true}
	w.Profiles = []string{"claude", "shell"}
	m.SetWorld(w, later)
	press(m, later, "n", "right", "tab", "tab", "x", "1", "tab", "d", "o", "alt+enter", "i", "t")
	e, ok := press(m, later, "enter").(Act)
	if !ok || strings.Join(e.Words, " ") != "new x1 --profile shell --prompt -" || e.Stdin != "do\nit" {
		t.Errorf("runs %q with %q", e.Words, e.Stdin)
	}
	m.Finish(Done{Act: e, Status: 2, Out: `{"error":{"code":"BAD_REQUEST","message":"taken"}}`}, later)
	if m.start == nil || !strings.Contains(m.flash.text, "taken") {
		t.Error("after a failed start the form isn't open")
	}
	e = press(m, later, "enter").(Act)
	m.Finish(Done{Act: e, Out: `{"session":"x1","id":"id-x1"}`}, later)
	w.Sessions = append(w.Sessions, at("x1", agent.Starting, 0))
	m.SetWorld(w, later)
	if m.start != nil || m.selected != "id-x1" {
		t.Errorf("after the start %q is chosen, want the new session", m.selected)
	}
	w.OwnCommand = true
	m.SetWorld(w, later)
	types(m, nil, "n", "right", "tab")
	for _, r := range `say "a b"` {
		types(m, nil, string(r))
	}
	e, _ = types(m, nil, "enter").(Act)
	if got := strings.Join(e.Words, "|"); got != "new|--|say|a b" {
		t.Errorf("runs %q", got)
	}
}

// TestStartInAWorktree: the folder is completed, recent ones are offered, and a worktree is made
// where there is a repository.
func TestStartInAWorktree(t *testing.T) {
	folders := map[string]sessions.Folders{
		"":           {Exists: true, Found: []sessions.Folder{{Path: "shop", Repo: true}, {Path: "src"}}},
		"s":          {Found: []sessions.Folder{{Path: "shop", Repo: true}, {Path: "src"}}},
		"sh":         {Found: []sessions.Folder{{Path: "shop", Repo: true}}},
		"shop":       {Exists: true, Repo: true, Found: []sessions.Folder{{Path: "shop", Repo: true}}},
		"/srv/other": {Exists: true},
	}
	w := world(at("a", agent.Idle, 1))
	w.May, w.OwnCommand, w.Profiles = Rights{"new": true, "nudge": true}, true, []string{"web"}
	m := started(120, 36, w)
	ask := press(m, later, "n")
	if !m.Waits(Key{Name: "enter"}) || m.Waits(Key{Name: "esc"}) {
		t.Error("before the agents are known the form takes another key than Esc")
	}
	answered(m, ask, folders)
	if shown := drawn(m); !strings.Contains(shown, "claude 2.1.330  1 of 4") || !strings.Contains(shown, "the folder isn't in a git repository") {
		t.Errorf("the form shows\n%s", shown)
	}
	ask = types(m, folders, "tab", "s")
	if ask = press(m, later, "h"); !m.Waits(Key{Name: "tab"}) {
		t.Error("Tab doesn't wait for the folders")
	}
	answered(m, Ask{what: askFolders, text: "s"}, folders)
	if !m.Waits(Key{Name: "tab"}) {
		t.Error("Tab takes the answer to another question")
	}
	answered(m, ask, folders)
	e, _ := types(m, folders, "tab", "enter").(Act)
	if got := strings.Join(e.Words, " "); got != "new --agent claude --cwd=shop --worktree" {
		t.Errorf("runs %q", got)
	}
	m.Finish(Done{Act: e, Out: `{}`}, later)
	e, _ = types(m, folders, "n", "right", "enter").(Act)
	if got := strings.Join(e.Words, " "); got != "new --agent codex --cwd=shop --worktree" {
		t.Errorf("the second time it runs %q", got)
	}
	m.Finish(Done{Act: e, Out: `{}`}, later)
	w.Sessions[0].Cwd = "/srv/other"
	m.SetWorld(w, later)
	e, _ = types(m, folders, "n", "2", "tab", "right", "tab", "tab", "tab", "#", "x", " ", "y", "enter").(Act)
	if got := strings.Join(e.Words, " "); got != "new --agent codex --cwd=/srv/other --prompt -" || e.Stdin != "#x y" {
		t.Errorf("in a recent folder it runs %q with %q", got, e.Stdin)
	}
	types(m, folders, "n", "tab", "s", "h", "o", "p", "tab", "right", "tab", "tab", "tab", "a", "b", "enter")
	if m.before.noTree != true {
		t.Error("the worktree was not turned off")
	}
	types(m, folders, "n", "3")
	e, _ = types(m, folders, "tab", "tab", "y", "tab", "b", "enter").(Act)
	if got := strings.Join(e.Words, " "); got != "new --profile web --worktree=b" {
		t.Errorf("with a profile it runs %q", got)
	}
}

func TestPage(t *testing.T) {
	m := started(80, 12, World{Sessions: []*sessions.Status{at("a", agent.Idle, 1)}, May: Rights{"transcript": true}})
	e := press(m, later, "l").(Act)
	m.Finish(Done{Act: e, Out: strings.Repeat("line\r\n", 30) + "evil \x1b]0;x\x07\r\nlast\r\n"}, later)
	press(m, later, "G")
	if shown := drawn(m); !strings.Contains(shown, "last") || strings.Contains(shown, "\x1b") {
		t.Errorf("the end shows\n%s", shown)
	}
	if a, ok := press(m, later, "2").(Act); !ok || strings.Join(a.Words, " ") != "transcript id-a 2 --raw" {
		t.Errorf("a number runs %v", a)
	}
	m.Finish(Done{Act: e, Status: 1, Out: `{}`}, later)
	if m.page == nil {
		t.Error("a failed refresh closes the page")
	}
	press(m, later, "q")
	if m.page != nil {
		t.Error("q doesn't close the page")
	}
}

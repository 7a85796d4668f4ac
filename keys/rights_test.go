package keys

import (
	"errors"
	"strings"
	"testing"

	"berth/api"
)

func TestMay(t *testing.T) {
	viewer := Identity{Kind: KindKey, Name: "v", Role: Viewer}
	plain := Identity{Kind: KindKey, Name: "p", Role: Operator, RoleByDefault: true}
	admin := Identity{Kind: KindKey, Name: "a", Role: Admin}
	bySession := Identity{Kind: KindKey, Name: "s", Role: Admin, Sessions: []string{"*"}}
	byVerb := Identity{Kind: KindKey, Name: "b", Role: Admin, Verbs: []string{"state", "access", "new"}}
	agent := Agent("01J", "alpha", 12)
	for _, c := range []struct {
		id   Identity
		verb string
		need Role
		says string // empty: allowed
	}{
		{viewer, "state", Viewer, ""},
		{viewer, "input", Operator, "input needs the role operator, and v is viewer"},
		{plain, "input", Operator, ""},
		{plain, "new", Admin, "has no role="},
		{admin, "access", Admin, ""},
		{bySession, "kill", Admin, ""},
		{bySession, "access", Admin, "never may"},
		{bySession, "start-context", Admin, "never may"},
		{byVerb, "state", Viewer, ""},
		{byVerb, "ls", Viewer, "has only state, access, new"},
		{byVerb, "access", Admin, "never may"},
		{agent, "state", Viewer, ""},
		{agent, "report", Viewer, ""},
		{agent, "input", Operator, "inside a session"},
		{agent, "respond", Responder, "inside a session"},
		{agent, "attach", Viewer, "inside a session"},
		{agent, "access", Admin, "inside a session"},
		{agent, "new", Admin, "inside a session"},
		{Identity{}, "state", None, "needs the role"},
		{Local("root", 1, Admin), "access", Admin, ""},
	} {
		err := c.id.May(c.verb, c.need)
		if c.says == "" {
			if err != nil {
				t.Errorf("%s %s: %v", c.id.Name, c.verb, err)
			}
			continue
		}
		var denied *api.Error
		if !errors.As(err, &denied) || denied.Code != api.CodeDenied || !strings.Contains(denied.Message, c.says) {
			t.Errorf("%s %s: %v, want %q", c.id.Name, c.verb, err, c.says)
		}
	}
	for _, c := range []struct {
		id Identity
		ok bool
	}{{admin, true}, {Local("u", 1, Admin), true}, {plain, false}, {bySession, false}, {byVerb, false}, {agent, false}} {
		if err := c.id.MayNewCommand(); (err == nil) != c.ok {
			t.Errorf("%s starts a command: %v", c.id.Name, err)
		}
	}
}

func TestSees(t *testing.T) {
	for _, c := range []struct {
		sessions string
		name     string
		tags     string
		ok       bool
	}{
		{"", "alpha", "", true},
		{"alpha", "alpha", "", true},
		{"alpha", "alpha2", "", false},
		{"web-*", "web-1", "", true},
		{"web-*", "api-1", "", false},
		{"a?,b[0-9]", "b7", "", true},
		{"tag:team-a", "x", "team-a", true},
		{"tag:team-*", "x", "other team-b", true},
		{"tag:team-a", "team-a", "", false},
		{"team-a", "x", "team-a", false},
	} {
		id := Identity{Kind: KindKey, Role: Viewer}
		if c.sessions != "" {
			id.Sessions = strings.Split(c.sessions, ",")
		}
		if got := id.Sees(c.name, strings.Fields(c.tags)); got != c.ok {
			t.Errorf("%q sees %s %q: %v", c.sessions, c.name, c.tags, got)
		}
		if got := id.SeesSession("01J", c.name, strings.Fields(c.tags)); got != c.ok {
			t.Errorf("%q sees session %s: %v", c.sessions, c.name, got)
		}
	}
	agent := Agent("01J", "alpha", 1)
	if agent.Sees("alpha", nil) || !agent.SeesSession("01J", "renamed", nil) || agent.SeesSession("01K", "alpha", nil) {
		t.Error("an agent sees its own session by id, and no other")
	}
	if (Identity{Kind: KindAgent}).SeesSession("", "x", nil) {
		t.Error("an agent of no session sees one without an id")
	}
	if err := (Identity{Name: "n", Sessions: []string{"a*"}}).Denied("state", "b\x1b"); strings.Contains(err.Message, "\x1b") || !strings.Contains(err.Message, "a*") {
		t.Errorf("%q", err.Message)
	}
}

func TestNarrowedTo(t *testing.T) {
	base := Identity{Kind: KindKey, Role: Operator, Sessions: []string{"a", "b"}}
	change := func(f func(*Identity)) Identity { id := base; f(&id); return id }
	for name, c := range map[string]struct {
		now  Identity
		want bool
	}{
		"same":              {base, false},
		"more role":         {change(func(i *Identity) { i.Role = Admin }), false},
		"less role":         {change(func(i *Identity) { i.Role = Viewer }), true},
		"all sessions":      {change(func(i *Identity) { i.Sessions = nil }), false},
		"more sessions":     {change(func(i *Identity) { i.Sessions = []string{"a", "b", "c"} }), false},
		"fewer sessions":    {change(func(i *Identity) { i.Sessions = []string{"a"} }), true},
		"verbs named":       {change(func(i *Identity) { i.Verbs = []string{"ls"} }), true},
		"a forced command":  {change(func(i *Identity) { i.Command = "ls" }), true},
		"no pty any more":   {change(func(i *Identity) { i.NoPTY = true }), true},
		"moved in the file": {change(func(i *Identity) { i.Line = "keys:9" }), false},
	} {
		if got := base.NarrowedTo(c.now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	all := Identity{Kind: KindKey, Role: Operator}
	if !all.NarrowedTo(base) {
		t.Error("from all sessions to two is narrower")
	}
}

func TestRoles(t *testing.T) {
	for r := Viewer; r <= Admin; r++ {
		if got, err := ParseRole(r.String()); err != nil || got != r {
			t.Errorf("%v: %v %v", r, got, err)
		}
	}
	for _, s := range []string{"", "none", "Admin", "root"} {
		if _, err := ParseRole(s); err == nil {
			t.Errorf("%q is a role", s)
		}
	}
}

func TestAgentsChildren(t *testing.T) {
	id := Agent("ID", "lead", 7)
	for _, verb := range []string{"new", "nudge", "kill", "access"} {
		if id.May(verb, Viewer) == nil {
			t.Errorf("%s without children", verb)
		}
	}
	id.Verbs = []string{"new", "nudge", "access", "tag", "gate", "start-context", "attach", "audit", "guest"}
	for verb, may := range map[string]bool{
		"new": true, "nudge": true, "ls": true, "report": true, "kill": false,
		"access": false, "tag": false, "gate": false, "start-context": false, "attach": false, "audit": false, "guest": false,
	} {
		if (id.May(verb, Viewer) == nil) != may {
			t.Errorf("%s: %v", verb, id.May(verb, Viewer))
		}
	}
	if id.MayNewCommand() == nil || id.Sees("lead", nil) || Itself("nudge") || !Itself("state") {
		t.Error("a command of its own, a session by its name, or itself")
	}
}

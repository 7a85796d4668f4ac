package sshd

import (
	"slices"
	"testing"

	"berth/keys"
)

// TestAgentsVerbs: the verbs that a process inside a session has now are those of its login that its session still
// allows. It loses its connection with one of them, but not while its session isn't known yet.
func TestAgentsVerbs(t *testing.T) {
	for name, c := range map[string]struct {
		login, now []string
		unknown    bool
		verbs      []string
		narrowed   bool
	}{
		"the same":                        {login: []string{"new", "input"}, now: []string{"new", "input"}, verbs: []string{"new", "input"}},
		"one less":                        {login: []string{"new", "input"}, now: []string{"new"}, verbs: []string{"new"}, narrowed: true},
		"one more":                        {login: []string{"new"}, now: []string{"new", "input"}, verbs: []string{"new"}},
		"none after its key was removed":  {now: []string{"new", "input"}},
		"a session that is being started": {login: []string{"new", "input"}, unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			conn := &connection{server: &Server{agentOf: func(string) (string, []string, bool) { return "now", c.now, !c.unknown }}}
			id := keys.Agent("01ABC", "before", 7)
			id.Verbs = c.login
			conn.identity.Store(&id)
			got := (&Session{conn: conn}).Identity()
			if got.Name != "agent:now" || got.PID != 7 || !slices.Equal(got.Verbs, c.verbs) {
				t.Errorf("it is %+v", got)
			}
			if narrowed := conn.agentNarrowed(id); narrowed != c.narrowed {
				t.Errorf("narrowed: %v", narrowed)
			}
			if !slices.Equal(id.Verbs, c.login) {
				t.Errorf("the login's verbs are %v now", id.Verbs)
			}
		})
	}
}

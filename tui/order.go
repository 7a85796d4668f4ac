package tui

import (
	"cmp"
	"strings"

	"berth/agent"
	"berth/sessions"
)

// ranks are in which order states are listed: who waits for a person first.
var ranks = map[agent.State]int{
	agent.Prompt: 0, agent.InError: 1, agent.Working: 2, agent.Starting: 2, agent.Restarting: 2,
	agent.Idle: 3, agent.Unknown: 4, agent.Exited: 5,
}

// inbox is the order of the list: among those that wait the longest waiting is
// first, those that work stand by name so that they keep their places, and of
// those at rest and ended the newest is first.
func inbox(a, b *sessions.Status) int {
	if d := cmp.Compare(ranks[a.Now], ranks[b.Now]); d != 0 {
		return d
	}
	switch a.Now {
	case agent.Prompt, agent.InError:
		if d := a.Since.Compare(b.Since); d != 0 {
			return d
		}
	case agent.Idle, agent.Exited:
		if d := b.Since.Compare(a.Since); d != 0 {
			return d
		}
	}
	return cmp.Compare(a.Name, b.Name)
}

// filter is what the list is narrowed to.
type filter struct {
	text   string
	typing bool // keys go into it
}

// matches says whether every word of the filter is in the session's name,
// state, agent or one of its tags.
func (f filter) matches(s *sessions.Status) bool {
	for _, word := range strings.Fields(strings.ToLower(f.text)) {
		tag, isTag := strings.CutPrefix(word, "#")
		found := !isTag && (strings.Contains(s.Name, word) || strings.Contains(string(s.Now), word) || strings.Contains(s.Agent, word))
		for _, t := range s.Tags {
			found = found || strings.Contains(strings.ToLower(t), tag)
		}
		if !found {
			return false
		}
	}
	return true
}

func (l *listing) matching() []*sessions.Status {
	var list []*sessions.Status
	for _, s := range l.world.Sessions {
		if l.filter.matches(s) {
			list = append(list, s)
		}
	}
	return list
}

package tui

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"berth/agent"
	"berth/sessions"
)

// stateGroups are the states as people name them, in the order of the list: sessions that need a
// person come first.
var stateGroups = []struct {
	states []agent.State
	name   string
}{
	{[]agent.State{agent.Prompt}, "needs input"},
	{[]agent.State{agent.InError}, "failed"},
	{[]agent.State{agent.Working, agent.Starting, agent.Restarting}, "working"},
	{[]agent.State{agent.Parked}, "parked"},
	{[]agent.State{agent.Idle}, "idle"},
	{[]agent.State{agent.Unknown}, "unknown"},
	{[]agent.State{agent.Exited}, "ended"},
}

// rank is the index in stateGroups of a state.
func rank(s agent.State) int {
	for i, g := range stateGroups {
		if slices.Contains(g.states, s) {
			return i
		}
	}
	return rank(agent.Unknown)
}

// grouping is what the list is grouped by.
type grouping int

const (
	byState grouping = iota
	byFolder
	byTag
	groupings             // how many there are on one machine
	byHost    = groupings // at a fleet's gateway
)

func (g grouping) String() string { return [...]string{"state", "folder", "tag", "host"}[g] }

// MarshalText writes the grouping's name.
func (g grouping) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads a name. One of a later version is the default.
func (g *grouping) UnmarshalText(name []byte) error {
	*g = byState
	for by := range groupings {
		if by.String() == string(name) {
			*g = by
		}
	}
	return nil
}

// group is a group of sessions in the list.
type group struct {
	order string // groups are sorted by it
	title string
	tone  tone
}

// last sorts after each name: the group of the sessions that have none.
const last = "\U0010ffff"

// groupOf is the group of a session.
func (g grouping) groupOf(s *sessions.Status) group {
	switch g {
	case byHost:
		return hostGroup(s)
	case byFolder:
		where := s.Cwd
		if s.Worktree != nil {
			where = s.Worktree.Source // sessions in worktrees of one repository belong together
		}
		if where == "" {
			return group{last, "no folder", faint}
		}
		return group{path.Clean(where), path.Clean(where), accent}
	case byTag:
		if len(s.Tags) == 0 {
			return group{last, "no tag", faint}
		}
		tag := slices.Min(s.Tags)
		return group{tag, "#" + tag, accent}
	}
	n := rank(s.Now)
	return group{fmt.Sprint(n), strings.ToUpper(stateGroups[n].name), lookOf(s.Now).tone}
}

// inbox is the order of the list. Among waiting sessions the longest wait is first. Working sessions
// are sorted by name, so that they keep their places. Among idle and ended ones the newest is first.
func inbox(a, b *sessions.Status) int {
	if d := cmp.Compare(rank(a.Now), rank(b.Now)); d != 0 {
		return d
	}
	switch a.Now {
	case agent.Prompt, agent.InError, agent.Parked:
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

// sort sorts the list. If the person has just pressed a key, listed sessions keep their places and
// groups, and new ones come after them.
func (m *Model) sort() {
	defer m.syncWall(m.selected)
	shown := m.matching()
	groups := make(map[string]group, len(shown))
	for _, s := range shown {
		groups[s.ID] = m.grouped().groupOf(s)
	}
	slices.SortFunc(shown, func(a, b *sessions.Status) int {
		return cmp.Or(cmp.Compare(groups[a.ID].order, groups[b.ID].order), inbox(a, b))
	})
	shown = families(shown, groups)
	if m.holding() {
		place := map[string]int{}
		for i, id := range m.order {
			place[id] = i + 1
			if is, listed := groups[id]; listed {
				groups[id] = cmp.Or(m.groups[id], is)
			}
		}
		slices.SortStableFunc(shown, func(a, b *sessions.Status) int {
			pa, pb := place[a.ID], place[b.ID]
			switch {
			case pa == 0 && pb == 0:
				return 0
			case pa == 0:
				return 1
			case pb == 0:
				return -1
			}
			return pa - pb
		})
	}
	before := slices.Index(m.order, m.selected)
	order := make([]string, len(shown))
	for i, s := range shown {
		order[i] = s.ID
	}
	m.order, m.groups, m.depths = order, groups, depthsOf(shown, groups)
	if slices.Contains(order, m.selected) {
		return
	}
	m.selected = ""
	if len(order) > 0 { // choose the session that took the place of the removed one
		m.selected = order[min(max(before, 0), len(order)-1)]
	}
	if before >= 0 {
		m.moved = m.now
	}
}

// families puts sessions below their parents, each in its group: one that needs a person stays with those that do.
func families(list []*sessions.Status, groups map[string]group) []*sessions.Status {
	return sessions.Families(list, func(s *sessions.Status) string { return s.ID }, func(s *sessions.Status) string {
		if is, listed := groups[s.Parent]; listed && is.order == groups[s.ID].order {
			return s.Parent
		}
		return ""
	})
}

// depthsOf is how many sessions are above each one that directly follows its parent, or what else is below its parent. A
// session that keeps another place for a moment isn't shown below anything.
func depthsOf(list []*sessions.Status, groups map[string]group) map[string]int {
	depths := map[string]int{}
	var above []*sessions.Status
	for _, s := range list {
		for len(above) > 0 && (above[len(above)-1].ID != s.Parent || groups[s.Parent].order != groups[s.ID].order) {
			above = above[:len(above)-1]
		}
		if len(above) > 0 {
			depths[s.ID] = len(above)
		}
		above = append(above, s)
	}
	return depths
}

// filter limits the list to matching sessions.
type filter struct {
	text   string
	typing bool // whether keys are for the filter
}

// matches reports whether every word of the filter is in the session's name, state, agent or one of
// its tags.
func (f filter) matches(s *sessions.Status) bool {
	in := []string{s.Name, string(s.Now), stateGroups[rank(s.Now)].name, s.Agent}
	for _, word := range strings.Fields(strings.ToLower(f.text)) {
		tag, isTag := strings.CutPrefix(word, "#")
		found := !isTag && slices.ContainsFunc(in, func(text string) bool { return strings.Contains(text, word) })
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

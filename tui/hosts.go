package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/sessions"
)

// FleetHost is a host of a fleet, as its gateway knows it now.
type FleetHost struct {
	Name      string
	Own       bool // the gateway, whose sessions have plain ids
	Reachable bool
	Draining  bool
	Since     time.Time // of Reachable; zero: the host hasn't been seen
}

// OnHost is the id that a session of another host has in the dashboard. Verbs take it too. Each host chooses its own
// ids, so the host's name keeps one host from taking another's place.
func OnHost(host, id string) string { return host + "/" + id }

// hostOf is the host of a session; empty for the server's own.
func hostOf(s *sessions.Status) string {
	host, _, away := strings.Cut(s.ID, "/")
	if !away {
		return ""
	}
	return host
}

// away reports whether a session is another host's.
func away(s *sessions.Status) bool { return hostOf(s) != "" }

// ownName is a session's name on its host.
func ownName(s *sessions.Status) string { return s.Name[strings.IndexByte(s.Name, '/')+1:] }

// lost is the host of a session if it can't be reached; nil if it can, as far as the gateway knows.
func (l *listing) lost(s *sessions.Status) *FleetHost {
	if !away(s) {
		return nil
	}
	i := slices.IndexFunc(l.world.Hosts, func(h FleetHost) bool { return h.Name == hostOf(s) })
	if i < 0 || l.world.Hosts[i].Reachable {
		return nil
	}
	return &l.world.Hosts[i]
}

// hostGroup is the group of a host's sessions: the gateway's own come first.
func hostGroup(s *sessions.Status) group {
	name, _, _ := strings.Cut(s.Name, "/")
	return group{hostOf(s), name, accent}
}

// grouped is what the list is grouped by now.
func (l *listing) grouped() grouping {
	if len(l.world.Hosts) > 0 && !l.mixed {
		return byHost
	}
	return l.by
}

// groupNext groups the list by what comes next.
func (l *listing) groupNext() {
	switch {
	case l.grouped() == byHost:
		l.by, l.mixed = byState, true
	case l.by+1 < groupings:
		l.by++
	default:
		l.by, l.mixed = byState, false
	}
}

// regroup is the key S.
func (m *Model) regroup() {
	m.groupNext()
	next := m.listing
	next.groupNext()
	m.order = nil // the person sorts the list, so it may move
	m.sort()
	m.Flash("grouped by "+m.grouped().String()+" · S: by "+next.grouped().String(), faint)
}

// hostHead is the heading of a host's sessions. waiting of them wait for a person.
func hostHead(h FleetHost, count, waiting int, now time.Time) listRow {
	row := listRow{tone: accent}
	words := []string{"reachable"}
	switch {
	case h.Own:
		words[0] = "gateway"
	case !h.Reachable && h.Since.IsZero():
		words[0], row.tone = "unreachable, not seen yet", failed
	case !h.Reachable:
		words[0], row.tone = "unreachable for "+age(now, h.Since), failed
	}
	switch {
	case h.Draining && h.Reachable:
		words[0], row.tone = "draining", waits
	case h.Draining:
		words = append(words, "draining")
	}
	switch count {
	case 0:
		words = append(words, "no sessions")
	case 1:
		words = append(words, "1 session")
	default:
		words = append(words, fmt.Sprintf("%d sessions", count))
	}
	switch waiting {
	case 0:
	case 1:
		words = append(words, "1 needs input")
	default:
		words = append(words, fmt.Sprintf("%d need input", waiting))
	}
	row.head = h.Name + "  " + strings.Join(words, " · ")
	return row
}

// headOf is the heading of a group that begins with the first of these sessions.
func (m *Model) headOf(ids []string) listRow {
	g := m.groups[ids[0]]
	n := m.count(ids, g.title)
	i := slices.IndexFunc(m.world.Hosts, func(h FleetHost) bool { return h.Name == g.title })
	if m.grouped() != byHost || i < 0 {
		return listRow{head: fmt.Sprintf("%s  %d", g.title, n), tone: g.tone}
	}
	waiting := 0
	for _, id := range ids {
		if s := m.byID[id]; s != nil && m.groups[id].title == g.title && needs(s) {
			waiting++
		}
	}
	return hostHead(m.world.Hosts[i], n, waiting, m.now)
}

// emptyHosts are the headings of hosts that have no session in the list. A filter hides them.
func (m *Model) emptyHosts() (heads []listRow) {
	if m.grouped() != byHost || m.filter.text != "" {
		return nil
	}
	has := map[string]bool{}
	for _, g := range m.groups {
		has[g.title] = true
	}
	for _, h := range m.world.Hosts {
		if !has[h.Name] {
			heads = append(heads, hostHead(h, 0, 0, m.now))
		}
	}
	return heads
}

// lostHosts names the hosts that can't be reached; empty if all can.
func (l *listing) lostHosts() string {
	var names []string
	for _, h := range l.world.Hosts {
		if !h.Reachable && !h.Own {
			names = append(names, h.Name)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " unreachable"
	}
	return fmt.Sprintf("%d hosts unreachable", len(names))
}

// elsewhere says why the dashboard shows no live screen of another host's session.
func (m *Model) elsewhere(s *sessions.Status) string {
	if m.lost(s) != nil {
		return m.unreachable(s)
	}
	return "Its screen is on " + hostOf(s) + ": o attaches"
}

// unreachable says that a session's host can't be reached, and what that means.
func (m *Model) unreachable(s *sessions.Status) string {
	return hostOf(s) + " is unreachable: its sessions go on there. The list has what it last said"
}

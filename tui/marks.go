package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"berth/sessions"
)

// marked are the sessions that acts apply to, in the order of the list. Those that the filter hides come
// last. If there are none, acts apply to the selected session.
func (l *listing) marked() []*sessions.Status {
	var list []*sessions.Status
	for _, id := range l.order {
		if l.marks[id] {
			list = append(list, l.byID[id])
		}
	}
	for _, s := range l.world.Sessions {
		if l.marks[s.ID] && !slices.Contains(l.order, s.ID) {
			list = append(list, s)
		}
	}
	return list
}

// mark marks the selected session, or removes its mark.
func (m *Model) mark() {
	s := m.current()
	if s == nil {
		m.Flash("no session is selected", faint)
		return
	}
	if m.jumped() {
		return
	}
	if m.marks[s.ID] {
		delete(m.marks, s.ID)
		return
	}
	if m.marks == nil {
		m.marks = map[string]bool{}
	}
	m.marks[s.ID] = true
}

// listed names sessions, with their number if there are several.
func listed(list []*sessions.Status) string {
	if len(list) == 1 {
		return list[0].Name
	}
	return fmt.Sprintf("%d sessions: %s", len(list), nameList(list))
}

// nameList is the names of sessions, with commas.
func nameList(list []*sessions.Status) string {
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = s.Name
	}
	return strings.Join(all, ", ")
}

// each runs a verb for marked sessions.
func (m *Model) each(acts []Act, saying string) Effect {
	return m.act(Act{Kind: acts[0].Kind, each: acts}, fmt.Sprintf("%s %d sessions", saying, len(acts)))
}

// finishEach handles the result of a verb for marked sessions. Sessions stay marked if it failed there.
// It returns those sessions.
func (m *Model) finishEach(d Done) (unfinished []string) {
	done, waiting, stays := 0, 0, ""
	var failures []string
	for _, one := range d.results {
		var v verdict
		_ = json.Unmarshal([]byte(one.Out), &v) // other output has no fields
		why := m.failureOf(one, v)
		if why == "" && one.Kind == "interrupt" && !v.Delivered {
			why = m.success(one, v)
		}
		if why != "" {
			failures, unfinished = append(failures, why), append(unfinished, one.Session)
			continue
		}
		done++
		if one.Kind == "nudge" && v.QueueID != "" {
			waiting++
		}
		delete(m.marks, one.Session)
		if one.Kind == "rm" && v.Worktree != nil && !v.Worktree.Removed {
			stays += " · " + v.removedText(one.Name)
		}
	}
	text, of := fmt.Sprintf("%d", done), rests
	if len(failures) > 0 {
		text, of = fmt.Sprintf("%d of %d", done, len(d.results)), failed
	}
	does := doneEach[d.Kind]
	text += " " + does
	if waiting > 0 {
		text += fmt.Sprintf(", %d of them queued", waiting)
	}
	if len(failures) > 0 {
		text += " · failed: " + strings.Join(failures, " · ")
	}
	m.flashResult(text+stays, of)
	return unfinished
}

// doneEach says what a verb has done to some sessions.
var doneEach = map[string]string{
	"interrupt": "interrupted", "restart": "restarted", "kill": "ended", "rm": "removed", "tag": "have their tags", "nudge": "have the message",
}

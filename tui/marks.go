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
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	return fmt.Sprintf("%d sessions: %s", len(list), strings.Join(names, ", "))
}

// each runs a verb for marked sessions.
func (m *Model) each(acts []Act, saying string) Effect {
	return m.act(Act{Kind: acts[0].Kind, each: acts}, fmt.Sprintf("%s %d sessions", saying, len(acts)))
}

// finishEach handles the result of a verb for marked sessions. Sessions stay marked if it failed there.
func (m *Model) finishEach(d Done) (failures []string) {
	done, stays := 0, ""
	for _, one := range d.results {
		var v verdict
		_ = json.Unmarshal([]byte(one.Out), &v) // other output has no fields
		why := m.failureOf(one, v)
		if why == "" && one.Kind == "interrupt" && !v.Delivered {
			why = m.success(one, v)
		}
		if why != "" {
			failures = append(failures, why)
			continue
		}
		done++
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
	if d.Kind == "nudge" && slices.Contains(d.each[0].Words, "--queue") {
		does = "have the message queued"
	}
	text += " " + does
	if len(failures) > 0 {
		text += " · failed: " + strings.Join(failures, " · ")
	}
	m.flashResult(text+stays, of)
	return failures
}

// doneEach says what a verb has done to some sessions.
var doneEach = map[string]string{
	"interrupt": "interrupted", "restart": "restarted", "kill": "ended", "rm": "removed", "tag": "have their tags", "nudge": "have the message",
}

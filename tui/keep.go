package tui

import (
	"cmp"
	"fmt"
	"strings"

	"berth/sessions"
)

// rename opens the editor for a session's new name.
func (m *Model) rename(s *sessions.Status) Effect {
	m.open(editing{what: renaming, session: s.ID, label: "New name of " + s.Name, text: ownName(s)}, true)
	return nil
}

// fork opens the editor for the name of a session like this one.
func (m *Model) fork(s *sessions.Status) Effect {
	m.open(editing{what: forking, session: s.ID, label: "Name of the fork of " + s.Name + " (optional)"}, true)
	return nil
}

// keepWords are the words of the verb that a text for a session as a whole is for, and what is said while
// it runs.
func keepWords(what purpose, s *sessions.Status, text string) (words []string, saying string) {
	text = strings.TrimSpace(text)
	switch what {
	case tagging:
		return tagWords(s, text), "tagging " + s.Name
	case renaming:
		return []string{"rename", s.ID, text}, "renaming " + s.Name
	case forking:
		words = []string{"fork", s.ID}
		if text != "" {
			words = append(words, text)
		}
		return words, "forking " + s.Name
	}
	return nil, ""
}

// removeWords removes a session. One that runs is ended first, as the confirmation says.
func removeWords(s *sessions.Status) []string {
	if s.Running() {
		return []string{"rm", s.ID, "--force"}
	}
	return []string{"rm", s.ID}
}

// removeText asks whether sessions are to be removed, and says what is lost and what stays.
func removeText(list []*sessions.Status) string {
	running, trees := 0, 0
	for _, s := range list {
		if s.Running() {
			running++
		}
		if s.Worktree != nil {
			trees++
		}
	}
	if len(list) > 1 {
		text := fmt.Sprintf("Remove %d sessions? Their screens and output are deleted.", len(list))
		if running > 0 {
			text += fmt.Sprintf(" %d running: ended first.", running)
		}
		if trees > 0 {
			text += fmt.Sprintf(" %d with a worktree: it stays if it has changes or commits of its own.", trees)
		}
		return text + " " + nameList(list) // last, because a small window cuts a long list
	}
	s := list[0]
	text := "Remove " + s.Name + "?"
	if running > 0 {
		text = "End the program of " + s.Name + " and remove the session?"
	}
	text += " Its screen and output are deleted."
	switch {
	case away(s):
		text += " A worktree goes too, unless it has changes or commits that no other branch has."
	case s.Worktree == nil:
	case s.Look != nil && s.Look.Changed > 0:
		text += fmt.Sprintf(" Its worktree stays, because files are changed (%d): %s", s.Look.Changed, s.Worktree.Path)
	default:
		text += " Its worktree goes too, unless it has changes or commits that no other branch has: " + s.Worktree.Path
	}
	return text
}

// removedText says what became of a session and its worktree.
func (v verdict) removedText(name string) string {
	switch t := v.Worktree; {
	case t == nil:
		return name + " was removed"
	case t.Removed:
		return name + " and its worktree were removed"
	case t.Why != nil:
		return name + " was removed; its worktree stays: " + oneLine(*t.Why) + " · " + oneLine(t.Path)
	}
	return name + " was removed; its worktree stays: " + oneLine(v.Worktree.Path)
}

// keptText says what a verb has done with a session as a whole. It is empty for other verbs.
func (v verdict) keptText(d Done) string {
	switch d.Kind {
	case "rename":
		return d.Name + " is now " + oneLine(v.Session)
	case "fork":
		return cmp.Or(oneLine(v.Session), "a session") + " was started with the conversation of " + d.Name
	case "rm":
		return v.removedText(d.Name)
	}
	return ""
}

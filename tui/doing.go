package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions"
	"berth/terminal"
)

// doing is what a session does now, in one line.
type doing struct {
	tool string // the tool that it uses or wants to use; may be empty
	text string
	tone tone // of the tool; of the text if there is none and the session asks for something
}

func (d doing) String() string { return strings.TrimSpace(d.tool + " " + d.text) }

// needs reports whether a session waits for a person.
func needs(s *sessions.Status) bool { return s.Now == agent.Prompt }

// asks reports whether a session has a question or an error, which get a second row if they need one.
func asks(s *sessions.Status) bool {
	return needs(s) && s.Request != nil || (s.Now == agent.InError || s.Now == agent.Parked) && s.Failure != nil
}

// doingOf is what a session does now: what it asks, why it failed, the tool that it uses, how it ended.
func doingOf(s *sessions.Status, now time.Time) doing {
	title := oneLine(s.Title)
	switch s.Now {
	case agent.Prompt:
		if s.Request != nil {
			return requested(s)
		}
	case agent.InError, agent.Parked:
		if s.Failure != nil {
			return doing{text: failure(s.Failure, now), tone: lookOf(s.Now).tone}
		}
	case agent.Working:
		if a := s.Activity; a != nil {
			return working(s, a, title)
		}
	case agent.Exited:
		if s.Exit != nil {
			return doing{text: s.Exit.String()}
		}
	case agent.Starting:
		return doing{text: string(s.Now)}
	case agent.Restarting:
		return doing{text: restarting(s, now)}
	case agent.Unknown:
		if title == "" {
			return doing{text: oneLine(s.Program)}
		}
	}
	return doing{text: title}
}

// requested is what a prompt is about.
func requested(s *sessions.Status) doing {
	r := s.Request
	if r.Tool == nil || r.Input == nil {
		return doing{text: oneLine(r.About()), tone: plain}
	}
	d := doing{tool: oneLine(*r.Tool), text: oneLine(*r.Input), tone: waits}
	if about := s.Subject; about != nil {
		switch {
		case about.Command != "":
			d.text = oneLine(about.Command)
		case len(about.Changes) > 0:
			d.text = oneLine(within(s, about.Changes[0].File))
			if n := len(about.Changes) - 1; n > 0 {
				d.text += fmt.Sprintf(" (+%d)", n)
			}
		}
	}
	return d
}

func working(s *sessions.Status, a *api.Activity, title string) doing {
	switch {
	case a.Tool != "" && a.Input != "":
		return doing{tool: oneLine(a.Tool), text: oneLine(within(s, a.Input)), tone: works}
	case a.Tool != "":
		return doing{tool: oneLine(a.Tool), text: title, tone: works}
	case a.Kind == string(agent.Retrying) && a.Attempt > 0 && a.Of > 0:
		return doing{text: fmt.Sprintf("retrying, %d of %d", a.Attempt, a.Of)}
	case title != "":
		return doing{text: a.Kind + " · " + title}
	}
	return doing{text: a.Kind}
}

// restarting says why a program is started again, and when.
func restarting(s *sessions.Status, now time.Time) string {
	if s.Exit == nil {
		return string(s.Now)
	}
	return startsAgain(s.RestartDue, now) + " · " + s.Exit.String()
}

// startsAgain says when a program is started again.
func startsAgain(due, now time.Time) string {
	if left := due.Sub(now); left > 0 {
		return fmt.Sprintf("starts again in %ds", int((left+time.Second-1)/time.Second))
	}
	return "starts again now"
}

// endWords says how a session's program ended, and whether it is started again.
func endWords(s *sessions.Status, now time.Time) []run {
	how := run{faint, "ended: " + s.Exit.String()}
	switch {
	case s.Exit.Crashed || s.Exit.Lost:
		how.tone = failed
	case s.Exit.Signal != "":
		how.text += ", on request"
	}
	if since := age(now, s.Exit.Time.Time); since != "" {
		how.text += " · " + since + " ago"
	}
	policy := string(cmp.Or(s.Restart, sessions.RestartNever))
	if s.Now == agent.Restarting {
		return []run{how, {works, startsAgain(s.RestartDue, now) + " (policy " + policy + ")"}}
	}
	switch {
	case s.Restart == sessions.RestartOnFailure && s.Exit.Code != nil && *s.Exit.Code == 0:
		policy += ", and it didn't fail"
	case s.Restart == sessions.RestartOnFailure, s.Restart == sessions.RestartAlways:
		policy += ", but its end was requested"
	}
	return []run{how, {faint, "no automatic restart (policy " + policy + ")"}}
}

// within is a path relative to the session's folder, if it is in there.
func within(s *sessions.Status, path string) string {
	if rest, ok := strings.CutPrefix(path, s.Cwd+"/"); ok && s.Cwd != "" {
		return rest
	}
	return path
}

// oneLine joins the words of a text.
func oneLine(s string) string { return terminal.Printable(strings.Join(strings.Fields(s), " ")) }

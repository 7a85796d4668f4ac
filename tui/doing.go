package tui

import (
	"fmt"
	"strings"

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
	return needs(s) && s.Request != nil || s.Now == agent.InError && s.Failure != nil
}

// doingOf is what a session does now: what it asks, why it failed, the tool that it uses, how it ended.
func doingOf(s *sessions.Status) doing {
	title := oneLine(s.Title)
	switch s.Now {
	case agent.Prompt:
		if s.Request != nil {
			return requested(s)
		}
	case agent.InError:
		if s.Failure != nil {
			return doing{text: failure(s.Failure), tone: failed}
		}
	case agent.Working:
		if a := s.Activity; a != nil {
			return working(a, title)
		}
	case agent.Exited:
		if s.Exit != nil {
			return doing{text: ending(s.Exit)}
		}
	case agent.Starting, agent.Restarting:
		return doing{text: string(s.Now)}
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
			d.text = oneLine(about.Changes[0].File)
			if within, ok := strings.CutPrefix(d.text, s.Cwd+"/"); ok && s.Cwd != "" {
				d.text = within
			}
			if n := len(about.Changes) - 1; n > 0 {
				d.text += fmt.Sprintf(" (+%d)", n)
			}
		}
	}
	return d
}

func working(a *api.Activity, title string) doing {
	switch {
	case a.Tool != "":
		return doing{tool: oneLine(a.Tool), text: title, tone: works}
	case a.Kind == string(agent.Retrying) && a.Attempt > 0 && a.Of > 0:
		return doing{text: fmt.Sprintf("retrying, %d of %d", a.Attempt, a.Of)}
	case title != "":
		return doing{text: a.Kind + " · " + title}
	}
	return doing{text: a.Kind}
}

// ending is how a session's program ended.
func ending(e *api.Exit) string {
	switch {
	case e.Lost:
		return "lost: its exit wasn't seen"
	case e.Signal != "":
		return "by signal " + e.Signal
	case e.Code != nil:
		return fmt.Sprintf("status %d", *e.Code)
	}
	return ""
}

// failure is the error in one line.
func failure(f *api.Failure) string {
	class := strings.ReplaceAll(f.Class, "_", " ")
	switch {
	case f.Text == "":
		return class
	case f.Class == "other":
		return oneLine(f.Text)
	}
	return oneLine(class + ": " + f.Text)
}

// oneLine joins the words of a text.
func oneLine(s string) string { return terminal.Printable(strings.Join(strings.Fields(s), " ")) }

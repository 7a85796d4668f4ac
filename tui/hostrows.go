package tui

import (
	"strings"
	"sync"

	"berth/agent"
	"berth/api"
	"berth/sessions"
	"berth/terminal"
)

// HostRows are the sessions of a fleet's other hosts in the dashboard's form. A dashboard reads them at each picture,
// and a host's rows change less often, so they are kept. Its zero value is ready; its methods may be called
// concurrently, and its field doesn't change.
type HostRows struct {
	Subject func(agent string, r *agent.Request) *agent.Subject // reads what a whole prompt is about; nil: nothing does

	mu    sync.Mutex
	hosts map[string]keptRows
	whole map[string]*agent.Request // prompts that were asked for, by session: rows have a part of long ones
}

// keptRows are a host's sessions as they were read last.
type keptRows struct {
	of        []api.Session
	reachable bool
	list      []HostRow
}

// HostRow is a session of another host.
type HostRow struct {
	From   *api.Session
	Status *sessions.Status
	Cut    bool // its prompt isn't known whole
}

// Of are the sessions of a host.
func (k *HostRows) Of(host string, reachable bool, rows []api.Session) []HostRow {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept, ok := k.hosts[host]
	if ok && kept.reachable == reachable && len(kept.of) == len(rows) && (len(kept.of) == 0 || &kept.of[0] == &rows[0]) {
		return kept.list // the registry replaces rows as a whole
	}
	kept = keptRows{of: rows, reachable: reachable}
	listed := map[string]bool{}
	for i := range rows {
		if row := k.rowOf(host, reachable, &rows[i]); !listed[row.Status.ID] {
			listed[row.Status.ID] = true
			kept.list = append(kept.list, row)
		}
	}
	if k.hosts == nil {
		k.hosts = map[string]keptRows{}
	}
	k.hosts[host] = kept
	return kept.list
}

// Fill adds what the rows lack of a session's prompt.
func (k *HostRows) Fill(id string, whole *agent.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.whole == nil || len(k.whole) >= mostWhole {
		k.whole = map[string]*agent.Request{}
	}
	host, _, _ := strings.Cut(id, "/")
	k.whole[id] = whole
	delete(k.hosts, host) // its rows are read again
}

// mostWhole bounds the prompts that are kept whole. One that is shown again is asked for again.
const mostWhole = 16

// mostFilled bounds an abridged prompt that a card has whole, in bytes. It is as much as a host's rows ever were.
const mostFilled = 3 << 20

// mostText bounds the texts of a row that each picture reads.
const mostText = 500

func short(text string) string {
	if len(text) > mostText {
		text = strings.ToValidUTF8(text[:mostText], "")
	}
	return terminal.Printable(text)
}

// rowOf is a session as the dashboard shows it. Of a host that can't be reached it has only what was last known.
func (k *HostRows) rowOf(host string, reachable bool, r *api.Session) HostRow {
	s := &sessions.Status{
		Spec:  sessions.Spec{ID: OnHost(host, r.ID), Name: OnHost(host, r.Session), Agent: short(r.Agent), Tags: r.Tags, Cwd: short(r.Cwd)},
		Title: short(r.Title), Writer: r.Writer, Viewers: r.Viewers, PID: r.PID, Cols: r.Cols, Rows: r.Rows, Driven: r.Agent != agent.Generic,
	}
	s.Now, s.Since, s.StateSeq = agent.State(r.State), r.Since.Time, uint64(max(r.Since.UnixMilli(), 0)) // its events aren't known here
	if r.Parent != nil {
		s.Parent = OnHost(host, *r.Parent)
	}
	if r.Branch != nil {
		s.Look = &sessions.Look{Branch: short(*r.Branch)}
		if r.ChangedFiles != nil {
			s.Look.Changed = *r.ChangedFiles
		}
	}
	if r.Mode != nil {
		mode := short(*r.Mode)
		s.Mode = &mode
	}
	row := HostRow{From: r, Status: s}
	if !reachable {
		s.Title = strings.TrimSuffix("last known: "+short(r.State)+" · "+s.Title, " · ")
		s.Now = agent.Unknown
		return row
	}
	s.Activity, s.Failure, s.Request = r.Activity, r.Failure, agent.RequestOf(r.Prompt)
	if s.Now == agent.Exited {
		ended := "ended"
		s.Exit = &api.Exit{Reason: &ended, Time: r.Since}
	}
	if s.Request != nil {
		s.Requests = []*agent.Request{s.Request}
		if whole := k.whole[s.ID]; whole != nil && whole.ID == s.Request.ID && whole.Digest == s.Request.Digest {
			s.Request = filled(s.Request, whole)
		}
		if row.Cut = s.Request.IsAbridged() || !s.Request.Whole(); !row.Cut && k.Subject != nil {
			s.Subject = k.Subject(s.Agent, s.Request)
		}
	}
	return row
}

// filled is a row's prompt with what the row lacks. An abridged one lacks all that is asked, and keeps what changes
// while it is open. The text of a notice and of a sign-in changes too, and no digest says of what moment it is. One of
// more than mostFilled bytes stays short: no person reads it in a card, and each picture would take seconds.
func filled(row, whole *agent.Request) *agent.Request {
	now := *row
	if row.IsAbridged() {
		if whole.Type == agent.PromptNotice || whole.Type == agent.PromptSetup || row.InputBytes > mostFilled {
			return row
		}
		now = *whole
		now.QuestionCurrent, now.Ready, now.OnScreen, now.Modal = row.QuestionCurrent, row.Ready, row.OnScreen, row.Modal
		now.Channel, now.Contested, now.Since, now.Expires = row.Channel, row.Contested, row.Since, row.Expires
	}
	now.FullInput, now.Raw = whole.FullInput, whole.Raw
	return &now
}

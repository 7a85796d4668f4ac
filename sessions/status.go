package sessions

import (
	"slices"
	"sort"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/loop"
	"berth/sessions/track"
	"berth/sessions/worktree"
	"berth/terminal"
)

// Actor is who does something; Claim is how a call wants to write to a session.
type (
	Actor = loop.Actor
	Claim = loop.Claim
)

// By says in an event who caused it.
type By = loop.By

// View is what a status shows of the agent, and Look what git said of its folder.
type (
	View = track.View
	Look = worktree.Look
)

// Status is an immutable picture of a session. The session's loop publishes it at
// each change. Reading it never waits.
type Status struct {
	Spec
	track.View
	Seq         uint64 // of the newest event
	Title       string
	Exit        *api.Exit
	RestartDue  time.Time // when the program is started again by itself; zero: not planned
	Writer      *api.Writer
	Viewers     int // attached clients that do not write
	PID         int // of the program
	HolderPID   int
	HolderStart string
	Cols, Rows  int
	// The message that it was made with has yet to be given.
	FirstPending bool
	QueueLength  int // messages that wait, as the verb queue lists them
	Modes        terminal.Modes
	Started      time.Time
	LastOutput   time.Time
	LastInput    time.Time // from any client
	Offset       int64     // output shown on the screen
	Losses       int64     // bytes of output that could not be kept
	Panics       int       // of the emulator, recovered
	Problem      string

	Subject *agent.Subject // of Request; nil when no driver reads it
	// Look is what git said of the folder when the agent last rested; nil: it is in no
	// repository, or wasn't looked at yet.
	Look *worktree.Look

	Driven    bool          // by a driver of its agent
	RulesName string        // of those that its program is read by; empty: none
	Tells     []agent.State // that its driver can report, in addition to those of every session
}

// subject reads what a prompt is about. It isn't read again while the prompt asks the same.
func subject(driver agent.Driver, r *agent.Request, old *Status) *agent.Subject {
	d, ok := driver.(agent.SubjectReader)
	switch {
	case r == nil, !ok:
		return nil
	case old != nil && old.Request != nil && old.Request.ID == r.ID && old.Request.Digest == r.Digest:
		return old.Subject
	}
	s, ok := d.Subject(r)
	if !ok {
		return nil
	}
	return &s
}

// Subject reads what a prompt of another host is about; nil when no driver here reads it.
func (r *Registry) Subject(name string, q *agent.Request) *agent.Subject {
	return subject(r.options.Drivers[name], q, nil)
}

// Running says whether the session's program is there, as far as known.
func (s *Status) Running() bool { return s.Now != agent.Exited }

// Talk is the agent's id of its conversation, as far as known.
func (s *Status) Talk() string {
	if s.ConversationNow != "" {
		return s.ConversationNow
	}
	return s.Conversation
}

// HasTag says whether the session carries the tag.
func (s *Status) HasTag(tag string) bool { return slices.Contains(s.Tags, tag) }

// resumeAt is when a parked session's error ends.
func (s *Status) resumeAt() *api.Time {
	if s.Now != agent.Parked || s.Failure == nil {
		return nil
	}
	return s.Failure.ResumeAt
}

// branch is the branch of the session's folder, null where there is none.
func (s *Status) branch() *string {
	if s.Look == nil {
		return nil
	}
	return orNil(s.Look.Branch)
}

func (s *Status) changedFiles() *int {
	if s.Look == nil {
		return nil
	}
	return &s.Look.Changed
}

// Row is the session as ls lists it.
func (s *Status) Row() api.Session {
	tags := s.Tags
	if tags == nil {
		tags = []string{}
	}
	return api.Session{
		Prompt: promptOrNil(s.Request), Activity: s.Activity, Failure: s.Failure, ResumeAt: s.resumeAt(), Session: s.Name, ID: s.ID, Agent: s.Agent, Mode: s.Mode, Attached: orNil(s.Attached), State: string(s.Now), Since: api.At(s.Since),
		Title: terminal.Printable(s.Title), Writer: s.Writer, Viewers: s.Viewers, Tags: tags, PID: s.PID, Cols: s.Cols, Rows: s.Rows,
		Cwd: s.Cwd, Branch: s.branch(), ChangedFiles: s.changedFiles(), Parent: orNil(s.Parent),
	}
}

// State is the session as the verb state shows it.
func (s *Status) State(now time.Time) api.State {
	quiet := int64(0)
	if !s.LastOutput.IsZero() {
		quiet = max(now.Sub(s.LastOutput).Milliseconds(), 0)
	}
	prompts := []api.Prompt{}
	for _, r := range s.Requests {
		prompts = append(prompts, r)
	}
	var grace *int64
	if !s.RestDue.IsZero() {
		left := max(s.RestDue.Sub(now).Milliseconds(), 0)
		grace = &left
	}
	return api.State{
		Activity: s.Activity, Failure: s.Failure, ResumeAt: s.resumeAt(), Prompt: promptOrNil(s.Request), IdleGraceRemainingMS: grace, Session: s.Name, ID: s.ID, Agent: s.Agent, Mode: s.Mode, Attached: orNil(s.Attached), State: string(s.Now), Since: api.At(s.Since), Seq: s.Seq,
		Tier: s.Tier, Cause: terminal.Printable(s.Cause), Prompts: prompts, Exit: s.Exit, Writer: s.Writer, Gate: string(s.Gate.Shown()),
		Foreground: terminal.Printable(s.Program), QuietMS: quiet, Cwd: s.Cwd, Branch: s.branch(), ChangedFiles: s.changedFiles(),
	}
}

// Reportable are the states that a session can ever be in by what is known of
// its program.
func Reportable(st *Status) map[agent.State]bool {
	can := map[agent.State]bool{agent.Unknown: true, agent.Exited: true, agent.Starting: true, agent.Restarting: true}
	for _, state := range st.Tells {
		can[state] = true
	}
	return can
}

// Waiting picks those that wait for a person, the longest first.
func Waiting(list []*Session) []api.Session {
	rows := []api.Session{}
	for _, s := range list {
		if st := s.Status(); st.Now == agent.Prompt || st.Now == agent.InError || st.Now == agent.Parked {
			rows = append(rows, st.Row())
		}
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].Since.Before(rows[j].Since.Time) })
	return rows
}

// promptOrNil keeps a missing prompt null in JSON.
func promptOrNil(r *agent.Request) api.Prompt {
	if r == nil {
		return nil
	}
	return r
}

// Over says that the program has ended, its last output is in the picture, and no
// new start is under way.
func (s *Status) Over() bool { return s.Exit != nil && !s.Running() }

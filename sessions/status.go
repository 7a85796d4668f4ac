package sessions

import (
	"slices"
	"sort"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/loop"
	"berth/sessions/track"
	"berth/terminal"
)

// Actor is who does something; Claim is how a call wants to write to a session.
type (
	Actor = loop.Actor
	Claim = loop.Claim
)

// By says in an event who caused it.
type By = loop.By

// View is what a status shows of the agent.
type View = track.View

// Status is an immutable picture of a session, published by its loop at each
// change; reading it waits for nobody.
type Status struct {
	Spec
	track.View
	Seq         uint64 // of the newest event
	Title       string
	Exit        *api.Exit
	Writer      *api.Writer
	Viewers     int // attached clients that do not write
	PID         int // of the program
	HolderPID   int
	HolderStart string
	Cols, Rows  int
	// The message that it was made with has yet to be given.
	FirstPending bool
	Modes        terminal.Modes
	Started      time.Time
	LastOutput   time.Time
	LastInput    time.Time // by whomever
	Offset       int64     // output shown on the screen
	Losses       int64     // bytes of output that could not be kept
	Panics       int       // of the emulator, recovered
	Problem      string

	Driven    bool          // by a driver of its agent
	RulesName string        // of those that its program is read by; empty: none
	Tells     []agent.State // that can be told of it, beside those that every session has
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

// Row is the session as ls lists it.
func (s *Status) Row() api.Session {
	tags := s.Tags
	if tags == nil {
		tags = []string{}
	}
	return api.Session{
		Prompt: promptOrNil(s.Request), Failure: s.Failure, Session: s.Name, ID: s.ID, Agent: s.Agent, State: string(s.Now), Since: api.At(s.Since),
		Title: terminal.Printable(s.Title), Writer: s.Writer, Viewers: s.Viewers, Tags: tags, PID: s.PID, Cols: s.Cols, Rows: s.Rows,
	}
}

// State is the session as the verb state shows it.
func (s *Status) State(now time.Time) api.State {
	quiet := int64(0)
	if !s.LastOutput.IsZero() {
		quiet = max(now.Sub(s.LastOutput).Milliseconds(), 0)
	}
	prompts := []any{}
	for _, r := range s.Requests {
		prompts = append(prompts, r)
	}
	var grace *int64
	if !s.RestDue.IsZero() {
		left := max(s.RestDue.Sub(now).Milliseconds(), 0)
		grace = &left
	}
	return api.State{
		Activity: s.Activity, Failure: s.Failure, Prompt: promptOrNil(s.Request), IdleGraceRemainingMS: grace, Session: s.Name, ID: s.ID, Agent: s.Agent, State: string(s.Now), Since: api.At(s.Since), Seq: s.Seq,
		Tier: s.Tier, Cause: terminal.Printable(s.Cause), Prompts: prompts, Exit: s.Exit, Writer: s.Writer, Gate: string(s.Gate.Shown()),
		Foreground: terminal.Printable(s.Program), QuietMS: quiet,
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
		if st := s.Status(); st.Now == agent.Prompt || st.Now == agent.InError {
			rows = append(rows, st.Row())
		}
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].Since.Before(rows[j].Since.Time) })
	return rows
}

// promptOrNil keeps a missing prompt null in JSON.
func promptOrNil(r *agent.Request) any {
	if r == nil {
		return nil
	}
	return r
}

// Over says that the program is gone, its last output is in the picture, and
// nobody is about to start it again.
func (s *Status) Over() bool { return s.Exit != nil && !s.Running() }

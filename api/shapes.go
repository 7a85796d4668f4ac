package api

import "fmt"

// Hidden is shown in place of a value that may be secret.
const Hidden = "***"

// Prompt is what a session asks: an agent.Request, or nil.
type Prompt any

// Writer is the client that holds the lease on a session's input.
type Writer struct {
	Identity    string `json:"identity"`
	Fingerprint string `json:"fingerprint"` // of the proven key; empty for callers on the machine
	Client      string `json:"client"`      // the client's id, such as c12
	Generation  uint64 `json:"generation"`
	Since       Time   `json:"since"`
	Expires     Time   `json:"expires"`
}

// Activity is what a working agent does.
type Activity struct {
	Kind    string `json:"kind"`
	Tool    string `json:"tool"`
	Input   string `json:"input"`    // of the tool, in one line: its command, its files or its arguments
	Attempt int    `json:"attempt"`  // number of the retry, from 1
	Of      int    `json:"of"`       // how many there will be
	DelayMS int64  `json:"delay_ms"` // until the next attempt
}

// Failure is why a session is in error.
type Failure struct {
	Class string `json:"class"`
	Text  string `json:"text"`
	Since Time   `json:"since"`
	// ResumeAt is when the error ends by itself; null if it doesn't, or if that isn't known.
	ResumeAt *Time `json:"resume_at"`
}

// Exit is how a session's program ended.
type Exit struct {
	Code    *int   `json:"code"`
	Signal  string `json:"signal"`
	Crashed bool   `json:"crashed"`
	Lost    bool   `json:"lost"`
	Time    Time   `json:"time"`
	// Reason is why the system has ended it, such as "out of memory: limit 512MiB"; null if that isn't known.
	Reason *string `json:"reason"`
}

// String says how the program ended.
func (e *Exit) String() string {
	switch {
	case e.Reason != nil:
		return *e.Reason
	case e.Lost:
		return "lost: its exit wasn't seen"
	case e.Signal != "":
		return "by signal " + e.Signal
	case e.Code != nil:
		return fmt.Sprintf("status %d", *e.Code)
	}
	return "unknown"
}

// Session is one row of ls.
type Session struct {
	Session  string    `json:"session"`
	ID       string    `json:"id"`
	Agent    string    `json:"agent"`
	Mode     *string   `json:"mode"`     // what the agent may do unasked, in its own word; null: unknown
	Attached *string   `json:"attached"` // foreground: a person started the agent in the session's shell; null: the session's own program
	State    string    `json:"state"`
	Activity *Activity `json:"activity"` // of the state working
	Since    Time      `json:"since"`
	Title    string    `json:"title"`
	Prompt   Prompt    `json:"prompt"`
	Failure  *Failure  `json:"failure"`   // of the states error and parked
	ResumeAt *Time     `json:"resume_at"` // of the state parked: when the error ends by itself
	Writer   *Writer   `json:"writer"`
	Viewers  int       `json:"viewers"`
	Tags     []string  `json:"tags"`
	PID      int       `json:"pid"`
	Cols     int       `json:"cols"`
	Rows     int       `json:"rows"`

	Cwd          string  `json:"cwd"`
	Branch       *string `json:"branch"`        // of git in cwd, read when the agent rests; null: none
	ChangedFiles *int    `json:"changed_files"` // likewise; null: cwd is in no repository

	Parent *string `json:"parent"` // id of the session whose agent started it; null: a person or program outside did

	Host     *string `json:"host"`         // at a fleet's gateway, the session's host; session begins with it
	LastSeen *Time   `json:"last_seen_at"` // of a host that can't be reached: the rest is as of then
}

// State is the answer of the verb state.
type State struct {
	Session              string    `json:"session"`
	ID                   string    `json:"id"`
	Agent                string    `json:"agent"`
	Mode                 *string   `json:"mode"`     // what the agent may do unasked, in its own word; null: unknown
	Attached             *string   `json:"attached"` // see ls
	State                string    `json:"state"`
	Activity             *Activity `json:"activity"`
	Since                Time      `json:"since"`
	Seq                  uint64    `json:"seq"`
	Tier                 int       `json:"tier"`
	Cause                string    `json:"cause"`
	IdleGraceRemainingMS *int64    `json:"idle_grace_remaining_ms"`
	Prompt               Prompt    `json:"prompt"`
	Prompts              []Prompt  `json:"prompts"`
	Failure              *Failure  `json:"failure"`
	ResumeAt             *Time     `json:"resume_at"` // of the state parked: when the error ends by itself
	Exit                 *Exit     `json:"exit"`
	Writer               *Writer   `json:"writer"`
	Gate                 string    `json:"gate"`
	Foreground           string    `json:"foreground"` // program in the PTY's foreground, as far as known
	QuietMS              int64     `json:"quiet_ms"`   // since the last output
	Cwd                  string    `json:"cwd"`
	Branch               *string   `json:"branch"`        // of git in cwd, read when the agent rests; null: none
	ChangedFiles         *int      `json:"changed_files"` // likewise; null: cwd is in no repository
}

// Cursor is the position of the terminal's cursor, from 0.
type Cursor struct {
	Row     int  `json:"row"`
	Col     int  `json:"col"`
	Visible bool `json:"visible"`
}

// Screen is the answer of the verb screen.
type Screen struct {
	Session   string   `json:"session"`
	ID        string   `json:"id"`
	Lines     []string `json:"lines"`
	Cols      int      `json:"cols"`
	Rows      int      `json:"rows"`
	Cursor    Cursor   `json:"cursor"`
	AltScreen bool     `json:"alt_screen"`
	Title     string   `json:"title"`
	Revision  uint64   `json:"revision"`
	Offset    int64    `json:"offset"`
}

// Output is the answer of the verb output; Data is base64 in JSON.
type Output struct {
	Session      string `json:"session"`
	ID           string `json:"id"`
	Data         []byte `json:"data"`
	Offset       int64  `json:"offset"`
	NextOffset   int64  `json:"next_offset"`
	TotalWritten int64  `json:"total_written"`
}

// EventHead is the common start of every event; the other fields depend on its type. A line about the
// stream itself, such as live, is of no session.
type EventHead struct {
	Cursor  string  `json:"cursor"`
	Type    string  `json:"type"`
	Session *string `json:"session,omitempty"`
	ID      *string `json:"id,omitempty"`
	Seq     *uint64 `json:"seq,omitempty"`
	Time    Time    `json:"time"`
}

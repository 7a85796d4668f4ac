package track

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/detect/tail"
	"berth/detect/watch"
	"berth/sessions/events"
	"berth/sessions/loop"
	"berth/terminal"
)

// Env is what the track uses of its session.
type Env struct {
	loop.Env
	Peers
	// Spec is what the session's spec says about the agent. Logs limits which files may be read as the
	// agent's. Learn stores in the spec which conversation a restart resumes, and whether it had a turn.
	Spec  func() Spec
	Logs  func() tail.Below
	Learn func(conversation string, spoken bool) error
	// Fresh is the agent's driver with the current rules; nil without one.
	Fresh func() agent.Driver
	// TakesVisitors reports whether an agent in the foreground is followed in place of the session's own program, as
	// in a shell. FindVisitor is the agent in a foreground process group; nil for none. Leave ends what other parts do
	// with the agent that was followed, and Enter makes them ready for another one. Moved: the same agent is followed as
	// another process.
	TakesVisitors func() bool
	FindVisitor   func(group int) *Visitor
	Leave         func()
	Enter         func(at time.Time)
	Moved         func(from, to *Visitor)
	// Child is the program. Exit is its end, nil while it runs.
	Child func() Child
	// Shared reports whether another program may take what is typed for the agent.
	Shared func() bool
	Exit   func() *api.Exit
	// Terminal is the emulator; nil for a program that ended long ago. LastOut is the time of the last
	// output. Unsettled reports whether the picture is half drawn or of the past.
	Terminal  func() *terminal.Terminal
	LastOut   func() time.Time
	Unsettled func() bool
	// Live reports whether the holder answers, and all output from before this server was applied.
	Live func() bool
	// CatchUp applies what the holder has written, and reports whether there is more. Sweep makes it read
	// even if the holder has sent no wake.
	CatchUp func() (more bool)
	Sweep   func()
	// ReadOutput reads output that was printed at an offset.
	ReadOutput func(buf []byte, offset int64) (int, error)
	// Waiting are the hooks that waited when the holder was found, if their records were applied.
	Waiting func() []uint64
	// Append writes events in one step. Written reports whether an earlier server has written the events
	// of a record. Next is the number of the session's next event.
	Append  func([]events.Event) []events.Event
	Written func(record uint64) bool
	Next    func() uint64
	// TurnStarted marks on the screen that a turn of the agent has begun. TurnRecalled has a turn marked
	// that began under an earlier server.
	TurnStarted  func()
	TurnRecalled func(at time.Time)
	// Dirty publishes the session's status.
	Dirty func()
	// Watcher notifies of changed files with a signal in FilesChanged; nil if there is none.
	Watcher      *watch.Watcher
	FilesChanged chan struct{}
	// Opened is when the server opened its sessions.
	Opened time.Time
}

// Peers are the calls to other parts that need the facts about the agent, or that follow from them.
type Peers struct {
	// Closes judges the answer to a closed prompt, and returns its events. ShownOnScreen reports whether a prompt
	// must be shown on the screen, so that its hook doesn't wait. Hooked records that the agent has hooks,
	// and Asks that one waits for a verdict. ReleaseHooks releases hooks that no prompt needs.
	Closes        func(*detect.Resolution) (*loop.By, []events.Event)
	ShownOnScreen func(*agent.Request) bool
	Hooked        func()
	Asks          func(hook uint64)
	ReleaseHooks  func()

	// Observe passes on a fact of the session's conversation, for messages. Taken returns the event of a
	// message that this fact confirms, and SettleTaken gets its number. FirstWaiting is the id of the
	// session's first message while it waits.
	Observe      func(agent.Fact)
	Taken        func() []events.Event
	SettleTaken  func(seq uint64)
	FirstWaiting func() string

	// Gate handles the start and the end of a turn, KeepLog a hook's report about the agent's log, and
	// Begins a hook that waits at the start of a conversation.
	Gate    func(f agent.Fact, hook uint64, waits bool) (agent.Fact, bool, []events.Event)
	KeepLog func(f agent.Fact, hook uint64, waits bool)
	Begins  func(source string, hook uint64)
}

// Spec is what a session's spec says about its agent.
type Spec struct {
	Conversation string // the conversation's id, as far as known
	Spoken       bool   // whether the conversation had a turn
	Forked       string // the conversation that this one is a copy of
	Headless     bool
	Again        bool // whether the agent may exit to be started again
	Dir          string
	RealDir      string // path of Dir without links; empty: not known
	TimeZone     string // the program's TZ; empty: the server's
	IdleGrace    time.Duration
	Stream       bool      // whether it prints lines of JSON
	Hooks        bool      // whether it has Berth's hooks
	StateFile    string    // path of its live state file, with %d for its process id; empty: none
	LogFiles     string    // where its session logs are, see agent.Launch
	Created      time.Time // when the session was created
}

// Child is a session's own program.
type Child struct {
	PID     int
	Start   string // its start time, which distinguishes processes with the same pid
	Started time.Time
}

// mark is in the ids of the program's prompts. The numbers of events can come back: after a power loss, a full disk or a restored
// backup. The same program doesn't, so an id never names what another program asks.
func (c Child) mark() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", c.PID, c.Start))
	return hex.EncodeToString(sum[:3])
}

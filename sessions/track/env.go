package track

import (
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
	// Spec is what the session's spec says of the agent. Logs are the files that may be read for
	// the agent's. Learn keeps in the spec which conversation a new start takes up, and whether
	// something was said in it.
	Spec  func() Spec
	Logs  func() tail.Below
	Learn func(conversation string, spoken bool) error
	// Fresh is the driver of the agent by the rules as they are now; nil without one.
	Fresh func() agent.Driver
	// Child is the program. Exit is its end, nil while it runs.
	Child func() Child
	Exit  func() *api.Exit
	// Terminal is the emulator; nil for a program that ended long ago. LastOut is when the
	// program printed last. Unsettled says that the picture is half drawn or of the past.
	Terminal  func() *terminal.Terminal
	LastOut   func() time.Time
	Unsettled func() bool
	// Live says that the holder answers, and that all is taken in which the program printed
	// before this server.
	Live func() bool
	// CatchUp takes in what the holder has written, and says whether there is more. Sweep has it
	// read on also where the holder has said nothing of it.
	CatchUp func() (more bool)
	Sweep   func()
	// ReadOutput reads output that was printed at an offset.
	ReadOutput func(buf []byte, offset int64) (int, error)
	// Waiting are the hooks that waited when the holder was found, as far as their records are
	// applied.
	Waiting func() []uint64
	// Append writes events in one step. Written says that the record has its events already, by a
	// server before this one. Next is the number of the session's next event.
	Append  func([]events.Event) []events.Event
	Written func(record uint64) bool
	Next    func() uint64
	// Dirty has the session's status published.
	Dirty func()
	// Watcher tells of changes of files, with a signal in FilesChanged; nil where there is none.
	Watcher      *watch.Watcher
	FilesChanged chan struct{}
	// Opened is when the server took up its sessions.
	Opened time.Time
}

// Peers are what the other parts say to facts about the agent, and what they have to hear.
type Peers struct {
	// Closes gives what follows for answers from the end of a prompt. Faced says that the prompt is
	// asked on the screen and not of the hook. Hooked takes in that hooks tell of the agent, and
	// Asks that one waits for a verdict. LetGo releases the hooks that nothing waits for.
	Closes func(*detect.Resolution) (*loop.By, []events.Event)
	Faced  func(*agent.Request) bool
	Hooked func()
	Asks   func(hook uint64)
	LetGo  func()

	// Heard takes in a fact of the session's own conversation, for messages. Taken is the event of
	// a message that the agent has by that fact, and SettleTaken follows with its number.
	Heard       func(agent.Fact)
	Taken       func() []events.Event
	SettleTaken func(seq uint64)

	// Gate takes in the begin and the end of a turn, KeepLog what a hook says of the agent's log, and
	// Begins that a hook waits at a conversation's begin.
	Gate    func(f agent.Fact, hook uint64, waits bool) (agent.Fact, bool, []events.Event)
	KeepLog func(f agent.Fact, hook uint64, waits bool)
	Begins  func(source string, hook uint64)
}

// Spec is what a session's spec says of its agent.
type Spec struct {
	Conversation string // its id, as far as known
	Spoken       bool   // something was said in it
	Forked       string // the conversation that this one begins as a copy of
	Headless     bool
	Again        bool // the agent may end to be started once more
	Dir          string
	IdleGrace    time.Duration
	Stream       bool      // what it prints are lines that tell of it
	Hooks        bool      // it is given hooks
	StateFile    string    // of its live state, with %d for its process id; empty: none
	LogFiles     string    // where its session logs are, see agent.Launch
	Created      time.Time // of the session
}

// Child is a session's own program.
type Child struct {
	PID     int
	Start   string // tells two processes of one pid apart
	Started time.Time
}

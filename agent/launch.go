package agent

import (
	"errors"
	"io/fs"
)

var (
	// ErrStart: the agent cannot be started from what was given. What wraps it
	// says what to change.
	ErrStart = errors.New("the agent cannot be started so")
	// ErrNoConversation: the conversation to take up is not there.
	ErrNoConversation = errors.New("there is no such conversation")
)

// Isolation is how much of an agent's own files a session keeps for itself.
type Isolation string

// The isolations.
const (
	IsolateHooks Isolation = "hooks" // the user's own, and what the hooks need
	IsolateFull  Isolation = "full"  // a home of its own; credentials are shared
	IsolateNone  Isolation = "none"  // untouched, without hooks
)

// Groom is who answers what an agent asks before its first composer.
type Groom string

// The ways to groom.
const (
	GroomAuto     Groom = "auto"     // Berth, where the answer is given or harmless
	GroomManual   Groom = "manual"   // somebody
	GroomPristine Groom = "pristine" // somebody, and nothing about the agent is changed
)

// Latest, as a conversation to take up, is the newest of the folder.
const Latest = "latest"

// Start is what an agent is started from.
type Start struct {
	Argv   []string
	Env    map[string]string // as it would be; not to be changed
	Own    map[string]string // what of it the session itself gives
	Cwd    string            // absolute, without symbolic links
	Folder string            // of the session, for files of Berth's own
	Hook   string            // program that the agent's hooks run; empty for no hooks
	Disk   fs.FS             // the machine's files, from / on, to be read

	Conversation string // id to give the conversation; empty: the agent's own choice
	Fresh        string // id to give it where that one cannot be used any more
	Resume       bool   // that conversation is to be taken up, if anything was said in it
	TakeUp       string // id of a conversation to take up at the first start, or Latest
	Fork         string // id of the conversation that this one begins as a copy of
	ForkFolder   string // of the session whose conversation that is

	Isolate      Isolation
	Groom        Groom
	Trust        bool // the session says so for its working folder
	AcceptBypass bool
	Settings     map[string]any // to be merged into the agent's
	MCP          map[string]any // the same for its servers of tools

	Berth string // how berth is called from the agent's commands
	// The hooks at a turn's end and at a conversation's begin wait for an answer
	// while the file of that name is there, and only tell while it is not.
	EndAsks, BeginAsks string
}

// Launch is how to start it.
type Launch struct {
	Argv    []string
	Set     map[string]string // environment to add
	Default map[string]string // the same, unless the session itself gives it
	Unset   []string          // names to leave out, unless the session itself gives them; a trailing * stands for any rest
	Folders []string          // to make first, mode 0700, by absolute path
	Files   map[string][]byte // to write first, by absolute path, mode 0600
	Copies  map[string]string // to copy first where they are not there: file by absolute path, from another
	Links   map[string]string // to link first where nothing is: path to target
	// StateFile is where the agent keeps its live state, with %d for its
	// process id; empty when it has none.
	StateFile string
	// LogFiles is where the agent keeps the logs of its conversations, for when it
	// does not say itself: FOLDER/*/NAME, in any folder of FOLDER. In NAME %s is
	// the conversation's id, %.8s the first eight characters of it, and * any part
	// of a file's name. Empty when it has none.
	LogFiles string
	// Again are the exit statuses by which the agent asks to be started once
	// more, at once: no end of its work.
	Again []int
	// Stream says that what the agent prints are lines which Driver.Stream reads.
	// Headless says that it takes no messages: it ends with its answer.
	Stream, Headless bool
	// Conversation is the id that the agent's conversation will have, empty when
	// that is not known.
	Conversation string
	// Vouched are dialogs of setup, by subtype, whose subject comes from the
	// session's own environment, each with a digest by which the driver knows it
	// again. It holds no secret.
	Vouched map[string]string
	// Berth is how berth is called from the agent's commands.
	Berth string
}

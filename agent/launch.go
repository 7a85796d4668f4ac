package agent

import (
	"errors"
	"io/fs"
)

var (
	// ErrStart: the agent can't be started with this Start. The error that wraps it says what to
	// change.
	ErrStart = errors.New("the agent can't be started like this")
	// ErrNoConversation: the conversation to resume doesn't exist.
	ErrNoConversation = errors.New("no such conversation")
)

// Isolation is which of the agent's files a session has for itself.
type Isolation string

// The isolations.
const (
	IsolateHooks Isolation = "hooks" // the user's files, plus what the hooks need
	IsolateFull  Isolation = "full"  // the session's own home; credentials are shared
	IsolateNone  Isolation = "none"  // the user's files untouched, without hooks
)

// Groom is who answers the agent's startup prompts, before its first composer.
type Groom string

// The policies for startup prompts. Groom is their name in the configuration.
const (
	GroomAuto     Groom = "auto"     // Berth, if the configuration has the answer or the answer is harmless
	GroomManual   Groom = "manual"   // a person
	GroomPristine Groom = "pristine" // a person, and Berth changes none of the agent's files
)

// Latest, as a conversation to resume, is the newest conversation of the folder.
const Latest = "latest"

// Start is the input of Launcher.Launch.
type Start struct {
	Argv   []string
	Env    map[string]string // the whole environment; read-only
	Own    map[string]string // the part of Env that the session itself sets
	Cwd    string            // absolute, without symbolic links
	Folder string            // the session's folder, for Berth's own files
	Hook   string            // the program that the agent's hooks run; empty for no hooks
	Disk   fs.FS             // the machine's files, read-only; its root is /

	Conversation string // id to give to the conversation; empty: the agent chooses
	Fresh        string // id to give to it if Conversation can't be used anymore
	Resume       bool   // resume Conversation, if it has any messages
	ResumeID     string // id of a conversation to resume at the first start, or Latest
	Fork         string // id of the conversation to fork
	ForkFolder   string // folder of the session that has the conversation to fork

	Isolate      Isolation
	Groom        Groom
	Trust        bool // the session trusts its working folder
	AcceptBypass bool
	Settings     map[string]any // to merge into the agent's settings
	MCP          map[string]any // MCP servers, to merge into the agent's

	Berth string // the command with which the agent's commands call berth
	// Each names a file. While it exists, the hook at a turn's end or at a conversation's start
	// waits for the server's answer; without it, the hook only reports.
	EndAsks, StartAsks string
}

// Launch is how to start the agent.
type Launch struct {
	Argv    []string
	Set     map[string]string // environment to add
	Default map[string]string // environment to add unless the session itself sets it
	Unset   []string          // names to remove unless the session itself sets them; a trailing * matches any rest
	Folders []string          // to create first, mode 0700, by absolute path
	Files   map[string][]byte // to write first, by absolute path, mode 0600
	Copies  map[string]string // to copy first where no file exists: absolute path to source
	Links   map[string]string // to link first where nothing exists: path to target
	// StateFile is the path of the agent's live state file, with %d for the process id. It is empty
	// if the agent has none.
	StateFile string
	// LogFiles is a pattern for the logs of the agent's conversations, used until the agent reports
	// a log's path: FOLDER/*/NAME, in any folder of FOLDER. In NAME %s is the conversation's id,
	// %.8s its first eight characters, and * any part of a file's name. It is empty if the agent
	// has no logs.
	LogFiles string
	// Again are the exit statuses that ask for an immediate restart. They don't end the agent's
	// work.
	Again []int
	// Stream: the agent prints lines for Driver.Stream. Headless: it takes no messages and exits
	// after its answer.
	Stream, Headless bool
	// Conversation is the id that the conversation will have; empty when it isn't known.
	Conversation string
	// Vouched are setup dialogs about something that the session's own environment sets, by
	// subtype. The value is a digest that the driver recognizes the subject by. It holds no secret.
	Vouched map[string]string
	// Cwd is the path without links of the folder that the agent is started in.
	Cwd string
	// Berth is the command with which the agent's commands call berth.
	Berth string
}

// OwnTools in place of the fields of an MCP server is Berth, as the session that the agent is in.
const OwnTools = "berth"

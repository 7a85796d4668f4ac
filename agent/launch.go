package agent

// Launcher is a Driver that knows how to start its agent. It is pure.
type Launcher interface {
	// Command is what is run when nobody says otherwise.
	Command() []string
	// Launch says how to start the agent so that it can be followed.
	Launch(Start) (Launch, error)
}

// Start is what an agent is started from.
type Start struct {
	Argv         []string
	Env          map[string]string // as it would be; not to be changed
	Folder       string            // of the session, for files of Berth's own
	Hook         string            // program that the agent's hooks run; empty for no hooks
	Conversation string            // id to give the conversation
	Resume       bool              // that conversation is there and is to be taken up
}

// Launch is how to start it.
type Launch struct {
	Argv  []string
	Set   map[string]string // environment to add
	Unset []string          // names to leave out; a trailing * stands for any rest
	Files map[string][]byte // to write first, by absolute path, mode 0600
	// StateFile is where the agent keeps its live state, with %d for its
	// process id; empty when it has none.
	StateFile string
	// Conversation is the id that the agent was given, empty when it was given
	// none.
	Conversation string
}

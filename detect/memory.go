package detect

import (
	"encoding/json"
	"slices"
	"time"

	"berth/agent"
)

// memory is all a fold knows. It is what a checkpoint holds, where the fields of its parts stand
// side by side.
type memory struct {
	standing
	conversation
	turns
	prompts
	sources
}

// standing is the state that was told last, and what it follows from beside turns and prompts.
type standing struct {
	State agent.State
	Since time.Time
	Asked uint64 // number of the prompt the state was last told with
	Why   why    // of the last thing that moved anything
	Owed  why    // of the last transition

	Ready bool
	Exit  *agent.Exit
	Gate  bool
}

// conversation is the one that is followed.
type conversation struct {
	Conversation     string
	Given            bool // it was Berth that gave its id
	ConversationOver bool
	Left             string // the conversation before, and when it was left
	LeftAt           time.Time
	ForkedFrom       string // the conversation before, where this one is a copy of it
	Resumed          bool   // it began as one taken up, and may yet turn out to be a fork
	Turns            int
}

// turns are the turn under way, and how the last one ended.
type turns struct {
	Turn    turn
	Ended   []string  // ids of the last turns that ended
	BegunAt time.Time // when the last one that ended had begun
	EndedAt time.Time
	// StoppedAt is when a turn last ended before its work was done, as after a refusal.
	StoppedAt time.Time
	AloneAt   time.Time // when nothing went on after that end any more; zero: nothing did
	Inferred  bool      // the last turn's end was not told but inferred
	EndedBy   agent.Source
	EndedWhy  why // what that end is owed to
	Failure   *agent.Failure
	Pending   *agent.Failure // told, while the turn it ends has not ended
	Activity  *agent.Activity
	Calls     []call // tool calls that have not come back

	Background map[string]bool // subagents that go on after their turn
}

// prompts are what the agent asks.
type prompts struct {
	Requests  []*request
	Lost      []*request // told to be over before a dialog showed them: see lose
	Forgotten bool       // more of those than are kept: any dialog may be one of them
	Opened    uint64
	ClosedAt  time.Time // when the last one was closed
}

// sources are what each source shows, or said last.
type sources struct {
	Levels  map[agent.Source]*level
	Screen  screen
	Changed time.Time // of the last sign of life

	Version string // of the agent, as it told last
	Doubts  map[agent.Source]*Doubt

	Words     map[agent.Source]Word
	Strangers map[agent.Source]Word // of other conversations
}

// why is what a change is owed to.
type why struct {
	Tier     int
	Cause    string
	Evidence string
}

// Phases of a turn.
const (
	running = "running"
	ending  = "ending" // its end was told, but something still says busy
)

type turn struct {
	Phase   string
	ID      string
	Also    []string // ids of messages that were delivered with it as one turn
	Started time.Time
	At      time.Time    // when it began, by the source that told of it
	Ended   time.Time    // when its end was told, zero before
	Source  agent.Source // that told of it first
	How     agent.How
	By      agent.Source // that told of its end, and with what word
	Why     why
	WorksOn bool      // something goes on after its told end, which explains a busy level
	Alone   time.Time // since when nothing does
	Reports time.Time // when the last subagent in the background ended, of which it is to be told
}

// is says whether the id is the turn's.
func (t *turn) is(id string) bool { return t.ID == id || slices.Contains(t.Also, id) }

type call struct {
	ID, Tool, Agent, AgentType string
	Input                      string
	Asks                       *agent.Request // what is asked before it is run, by the log's word
	Full                       string         // that prompt's full input
	Since                      time.Time      // when it was told of
	Hooked                     bool           // a hook told of it, and would tell what is asked
}

// level is what a source that always shows a state shows.
type level struct {
	Source   agent.Source
	Value    agent.Level
	Prev     agent.Level
	Since    time.Time // it has shown this since
	Spoke    time.Time // it last said so
	Text     string
	Cause    string
	Evidence string
}

// request is a prompt, with what is needed to know when it is over.
type request struct {
	Number uint64
	Prompt *agent.Request
	Full   string // the prompt's full input
	Raw    json.RawMessage
	Lines  []string
	Why    why
	By     agent.Source
	Opened time.Time
	At     time.Time // when it came up, by the source that told of it
	Turn   string
	Agent  string
	Tool   string
	Call   string
	Input  string // canonical
	Told   bool   // by the agent's own event, not only seen
	Over   *over  // it was told to be over, while its dialog was on the screen
	// AfterTurn: it outlasts the turn it was asked at the end of.
	AfterTurn bool
	// Joined are its digests before and after a hook told what it had shown.
	Joined [2]string

	hookOf
	dialogOf
}

// hookOf is the hook that waits for a prompt's answer.
type hookOf struct {
	Hook  string
	Waits bool      // a hook has waited for its answer, and was not given one by Berth
	Given bool      // its hook was given one
	Taken time.Time // when that hook handed the answer to the agent
}

// dialogOf is the dialog that has shown a prompt.
type dialogOf struct {
	Seen  bool   // on the screen, at some time
	Place int    // which of several dialogs that was, where it told
	Key   string // of that dialog
	Size  [2]int // of the screen then
	// Typed is when a key was pressed that may have answered the prompt's dialog. The dialog on the
	// screen may be the next one, which looks the same.
	Typed time.Time
	// Sections are the parts of the prompt's dialog, from when all of it was visible. Broken: one of
	// its rows may continue in the next. Explained are the descriptions of a form's fields.
	Sections  []string
	Broken    bool
	Explained []string
	Focus     int // index of the chosen option
	// Vouched: the agent told of it too, and more than its dialog shows.
	Vouched bool
}

// over is how a prompt is to end once its dialog is off the screen.
type over struct {
	How     string
	Why     why
	Stopped bool
	At      time.Time
	Denied  bool // its dialog has stayed for so long that it is not believed
}

type screen struct {
	Reading *agent.Reading
	Changed time.Time
	Bare    time.Time // since when it shows a composer and neither dialog nor work
	Busy    time.Time // since when it shows work
	Gone    time.Time // since when it shows a composer and no dialog
	Blank   time.Time // since when it shows neither
	Failed  time.Time // since when it shows that error
	Hook    time.Time // since when it shows that a hook runs
	Key     string    // of the dialog on it
	Shown   time.Time // since when that dialog is shown
	Spent   time.Time // when that dialog was answered, though it is still shown
	Given   time.Time // when a hook went, with an answer or without, and when its prompt was over: half drawn, that dialog shows anything
	Torn    torn
}

// torn is the dialog that was on the screen when it came to show nothing: a frame may
// be read half drawn.
type torn struct {
	Key   string
	At    time.Time // when it went
	Shown time.Time
	Spent time.Time
}

const turnsKept = 32

// ended says whether the turn with this id is one of the last that ended.
func (t *turns) ended(id string) bool { return id != "" && slices.Contains(t.Ended, id) }

// remember keeps that the turn with this id has ended.
func (t *turns) remember(id string) {
	if id == "" || t.ended(id) {
		return
	}
	if t.Ended = append(t.Ended, id); len(t.Ended) > turnsKept {
		t.Ended = append([]string(nil), t.Ended[1:]...)
	}
}

// forget: the turn under way is one that has ended.
func (t *turns) forget() {
	for _, id := range t.Turn.Also {
		t.remember(id)
	}
	t.remember(t.Turn.ID)
}

// ofTurn says whether the prompt ends with the turn.
func (t *turns) ofTurn(r *request) bool { return !t.Background[r.Agent] && !r.AfterTurn }

// askedBefore says whether one of the prompts was opened before that moment.
func (p *prompts) askedBefore(t time.Time) bool {
	return slices.ContainsFunc(p.Requests, func(r *request) bool { return r.Opened.Before(t) })
}

// seenOnly says that all that is known of the prompt is what its dialog shows.
func (r *request) seenOnly() bool { return !r.Told && r.By == agent.SourceScreen && r.Call == "" }

// guessed says that a level told that there is one, and what it asks follows from a
// call that has not come back, or is not known.
func (r *request) guessed() bool { return !r.Told && !r.seenOnly() }

// name says in the fact which call it is about.
func (c *call) name(fact *agent.Fact) {
	fact.Tool, fact.Call, fact.Agent, fact.AgentType = c.Tool, c.ID, c.Agent, c.AgentType
	fact.Input = []byte(c.Input)
}

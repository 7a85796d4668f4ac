package detect

import (
	"encoding/json"
	"slices"
	"time"

	"berth/agent"
)

// memory is all that a fold knows. A checkpoint is its JSON, where the fields of all parts are side
// by side, so renaming a field breaks old checkpoints.
type memory struct {
	current
	conversation
	turns
	prompts
	sources
}

// current is the state as it was last reported, and what decides it besides turns and prompts.
type current struct {
	State agent.State
	Since time.Time
	Asked uint64 // number of the prompt in the last transition
	Why   why    // of the last fact or rule that changed anything
	Owed  why    // of the last transition

	Ready    bool
	Reported readiness // set while nothing is drawn
	Returns  bool      `json:",omitempty"` // see Options
	Exit     *agent.Exit
	Gate     bool
}

// conversation is the followed conversation.
type conversation struct {
	Conversation     string
	Given            bool // Berth chose its id
	ConversationOver bool
	Left             string // the conversation before
	LeftAt           time.Time
	ForkedFrom       string // the conversation before, if this one is a fork of it
	Resumed          bool   // it was announced as resumed, and may turn out to be a fork
	Turns            int
}

// turns are the current turn, and how the last one ended.
type turns struct {
	Turn    turn
	Queued  []string  `json:",omitempty"` // digests of messages that a hook reported while another turn ran
	Follows bool      `json:",omitempty"` // a message may wait for the turn's end: keys were pressed in it, or a source said so
	Ended   []string  // ids of the last turns that ended
	BegunAt time.Time // when the last ended turn had started
	EndedAt time.Time
	// StoppedAt is when a turn last ended before its work was done, as after a denial.
	StoppedAt time.Time
	AloneAt   time.Time // when the last work after that end stopped; zero if there was none
	Inferred  bool      // the last turn's end was inferred, not reported
	EndedBy   agent.Source
	EndedWhy  why // the reason for that end
	Failure   *agent.Failure
	Pending   *agent.Failure // reported before its turn has ended
	Activity  *agent.Activity
	Calls     []call      // tool calls that haven't ended
	Unasked   []call      // calls that were reported as over before they asked: see unasked
	Past      []pastCall  // see outlasts
	Crowded   []forgotten // tools whose past calls had no room
	Worded    []worded    `json:",omitempty"` // the last calls of the log: see onlyCallOf

	Background map[string]bool // subagents that continue after their turn
}

// prompts are the agent's open prompts.
type prompts struct {
	Requests  []*request
	Lost      []*request // reported as over before a dialog showed them: see lose
	Forgotten bool       // Lost was full: any dialog may belong to a forgotten prompt
	Cut       time.Time  `json:",omitzero"` // when the report of a call was lost
	Plain     time.Time  // when a call that does no more than is drawn was crowded out of Unasked
	Skipped   time.Time  `json:",omitzero"` // when a line of the session log couldn't be read: it may have had a call
	Opened    uint64
	ClosedAt  time.Time // when the last one was closed
	TypedAt   time.Time // when a key was pressed at the terminal
	Look      look      // of the last dialog of a call
	Face      face      `json:",omitzero"`  // the dialog on the screen, if it can answer something
	Under     []face    `json:",omitempty"` // such dialogs that have left the screen, and may be below
	inLog
	Aside  look              `json:",omitzero"`  // of the last other dialog whose answer allows something: see asksAside
	Other  look              `json:",omitzero"`  // of the last one of the rest: notices, and the pages of the start
	Looks  map[string]*tally `json:",omitempty"` // see looksOf
	Before time.Time         `json:",omitzero"`  // until when dialogs may have come and been covered that this fold has not seen

	Explanations []explanation // what calls add to their permissions
	Unexplained  time.Time     // when one of them had no room

	Threads bool      `json:",omitempty"` // the agent has several: see agent.ThreadShower
	MainAt  time.Time `json:",omitzero"`  // until when the screen has last shown that the main one is open
	KeyAt   time.Time `json:",omitzero"`  // when a person last pressed a key, which may have opened another one

	Hooked bool // hooks report what the agent does
	Logs   bool // the session log has reported a turn or a call
}

// sources are what each source shows, or reported last.
type sources struct {
	Levels  map[agent.Source]*level
	Screen  screen
	Changed time.Time // of the last sign of life

	Version string // the agent's version, from its last report
	Modes   modes
	Doubts  map[agent.Source]*Doubt

	Words     map[agent.Source]Word
	Strangers map[agent.Source]Word // about other conversations
}

// readiness is a report that the agent has started up, while it has drawn nothing that a person could answer. Claude Code
// 2.1.330 says so by its title, its state file and a hook, 0.2 s before it draws that no one is signed in.
type readiness struct {
	By    agent.Source
	Cause string
	At    time.Time
}

// why is the reason for a change.
type why struct {
	Tier     int
	Cause    string
	Evidence string
}

// Phases of a turn.
const (
	running = "running"
	ending  = "ending" // its end was reported, but a source still shows work
)

type turn struct {
	Phase   string
	ID      string
	Message string   // a digest of its message, once a hook has reported that
	Also    []string // ids of messages that the agent took as one turn with it
	Started time.Time
	At      time.Time    // its start, by the clock of the source that reported it
	Ended   time.Time    // when its end was reported; zero before
	Source  agent.Source // the source that reported it first
	How     agent.How
	By      agent.Source // the source that reported its end, and the report
	Why     why
	WorksOn bool      // something continues after its reported end, which explains a busy level
	Alone   time.Time // since when nothing does
	Reports time.Time // when the last background subagent ended whose result the agent will report
}

// is reports whether the turn has that id.
func (t *turn) is(id string) bool { return t.ID == id || slices.Contains(t.Also, id) }

type call struct {
	ID, Tool, Agent, AgentType string
	Input                      string
	Asks                       *agent.Request // what the agent asks before it runs the call, from the log
	Full, Raw                  string         // that prompt's full input, and the input as the agent reported it
	Since                      time.Time      // when it was reported, as over if it is among Unasked
	Hooked                     bool           // a hook reported it, and would report its prompt too
	Held                       bool           // its prompt was opened while a hook ran that isn't Berth's
	Asked                      bool           // its dialog was on the screen, and is gone
	Allowed                    bool           // by a key of Berth, at that dialog
	Logged                     string         // its input in the session log; empty if that hasn't reported it
	Look                       string         // of the last dialog on the screen that may be its dialog
	Joined                     bool           // no other permission changes what it asks
	Moves                      bool           // it may change the folder that later commands run in
	Used                       string         `json:",omitempty"` // its input as the agent uses it, from the report of its prompt
	Plain                      bool           `json:",omitempty"` // it is among Unasked, its dialog names no tool, and draws all that it does
}

// inLog is what the session log alone says is open: see followsLog.
type inLog struct {
	Open     []logCall `json:",omitempty"` // calls without a result
	Away     []string  `json:",omitempty"` // subagents in the background
	OpenMore bool      `json:",omitempty"` // there was no room for one
	Unlogged string    `json:",omitempty"` // a conversation with a log that isn't read
}

// logCall is a call of the session log.
type logCall struct {
	ID, Tool, Agent, Input, Turn string
	Raw                          string `json:",omitempty"` // the input as its prompt would have it
	Allowed                      bool   `json:",omitempty"` // by a key of Berth, at its dialog

	Of string    `json:",omitempty"` // the conversation
	At time.Time `json:",omitzero"`  // when it was read

	Late bool `json:",omitempty"` // it is known from a log that was read late, and only as one of the log's
}

// worded is a call's input without blanks, and as it is, in digests.
type worded struct{ Words, Input string }

// pastCall is a call of the session log that was reported as over.
type pastCall struct {
	Tool, Input string
	At          time.Time
	Look        string // see call
	Short       bool   // Input is shortened
	Whole       bool   // it can't be
}

// forgotten is a tool with a past call that had no room. Without a name it is any tool.
type forgotten struct {
	Tool string
	At   time.Time
}

// look is the dialog that is on the screen, or that was the last one. Its key says how it looks.
type look struct {
	Key         string
	Since, Gone time.Time
	Taken       time.Time // when an answer may have reached it
	Heard       time.Time `json:",omitzero"` // when its prompt's hook took an answer, which may have been a forged hook's, or the composer a word
}

// face is a dialog that is on the screen, or has been.
type face struct {
	look
	Page  string   `json:",omitempty"` // its options, and the text of a question's page or of a notice, which its key lacks
	Cut   bool     `json:",omitempty"`
	ID    string   `json:",omitempty"` // of the prompt that it showed
	Part  bool     `json:",omitempty"` // it showed only a part of that, or may show another one
	Lines []string `json:",omitempty"` // while it is half drawn
	Size  [2]int   // of the screen that it was drawn for
	Words string   // its text without blanks
	// Resized is when the screen got another size, if this one took the place of the dialog that was there.
	Resized time.Time `json:",omitzero"`
}

// Left is what the fold of a program leaves to that of the next one on the same terminal.
type Left struct {
	Covered time.Time // when a dialog left the screen that may still be there; zero without one
	under   []face
}

// tally counts the answers at dialogs of one look, and the calls whose dialogs may have had it.
type tally struct {
	Given, Of int
	By        string    // what the last answer was given to
	At        time.Time // and when
}

// drawnCall is a call of an agent that doesn't say which of its calls it asks about.
type drawnCall struct{ tool, input, used string }

// comparison is how a logged call looks in a dialog.
type comparison struct {
	match   agent.Match
	undrawn string
	mayHide bool
	draws   bool // the dialog may be about the call after its end
}

// lookalike is a call that a dialog may be about, by what the dialog doesn't draw of it.
type lookalike struct {
	lines string
	whole string // its whole input
	over  bool   // such calls were only reported as over
}

// level is what a level source shows.
type level struct {
	Source   agent.Source
	Value    agent.Level
	Prev     agent.Level
	Since    time.Time // since when it shows this
	Spoke    time.Time // when it last reported this
	Text     string
	Cause    string
	Evidence string
}

// request is a prompt, and what decides when it is over.
type request struct {
	Number uint64
	Prompt *agent.Request
	Full   string // the prompt's full input
	Raw    json.RawMessage
	Lines  []string
	Hints  []string // of the prompt's questions
	Why    why
	By     agent.Source
	Opened time.Time
	At     time.Time // when the agent asked, by the clock of the source that reported it
	Turn   string
	Agent  string
	Tool   string
	Call   string
	Input  string // canonical
	Told   bool   // by the agent's own event; otherwise only seen
	Over   *over  // it was reported as over while its dialog was on the screen
	// AfterTurn: the prompt is about a turn that ended, and outlasts it.
	AfterTurn bool
	// Joined are the prompt's digests before and after a hook reported what its dialog had shown.
	Joined [2]string

	hookOf
	dialogOf
}

// hookOf is the hook that waits for a prompt's answer.
type hookOf struct {
	Hook     string
	Waits    bool      // a hook has waited for its answer, and Berth gave it none
	Given    bool      // Berth gave its hook an answer
	Released bool      `json:",omitempty"` // Berth released its hook, so that the agent draws it
	Taken    time.Time // when that hook passed the answer to the agent
	// ReleasedAt is when Berth released its hook, so that the agent draws it. Only for a form it is set while a dialog is on the screen.
	ReleasedAt time.Time
	// Foreign: the prompt is of another conversation than the followed one.
	Foreign bool
	// LostBy is the hook of a lost prompt. It may tell late that it passed Berth's answer to the agent.
	LostBy string
}

// dialogOf is the dialog that has shown a prompt.
type dialogOf struct {
	Seen bool // it was on the screen
	// Uncalled: a hook reported the prompt, no call is known to be its own, and only that one says what the dialog leaves out.
	Uncalled bool `json:",omitempty"`
	Whole    bool // it was there with all of the prompt
	// Allowed: Berth pressed the key at it that allows the prompt's call.
	Allowed bool
	Place   int    // its position among several dialogs, if it showed that
	Key     string // that dialog's key
	Size    [2]int // the screen's size then
	// Typed is when a key was pressed that may have answered the prompt's dialog. The dialog on the
	// screen may be the next one, which looks the same.
	Typed time.Time
	// Sections are the parts of the prompt's dialog, from when all of it was visible. Broken: one of
	// its rows may continue in the next. Explained are the descriptions of a form's fields.
	Sections  []string
	Broken    bool
	Explained []string
	Offered   []string // the options that the prompt's id has shown
	Short     bool     // they are only the first of the dialog's
	// Vouched: the agent also reported the prompt, and more of it than its dialog shows. Replaces is what was reported.
	Vouched  bool
	Replaces []inPlaceOf `json:",omitempty"`
}

// inPlaceOf is a reported prompt whose place a dialog's own prompt took.
type inPlaceOf struct {
	Call, Full string
	Lines      string // what no dialog draws of it
}

// over is how a prompt ends once its dialog is off the screen.
type over struct {
	How     string
	Why     why
	Stopped bool
	At      time.Time
	Denied  bool // the dialog stayed for so much time that the report must be wrong
}

type screen struct {
	Reading *agent.Reading
	Changed time.Time
	Bare    time.Time // since when it shows a composer, and neither dialog nor work
	Busy    time.Time // since when it shows work
	Gone    time.Time // since when it shows a composer and no dialog
	Blank   time.Time // since when it shows neither
	Failed  time.Time // since when it shows that error
	Hook    time.Time // since when it shows that a hook runs
	Key     string    // key of its dialog
	Shown   time.Time // since when that dialog is shown
	Spent   time.Time // when that dialog was answered, though it is still shown
	Given   time.Time // when a hook went, with or without an answer, and when its prompt was over; a half-drawn frame may then show anything
	Torn    torn
	Placed  placed
}

// placed is the last dialog that is over among those of parallel calls.
type placed struct {
	Place int
	At    time.Time // when its prompt was closed
}

// tornWithin is how long a half-drawn frame may last. Gemini CLI's dialog was off the screen for 37
// ms when it was answered, at a load of 17.
const tornWithin = 200 * time.Millisecond

// torn is the dialog that was on the screen before an empty frame, which may be half drawn.
type torn struct {
	Key   string
	At    time.Time // when it went
	Shown time.Time
	Spent time.Time
}

// typedHolds bounds how long a key may take to answer a dialog. Claude Code took 1.5 s to read a
// key on a machine with nine times the work that it can do, and drew nothing meanwhile.
const typedHolds = 2500 * time.Millisecond

// pastFor is how long the dialog of a call that was reported as over may take to come. Hooks of other programs may hold it
// up, and the agent ends them after 10 minutes.
const pastFor = time.Hour

const turnsKept = 32

// ended reports whether the turn with this id is one of the last that ended.
func (t *turns) ended(id string) bool { return id != "" && slices.Contains(t.Ended, id) }

// endedLast reports whether that turn was the last one, and has ended.
func (t *turns) endedLast(id string) bool {
	return id != "" && t.Turn.Phase == "" && len(t.Ended) > 0 && t.Ended[len(t.Ended)-1] == id
}

// remember keeps the id of a turn that has ended.
func (t *turns) remember(id string) {
	if id == "" || t.ended(id) {
		return
	}
	if t.Ended = append(t.Ended, id); len(t.Ended) > turnsKept {
		t.Ended = append([]string(nil), t.Ended[1:]...)
	}
}

// forget remembers the current turn as ended, with the messages that belong to it.
func (t *turns) forget() {
	for _, id := range t.Turn.Also {
		t.remember(id)
	}
	t.remember(t.Turn.ID)
}

// ofTurn reports whether the prompt ends with the turn.
func (t *turns) ofTurn(r *request) bool { return !t.inBackground(r.Agent) && !r.AfterTurn }

// inBackground reports whether the subagent continues after the turn.
func (t *turns) inBackground(id string) bool {
	return t.Background[id] || id != "" && t.Background[agent.AnySubagent]
}

// askedBefore reports whether a prompt was opened before that time.
func (p *prompts) askedBefore(t time.Time) bool {
	return slices.ContainsFunc(p.Requests, func(r *request) bool { return r.Opened.Before(t) })
}

// seenOnly reports whether only a dialog showed the prompt.
func (r *request) seenOnly() bool { return !r.Told && r.By == agent.SourceScreen && r.Call == "" }

// spent reports whether a hook of the prompt passed an answer to the agent, and none waits. No key is pressed at its dialog then.
func (r *request) spent() bool { return r.Given && r.Hook == "" }

// hookAllowed reports whether a hook of the permission took Berth's allowance. No dialog of that call follows.
func (r *request) hookAllowed() bool {
	return r.Given && r.Allowed && r.Prompt.Type == agent.PromptPermission
}

// guessed reports whether only a level reported the prompt; its subject is taken from a pending
// tool call, or isn't known.
func (r *request) guessed() bool { return !r.Told && !r.seenOnly() }

// asks is the prompt of what the agent asks before it runs the call; nil without one.
func (c *call) asks() *agent.Request {
	p := c.Asks.Clone()
	if p != nil {
		p.FullInput, p.Raw = c.Full, []byte(c.Raw)
	}
	return p
}

// name completes the fact with the call that it is about.
func (c *call) name(fact *agent.Fact) {
	fact.Tool, fact.Call, fact.Agent, fact.AgentType = c.Tool, c.ID, c.Agent, c.AgentType
	fact.Input = []byte(c.Input)
}

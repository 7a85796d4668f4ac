package agent

import (
	"encoding/json"
	"time"
)

// Source is where a fact comes from.
type Source string

// The sources.
const (
	SourceHook     Source = "hook"     // an event the agent's own hooks report
	SourceRegistry Source = "registry" // a file in which the agent keeps its live state
	SourceTitle    Source = "title"    // the terminal title, where the agent shows its state in it
	SourceOSC      Source = "osc"      // a state sequence of its own
	SourceProgress Source = "progress" // a progress sequence, which says less: heard where no other says its state
	SourceLog      Source = "log"      // its session log
	SourceStream   Source = "stream"   // its structured output
	SourceProcess  Source = "process"  // the operating system, the holder
	SourceScreen   Source = "screen"   // what it draws
)

// Tier is how sure the source is, 1 the surest.
func (s Source) Tier() int {
	switch s {
	case SourceHook, SourceRegistry, SourceTitle, SourceOSC, SourceProgress:
		return TierAgent
	case SourceLog:
		return TierLog
	case SourceStream:
		return TierStream
	case SourceProcess:
		return TierProcess
	default:
		return TierScreen
	}
}

// Kind is what a fact says.
type Kind string

// The kinds of facts.
const (
	ConversationStarted Kind = "conversation_started" // Text: startup, resume, clear, compact
	ConversationEnded   Kind = "conversation_ended"   // Text: why
	TurnStarted         Kind = "turn_started"         // Turn; Text: the message
	TurnEnded           Kind = "turn_ended"           // Turn, How; Failure; Text: the last message; Background
	ToolStarted         Kind = "tool_started"         // Tool, Call, Input; Request: what it will ask before it runs the tool
	ToolEnded           Kind = "tool_ended"           // the same
	StepEnded           Kind = "step_ended"           // every tool call the agent made at once is through
	Acting              Kind = "acting"               // Activity; Text: what it says
	Asked               Kind = "asked"                // Request; Tool, Input; Hook where one waits for the answer
	Answered            Kind = "answered"             // Request: the type of what was answered; Tool, Input where known
	HookGone            Kind = "hook_gone"            // Hook: nobody waits for its answer any more; with CauseDelivered it has one
	HookAnswered        Kind = "hook_answered"        // Hook: it was given one, which settles what it asked
	LevelIs             Kind = "level"                // Level: what a source that always shows a state shows now
	FailureSeen         Kind = "failure_seen"         // Failure: an error that ends the turn, told before its end
	Queued              Kind = "queued"               // Text: a message the agent keeps for the end of the turn
	SubagentStarted     Kind = "subagent_started"     // Agent, AgentType
	SubagentEnded       Kind = "subagent_ended"       // Agent
	ScreenShows         Kind = "screen"               // Reading
	Spoke               Kind = "output"               // the PTY had output that changed nothing a driver reads
	ProgramExited       Kind = "exited"               // Exit; only the holder says it
	Noted               Kind = "noted"                // evidence, and no more
)

// CauseDelivered is the cause of a HookGone that has taken its answer.
const CauseDelivered = "hook:delivered"

// How a turn ended.
type How string

// The ways in which a turn ends.
const (
	Completed   How = "completed"
	Failed      How = "failed"
	Interrupted How = "interrupted" // also a refusal of what the agent asked
)

// Level is the value of a source that always shows a state.
type Level string

// The levels.
const (
	LevelBusy    Level = "busy"
	LevelIdle    Level = "idle"     // said to be at its composer
	LevelNotBusy Level = "not_busy" // idle or waiting: the source does not tell which
	LevelWaiting Level = "waiting"  // a dialog is open
	LevelUnknown Level = "unknown"  // the source cannot tell, or takes back what it said
)

// Fact is one thing a source reported. Which fields are set depends on Kind.
type Fact struct {
	Kind   Kind
	Source Source
	// Time is when Berth had it; At the moment the source itself gives for it,
	// zero when it gives none.
	Time, At time.Time
	Cause    string // the source's own name for it: hook:PreToolUse
	Evidence string // what was seen, one line, as the agent wrote it

	Conversation string // the agent's id of the conversation, empty when the source has none
	Turn         string // the agent's id of the turn, empty when unknown
	Agent        string // id of the subagent it is about, empty for the main one
	AgentType    string

	Text       string
	How        How
	Failure    *Failure
	Tool       string
	Call       string // the agent's id of the tool call
	Input      json.RawMessage
	Request    *Request
	Hook       string // id of the hook that waits for an answer
	Level      Level
	Activity   *Activity
	Background []string // subagents that go on after the turn
	Reading    *Reading
	Exit       *Exit

	Log     string // path of the conversation's session log, where the source names it
	Version string // of the agent, where the source tells it
	Usage   *Usage // of the model, where the source tells it
}

// Usage is what one answer of the model took, or with Whole what a turn took.
// Several facts may tell of one answer: the last is right.
type Usage struct {
	Answer  string // the model's id of its answer
	Whole   bool
	Model   string
	Answers int // with Whole: how many answers there were
	Tokens
}

// Tokens are counted by the model.
type Tokens struct {
	Input         int64 `json:"input_tokens"`
	Output        int64 `json:"output_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
}

// Plus is the sum of both.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{t.Input + o.Input, t.Output + o.Output, t.CacheRead + o.CacheRead, t.CacheCreation + o.CacheCreation}
}

// Exit is how the program ended.
type Exit struct {
	Code    *int    `json:"code"`
	Signal  *string `json:"signal"`
	Crashed bool    `json:"crashed"`
	Lost    bool    `json:"lost"`
}

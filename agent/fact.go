package agent

import (
	"encoding/json"
	"strings"
	"time"
)

// Source is where a fact comes from.
type Source string

// The sources.
const (
	SourceHook     Source = "hook"     // an event that the agent's own hooks report
	SourceRegistry Source = "registry" // a file where the agent keeps its live state
	SourceTitle    Source = "title"    // the terminal title, where the agent shows its state in it
	SourceOSC      Source = "osc"      // the agent's own state sequence
	SourceProgress Source = "progress" // a progress sequence; it says less than a state sequence, so it counts only without one
	SourceLog      Source = "log"      // the agent's session log
	SourceStream   Source = "stream"   // the agent's structured output
	SourceProcess  Source = "process"  // the operating system, the holder
	SourceScreen   Source = "screen"   // what the agent draws
)

// Tier is how reliable the source is; 1 is the most reliable.
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

// Kind is what a fact reports. The comment of each kind names the fields that are set with it.
type Kind string

// The kinds of facts.
const (
	ConversationStarted Kind = "conversation_started" // Text: startup, resume, clear, compact
	ConversationEnded   Kind = "conversation_ended"   // Text: why
	TurnStarted         Kind = "turn_started"         // Turn; Text: the message
	TurnEnded           Kind = "turn_ended"           // Turn, How; Failure; Text: the last message; Background
	ToolStarted         Kind = "tool_started"         // Tool, Call, Input; Request: what the agent will ask before it runs the tool
	ToolEnded           Kind = "tool_ended"           // Tool, Call, Input
	StepEnded           Kind = "step_ended"           // all tool calls that the agent made at once have ended
	Acting              Kind = "acting"               // Activity; Text: the agent's own words for it
	Asked               Kind = "asked"                // Request; Tool, Input; Hook if a hook waits for the answer, Released if it did; LogRead
	Answered            Kind = "answered"             // Request: only the answered prompt's type; Tool, Input if known
	HookGone            Kind = "hook_gone"            // Hook: it no longer waits for an answer; the cause CauseDelivered means that it got one
	HookAnswered        Kind = "hook_answered"        // Hook: it was given an answer, which settles its prompt
	LevelIs             Kind = "level"                // Level: what a source that always shows a state shows now
	FailureSeen         Kind = "failure_seen"         // Failure: an error that ends the turn, reported before the turn's end
	Queued              Kind = "queued"               // Text: a message that the agent keeps for the end of the turn
	SubagentStarted     Kind = "subagent_started"     // Agent, AgentType
	SubagentEnded       Kind = "subagent_ended"       // Agent
	ScreenShows         Kind = "screen"               // Reading
	Spoke               Kind = "output"               // the PTY had output that changed nothing a driver reads
	ProgramExited       Kind = "exited"               // Exit; only the holder reports it
	Noted               Kind = "noted"                // evidence only
)

// HookReleased is the evidence of a HookGone whose hook Berth released.
const HookReleased = "released"

// CauseDelivered is the cause of a HookGone whose hook took its answer.
const CauseDelivered = "hook:delivered"

// How is the way a turn ended.
type How string

// The ways a turn can end.
const (
	Completed   How = "completed"
	Failed      How = "failed"
	Interrupted How = "interrupted" // by a person, or because the agent was refused what it asked for
)

// Level is the value of a source that always shows a state.
type Level string

// The levels.
const (
	LevelBusy    Level = "busy"
	LevelIdle    Level = "idle"     // at the composer
	LevelNotBusy Level = "not_busy" // idle or waiting; the source doesn't show which
	LevelWaiting Level = "waiting"  // a dialog is open
	LevelUnknown Level = "unknown"  // the source can't say, or takes back its last value
)

// Fact is one report of a source. Kind decides which fields are set.
type Fact struct {
	Kind   Kind
	Source Source
	// Time is when Berth received the report. At is the time that the source itself gives, or zero.
	Time, At time.Time
	Cause    string // the source's own name for the report, such as hook:PreToolUse
	Evidence string // what was seen: one line, as the agent wrote it

	Conversation string // the agent's id of the conversation; empty when the source has none
	Turn         string // the agent's id of the turn; empty when unknown
	Agent        string // the subagent's id; empty for the main agent
	AgentType    string

	Text       string
	How        How
	Failure    *Failure
	Tool       string
	Call       string // the agent's id of the tool call
	Input      json.RawMessage
	Request    *Request
	Folder     string // of a command: where it runs, if the source has that beside the input
	Hook       string // id of the hook that waits for an answer
	Released   bool   // that hook waits no longer, because a client is attached that the dialog is drawn for
	LogRead    bool   // the session log was read up to this fact
	Level      Level
	Activity   *Activity
	Background []string // subagents that continue after the turn
	Launches   string   // a subagent that the session log says goes on in the background
	Finishes   string   // one that it says is done
	Reading    *Reading
	Exit       *Exit

	Log     string // path of the conversation's session log, if the source names it
	Version string // the agent's version, if the source has it
	// Mode is what the agent may do unasked, in its own word, if the source has it: a permission mode,
	// an approval mode. Any kind of fact may have it.
	Mode  string
	Usage *Usage // the model's usage, if the source has it
}

// AnySubagent is in Background for a task whose subagents aren't named.
const AnySubagent = "*"

// Starting is the fact of a call in the same entry of a log. asks is what the call would ask.
func (f Fact) Starting(call, tool string, input json.RawMessage, asks *Request) Fact {
	f.Kind, f.Call, f.Tool, f.Input, f.Request, f.Evidence = ToolStarted, call, tool, input, asks, tool
	f.How, f.Text, f.Activity = "", "", nil
	return f
}

// Usage is what one answer of the model used, or, with Whole, what a turn used. Several facts may
// report on one answer; the last one counts.
type Usage struct {
	Answer  string // the model's id of this answer
	Whole   bool
	Model   string
	Answers int // with Whole: the number of answers
	Tokens
}

// Tokens are the model's counts.
type Tokens struct {
	Input         int64 `json:"input_tokens"`
	Output        int64 `json:"output_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
}

// Plus returns the sum.
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

// TitleFact is a title whose first character may show a level, with or without a mark that selects how it is drawn.
func TitleFact(title string, levels map[string]Level) Fact {
	f := Fact{Kind: Noted, Source: SourceTitle, Cause: "title", Evidence: strings.TrimSpace(title)}
	glyph, _, _ := strings.Cut(f.Evidence, " ")
	glyph = strings.TrimRight(glyph, "\ufe0e\ufe0f")
	if level, ok := levels[glyph]; ok {
		f.Kind, f.Level, f.Cause = LevelIs, level, "title:"+glyph
	}
	return f
}

// Package gemini is what Berth knows about Gemini CLI, as measured on version
// 0.61.0: what its hooks, its titles, its chat file, its structured output and
// its screen say. All of it is pure.
package gemini

import (
	"time"

	"berth/agent"
)

// Name is the agent's name.
const Name = "gemini"

// Measured is the version that was measured.
const Measured = "0.61.0"

// MeasuredVersions is that version.
func (Driver) MeasuredVersions() []string { return []string{Measured} }

// Driver reads Gemini CLI. Its zero value is ready.
type Driver struct{ agent.Silent }

// What the driver can do.
var (
	_ agent.Driver             = Driver{}
	_ agent.Launcher           = Driver{}
	_ agent.ConversationFinder = Driver{}
	_ agent.VersionLister      = Driver{}
	_ agent.MessageTyper       = Driver{}
	_ agent.LineBreakDetector  = Driver{}
	_ agent.PromptAnswerer     = Driver{}
	_ agent.CallNamer          = Driver{}
	_ agent.GateHooks          = Driver{}
)

// Name is "gemini".
func (Driver) Name() string { return Name }

const (
	// The title is never wrong about work within a turn; a frame's worth of
	// patience keeps one that is undone at once from showing.
	busyHolds = 50 * time.Millisecond
	// Between a turn and the one queued behind it the title says "Ready" for
	// some 25 ms. A refusal is told by the title alone, and so is the end of the
	// turn with it: both wait alike, so that no work shows between them.
	restHolds = 100 * time.Millisecond
	// The title says "Action Required" with the dialog or up to 120 ms after the
	// hook, and not for what: only when no hook tells and nothing is seen is it
	// asked.
	waitingHolds = 400 * time.Millisecond
	// A dialog is painted 20 to 400 ms after its hook was run. One that no hook
	// announces is told by the screen.
	dialogHolds = 150 * time.Millisecond
	// A composer that stands where the dialog was, with what the frame that took
	// it away may still have to paint.
	answerHolds = 200 * time.Millisecond
	// The first composer is the only sure sign that it has started up: the title
	// says "Ready" before it asks whom to trust.
	readyHolds = 50 * time.Millisecond
)

// Table names for each move the sources that were seen to be right about it.
// The chat file begins no turn: behind a refusal Gemini writes the whole
// conversation to it once more. Only the screen tells of errors.
func (Driver) Table() agent.Table {
	return agent.Table{
		agent.MoveReady: {{Source: agent.SourceStream}, {Source: agent.SourceScreen, After: readyHolds}},
		agent.MoveWork: {
			{Source: agent.SourceHook}, {Source: agent.SourceStream}, {Source: agent.SourceTitle, After: busyHolds},
			{Source: agent.SourceScreen, After: 500 * time.Millisecond},
		},
		agent.MoveDone: {{Source: agent.SourceHook}, {Source: agent.SourceLog}, {Source: agent.SourceStream}},
		agent.MoveFail: {{Source: agent.SourceStream}, {Source: agent.SourceLog}, {Source: agent.SourceScreen}},
		agent.MoveRest: {{Source: agent.SourceTitle, After: restHolds}, {Source: agent.SourceScreen, After: 2 * time.Second}},
		agent.MoveAsk: {
			{Source: agent.SourceHook}, {Source: agent.SourceTitle, After: waitingHolds},
			{Source: agent.SourceScreen, After: dialogHolds},
		},
		agent.MoveAnswer: {
			{Source: agent.SourceHook}, {Source: agent.SourceLog}, {Source: agent.SourceTitle, After: restHolds},
			{Source: agent.SourceScreen, After: answerHolds},
		},
		agent.MoveFollow: {{Source: agent.SourceHook}, {Source: agent.SourceStream}},
	}
}

// Package claude is what Berth knows about Claude Code, as measured on version
// 2.1.197: what its hooks, its live state file, its titles, its session log,
// its structured output and its screen say. All of it is pure.
package claude

import (
	"time"

	"berth/agent"
)

// Name is the agent's name.
const Name = "claude"

// Measured are the versions that were measured, the newest first.
var Measured = []string{"2.1.330", "2.1.197"}

// MeasuredVersions are these.
func (Driver) MeasuredVersions() []string { return Measured }

// Driver reads Claude Code. Its zero value is ready.
type Driver struct{}

// What the driver can do.
var (
	_ agent.Driver             = Driver{}
	_ agent.Launcher           = Driver{}
	_ agent.ConversationFinder = Driver{}
	_ agent.StartupAnswerer    = Driver{}
	_ agent.VersionLister      = Driver{}
	_ agent.MessageTyper       = Driver{}
	_ agent.DraftStasher       = Driver{}
	_ agent.FoldedPasteMatcher = Driver{}
	_ agent.PromptAnswerer     = Driver{}
	_ agent.HookHidesDialog    = Driver{}
	_ agent.GateHooks          = Driver{}
)

// Name is "claude".
func (Driver) Name() string { return Name }

const (
	// An unknown slash command shows as work for 30 to 40 ms, so a busy title
	// counts once it has held for longer.
	busyHolds = 80 * time.Millisecond
	// Between two turns, a queued one or a background agent's, the title says
	// "not busy" for 30 to 70 ms; and an interrupt paints its composer up to
	// 100 ms after it. No end of a turn is inferred sooner.
	restHolds = 200 * time.Millisecond
	// The live file follows the title by 10 to 100 ms.
	registryHolds = 100 * time.Millisecond
	// It says "waiting" with the hook or up to 90 ms later, and does not say for
	// what: only when no hook tells is it asked.
	waitingHolds = 400 * time.Millisecond
	// A dialog is painted at most 77 ms before its hook arrives (1 s on a
	// loaded machine): only one that no hook announces is told by the screen.
	dialogHolds = 150 * time.Millisecond
	// A dialog answered: what comes after it, the title of work or the next
	// dialog, is painted with the frame that takes it away.
	answerHolds = 200 * time.Millisecond
)

// Table names for each move the sources that were seen to be right about it.
func (Driver) Table() agent.Table {
	return agent.Table{
		agent.MoveReady: {
			{Source: agent.SourceTitle}, {Source: agent.SourceHook}, {Source: agent.SourceRegistry},
			{Source: agent.SourceStream}, {Source: agent.SourceScreen},
		},
		agent.MoveWork: {
			{Source: agent.SourceHook}, {Source: agent.SourceRegistry}, {Source: agent.SourceLog}, {Source: agent.SourceStream},
			{Source: agent.SourceTitle, After: busyHolds}, {Source: agent.SourceOSC, After: busyHolds},
			{Source: agent.SourceScreen, After: 500 * time.Millisecond},
		},
		agent.MoveDone: {{Source: agent.SourceHook}, {Source: agent.SourceLog}, {Source: agent.SourceStream}},
		agent.MoveFail: {{Source: agent.SourceHook}, {Source: agent.SourceLog}, {Source: agent.SourceStream}},
		agent.MoveRest: {
			{Source: agent.SourceRegistry, After: registryHolds}, {Source: agent.SourceLog},
			{Source: agent.SourceTitle, After: restHolds}, {Source: agent.SourceOSC, After: restHolds},
			{Source: agent.SourceScreen, After: 2 * time.Second},
		},
		agent.MoveAsk: {
			{Source: agent.SourceHook}, {Source: agent.SourceStream},
			{Source: agent.SourceRegistry, After: waitingHolds}, {Source: agent.SourceScreen, After: dialogHolds},
		},
		agent.MoveAnswer: {
			{Source: agent.SourceHook}, {Source: agent.SourceLog}, {Source: agent.SourceStream},
			{Source: agent.SourceRegistry, After: registryHolds}, {Source: agent.SourceTitle, After: busyHolds}, {Source: agent.SourceOSC, After: busyHolds},
			{Source: agent.SourceScreen, After: answerHolds},
		},
		agent.MoveFollow: {{Source: agent.SourceHook}, {Source: agent.SourceRegistry}, {Source: agent.SourceStream}},
	}
}

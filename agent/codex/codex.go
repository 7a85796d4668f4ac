// Package codex is what Berth knows about the Codex CLI, as measured on
// version 0.169.0: what its state sequence, its titles, its hooks, its session
// log, its structured output and its screen say. All of it is pure.
package codex

import (
	"time"

	"berth/agent"
)

// Name is the agent's name.
const Name = "codex"

// Measured is the version that was measured.
const Measured = "0.169.0"

// MeasuredVersions is that version.
func (Driver) MeasuredVersions() []string { return []string{Measured} }

// Driver reads Codex. Its zero value is ready.
type Driver struct{ agent.Silent }

// What the driver can do.
var (
	_ agent.Driver                = Driver{}
	_ agent.Launcher              = Driver{}
	_ agent.ConversationFinder    = Driver{}
	_ agent.ConversationIDChooser = Driver{}
	_ agent.StartupAnswerer       = Driver{}
	_ agent.VersionLister         = Driver{}
	_ agent.MessageTyper          = Driver{}
	_ agent.MessageSubmitter      = Driver{}
	_ agent.PromptAnswerer        = Driver{}
	_ agent.HookHidesDialog       = Driver{}
	_ agent.GateHooks             = Driver{}
)

// Name is "codex".
func (Driver) Name() string { return Name }

const (
	// A composer stands on the splash too, for seconds where the machine is slow or
	// a daemon starts, and a dialog may come after it. What is typed there shows
	// only when that is over.
	splashHolds = 10 * time.Second
	// While it starts, before anything was asked, Codex says "working" for up to 107 ms. A
	// shorter turn is known by its end. The spinner in its title turned for 600 ms then on a
	// busy machine, while its own word was "idle".
	busyHolds = 250 * time.Millisecond
	// An interrupt says "idle" within 50 ms, and no turn was seen to go on after
	// that; between two queued turns the title says "not busy" for less than 1 ms.
	idleHolds = 100 * time.Millisecond
	restHolds = 200 * time.Millisecond
	// "Blocked" comes up to 140 ms after the hook that tells for what; without
	// hooks the dialog does, which is held back for 1 s after the last key that
	// was typed. Only when neither comes is a prompt opened that says no more.
	blockedHolds = 1200 * time.Millisecond
	// A dialog is painted in one frame. What no other source tells of, the
	// dialogs at the start and the plan, is believed when it has stood so long.
	dialogHolds = 100 * time.Millisecond
	// The screen says "Running hook" some 400 ms after the hook began; Codex's
	// log says which call it will ask about. Together, and without a hook of ours
	// that would tell, they say that somebody else's decides.
	heldHolds = 300 * time.Millisecond
	// A dialog answered: what comes after it is painted with the frame that
	// takes it away.
	answerHolds = 50 * time.Millisecond
	// The spinner in the title follows the state sequence.
	titleHolds = 80 * time.Millisecond
)

// Table names for each move the sources that were seen to be right about it.
func (Driver) Table() agent.Table {
	return agent.Table{
		agent.MoveReady: {
			{Source: agent.SourceOSC}, {Source: agent.SourceTitle}, {Source: agent.SourceHook},
			{Source: agent.SourceStream}, {Source: agent.SourceScreen, After: splashHolds},
		},
		agent.MoveWork: {
			{Source: agent.SourceHook}, {Source: agent.SourceLog}, {Source: agent.SourceStream},
			{Source: agent.SourceOSC, After: busyHolds}, {Source: agent.SourceTitle, After: busyHolds, NotFirst: true},
			{Source: agent.SourceScreen, After: 500 * time.Millisecond},
		},
		agent.MoveDone: {{Source: agent.SourceHook}, {Source: agent.SourceOSC}, {Source: agent.SourceLog}, {Source: agent.SourceStream}},
		agent.MoveFail: {{Source: agent.SourceOSC}, {Source: agent.SourceLog}, {Source: agent.SourceStream}},
		agent.MoveRest: {
			{Source: agent.SourceOSC, After: idleHolds}, {Source: agent.SourceLog},
			{Source: agent.SourceTitle, After: restHolds}, {Source: agent.SourceScreen, After: 2 * time.Second},
		},
		agent.MoveAsk: {
			{Source: agent.SourceHook}, {Source: agent.SourceOSC, After: blockedHolds}, {Source: agent.SourceScreen, After: dialogHolds},
			{Source: agent.SourceLog, After: heldHolds},
		},
		agent.MoveAnswer: {
			{Source: agent.SourceHook}, {Source: agent.SourceLog}, {Source: agent.SourceOSC},
			{Source: agent.SourceTitle, After: titleHolds}, {Source: agent.SourceScreen, After: answerHolds},
		},
		agent.MoveFollow:  {{Source: agent.SourceHook}, {Source: agent.SourceStream}},
		agent.MoveReplace: {{Source: agent.SourceHook}},
	}
}

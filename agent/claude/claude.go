// Package claude is the driver of Claude Code, as measured on versions 2.1.197 and 2.1.330. It
// reads Claude's hooks, live state file, titles, session log, structured output and screen into
// facts. It also starts Claude with hooks and settings, types messages and answers prompts.
// Sessions and detection call it through the interfaces of package agent. All of it is pure.
package claude

import (
	"time"

	"berth/agent"
	"berth/agent/hooks"
)

// Name is the agent's name.
const Name = "claude"

// Measured are the versions that were measured, the newest first.
var Measured = []string{"2.1.330", "2.1.197"}

// MeasuredVersions returns Measured.
func (Driver) MeasuredVersions() []string { return Measured }

// Driver reads Claude Code. Its zero value is ready.
type Driver struct {

	// A blocked Stop gives the model the text as "Stop hook feedback".
	hooks.Gates
}

// The interfaces that the driver implements.
var (
	_ agent.Driver             = Driver{}
	_ agent.VisitorReader      = Driver{}
	_ agent.HookInstaller      = Driver{}
	_ agent.Launcher           = Driver{}
	_ agent.ConversationFinder = Driver{}
	_ agent.StartupAnswerer    = Driver{}
	_ agent.VersionLister      = Driver{}
	_ agent.MessageTyper       = Driver{}
	_ agent.DraftStasher       = Driver{}
	_ agent.FoldedPasteMatcher = Driver{}
	_ agent.PromptAnswerer     = Driver{}
	_ agent.PromptReporter     = Driver{}
	_ agent.KeyReader          = Driver{}
	_ agent.SubjectReader      = Driver{}
	_ agent.TranscriptReader   = Driver{}
	_ agent.HookHidesDialog    = Driver{}
	_ agent.CallLogReader      = Driver{}
	_ agent.OpenCallReader     = Driver{}
	_ agent.GateHooks          = Driver{}
	_ agent.FolderTeller       = Driver{}
)

// Name is "claude".
func (Driver) Name() string { return Name }

// ReadsKeys says that the program reads keys, not lines.
func (Driver) ReadsKeys() {}

const (
	// busyHolds: an unknown slash command shows as work for 30 to 40 ms, so a busy title counts
	// only after a longer time.
	busyHolds = 80 * time.Millisecond
	// restHolds: between two turns, for a queued message or a background agent, the title says "not
	// busy" for 30 to 70 ms; and an interrupt draws its composer up to 100 ms after the title. No
	// turn's end is inferred sooner.
	restHolds = 200 * time.Millisecond
	// registryHolds: the state file lags behind the title by 10 to 100 ms.
	registryHolds = 100 * time.Millisecond
	// waitingHolds: the state file says "waiting" with the hook or up to 90 ms later, but not for
	// what. A prompt without a subject opens only if no hook reports it.
	waitingHolds = 400 * time.Millisecond
	// dialogHolds: a dialog is drawn at most 77 ms before its hook arrives (1 s on a loaded
	// machine). Only a dialog without a hook becomes a prompt by the screen alone.
	dialogHolds = 150 * time.Millisecond
	// answerHolds: the frame that removes an answered dialog also draws what comes next, the title
	// of work or the next dialog.
	answerHolds = 200 * time.Millisecond
)

// Table has for each move the sources that were right about it in the measurements.
func (Driver) Table() agent.Table {
	return agent.Table{
		agent.MoveReady: {
			{Source: agent.SourceTitle, Drawn: true}, {Source: agent.SourceHook, Drawn: true}, {Source: agent.SourceRegistry, Drawn: true},
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

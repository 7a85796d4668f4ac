// Package codex is the driver of the Codex CLI, as measured on version 0.169.0. It reads Codex's
// state sequence, titles, hooks, session log, structured output and screen into facts. It also
// starts Codex in a home of the session's own, types messages and answers prompts. Sessions and
// detection call it through the interfaces of package agent. All of it is pure.
package codex

import (
	"time"

	"berth/agent"
	"berth/agent/hooks"
)

// Name is the agent's name.
const Name = "codex"

// Measured is the version that was measured.
const Measured = "0.169.0"

// MeasuredVersions has only that version.
func (Driver) MeasuredVersions() []string { return []string{Measured} }

// Driver reads Codex. Its zero value is ready.
type Driver struct {
	agent.Silent
	// A blocked Stop gives the model the text as a message, and the turn continues. SessionStart, which the context is
	// for, comes with the first message.
	hooks.Gates
}

// The interfaces that the driver implements.
var (
	_ agent.Driver                = Driver{}
	_ agent.VisitorReader         = Driver{}
	_ agent.HookInstaller         = Driver{}
	_ agent.Launcher              = Driver{}
	_ agent.ConversationFinder    = Driver{}
	_ agent.ConversationIDChooser = Driver{}
	_ agent.StartupAnswerer       = Driver{}
	_ agent.VersionLister         = Driver{}
	_ agent.MessageTyper          = Driver{}
	_ agent.MessageSubmitter      = Driver{}
	_ agent.PromptAnswerer        = Driver{}
	_ agent.PromptReporter        = Driver{}
	_ agent.KeyReader             = Driver{}
	_ agent.SubjectReader         = Driver{}
	_ agent.TranscriptReader      = Driver{}
	_ agent.HookHidesDialog       = Driver{}
	_ agent.UndrawnInputReader    = Driver{}
	_ agent.CallExplainer         = Driver{}
	_ agent.CallCompleter         = Driver{}
	_ agent.OpenCallNamer         = Driver{}
	_ agent.OpenCallReader        = Driver{}
	_ agent.ThreadShower          = Driver{}
	_ agent.GateHooks             = Driver{}
)

// Name is "codex".
func (Driver) Name() string { return Name }

// ReadsKeys says that the program reads keys, not lines.
func (Driver) ReadsKeys() {}

const (
	// splashHolds: the splash shows a composer too, for seconds if the machine is slow or a daemon
	// starts, and a dialog may come after it. Text that is typed there shows only after the splash.
	splashHolds = 10 * time.Second
	// busyHolds: at its start, before any prompt, Codex says "working" for up to 107 ms. A shorter
	// turn is known by its end. On a busy machine the title's spinner turned for 600 ms then, while
	// the state sequence said "idle".
	busyHolds = 250 * time.Millisecond
	// idleHolds: an interrupt says "idle" within 50 ms, and no measured turn continued after that.
	// Between two queued turns the title says "not busy" for less than 1 ms.
	idleHolds = 100 * time.Millisecond
	restHolds = 200 * time.Millisecond
	// blockedHolds: "blocked" comes up to 140 ms after the hook that reports the prompt. Without
	// hooks the dialog shows the prompt; Codex delays it for 1 s after the last typed key. Only if
	// neither comes, a prompt without a subject opens.
	blockedHolds = 1200 * time.Millisecond
	// dialogHolds: Codex draws a dialog in one frame. The dialogs that no other source reports are
	// those at the start and the plan.
	dialogHolds = 100 * time.Millisecond
	// heldHolds: the screen says "Running hook" some 400 ms after the hook started, and the log has
	// the call that Codex will ask about. If no hook of Berth's reports the prompt, another hook
	// decides about the call.
	heldHolds = 300 * time.Millisecond
	// answerHolds: the frame that removes an answered dialog also draws what comes next.
	answerHolds = 50 * time.Millisecond
	// titleHolds: the title's spinner lags behind the state sequence.
	titleHolds = 80 * time.Millisecond
)

// Table has for each move the sources that were right about it in the measurements.
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

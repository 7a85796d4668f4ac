// Package qwen is the driver of Qwen Code, as measured on version 0.24.4. It reads Qwen Code's
// hooks, titles, chat file and screen into facts. It also starts Qwen Code with settings of the
// session's own, types messages and answers prompts. Sessions and detection call it through the
// interfaces of package agent. All of it is pure.
package qwen

import (
	"time"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/hooks"
)

// Name is the agent's name.
const Name = "qwen"

// Measured is the version that was measured.
const Measured = "0.24.4"

// MeasuredVersions has only that version.
func (Driver) MeasuredVersions() []string { return []string{Measured} }

// Driver reads Qwen Code. Its zero value is ready.
type Driver struct {
	agent.Silent
	compose.Typing
	// A blocked Stop lets the turn go on with the text. The context comes before the conversation.
	hooks.Gates
}

// The interfaces that the driver implements.
var (
	_ agent.Driver             = Driver{}
	_ agent.VisitorReader      = Driver{}
	_ agent.HookInstaller      = Driver{}
	_ agent.Launcher           = Driver{}
	_ agent.ConversationFinder = Driver{}
	_ agent.VersionLister      = Driver{}
	_ agent.MessageTyper       = Driver{}
	_ agent.LineBreakDetector  = Driver{}
	_ agent.PromptAnswerer     = Driver{}
	_ agent.PromptReporter     = Driver{}
	_ agent.KeyReader          = Driver{}
	_ agent.SubjectReader      = Driver{}
	_ agent.TranscriptReader   = Driver{}
	_ agent.HookHidesDialog    = Driver{}
	_ agent.UndrawnInputReader = Driver{}
	_ agent.OpenCallReader     = Driver{}
	_ agent.OpenCallNamer      = Driver{}
	_ agent.GateHooks          = Driver{}
)

// Name is "qwen".
func (Driver) Name() string { return Name }

// ReadsKeys says that the program reads keys, not lines.
func (Driver) ReadsKeys() {}

const (
	// busyHolds: the title shows work within a frame of a turn's start.
	busyHolds = 50 * time.Millisecond
	// restHolds: the title loses its mark 40 to 100 ms before the hook reports that a turn failed, and
	// for a moment between two turns. The hook "idle_prompt" comes at every rest, also before a failure.
	// Only the title reports a refusal, and the turn's end with it: both wait for the same time, so that no
	// work shows between them.
	restHolds = 300 * time.Millisecond
	// waitingHolds: the title shows a dialog up to 150 ms after its hook. A prompt without a subject
	// opens only if no hook reports it and no dialog shows it.
	waitingHolds = 600 * time.Millisecond
	// dialogHolds: only the screen shows a dialog without a hook.
	dialogHolds = 150 * time.Millisecond
	// answerHolds: after the frame that removes a dialog, the title says how the turn goes on.
	answerHolds = 500 * time.Millisecond
	// failHolds: a turn that fails at once is seen by nothing but its error, unless a hook reports it.
	failHolds = 500 * time.Millisecond
	// readyHolds: the composer is drawn 2 s before Qwen Code has read its configuration. A message that is
	// sent meanwhile is kept.
	readyHolds = 100 * time.Millisecond
)

// table has for each move the sources that were right about it in the measurements.
var table = agent.Table{
	agent.MoveReady: {{Source: agent.SourceScreen, After: readyHolds}},
	agent.MoveWork: {
		{Source: agent.SourceHook}, {Source: agent.SourceTitle, After: busyHolds},
		{Source: agent.SourceScreen, After: 500 * time.Millisecond},
	},
	agent.MoveDone: {{Source: agent.SourceHook}},
	agent.MoveFail: {{Source: agent.SourceHook}, {Source: agent.SourceScreen, After: failHolds}},
	agent.MoveRest: {{Source: agent.SourceTitle, After: restHolds}, {Source: agent.SourceScreen, After: 2 * time.Second}},
	agent.MoveAsk: {
		{Source: agent.SourceHook}, {Source: agent.SourceTitle, After: waitingHolds},
		{Source: agent.SourceScreen, After: dialogHolds},
	},
	agent.MoveAnswer: {
		{Source: agent.SourceHook}, {Source: agent.SourceTitle, After: restHolds},
		{Source: agent.SourceScreen, After: answerHolds},
	},
	agent.MoveFollow:  {{Source: agent.SourceHook}},
	agent.MoveReplace: {{Source: agent.SourceHook}},
}

// Table is the driver's own.
func (Driver) Table() agent.Table { return table }

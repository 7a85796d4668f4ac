// Package copilot is the driver of GitHub Copilot CLI, as measured on version 1.0.102. It reads
// Copilot's hooks, session log and screen into facts. It also starts Copilot with Berth's hooks as a
// plugin, types messages and answers dialogs by keys. Sessions and detection call it through the
// interfaces of package agent. All of it is pure.
package copilot

import (
	"time"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/hooks"
)

// Name is the agent's name.
const Name = "copilot"

// Measured is the version that was measured.
const Measured = "1.0.102"

// MeasuredVersions has only that version.
func (Driver) MeasuredVersions() []string { return []string{Measured} }

// Driver reads GitHub Copilot CLI. Its zero value is ready.
type Driver struct {
	agent.Silent
	compose.Typing
	// A blocked Stop gives the model the text as a message, and the turn continues. Copilot itself ends a turn after eight
	// blocks in a row.
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
	_ agent.PromptAnswerer     = Driver{}
	_ agent.KeyReader          = Driver{}
	_ agent.SubjectReader      = Driver{}
	_ agent.TranscriptReader   = Driver{}
	_ agent.UndrawnInputReader = Driver{}
	_ agent.CallJoiner         = Driver{}
	_ agent.OpenCallNamer      = Driver{}
	_ agent.OpenCallReader     = Driver{}
	_ agent.GateHooks          = Driver{}
)

// Name is "copilot".
func (Driver) Name() string { return Name }

// ReadsKeys says that the program reads keys, not lines.
func (Driver) ReadsKeys() {}

const (
	// readyHolds: Copilot draws the composer once it has started. No source is quicker: its first
	// hook comes with the first message.
	readyHolds = 200 * time.Millisecond
	// dialogHolds: the session log reports a permission before its dialog. Only the screen shows
	// the trust dialog and forms.
	dialogHolds = 150 * time.Millisecond
	// answerHolds: the frame that removes an answered dialog also draws the composer.
	answerHolds = 200 * time.Millisecond
	// errorHolds: the log reports an error at once. Without hooks Berth reads no log.
	errorHolds = time.Second
	// footerHolds: after the end of a turn the footer shows work for 0.3 to 1.4 s, and longer on a
	// machine with ten times the work it can do. A message that is typed then is kept for later.
	footerHolds = 5 * time.Second
	// workHolds: the hook reports a turn before the footer shows work. After a refusal, on a machine
	// with twenty times the work it can do, the footer showed the ended turn's work for 0.6 s again.
	workHolds = 1500 * time.Millisecond
)

// table has for each move the sources that were right about it in the measurements. The session log
// begins and completes no turn: it has a turn_end after each step of the model, and a line about the
// message 0.2 s after the hook.
var table = agent.Table{
	agent.MoveReady: {{Source: agent.SourceHook}, {Source: agent.SourceScreen, After: readyHolds}},
	agent.MoveWork:  {{Source: agent.SourceHook}, {Source: agent.SourceScreen, After: workHolds}},
	agent.MoveDone:  {{Source: agent.SourceHook}, {Source: agent.SourceLog}, {Source: agent.SourceScreen, After: footerHolds}},
	agent.MoveFail:  {{Source: agent.SourceLog}, {Source: agent.SourceScreen, After: errorHolds}},
	agent.MoveRest:  {{Source: agent.SourceLog}, {Source: agent.SourceScreen, After: 2 * time.Second}},
	agent.MoveAsk:   {{Source: agent.SourceLog}, {Source: agent.SourceScreen, After: dialogHolds}},
	agent.MoveAnswer: {
		{Source: agent.SourceLog}, {Source: agent.SourceScreen, After: answerHolds},
	},
	agent.MoveFollow: {{Source: agent.SourceHook}},
}

// Table is the driver's own.
func (Driver) Table() agent.Table { return table }

// Package opencode is the driver of opencode, as measured on version 1.18.33. opencode runs a plugin
// of Berth's (plugin.js), which reports its events by hooks and gives it the answers. The driver reads
// those reports and the screen into facts, types messages and answers prompts. Sessions and detection
// call it through the interfaces of package agent. All of it is pure.
package opencode

import (
	"time"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/hooks"
)

// Name is the agent's name.
const Name = "opencode"

// Measured is the version that was measured.
const Measured = "1.18.33"

// MeasuredVersions has only that version.
func (Driver) MeasuredVersions() []string { return []string{Measured} }

// Driver reads opencode. Its zero value is ready.
type Driver struct {
	agent.Silent
	compose.Typing
	// The plugin sends the text as the next message, once the turn is over, and adds the context to the model's
	// instructions.
	hooks.Gates
}

// The interfaces that the driver implements.
var (
	_ agent.Driver                = Driver{}
	_ agent.Launcher              = Driver{}
	_ agent.VisitorReader         = Driver{}
	_ agent.HookInstaller         = Driver{}
	_ agent.ConversationFinder    = Driver{}
	_ agent.ConversationIDChooser = Driver{}
	_ agent.VersionLister         = Driver{}
	_ agent.MessageTyper          = Driver{}
	_ agent.LineBreakDetector     = Driver{}
	_ agent.PromptAnswerer        = Driver{}
	_ agent.PromptReporter        = Driver{}
	_ agent.KeyReader             = Driver{}
	_ agent.SubjectReader         = Driver{}
	_ agent.UndrawnInputReader    = Driver{}
	_ agent.GateHooks             = Driver{}
)

// Name is "opencode".
func (Driver) Name() string { return Name }

// ReadsKeys says that the program reads keys, not lines.
func (Driver) ReadsKeys() {}

const (
	// readyHolds: the first screen has a composer 4 to 7 s after the start. It keeps a text that is
	// typed there.
	readyHolds = 300 * time.Millisecond
	// busyHolds: the plugin reports a turn before the screen shows it. Only without the plugin does
	// the screen count.
	busyHolds = 500 * time.Millisecond
	restHolds = 2 * time.Second
	// drawnHolds: opencode takes no message before it draws its rest, which is later than the plugin's report of a turn's
	// end on a busy machine. On one with twenty times the work it can do, opencode drew a turn's work 7 s late.
	drawnHolds = 10 * time.Second
	// dialogHolds: the plugin reports a request 10 to 60 ms before or after opencode draws its
	// dialog. Only the screen shows a dialog without the plugin, and the page of "Allow always".
	dialogHolds = 600 * time.Millisecond
	// answerHolds: after a refusal the plugin reports the turn's end 10 to 60 ms later than the screen
	// shows the composer.
	answerHolds = 250 * time.Millisecond
)

// table has for each move the sources that were right about it in the measurements. The title names
// the conversation, and shows no state.
var table = agent.Table{
	agent.MoveReady:  {{Source: agent.SourceHook}, {Source: agent.SourceScreen, After: readyHolds}},
	agent.MoveWork:   {{Source: agent.SourceHook}, {Source: agent.SourceScreen, After: busyHolds}},
	agent.MoveDone:   {{Source: agent.SourceHook}, {Source: agent.SourceScreen, After: drawnHolds}},
	agent.MoveFail:   {{Source: agent.SourceHook}, {Source: agent.SourceScreen}},
	agent.MoveRest:   {{Source: agent.SourceHook}, {Source: agent.SourceScreen, After: restHolds}},
	agent.MoveAsk:    {{Source: agent.SourceHook}, {Source: agent.SourceScreen, After: dialogHolds}},
	agent.MoveAnswer: {{Source: agent.SourceHook}, {Source: agent.SourceScreen, After: answerHolds}},
	agent.MoveFollow: {{Source: agent.SourceHook}},
}

// Table is the driver's own.
func (Driver) Table() agent.Table { return table }

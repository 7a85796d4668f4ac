// Package gemini is the driver of Gemini CLI, as measured on version 0.61.0. It reads Gemini's
// hooks, titles, chat file, structured output and screen into facts. It also starts Gemini in a
// home of the session's own, types messages and answers prompts by keys. Sessions and detection
// call it through the interfaces of package agent. All of it is pure.
package gemini

import (
	"time"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/hooks"
)

// Name is the agent's name.
const Name = "gemini"

// Measured is the version that was measured.
const Measured = "0.61.0"

// MeasuredVersions has only that version.
func (Driver) MeasuredVersions() []string { return []string{Measured} }

// Driver reads Gemini CLI. Its zero value is ready.
type Driver struct {
	agent.Silent
	compose.Typing
	// A blocked AfterAgent starts another turn at once, as if the user had sent the text, with its own BeforeAgent. The
	// context is a user message in <hook_context>, where Gemini escapes < and > as &lt; and &gt;.
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
	_ agent.StrictKeyReader    = Driver{}
	_ agent.SubjectReader      = Driver{}
	_ agent.TranscriptReader   = Driver{}
	_ agent.CallNamer          = Driver{}
	_ agent.CallChooser        = Driver{}
	_ agent.CutReader          = Driver{}
	_ agent.UndrawnInputReader = Driver{}
	_ agent.AlikeNamer         = Driver{}
	_ agent.GateHooks          = Driver{}
)

// Name is "gemini".
func (Driver) Name() string { return Name }

// ReadsKeys says that the program reads keys, not lines.
func (Driver) ReadsKeys() {}

// TakesAnswersForKeys says that a terminal's answer may choose an option.
func (Driver) TakesAnswersForKeys() {}

const (
	// busyHolds: the title is always right about work during a turn. The time of about one frame
	// hides work that ends at once.
	busyHolds = 50 * time.Millisecond
	// restHolds: between a turn and the queued one after it, the title says "Ready" for some 25 ms.
	// Only the title reports a denial, and the turn's end with it. Both wait for the same time, so
	// that no work shows between them.
	restHolds = 100 * time.Millisecond
	// waitingHolds: the title says "Action Required" with the dialog, or up to 120 ms after the
	// hook, but not for what. A prompt without a subject opens only if no hook reports it and no
	// dialog shows it.
	waitingHolds = 400 * time.Millisecond
	// dialogHolds: Gemini draws a dialog 20 to 400 ms after it runs the hook. Only the screen shows
	// a dialog without a hook.
	dialogHolds = 150 * time.Millisecond
	// answerHolds: after the frame that removes a dialog, the composer is there, and the next frame
	// may draw more.
	answerHolds = 200 * time.Millisecond
	// readyHolds: only the first composer shows that Gemini has started up. The title says "Ready"
	// before the prompt about the folder's trust.
	readyHolds = 50 * time.Millisecond
)

// table has for each move the sources that were right about it in the measurements. The chat file
// starts no turn: after a denial Gemini writes the whole conversation into it again. Only the
// screen shows errors.
var table = agent.Table{
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

// Table is the driver's own.
func (Driver) Table() agent.Table { return table }

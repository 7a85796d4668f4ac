package agent

import (
	"encoding/json"
	"io/fs"
	"time"
)

// This file has the optional interfaces of a driver, and no other file has one. docs/agents/adding.md
// lists them in one table, with what Berth does without each. Like Driver they are pure: a method
// does no I/O except through the file system that it is given.

// Launcher is a Driver that knows how to start its agent.
type Launcher interface {
	// Command is the command line of a session that names none.
	Command() []string
	// Launch says how to start the agent so that it can be followed. Its errors wrap ErrStart or
	// ErrNoConversation where the caller can do something about them.
	Launch(Start) (Launch, error)
}

// VisitorReader is a Driver whose agent can be followed when a person has started it in a shell, and
// whose files are known then.
type VisitorReader interface {
	// Running says how the running agent is followed. argv and env are what its process shows; env is
	// nil when the system doesn't show it. ok is false for a command line that holds no conversation
	// on the terminal.
	Running(argv []string, env map[string]string) (r Running, ok bool)
}

// HookInstaller is a Driver whose agent runs the hooks of its user's own settings.
type HookInstaller interface {
	// UserHooks are the user's files with Berth's hooks in them.
	UserHooks(u UserSettings) ([]UserFile, error)
}

// UserSettings is the input of HookInstaller.UserHooks.
type UserSettings struct {
	Env  map[string]string // the user's environment
	Disk fs.FS             // the machine's files, read-only; its root is /
	Hook string            // the program that the hooks run
}

// UserFile is a file of the agent's user.
type UserFile struct {
	Path          string // absolute
	Before, After []byte // Before is nil when the file doesn't exist
}

// ConversationFinder is a Launcher that knows where its agent keeps conversations.
type ConversationFinder interface {
	// HasConversation reports whether the agent can resume the conversation. logFiles is
	// Launch.LogFiles.
	HasConversation(disk fs.FS, logFiles, conversation string) bool
}

// ConversationIDChooser is a Launcher whose agent chooses the ids of its conversations itself: an
// id is known when the agent reports it.
type ConversationIDChooser interface {
	ChoosesConversations()
}

// StartupAnswerer is a Driver that knows which dialogs before the first composer Berth may answer
// itself.
type StartupAnswerer interface {
	// Groom is the answer to the dialog; ok is false when only the user may give it.
	Groom(d *Dialog, p Policy) (a Answer, ok bool)
}

// Policy is what a session lets Berth accept.
type Policy struct {
	Trust        bool
	AcceptBypass bool
	Vouched      map[string]string // see Launch
}

// VersionLister is a Driver that was measured with certain versions of its agent.
type VersionLister interface {
	// MeasuredVersions has the newest version first.
	MeasuredVersions() []string
}

// MessageTyper is a Driver that knows how a message is typed to its agent.
type MessageTyper interface {
	// Message is the text as it is typed so that the agent takes it as a message and as nothing
	// else: no key, no command, no file to attach.
	Message(text string) string
	// Slash is a text that the agent takes as a command of its own; ok is false for any other
	// text.
	Slash(text string) (typed string, ok bool)
	// Paste is the typed text as bytes for the terminal, whose mode of bracketed paste is on or
	// not; ok is false when it cannot be typed so.
	Paste(typed string, bracketed bool) (data []byte, ok bool)
	// Pause is the least time between the text and Enter, whatever the screen shows by then:
	// some agents read an Enter that comes sooner as a line break.
	Pause() time.Duration
	// Same reports whether the message that the agent reports is the typed one, after the
	// changes that the agent itself makes.
	Same(typed, reported string) bool
	// Holds reports whether the composer holds exactly what was typed, as far as a screen can
	// show; Displays, whether it shows the text itself and no mark in its place.
	Holds(typed string, c *Composer) bool
	Displays(typed string, c *Composer) bool
	// Clear is the key that removes some of what the composer holds; stuck is how many keys
	// before it changed nothing. Nil when no key is left to try. No such key answers a dialog.
	Clear(c *Composer, stuck int) []byte
	// Interrupt is what ends the current turn.
	Interrupt() []byte
}

// MessageSubmitter is a MessageTyper whose agent needs keys other than Enter to send a message.
type MessageSubmitter interface {
	// Enter returns the keys that send the typed text in the composer.
	Enter(typed string) []byte
}

// LineBreakDetector is a MessageTyper whose agent may read Enter as a line break, and sends a
// message twice when it reads two Enters at once.
type LineBreakDetector interface {
	// Broke reports whether the composer shows that Enter broke a line: before is the composer
	// when Enter was pressed, now is the present one. Only then is Enter pressed again.
	Broke(before, now *Composer) bool
}

// DraftStasher is a MessageTyper whose agent can put a draft aside.
type DraftStasher interface {
	// Stash is the key that stashes the composer's draft, as the screen shows it now. It is nil,
	// with the reason, when the key would do nothing or would do harm. Unstash is the key that
	// restores the draft into an empty composer. Neither key does anything to a dialog.
	Stash(r *Reading) (key []byte, why string)
	Unstash() []byte
}

// FoldedPasteMatcher is a MessageTyper whose agent may give the model a pasted text as content
// that its user did not write.
type FoldedPasteMatcher interface {
	// Folded reports whether the message that the agent reports is the typed one in that form.
	Folded(typed, reported string) bool
}

// PromptAnswerer is a Driver that knows how its agent's prompts are answered.
type PromptAnswerer interface {
	// Verdict is the answer for the waiting hook with this payload.
	Verdict(p *Request, a Answer, payload []byte) (Verdict, error)
	// Keys is the answer at the dialog that is on the screen.
	Keys(p *Request, a Answer, d *Dialog) (KeyAnswer, error)
}

// SubjectReader is a Driver that knows which fields of its tools' inputs are commands and changes
// of files, so that a prompt can be judged without reading JSON.
type SubjectReader interface {
	// Subject is what the permission is about; ok is false when its input isn't known or can't be
	// read.
	Subject(p *Request) (s Subject, ok bool)
}

// TranscriptReader is a Driver that reads conversations from its agent's session log.
type TranscriptReader interface {
	// Entries reads one whole line of the session log. It returns none for a line that isn't part of
	// the main conversation.
	Entries(line []byte) []Entry
}

// KeyReader is a PromptAnswerer whose program puts its terminal into raw mode, and so takes each key
// at once. A terminal in another mode keeps keys for later, and another program has set that mode.
type KeyReader interface{ ReadsKeys() }

// StrictKeyReader is a KeyReader whose program takes a terminal's answer for keys unless it has their form: Gemini CLI
// 0.61.0 takes "1" and "2" from CSI ? 1 ; 2 c.
type StrictKeyReader interface{ TakesAnswersForKeys() }

// PartialAnswerer is a PromptAnswerer that can't answer some prompts: its program reports that it
// asks, but not how to answer.
type PartialAnswerer interface {
	Unanswerable(*Request) bool
}

// HookHidesDialog is a PromptAnswerer whose agent shows no dialog while its hook waits for the
// answer. Such a hook waits only while no client is attached that could answer at the dialog. For
// an answer that a hook can't give, Berth releases the hook and answers the dialog that appears.
type HookHidesDialog interface {
	// HidesDialog reports whether the agent shows no dialog for the prompt.
	HidesDialog(p *Request) bool
}

// CallNamer is a Driver whose agent asks without saying which of its tool calls it asks about.
type CallNamer interface {
	// Names is the asked fact's prompt, completed with the tool call that has not come back; nil
	// when the prompt is not about that call.
	Names(asked, call *Fact) *Request
	// DialogNames reports whether a dialog may show that it asks about this tool, so that its call may
	// be taken for another one's.
	DialogNames(tool string) bool
}

// CutReader is a CallNamer whose agent's hooks may report more than Berth keeps.
type CutReader interface {
	// CutsCall reports whether a report that begins so, and whose end is lost, may be that of a call.
	CutsCall(head string) bool
}

// CallChooser is a CallNamer whose reports may be about calls that are spelled in another way.
type CallChooser interface {
	// Likeness is how likely the asked fact's prompt is about a call that Names takes it for. Of several calls it is about the likeliest.
	Likeness(asked, call *Fact) int
	// OnlyByCall reports whether no key may answer such a prompt while its call isn't known.
	OnlyByCall(asked *Request) bool
	// Unnamed reports whether Berth reads no name of this tool from its dialog, so that a dialog without one may be about it.
	Unnamed(tool string) bool
	// DrawsElse reports whether the dialog draws the input of another call of such a tool.
	DrawsElse(d *Dialog, call *Request) bool
}

// AlikeNamer is a CallNamer and an UndrawnInputReader: a prompt that was only seen names some calls that its dialog may be about.
type AlikeNamer interface {
	// NamesAlike reports whether it names a call of this tool by what no dialog draws of it.
	NamesAlike(tool, undrawn string) bool
}

// UndrawnInputReader is a Driver whose agent's dialogs leave out a part of what a tool would do, such
// as the folder that a command runs in.
type UndrawnInputReader interface {
	// Undrawn returns the fields of a tool's input that no dialog draws, one a line. dir is the
	// session's folder: a tool that runs there needs no line for it.
	Undrawn(tool string, input json.RawMessage, dir string) string
}

// FolderTeller is a Driver whose agent's commands run where the command before has left them. The agent reports that folder beside a
// command's input, and no dialog draws it.
type FolderTeller interface {
	// InFolder is a command's fact with the folder that it runs in as a field of its input. usual: that is the session's folder, which
	// needs no field. An empty folder isn't known.
	InFolder(f *Fact, folder string, usual bool) *Fact
}

// InFull is in a line of Undrawn that a call has more than the line shows. A prompt with that line has the call's whole
// input as FullInput.
const InFull = "prompt --full has the whole"

// CallJoiner is a Driver whose agent reports a permission with the id of its call, and each of the two
// reports has fields that the other one lacks.
type CallJoiner interface {
	// WithCall is the permission with the fields that only its call's input has.
	WithCall(asked *Request, input json.RawMessage) *Request
	// AsksInPart reports whether the agent said that the dialog about the permission draws a part of the call alone.
	AsksInPart(asked *Request) bool
}

// CallExplainer is a Driver whose agent reports some permissions without all that matters about them, such
// as the folder that a relative name is in. The agent's call, which was reported before, has the rest.
type CallExplainer interface {
	// NeedsCall reports whether the permission says too little without its call.
	NeedsCall(asked *Request) bool
	// Explains returns the subject of the permission that a call asks for, and what the call adds to
	// it, one field a line. brief leaves out what is usual in dir, the session's folder. The subject
	// is empty for a call that adds nothing.
	Explains(call *Fact, dir string) (subject, brief, all string)
	// Explained is the subject of such a permission.
	Explained(asked *Request) string
}

// CallCompleter is a Driver whose session log has more of a call than the hook that asks about it, such as the shell of a command.
type CallCompleter interface {
	// WithLogged is the input of a permission that a hook reported, with what only the logged call has; nil if it isn't about that call.
	WithLogged(asked, logged *Request) json.RawMessage
	// Uncompleted is a line for the text of a permission that no logged call is about; empty if it needs none.
	Uncompleted(asked *Request) string
}

// ThreadShower is a Driver whose agent shows another thread than the main one once a person has opened it, such as a subagent's. There it
// draws that thread's dialogs as it draws the main one's.
type ThreadShower interface {
	// InThread reports whether the dialog says that it is of another thread than the open one.
	InThread(d *Dialog) bool
	// Opened says what isn't known of the permission if its dialog is of another thread than the main one; empty if the text says so.
	Opened(p *Request) string
}

// CallLogReader is a Driver whose agent writes each call of a tool to its session log when it asks
// about it, or up to half a second later.
type CallLogReader interface {
	// LoggedCall says how much of a call in the session log the dialog shows. undrawn are the fields
	// of the call's input that no dialog draws, one a line.
	LoggedCall(d *Dialog, tool string, input json.RawMessage) (shown Match, undrawn string)
	// Hides reports whether the dialog of such a call leaves out a part of it, or may do so.
	Hides(tool string, input json.RawMessage) bool
	// Shortened is the input of such a call with as much as MayHide needs. It is nil if the call has to be
	// kept whole.
	Shortened(tool string, input json.RawMessage) json.RawMessage
	// Draws reports whether the dialog draws something of the call, or names its tool.
	Draws(d *Dialog, tool string, input json.RawMessage) bool
	// MayHide reports whether the dialog may be about a call that it doesn't show, because it leaves out
	// what has no room.
	MayHide(d *Dialog, tool string, input json.RawMessage) bool
}

// OpenCallReader is a Driver whose agent writes each call of a tool to its session log when it asks about it, or up to a second later, and
// writes its result after that.
type OpenCallReader interface {
	OpenCalls() OpenCalls
}

// OpenCalls is what isn't the same in such agents.
type OpenCalls struct {
	Quiet    map[string]bool // tools whose calls, and those that they start, have no dialog
	Results  []string        // the causes of the reports about a call's result
	LogsAll  bool            // each dialog of a tool is that of a logged call, which it is like
	OfAll    bool            // the log has subagents' calls too
	AnyOrder bool            // it asks in any order, or about all calls of a step before it runs one: a call before the drawn one is named, and keeps no key from it
	Starts   []string        // the tools that start a subagent
	Asks     string          // the tool that asks questions, if their dialogs name none
}

// OpenCallNamer is an OpenCallReader whose agent asks about its calls in any order, or by dialogs that the driver doesn't know.
type OpenCallNamer interface {
	// NamesOpen reports whether the prompt of a dialog that shows so much of a call has to name the call: another dialog may be below that one.
	NamesOpen(d *Dialog, tool string, input json.RawMessage, shown Match) bool
}

// PromptReporter is a Driver whose agent reports what its dialogs ask. Without that report, a dialog of an agent
// that reports its turns takes no key: another process may have ended the report, and a dialog doesn't show all.
type PromptReporter interface {
	// ReportsDialog reports whether the agent's hooks report what the dialog asks.
	ReportsDialog(d *Dialog) bool
}

// GateHooks is a Driver whose agent runs a hook that waits when a turn ends and when a
// conversation begins.
type GateHooks interface {
	// GoOn is what the hook at a turn's end prints so that the agent continues with the text.
	GoOn(text string) ([]byte, error)
	// Context is what the hook at a conversation's start prints so that the agent has the text
	// beside its own instructions.
	Context(text string) ([]byte, error)
}

// ProcessReader is a Driver that follows which process is in the terminal's foreground.
type ProcessReader interface {
	// Process reads what the system reports; it is called after each change.
	Process(p Process) []Fact
}

// LimitedStates is a Driver that can't detect every state of its program.
type LimitedStates interface {
	// ReportedStates are the states that it detects by itself, beside those that every session
	// has. The states that the program reports itself are added to them.
	ReportedStates() []State
}

// ActivityReporter is a Driver that names the activity of an agent that is only known to work.
type ActivityReporter interface {
	// DefaultActivity is nil when the activity is not known.
	DefaultActivity() *Activity
}

// ForCommand is a Driver that has another driver for each command.
type ForCommand interface {
	// ForCommand is the driver of a program that the command starts. rules names rules of the
	// configuration; when it is empty, the rules for the program apply, if it has any.
	ForCommand(command []string, rules string) Driver
	// Rules are the names of all rules.
	Rules() []string
}

// RulesNamer is a Driver that reads its program by rules of the configuration.
type RulesNamer interface {
	RulesName() string
}

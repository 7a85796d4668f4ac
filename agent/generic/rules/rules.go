// Package rules has the rules of the configuration for programs without a driver: how the screen
// shows that a program is idle, works, failed or asks, how to answer it, and how to type a message
// to it. config checks them (Check) and compiles them (Compile); the generic driver asks a Compiled
// about each screen. A Ruleset never changes, so any number of goroutines may read it.
package rules

import "time"

// Set has the rules for one program. A zero field has its default.
type Set struct {
	Programs []string `yaml:"programs"` // names of the commands that the set is for
	Reports  bool     `yaml:"tells"`    // the program reports its state itself
	Rows     int      `yaml:"rows"`     // how many of the screen's lowest rows are read
	After    After    `yaml:"after"`

	Idle    []Rule `yaml:"idle"`
	Working []Rule `yaml:"working"`
	Error   []Rule `yaml:"error"`
	Prompt  []Rule `yaml:"prompt"`

	Nudge *Nudge `yaml:"nudge"` // how to type a message; nil: Berth types none
}

// After is how long the screen must show a state before it counts.
type After struct {
	Idle    time.Duration `yaml:"idle"`
	Working time.Duration `yaml:"working"`
	Prompt  time.Duration `yaml:"prompt"`
	Error   time.Duration `yaml:"error"`
}

// Rule describes how a state looks. All of its parts must match.
type Rule struct {
	Name   string   `yaml:"name"`
	Lines  []string `yaml:"lines"` // each matches a row below the row of the one before
	Title  string   `yaml:"title"`
	OSC    OSC      `yaml:"osc"`    // a sequence, in place of lines and title
	Within int      `yaml:"within"` // search only in this many of the lowest rows

	Class string `yaml:"class"` // of an error

	// Of a prompt.
	Type    string   `yaml:"type"`
	Options []Option `yaml:"options"` // that it always has
	Option  string   `yaml:"option"`  // matches an option on the screen
	Choose  Choose   `yaml:"choose"`  // how to choose such an option
	Accept  string   `yaml:"accept"`  // matches the option that accepts
	Deny    string   `yaml:"deny"`    // matches the option that denies
	Text    []string `yaml:"text"`    // keys that send a text answer
}

// OSC is a sequence that the program sends.
type OSC struct {
	Number int    `yaml:"number"`
	Text   string `yaml:"text"` // matches its payload
}

// Option is a fixed answer and the keys that give it.
type Option struct {
	Label string   `yaml:"label"`
	Keys  []string `yaml:"keys"`
}

// Choose is how to choose an option that is read from the screen: by keys, where $key is replaced
// by the text of the option's group key; or by moving to the option first.
type Choose struct {
	Next     string   `yaml:"next"`
	Previous string   `yaml:"previous"`
	Focus    string   `yaml:"focus"` // what shows the chosen option: group, cursor, inverse
	Keys     []string `yaml:"keys"`
}

// Nudge is how to type a message.
type Nudge struct {
	Paste       string        `yaml:"paste"` // auto, typed
	Pause       time.Duration `yaml:"pause"` // between the text and Enter
	Enter       string        `yaml:"enter"`
	Clear       []string      `yaml:"clear"`       // keys that empty the composer; the next one is used when one has no effect
	Commands    string        `yaml:"commands"`    // matches text that the program takes as a command
	Placeholder string        `yaml:"placeholder"` // matches the text of an empty composer
	Pasted      string        `yaml:"pasted"`      // matches the mark that the program shows in place of a long text
	Interrupt   string        `yaml:"interrupt"`
}

// Defaults.
const (
	DefaultRows      = 20
	DefaultIdle      = 2 * time.Second // as for any composer that only the screen shows
	DefaultWorking   = 300 * time.Millisecond
	DefaultPrompt    = 200 * time.Millisecond
	DefaultError     = 500 * time.Millisecond
	DefaultPause     = 200 * time.Millisecond // as for any agent that wasn't measured
	DefaultEnter     = "Enter"
	DefaultInterrupt = "Ctrl-c"
)

// The ways to show which option is chosen.
const (
	FocusGroup   = "group"
	FocusCursor  = "cursor"
	FocusInverse = "inverse"
)

// Names of groups in patterns.
const (
	GroupDraft = "draft" // in a rule for idle: the composer's text
	GroupTitle = "title" // this and those up to GroupOther: in a rule for prompts
	GroupText  = "text"
	GroupTool  = "tool"
	GroupInput = "input" // what the tool would do
	GroupTyped = "typed" // the text typed into the prompt's field
	GroupOther = "other" // not part of the prompt, such as the time
	GroupLabel = "label" // this and those below: in option
	GroupKey   = "key"
	GroupFocus = "focus"
)

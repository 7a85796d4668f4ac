// Package rules is how the configuration says what is to be seen of a program
// that no driver knows: when it is idle, works, failed or asks, how it is
// answered and how a message is typed to it. It reads rows of text and knows no
// terminal.
package rules

import "time"

// Set is what is known of one program. A zero field is not set.
type Set struct {
	Programs []string `yaml:"programs"` // names of commands that it is for
	Tells    bool     `yaml:"tells"`    // the program tells its state itself, sooner or later
	Rows     int      `yaml:"rows"`     // how many of the screen's lowest rows that are drawn on are looked at
	After    After    `yaml:"after"`

	Idle    []Rule `yaml:"idle"`
	Working []Rule `yaml:"working"`
	Error   []Rule `yaml:"error"`
	Prompt  []Rule `yaml:"prompt"`

	Nudge *Nudge `yaml:"nudge"` // how a message is typed; nil: not at all
}

// After is how long what the screen shows must have been so before it counts.
type After struct {
	Idle    time.Duration `yaml:"idle"`
	Working time.Duration `yaml:"working"`
	Prompt  time.Duration `yaml:"prompt"`
	Error   time.Duration `yaml:"error"`
}

// Rule is what is seen in a state. All that it names must be there.
type Rule struct {
	Name   string   `yaml:"name"`
	Lines  []string `yaml:"lines"` // each matches a row, each below the one before
	Title  string   `yaml:"title"`
	OSC    OSC      `yaml:"osc"`    // a sequence in place of what is drawn
	Within int      `yaml:"within"` // of the lowest rows that are looked at, these

	Class string `yaml:"class"` // of an error

	// Of a prompt.
	Type    string   `yaml:"type"`
	Options []Option `yaml:"options"` // that it always has
	Option  string   `yaml:"option"`  // matches one that is drawn
	Choose  Choose   `yaml:"choose"`  // how such a one is chosen
	Accept  string   `yaml:"accept"`  // matches the option that accepts
	Deny    string   `yaml:"deny"`    // and the one that refuses
	Text    []string `yaml:"text"`    // keys behind an answer in words
}

// OSC is a sequence that the program sends.
type OSC struct {
	Number int    `yaml:"number"`
	Text   string `yaml:"text"` // matches its payload
}

// Option is an answer with the keys that give it.
type Option struct {
	Label string   `yaml:"label"`
	Keys  []string `yaml:"keys"`
}

// Choose is how a drawn option is chosen: by keys alone, in which $key stands
// for what the option's group of that name holds; or by moving to it first.
type Choose struct {
	Next     string   `yaml:"next"`
	Previous string   `yaml:"previous"`
	Focus    string   `yaml:"focus"` // what shows which is chosen: group, cursor, inverse
	Keys     []string `yaml:"keys"`
}

// Nudge is how a message is typed.
type Nudge struct {
	Paste       string        `yaml:"paste"` // auto, typed
	Pause       time.Duration `yaml:"pause"` // between the text and Enter
	Enter       string        `yaml:"enter"`
	Clear       []string      `yaml:"clear"`       // keys that empty the composer, one after the other as each has no effect
	Commands    string        `yaml:"commands"`    // matches what the program takes as a command
	Placeholder string        `yaml:"placeholder"` // matches what an empty composer shows
	Pasted      string        `yaml:"pasted"`      // matches what stands there for a long text
	Interrupt   string        `yaml:"interrupt"`
}

// Defaults.
const (
	DefaultRows      = 20
	DefaultIdle      = 2 * time.Second // the design's figure for a composer that is only seen
	DefaultWorking   = 300 * time.Millisecond
	DefaultPrompt    = 200 * time.Millisecond
	DefaultError     = 500 * time.Millisecond
	DefaultPause     = 200 * time.Millisecond // the design's, for an agent that was not measured
	DefaultEnter     = "Enter"
	DefaultInterrupt = "Ctrl-c"
)

// What an option's focus is shown by.
const (
	FocusGroup   = "group"
	FocusCursor  = "cursor"
	FocusInverse = "inverse"
)

// Groups of patterns.
const (
	GroupDraft = "draft" // of idle: what the composer holds
	GroupTitle = "title" // of a prompt, from here on
	GroupText  = "text"
	GroupTool  = "tool"
	GroupInput = "input" // what the tool would do
	GroupTyped = "typed" // what was typed into it
	GroupLabel = "label" // of an option, from here on
	GroupKey   = "key"
	GroupFocus = "focus"
)

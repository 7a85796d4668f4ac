package agent

import "time"

// Typist is a Driver that knows how a message is typed to its agent. Like all
// of a Driver it is pure.
type Typist interface {
	// Message is the text as it is typed so that the agent takes it as a
	// message and as nothing else: no key, no command, no file to attach.
	Message(text string) string
	// Slash is a text that the agent takes as a command of its own; ok is
	// false for a text that is none.
	Slash(text string) (typed string, ok bool)
	// Paste is the typed text as bytes for the terminal, whose mode of
	// bracketed paste is on or not; ok is false when it cannot be typed so.
	Paste(typed string, bracketed bool) (data []byte, ok bool)
	// Pause is what must lie between the text and Enter, whatever the screen
	// shows by then: to some agents an Enter that comes sooner is a line break.
	Pause() time.Duration
	// Same says whether the message that the agent tells of is the typed one,
	// after the changes that the agent itself makes.
	Same(typed, told string) bool
	// Holds says whether the composer holds exactly what was typed, as far as
	// a screen can show; Displays, whether it shows the text itself and no mark in
	// its place.
	Holds(typed string, c *Composer) bool
	Displays(typed string, c *Composer) bool
	// Clear is the key that takes away from what the composer holds; stuck says
	// how many keys before it changed nothing. Nil when there is none left to
	// try. No such key answers a dialog.
	Clear(c *Composer, stuck int) []byte
	// Interrupt is what ends a turn that is under way.
	Interrupt() []byte
}

// Folder is a Typist whose agent may give the model a pasted text as something
// that its user did not write.
type Folder interface {
	// Folded says whether the message that the agent tells of is the typed one, in
	// that way.
	Folded(typed, told string) bool
}

// Stasher is a Typist whose agent can put a draft aside.
type Stasher interface {
	// Stash is the key that puts the draft in the composer aside, as the screen
	// shows it now; nil, with the reason, when it would not, or would do harm.
	// Unstash is the key that brings it back into an empty composer. Neither does
	// anything to a dialog.
	Stash(r *Reading) (key []byte, why string)
	Unstash() []byte
}

// Breaker is a Typist whose agent may read Enter as a line break, and sends a
// message twice of which it reads two Enters at once.
type Breaker interface {
	// Broke says whether the composer, which is as given now and was as given when
	// Enter was pressed, shows that Enter broke a line. Only then is it pressed
	// again.
	Broke(before, now *Composer) bool
}

// Enterer is a Typist whose agent needs keys other than Enter to send a message.
type Enterer interface {
	// Enter returns the keys that send the typed text in the composer.
	Enter(typed string) []byte
}

// Package gate decides whether an agent may rest at the end of its turn. It is
// pure: what it knows of a turn is a value that is kept with the session, and
// each method is one thing that happened.
package gate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Mode is what the gate does at the end of a turn.
type Mode string

// The modes.
const (
	Allow Mode = "allow" // the agent rests when it wants to
	Text  Mode = "gate"  // it is told a text and goes on
	Auto  Mode = "auto"  // likewise, with a text that says how to report
)

// Bounds of what a gate holds.
const (
	DefaultCap = 5        // blocks in a turn before it lets go by itself
	MostCap    = 1000     // a turn of more is a loop that nobody watches
	MostText   = 16 << 10 // bytes, of the text and of a report's message
)

// Config is how a gate is set. The zero value allows everything.
type Config struct {
	Mode   Mode            `json:"mode,omitempty"`
	Text   string          `json:"text,omitempty"`   // of the mode gate
	Cap    int             `json:"cap,omitempty"`    // 0 is DefaultCap
	Schema json.RawMessage `json:"schema,omitempty"` // a JSON Schema for the message of a report that says complete
}

// Closed says whether the gate ever holds the agent back.
func (c Config) Closed() bool { return c.Mode == Text || c.Mode == Auto }

// Shown is the mode as it is shown.
func (c Config) Shown() Mode { return cmp.Or(c.Mode, Allow) }

// Most is how often it blocks in a turn.
func (c Config) Most() int { return cmp.Or(c.Cap, DefaultCap) }

// Check says what is wrong with a setting.
func (c Config) Check() error {
	switch c.Mode {
	case "", Allow, Auto:
		if c.Text != "" {
			return errors.New("a text belongs to the mode gate")
		}
	case Text:
		if strings.TrimSpace(c.Text) == "" {
			return errors.New("the mode gate needs a text for the agent")
		}
	default:
		return fmt.Errorf("there is no mode %q: allow, gate, auto", c.Mode)
	}
	if len(c.Text) > MostText {
		return fmt.Errorf("the text has %d bytes; at most %d", len(c.Text), MostText)
	}
	if c.Cap < 0 || c.Cap > MostCap {
		return fmt.Errorf("the cap is 1 to %d", MostCap)
	}
	if len(c.Schema) > MostText {
		return fmt.Errorf("the schema has %d bytes; at most %d", len(c.Schema), MostText)
	}
	_, err := c.schema()
	return err
}

// Kind is what a report says.
type Kind string

// The kinds of reports. The first two let the agent go.
const (
	Complete Kind = "complete" // the work is done
	Escalate Kind = "escalate" // it cannot be done without somebody else
	Continue Kind = "continue" // it goes on
	Status   Kind = "status"   // how it stands
)

// Kinds lists them.
var Kinds = []Kind{Complete, Escalate, Continue, Status}

// CheckReport says what is wrong with a report, in words for the agent.
func (c Config) CheckReport(kind Kind, message string) error {
	if len(message) > MostText {
		return fmt.Errorf("the message has %d bytes; at most %d are taken: write the rest into a file and name it", len(message), MostText)
	}
	if kind != Complete {
		return nil
	}
	schema, err := c.schema()
	if schema == nil || err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal([]byte(message), &value); err != nil {
		return fmt.Errorf("the message has to be JSON of this schema: %s: %w; report again", c.Schema, err)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("the message does not fit the schema %s: %w; report again", c.Schema, err)
	}
	return nil
}

// Answer is what the agent is told so that it goes on. berth is how the program
// is called where the agent runs commands.
func (c Config) Answer(berth string) string {
	if c.Mode == Text {
		return c.Text
	}
	text := "Your turn is not over until you have reported. Run one of these commands:\n" +
		"  " + berth + " report complete MESSAGE   all that was asked is done; MESSAGE says what was done\n" +
		"  " + berth + " report escalate MESSAGE   you cannot go on without somebody else; MESSAGE says what is needed\n" +
		"  " + berth + " report continue MESSAGE   there is more to do: say what comes next, and go on with it now\n" +
		"After complete or escalate you may stop."
	if len(c.Schema) > 0 {
		text += "\nThe MESSAGE of complete is JSON of this schema, handed over on standard input with - in its place:\n" + string(c.Schema)
	}
	return text
}

// State is what is known of the turn under way. Its zero value is that of an
// agent that has not begun.
type State struct {
	Turn   string `json:"turn"`           // the agent's id of the turn, empty when it gives none
	Blocks int    `json:"blocks"`         // given in it
	Why    string `json:"why,omitempty"`  // for which it lets go in this turn; empty: for none yet
	Hook   uint64 `json:"hook,omitempty"` // that waits at the turn's end and is held back; 0 for none
	Late   bool   `json:"late,omitempty"` // it is of the turn before
}

// Why a gate lets go.
const (
	WhyAllowed = "allow"  // nothing is to be held back
	WhyReport  = "report" // the agent has said complete or escalate
	WhyOpened  = "opened" // somebody let it go
	WhyCap     = "cap"    // it was held back so often
)

// Began is a turn that began. The same turn told by two sources begins once.
func (s *State) Began(turn string) {
	if turn == "" || turn != s.Turn {
		*s = State{Turn: turn, Hook: s.Hook, Late: s.Hook != 0}
	}
}

// Reported is a report of the agent's.
func (s *State) Reported(kind Kind) {
	if kind == Complete || kind == Escalate {
		s.Why = WhyReport
	}
}

// Opened is somebody who lets the agent go for this turn.
func (s *State) Opened() { s.Why = WhyOpened }

// Ends is the end of the turn, at which the hook waits. It says whether the
// agent is held back, or for what it is not.
func (s *State) Ends(turn string, hook uint64, c Config) (held bool, why string) {
	if turn != "" && turn != s.Turn {
		s.Began(turn)
	}
	if held, why = s.holds(c); held {
		s.Hook, s.Late = hook, false
	}
	return held, why
}

// Holds says whether the hook that waits is still to be held back, or for what
// it is not: the setting may have changed since.
func (s *State) Holds(c Config) (held bool, why string) {
	if s.Hook == 0 || s.Late {
		return false, WhyAllowed
	}
	return s.holds(c)
}

func (s *State) holds(c Config) (bool, string) {
	switch {
	case !c.Closed():
		return false, WhyAllowed
	case s.Why != "":
		return false, s.Why
	case s.Blocks >= c.Most():
		return false, WhyCap
	}
	return true, ""
}

// Blocked is the answer that holds the agent back, on record before it was
// sent.
func (s *State) Blocked(hook uint64) {
	if s.Hook == hook && !s.Late {
		s.Blocks++
	}
}

// Over is the end of the hook's wait, whichever way. It says whether it was the
// one that was held back.
func (s *State) Over(hook uint64) bool {
	if hook == 0 || s.Hook != hook {
		return false
	}
	s.Hook, s.Late = 0, false
	return true
}

// Package gate decides whether an agent may end its turn. It is pure: the state of a turn is a value that the
// session keeps, and each method applies one thing that happened. Package gates calls it.
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
	Allow Mode = "allow" // the agent may end its turn
	Text  Mode = "gate"  // the agent gets a text and goes on
	Auto  Mode = "auto"  // the same, with a text that says how to report
)

// Limits of a gate.
const (
	DefaultCap = 5        // default of Cap
	MostCap    = 1000     // maximum of Cap: more blocks in a turn are a loop without supervision
	MostText   = 16 << 10 // maximum size in bytes of the text and of a report's message
)

// Config is a gate's setting. The zero value allows everything.
type Config struct {
	Mode   Mode            `json:"mode,omitempty"`
	Text   string          `json:"text,omitempty"`   // of the mode gate
	Cap    int             `json:"cap,omitempty"`    // blocks in a turn before the gate lets the agent go; 0 is DefaultCap
	Schema json.RawMessage `json:"schema,omitempty"` // a JSON Schema for the message of a report that says complete
}

// Closed reports whether the gate ever holds the agent back.
func (c Config) Closed() bool { return c.Mode == Text || c.Mode == Auto }

// Shown is the mode for people.
func (c Config) Shown() Mode { return cmp.Or(c.Mode, Allow) }

// Most is the maximum of blocks in a turn.
func (c Config) Most() int { return cmp.Or(c.Cap, DefaultCap) }

// Check returns an error if the setting isn't valid.
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

// Kind is the kind of a report.
type Kind string

// The kinds of reports. The first two let the agent go.
const (
	Complete Kind = "complete" // the work is done
	Escalate Kind = "escalate" // the agent can't continue without help
	Continue Kind = "continue" // the agent goes on
	Status   Kind = "status"   // the state of the work
)

// Kinds lists them.
var Kinds = []Kind{Complete, Escalate, Continue, Status}

// CheckReport returns an error if a report isn't valid. The error is for the agent.
func (c Config) CheckReport(kind Kind, message string) error {
	if len(message) > MostText {
		return fmt.Errorf("the message has %d bytes, and at most %d are allowed: write the rest into a file and name it", len(message), MostText)
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
		return fmt.Errorf("the message must be JSON of this schema: %s: %w; report again", c.Schema, err)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("the message does not fit the schema %s: %w; report again", c.Schema, err)
	}
	return nil
}

// Answer is the text that makes the agent go on. berth is the command that runs Berth in the agent's shell.
func (c Config) Answer(berth string) string {
	if c.Mode == Text {
		return c.Text
	}
	text := "Your turn is not over until you have reported. Run one of these commands:\n" +
		"  " + berth + " report complete MESSAGE   all that was asked is done; MESSAGE says what was done\n" +
		"  " + berth + " report escalate MESSAGE   you can't continue without help; MESSAGE says what is needed\n" +
		"  " + berth + " report continue MESSAGE   there is more to do: say what comes next, and go on with it now\n" +
		"After complete or escalate you may stop."
	if len(c.Schema) > 0 {
		text += "\nThe MESSAGE of complete is JSON of this schema, handed over on standard input with - in its place:\n" + string(c.Schema)
	}
	return text
}

// State is the state of the current turn. The zero value is for an agent before its first turn.
type State struct {
	Turn   string `json:"turn"`           // the agent's id of the turn; empty if it has none
	Blocks int    `json:"blocks"`         // number of blocks in the turn
	Why    string `json:"why,omitempty"`  // why the gate lets the agent go in this turn; empty: it doesn't
	Hook   uint64 `json:"hook,omitempty"` // the hook at the turn's end that is held back; 0: none
	Late   bool   `json:"late,omitempty"` // whether that hook belongs to the turn before
}

// Why a gate lets go.
const (
	WhyAllowed = "allow"  // the gate is open
	WhyReport  = "report" // the agent has said complete or escalate
	WhyOpened  = "opened" // a caller opened the gate for this turn
	WhyCap     = "cap"    // the agent was held back Cap times
)

// Began applies the start of a turn. A turn that two sources report starts once.
func (s *State) Began(turn string) {
	if turn == "" || turn != s.Turn {
		*s = State{Turn: turn, Hook: s.Hook, Late: s.Hook != 0}
	}
}

// Reported applies a report of the agent.
func (s *State) Reported(kind Kind) {
	if kind == Complete || kind == Escalate {
		s.Why = WhyReport
	}
}

// Opened applies that a caller opened the gate for this turn.
func (s *State) Opened() { s.Why = WhyOpened }

// Ends applies the end of the turn, with the hook that waits there. It returns whether the agent is held back, or why
// not.
func (s *State) Ends(turn string, hook uint64, c Config) (held bool, why string) {
	if turn != "" && turn != s.Turn {
		s.Began(turn)
	}
	if held, why = s.holds(c); held {
		s.Hook, s.Late = hook, false
	}
	return held, why
}

// Holds returns whether the waiting hook must still be held back, or why not. The setting may have changed since.
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

// Blocked applies the record of the answer that holds the agent back. It is written before the answer is sent.
func (s *State) Blocked(hook uint64) {
	if s.Hook == hook && !s.Late {
		s.Blocks++
	}
}

// Over applies any end of a hook's wait. It returns whether this hook was held back.
func (s *State) Over(hook uint64) bool {
	if hook == 0 || s.Hook != hook {
		return false
	}
	s.Hook, s.Late = 0, false
	return true
}

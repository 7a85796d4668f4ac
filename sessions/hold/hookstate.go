package hold

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// hookState is the first argument, and the event, of a program that reports its own state.
const hookState = "state"

// states are what it can tell: the states of the design that are a program's to
// tell, done for a turn that ended well, and unknown, which takes back all it
// has said.
var states = []string{"working", "idle", "prompt", "done", "error", "unknown"}

// messageLimit bounds what a program says with its state, in bytes.
const messageLimit = 4 << 10

// checkState checks the arguments of state STATE [MESSAGE...]. A mistake in them is a mistake in a script,
// so it is reported also outside of a session.
func checkState(args []string) error {
	switch {
	case len(args) < 2:
		return fmt.Errorf("state: name a state: %s", strings.Join(states, ", "))
	case !slices.Contains(states, args[1]):
		return fmt.Errorf("state: unknown state %q: use one of %s", args[1], strings.Join(states, ", "))
	}
	message := strings.Join(args[2:], " ")
	switch {
	case len(message) > messageLimit:
		return fmt.Errorf("state: the message is %d bytes long: the limit is %d", len(message), messageLimit)
	case !utf8.ValidString(message):
		return fmt.Errorf("state: the message isn't UTF-8")
	}
	return nil
}

// statePayload is the event that arguments make which checkState let through.
func statePayload(args []string) []byte {
	event := struct {
		Berth   string `json:"berth"`
		State   string `json:"state"`
		Message string `json:"message"`
	}{hookState, args[1], strings.Join(args[2:], " ")}
	data, err := json.Marshal(event)
	if err != nil {
		return nil // strings always encode
	}
	return data
}

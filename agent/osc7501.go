package agent

import "strings"

// StateOSC is the number of the sequence by which programs tell their state.
const StateOSC = 7501

// StateWord is what such a sequence says: "state=S:app=A[:kind=K]".
type StateWord struct {
	State string // idle, working, blocked, done, error; clear at the program's end
	App   string
	Kind  string // of blocked: permission, question
}

// ReadStateWord reads the payload of an OSC 7501. What it does not know it
// leaves out.
func ReadStateWord(payload string) StateWord {
	var w StateWord
	for part := range strings.SplitSeq(payload, ":") {
		switch key, value, _ := strings.Cut(part, "="); key {
		case "state":
			w.State = value
		case "app":
			w.App = value
		case "kind":
			w.Kind = value
		}
	}
	return w
}

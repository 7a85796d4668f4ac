package agent

import "strings"

// StateOSC is the number of the OSC sequence that programs report their state with.
const StateOSC = 7501

// StateWord is the content of such a sequence: "state=S:app=A[:kind=K]".
type StateWord struct {
	State string // idle, working, blocked, done, error; clear when the program ends
	App   string // the program's name
	Kind  string // of blocked: permission or question
}

// ReadStateWord reads the payload of an OSC 7501. It ignores parts that it doesn't know.
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

package tui

import (
	"fmt"
	"strings"

	"berth/agent"
	"berth/sessions"
	"berth/terminal"
)

// alarm is how the dashboard notifies the person when a session begins to wait.
type alarm int

const (
	byBell   alarm = iota // the terminal's bell
	byOSC9                // a notification as iTerm2, kitty, WezTerm, Windows Terminal and others show it
	byOSC777              // as urxvt and foot show it
	silent
	alarms // how many ways there are
)

func (c alarm) String() string {
	return [...]string{
		"Bell when a session starts to wait", "Notification (OSC 9) when a session starts to wait",
		"Notification (OSC 777) when a session starts to wait", "Notifications off",
	}[c]
}

// notices keeps which sessions wait, to notify the person once of each that begins to.
type notices struct {
	alarm alarm
	waits map[string]string  // the prompts of the last world, by session; nil before the first
	calls []*sessions.Status // sessions that have begun to wait, without a notification yet
}

// noteWaits records which sessions have begun to wait since its last call.
func (n *notices) noteWaits(list []*sessions.Status) {
	waits := map[string]string{}
	for _, s := range list {
		if s.Now != agent.Prompt {
			continue
		}
		waits[s.ID] = "?"
		if s.Request != nil {
			waits[s.ID] = s.Request.ID
		}
		if before, waited := n.waits[s.ID]; n.waits != nil && (!waited || before != waits[s.ID] && before != "?") {
			n.calls = append(n.calls, s)
		}
	}
	n.waits = waits
}

// Call returns the bytes that notify the person of sessions that have begun to wait. It returns them
// once; mostly there are none.
func (n *notices) Call(plain bool) string {
	calls := n.calls
	n.calls = nil
	switch {
	case len(calls) == 0 || n.alarm == silent:
		return ""
	case n.alarm == byBell || plain:
		return "\a"
	case n.alarm == byOSC9:
		return "\x1b]9;" + callText(calls) + "\x1b\\"
	}
	return "\x1b]777;notify;Berth;" + callText(calls) + "\x1b\\"
}

// callText is the notification's text, without semicolons, which separate the parts of a sequence.
func callText(calls []*sessions.Status) string {
	text := calls[0].Name + " waits"
	if r := calls[0].Request; r != nil {
		text += ": " + oneLine(r.About())
	}
	if n := len(calls) - 1; n > 0 {
		text = fmt.Sprintf("%s (and %d more)", text, n)
	}
	return cut(terminal.Printable(strings.ReplaceAll(text, ";", ",")), 120, "…")
}

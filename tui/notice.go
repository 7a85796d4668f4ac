package tui

import (
	"fmt"
	"strings"

	"berth/agent"
	"berth/sessions"
	"berth/terminal"
)

// calling is how the person is told that a session has begun to wait.
type calling int

const (
	byBell   calling = iota // the terminal's bell
	byOSC9                  // a notification as iTerm2, kitty, WezTerm, Windows Terminal and others show it
	byOSC777                // as urxvt and foot show it
	silent
	callings // how many ways there are
)

func (c calling) String() string {
	return [...]string{
		"a bell rings when a session begins to wait", "a notification (OSC 9) when a session begins to wait",
		"a notification (OSC 777) when a session begins to wait", "nothing tells when a session begins to wait",
	}[c]
}

// notices are what tells the person that sessions have begun to wait.
type notices struct {
	calling calling
	waits   map[string]string  // which prompts there were, by session; nil before the first look
	calls   []*sessions.Status // that have begun to wait, not told yet
}

// begun notes which sessions have begun to wait since it was last called.
func (n *notices) begun(list []*sessions.Status) {
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

// Call gives what tells the person of sessions that have begun to wait, once;
// mostly there is nothing.
func (n *notices) Call(plain bool) string {
	calls := n.calls
	n.calls = nil
	switch {
	case len(calls) == 0 || n.calling == silent:
		return ""
	case n.calling == byBell || plain:
		return "\a"
	case n.calling == byOSC9:
		return "\x1b]9;" + callText(calls) + "\x1b\\"
	}
	return "\x1b]777;notify;Berth;" + callText(calls) + "\x1b\\"
}

// callText is a line without what separates the parts of a sequence.
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

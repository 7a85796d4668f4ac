package detect

import (
	"time"

	"berth/agent"
)

// Mode is what the agent may do unasked: its permission mode or its approval mode. It decides no state.
type Mode struct {
	Word   string // the agent's own; empty while unknown
	Source agent.Source
	Cause  string
}

// modes are the current mode, and what the sources last said about it.
type modes struct {
	Mode
	SaidAt  time.Time // when a source other than the screen last named the mode
	Drawn   string    // the mode that the screen shows; empty if it shows none
	DrawnAt time.Time // since when
}

// modeHolds is how long the screen must contradict the other sources, or its own last picture. A hook
// may come some 0.1 s before the agent draws the mode that it names, and a wrapped footer takes several
// frames.
const modeHolds = 500 * time.Millisecond

// Mode is the agent's current mode.
func (f *Fold) Mode() Mode { return f.m.Modes.Mode }

// modeSaid applies a fact with a mode. A subagent has a mode of its own.
func (f *Fold) modeSaid(fact *agent.Fact) {
	if fact.Mode == "" || fact.Agent != "" {
		return
	}
	f.m.Modes.Mode = Mode{Word: fact.Mode, Source: fact.Source, Cause: fact.Cause}
	f.m.Modes.SaidAt = f.now
}

// modeShown applies a reading. One without a mode changes nothing: dialogs and narrow footers leave it
// out.
func (f *Fold) modeShown(r *agent.Reading) {
	if m := &f.m.Modes; r.Mode != m.Drawn {
		m.Drawn, m.DrawnAt = r.Mode, f.now
	}
}

// modeByScreen applies the mode that the screen has shown for long enough.
func (f *Fold) modeByScreen() {
	m := &f.m.Modes
	if m.Drawn == "" || m.Drawn == m.Word {
		return
	}
	at := latest(m.DrawnAt, m.SaidAt).Add(modeHolds)
	switch {
	case !at.After(f.now):
		m.Mode = Mode{Word: m.Drawn, Source: agent.SourceScreen, Cause: "screen:footer"}
	case f.next.IsZero() || at.Before(f.next):
		f.next = at
	}
}

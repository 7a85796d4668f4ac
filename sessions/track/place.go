package track

import (
	"berth/agent"
	"berth/detect/tail"
)

// place is the position, in the agent's log or in its output, of what caused an event. Entries up to there
// make no second event.
type place struct {
	Source  agent.Source `json:"source"`         // log, stream
	File    string       `json:"file,omitempty"` // the file's id; empty for output
	Renewed uint64       `json:"renewed"`        // how often the file had been replaced or truncated
	Offset  int64        `json:"offset"`         // right after the entry
}

func placeOf(l tail.Line) *place {
	return &place{Source: agent.SourceLog, File: l.File, Renewed: l.Renewed, Offset: l.Next}
}

// covers reports whether o is at or before p.
func (p *place) covers(o *place) bool {
	return p != nil && p.File == o.File && (o.Renewed < p.Renewed || o.Renewed == p.Renewed && o.Offset <= p.Offset)
}

// places are how far the log and the output have their events.
type places struct {
	LogTold    *place `json:"log_told,omitempty"`    // the last entry of the session log that made an event
	StreamTold *place `json:"stream_told,omitempty"` // the last line of the output that made an event
}

// of is the newest place in the source.
func (p *places) of(s agent.Source) **place {
	if s == agent.SourceStream {
		return &p.StreamTold
	}
	return &p.LogTold
}

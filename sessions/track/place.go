package track

import (
	"berth/agent"
	"berth/detect/tail"
)

// place is where what caused an event stands in a file of the agent's, or
// in what it prints. What was told of up to there is not told again.
type place struct {
	Source  agent.Source `json:"source"`         // log, stream
	File    string       `json:"file,omitempty"` // its id, empty for what is printed
	Renewed uint64       `json:"renewed"`        // how often it had been replaced or cut short
	Offset  int64        `json:"offset"`         // right behind it
}

func placeOf(l tail.Line) *place {
	return &place{Source: agent.SourceLog, File: l.File, Renewed: l.Renewed, Offset: l.Next}
}

// covers says whether the other place is not behind this one.
func (p *place) covers(o *place) bool {
	return p != nil && p.File == o.File && (o.Renewed < p.Renewed || o.Renewed == p.Renewed && o.Offset <= p.Offset)
}

// places are how far the log and the output were told of.
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

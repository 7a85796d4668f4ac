package sessions

import (
	"berth/api"
	"berth/detect"
)

// DriverMismatch is a source of an agent's state that another one has
// contradicted. Until the others have confirmed it again, what it says is
// believed by the slow rule: 2 s later, and only when all sources agree.
type DriverMismatch struct {
	Source      string   `json:"source"`
	Said        string   `json:"said"`
	Against     string   `json:"against"` // the source that contradicted it
	AgainstSaid string   `json:"against_said"`
	Since       api.Time `json:"since"`
}

// SessionMismatch is a DriverMismatch of a session.
type SessionMismatch struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	DriverMismatch
}

// mismatchEvent is the begin of a mismatch, or its end.
type mismatchEvent struct {
	DriverMismatch
	Over bool `json:"over"` // the source is believed at once again
}

func mismatch(d detect.Doubt) DriverMismatch {
	return DriverMismatch{
		Source: string(d.Source), Said: short(d.Said), Against: string(d.Against), AgainstSaid: short(d.AgainstSaid), Since: api.At(d.Since),
	}
}

func mismatches(doubts []detect.Doubt) []DriverMismatch {
	list := []DriverMismatch{}
	for _, d := range doubts {
		list = append(list, mismatch(d))
	}
	return list
}

// mostMismatches bounds what health lists.
const mostMismatches = 20

func (h *Health) mismatched(st *Status) {
	for _, m := range st.Mismatches {
		if len(h.Mismatches) < mostMismatches {
			h.Mismatches = append(h.Mismatches, SessionMismatch{Session: st.Name, ID: st.ID, DriverMismatch: m})
		}
	}
}

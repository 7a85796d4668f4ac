package sessions

import "berth/sessions/track"

// DriverMismatch is a source of an agent's state that another one has contradicted.
type DriverMismatch = track.DriverMismatch

// SessionMismatch is a DriverMismatch of a session.
type SessionMismatch struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	DriverMismatch
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

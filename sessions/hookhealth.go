package sessions

import (
	"cmp"
	"slices"

	"berth/sessions/track"
)

// HookCounts are of the hook events that a session had since the server began.
type HookCounts = track.HookCounts

// HookHealth is how the hooks of the sessions that somebody sees fare.
type HookHealth struct {
	HookCounts
	Storms []HookStorm `json:"storms"` // sessions with coalesced events, the most first
}

// HookStorm is a session whose hooks were too many.
type HookStorm struct {
	Session   string `json:"session"`
	ID        string `json:"id"`
	Coalesced uint64 `json:"coalesced"`
}

// mostStorms bounds what health lists.
const mostStorms = 20

func (h *HookHealth) see(st *Status) {
	h.Add(st.Hooks)
	if st.Hooks.Coalesced > 0 {
		h.Storms = append(h.Storms, HookStorm{Session: st.Name, ID: st.ID, Coalesced: st.Hooks.Coalesced})
	}
}

func (h *HookHealth) sort() {
	slices.SortStableFunc(h.Storms, func(a, b HookStorm) int { return cmp.Compare(b.Coalesced, a.Coalesced) })
	h.Storms = h.Storms[:min(len(h.Storms), mostStorms)]
}

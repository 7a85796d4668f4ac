package sessions

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"

	"berth/api"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/track"
)

// Disk is the state folder's file system.
type Disk struct {
	FreeBytes  uint64 `json:"free_bytes"`
	TotalBytes uint64 `json:"total_bytes"`
}

func (r *Registry) disk() (Disk, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(r.options.StateDir, &s); err != nil {
		return Disk{}, fmt.Errorf("look at the state folder's disk: %w", err)
	}
	block := uint64(s.Bsize)
	return Disk{FreeBytes: s.Bavail * block, TotalBytes: s.Blocks * block}, nil
}

// Health is how the sessions fare.
type Health struct {
	PID      int
	States   map[string]int
	Problems []string
	Hooks    HookHealth
	// Mismatches are sources of agents' states that are believed by the slow rule.
	Mismatches []SessionMismatch

	// What is counted over all sessions together; nil for a caller who does not
	// see them all.
	Events *EventHealth
	Disk   *Disk
	Memory *Memory
}

// Memory is what the server's own heap takes.
type Memory struct {
	HeapBytes uint64 `json:"heap_bytes"`
	SysBytes  uint64 `json:"sys_bytes"`
}

// Health gathers what is wrong, if anything, with the sessions that the caller
// sees and with what all share; all says that it may see every one, also those
// whose folders cannot be used.
func (r *Registry) Health(sees func(*Session) bool, all bool) Health {
	h := Health{PID: os.Getpid(), States: map[string]int{}, Hooks: HookHealth{Storms: []HookStorm{}}, Mismatches: []SessionMismatch{}}
	if all {
		h.Problems = slices.Clone(r.unusable.why)
	}
	for _, s := range r.All() {
		if !sees(s) {
			continue
		}
		st := s.Status()
		h.States[string(st.Now)]++
		h.Hooks.see(st)
		h.mismatched(st)
		if st.Problem != "" {
			h.Problems = append(h.Problems, st.Name+": "+st.Problem)
		}
		if n := s.unwritten(st); n > 0 {
			h.Problems = append(h.Problems, fmt.Sprintf("%s: the newest %d bytes of output could not be written to disk", st.Name, n))
		}
		if st.Losses > 0 {
			h.Problems = append(h.Problems, fmt.Sprintf("%s: %d bytes of output could not be kept", st.Name, st.Losses))
		}
		if st.Panics > 0 {
			h.Problems = append(h.Problems, fmt.Sprintf("%s: the emulator recovered from %d panics", st.Name, st.Panics))
		}
	}
	h.Hooks.sort()
	disk, err := r.disk()
	if err != nil {
		h.Problems = append(h.Problems, err.Error())
	} else if float64(disk.FreeBytes) < leastFree*float64(disk.TotalBytes) {
		h.Problems = append(h.Problems, "the disk of the state folder is nearly full: no new session is made")
	}
	events := r.events.Stats()
	if events.Failing {
		h.Problems = append(h.Problems, "the event log cannot be written: events wait in memory")
	}
	if !all {
		return h
	}
	h.Events, h.Disk = eventHealth(events, &h), &disk
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h.Memory = &Memory{HeapBytes: m.HeapAlloc, SysBytes: m.Sys}
	return h
}

// unwritten is how much of the output on the screen is not in a file. The journal
// records such a loss only when it is over.
func (s *Session) unwritten(st *Status) int64 {
	if !st.Running() {
		return 0
	}
	out := hold.OpenOutput(s.dir)
	defer out.Close() // a read-only file
	_, next, err := out.Range()
	if err != nil {
		return 0 // the loop reads the output too, and reports the failure
	}
	return max(0, st.Offset-next)
}

// EventHealth is how the event log does.
type EventHealth struct {
	Head     string `json:"head"`  // cursor of the newest event
	First    string `json:"first"` // of the oldest kept
	Segments int    `json:"segments"`
	Bytes    int64  `json:"bytes"`
	Pending  int    `json:"pending"` // events that wait for the disk
	Dropped  uint64 `json:"dropped"` // events lost that way
}

func eventHealth(s events.Stats, h *Health) *EventHealth {
	if s.Failing {
		h.Problems = append(h.Problems, fmt.Sprintf("the event log's error: %v; %d events wait", s.Err, s.Pending))
	}
	if s.Dropped > 0 {
		h.Problems = append(h.Problems, fmt.Sprintf("%d events were lost while the event log could not be written", s.Dropped))
	}
	return &EventHealth{
		Head: events.FormatCursor(s.Head), First: events.FormatCursor(s.First), Segments: s.Segments, Bytes: s.Bytes, Pending: s.Pending, Dropped: s.Dropped,
	}
}

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

// leastFree is the part of the disk that must be free for a new session.
const leastFree = 0.05

// roomOnDisk refuses a new session when the disk is nearly full.
func (r *Registry) roomOnDisk() error {
	d, err := r.disk()
	if err != nil {
		return err
	}
	if float64(d.FreeBytes) < leastFree*float64(d.TotalBytes) {
		return api.Errorf(api.CodeLimit, "the disk of the state folder has %d of %d MiB free, less than 5 %%: make room, or rm ended sessions",
			d.FreeBytes>>20, d.TotalBytes>>20)
	}
	return nil
}

// HookHealth has the counts of hooks of the sessions that the caller may see.
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

// HookCounts are of the hook events that a session had since the server began.
type HookCounts = track.HookCounts

// DriverMismatch is a source of an agent's state that another one has contradicted.
type DriverMismatch = track.DriverMismatch

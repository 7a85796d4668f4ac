package sessions

import (
	"time"

	"berth/agent"
	"berth/sessions/hold"
)

// Figures are numbers over all sessions, for metrics. Making them asks no session's loop.
type Figures struct {
	States      map[string]map[agent.State]int // sessions, by agent and state
	Prompts     int                            // open
	Oldest      time.Time                      // when the oldest of them was opened; zero without one
	Queued      int                            // messages that wait for their agents
	Holders     int                            // that run
	OutputBytes int64                          // read since the server started
	Unread      int64                          // bytes of output in the journals that the server has yet to read
	MostUnread  int64                          // of one session
	Disk        Disk                           // zero if it can't be read
	EventLog    EventHealth
}

// Figures counts.
func (r *Registry) Figures() Figures {
	f := Figures{States: map[string]map[agent.State]int{}, OutputBytes: r.read.Load()}
	for name := range r.drivers() {
		f.States[name] = map[agent.State]int{}
	}
	for _, s := range r.All() {
		st := s.Status()
		if f.States[st.Agent] == nil {
			f.States[st.Agent] = map[agent.State]int{}
		}
		f.States[st.Agent][st.Now]++
		f.Queued += st.QueueLength
		if st.HolderPID != 0 {
			f.Holders++
		}
		for _, p := range st.Requests {
			if at := p.Since.Time; f.Prompts == 0 || at.Before(f.Oldest) {
				f.Oldest = at
			}
			f.Prompts++
		}
		lag := s.unread()
		f.Unread, f.MostUnread = f.Unread+lag, max(f.MostUnread, lag)
	}
	f.Disk, _ = r.disk() // health reports the error
	f.EventLog = *eventHealth(r.events.Stats(), &Health{})
	return f
}

// unread is how many bytes of output the session's loop has yet to read.
func (s *Session) unread() int64 {
	out := hold.OpenOutput(s.dir)
	defer out.Close() // a read-only file
	_, next, err := out.Range()
	if err != nil {
		return 0 // the loop reads the output too, and reports the failure
	}
	return max(0, next-s.Status().Offset)
}

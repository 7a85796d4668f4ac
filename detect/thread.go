package detect

import (
	"time"

	"berth/agent"
)

// A person can open a subagent's thread at the terminal. The agent then draws its dialogs as it draws those of the main thread, and the
// session log that is read has none of its calls. So once a key may have opened one, the text of a prompt says so, until the screen
// shows that the main thread is open. This is for drivers that implement agent.ThreadShower.

// opensWithin is how long an agent may take to open a thread after a key.
const opensWithin = 500 * time.Millisecond

// threads follows a reading of the screen that takes the place of the last one.
func (f *Fold) threads(r *agent.Reading) {
	t, ok := f.driver.(agent.ThreadShower)
	if !ok {
		return
	}
	m := &f.m
	if last := m.Screen.Reading; last != nil && last.Thread == agent.ThreadMain {
		m.MainAt = f.now
	}
	m.Threads = m.Threads || r.Thread != "" || r.Dialog != nil && t.InThread(r.Dialog)
}

// elsewhere reports whether another thread than the main one may be open.
func (f *Fold) elsewhere() bool {
	return f.m.Threads && !f.m.KeyAt.IsZero() && f.m.MainAt.Sub(f.m.KeyAt) < opensWithin
}

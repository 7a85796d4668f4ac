package detect

import (
	"slices"
	"time"

	"berth/agent"
)

// Any process of the session can report that a call is over, and as many other calls as it likes, by hooks and
// in the session log. The dialog of that call may still be to come. So what a dialog may leave out of a logged
// call outlasts the call.

const (
	// pastKept and pastBytes bound the calls that were reported as over.
	pastKept  = 1024
	pastBytes = 1 << 20
	// pastFor is how long the dialog of such a call may take. Hooks of other programs may hold it up, and the
	// agent ends them after 10 minutes.
	pastFor = time.Hour
)

// outlasts keeps a call that is reported as over, if its dialog leaves out a part of it or may do so. If a call
// that may still be asked about has no room, no dialog takes a key for a time.
func (f *Fold) outlasts(c call) {
	l, ok := f.driver.(agent.CallLogReader)
	if !ok || c.Logged == "" || c.Agent != "" || !l.Hides(c.Tool, []byte(c.Logged)) {
		return
	}
	m := &f.m
	m.Past = slices.DeleteFunc(m.Past, func(p pastCall) bool {
		return p.Tool == c.Tool && p.Input == c.Logged || f.now.Sub(p.At) >= pastFor
	})
	m.Past = append(m.Past, pastCall{Tool: c.Tool, Input: c.Logged, At: f.now})
	size := 0
	for _, p := range m.Past {
		size += len(p.Input)
	}
	for ; len(m.Past) > pastKept || size > pastBytes; m.Past = append([]pastCall(nil), m.Past[1:]...) {
		size -= len(m.Past[0].Input)
		m.Unpast = f.now
	}
}

// loggedCalls are the main agent's calls that the session log has reported: those without a result, and past ones.
func (f *Fold) loggedCalls() []pastCall {
	var all []pastCall
	for _, c := range f.m.Calls {
		if c.Logged != "" && c.Agent == "" {
			all = append(all, pastCall{Tool: c.Tool, Input: c.Logged, At: f.now})
		}
	}
	for _, p := range f.m.Past {
		if f.now.Sub(p.At) < pastFor {
			all = append(all, p)
		}
	}
	return all
}

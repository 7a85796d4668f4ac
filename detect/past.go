package detect

import (
	"slices"
	"time"

	"berth/agent"
)

// Any process of the session can report that a call is over, and as many other calls as it likes, by hooks and
// in the session log. The dialog of that call may still be to come, or come again after a moment off the screen. So
// what a dialog may leave out of a logged call outlasts the call.

const (
	// pastBytes bounds the calls that were reported as over. Each counts as pastEach bytes and its input, a
	// shortened one as shortEach.
	pastBytes = 2 << 20
	pastEach  = 1 << 10
	shortEach = 256
	// unpastKept bounds the tools whose calls had no room.
	unpastKept = 64
	// pastShown is how many past calls a prompt's text says more of than its dialog. With more, no key answers it.
	pastShown = 8
)

// outlasts keeps a call that is reported as over, if its dialog leaves out a part of it or may do so. Without
// room the oldest calls are shortened. Then the tool whose calls take the most gives way, and no dialog of that
// tool takes a key for a time.
func (f *Fold) outlasts(c call) {
	l, ok := f.driver.(agent.CallLogReader)
	if !ok || c.Logged == "" || c.Agent != "" || !l.Hides(c.Tool, []byte(c.Logged)) {
		return
	}
	m := &f.m
	past := pastCall{Tool: c.Tool, Input: c.Logged, At: f.now, Look: c.Look}
	m.Past = slices.DeleteFunc(m.Past, func(p pastCall) bool {
		same := p.Tool == c.Tool && p.Input == c.Logged
		if same {
			past.Look = f.oneLook(past.Look, p.Look)
		}
		return same || f.now.Sub(p.At) >= pastFor
	})
	m.Past = append(m.Past, past)
	size, sizes := 0, map[string]int{}
	for _, p := range m.Past {
		size += p.size()
		sizes[p.Tool] += p.size()
	}
	for i := 0; i < len(m.Past) && size > pastBytes; i++ {
		p := &m.Past[i]
		was := p.size()
		if shorten(l, p) {
			size, sizes[p.Tool] = size+p.size()-was, sizes[p.Tool]+p.size()-was
		}
	}
	for size > pastBytes {
		most := m.Past[0].Tool
		for _, p := range m.Past {
			if sizes[p.Tool] > sizes[most] {
				most = p.Tool
			}
		}
		i := slices.IndexFunc(m.Past, func(p pastCall) bool { return p.Tool == most })
		freed := m.Past[i].size()
		size, sizes[most] = size-freed, sizes[most]-freed
		m.Past = slices.Delete(m.Past, i, i+1)
		f.unpast(most)
	}
}

func (p *pastCall) size() int {
	if p.Short {
		return shortEach + len(p.Input)
	}
	return pastEach + len(p.Input)
}

// shorten reports whether there is less of the call to be kept.
func shorten(l agent.CallLogReader, p *pastCall) bool {
	if p.Short || p.Whole {
		return false
	}
	short := l.Shortened(p.Tool, []byte(p.Input))
	if p.Whole = short == nil; !p.Whole {
		p.Input, p.Short = string(short), true
	}
	return p.Short
}

// unpast keeps that a call of the tool had no room.
func (f *Fold) unpast(tool string) {
	m := &f.m
	m.Crowded = slices.DeleteFunc(m.Crowded, func(u forgotten) bool { return u.Tool == tool || f.now.Sub(u.At) >= pastFor })
	if m.Crowded = append(m.Crowded, forgotten{Tool: tool, At: f.now}); len(m.Crowded) > unpastKept {
		m.Crowded = []forgotten{{At: f.now}}
	}
}

// dialogOver handles the end of a dialog that was on the screen: the call that it was about has asked. Of equal
// calls it is one, and the others may still ask.
func (f *Fold) dialogOver(r *request, how string) {
	m := &f.m
	if !r.Whole || how == "superseded" || how == "too_many" {
		return
	}
	found := -1
	for i := range m.Calls {
		if c := &m.Calls[i]; !c.Asked && !r.isBefore(c) && (found < 0 || c.ID == r.Call) && f.isOf(r, c) {
			found = i
		}
	}
	if found >= 0 {
		c := &m.Calls[found]
		if asksOn := r.allowedOne() && f.asksOn(r, c); !asksOn {
			c.Asked, c.Allowed = true, r.allowedOne()
		}
	}
}

// isBefore reports whether the prompt was reported as over before the call began. The dialog on the screen may be the call's, and an
// answer before it isn't.
func (r *request) isBefore(c *call) bool { return r.Over != nil && c.Since.After(r.Over.At) }

// pastOf are the past calls that the dialog draws something of.
func (f *Fold) pastOf(l agent.CallLogReader, d *agent.Dialog) (all []pastCall) {
	for _, p := range f.m.Past {
		if f.now.Sub(p.At) < pastFor && f.compared(l, d, p).draws {
			all = append(all, p)
		}
	}
	return all
}

// compared compares a logged call with the dialog, once for each picture.
func (f *Fold) compared(l agent.CallLogReader, d *agent.Dialog, c pastCall) comparison {
	if f.comparedWith != d {
		f.comparedWith, f.comparisons = d, map[pastCall]comparison{}
	}
	c.At, c.Look, c.Whole = time.Time{}, "", false
	done, ok := f.comparisons[c]
	if !ok {
		done.match, done.undrawn = l.LoggedCall(d, c.Tool, []byte(c.Input))
		done.mayHide = done.match == agent.NoMatch && l.MayHide(d, c.Tool, []byte(c.Input))
		done.draws = l.Draws(d, c.Tool, []byte(c.Input))
		f.comparisons[c] = done
	}
	return done
}

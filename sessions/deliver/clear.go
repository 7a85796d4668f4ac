package deliver

import (
	"time"

	"berth/agent"
	"berth/api"
)

// retire takes back what was typed.
func (m *Machine) retire(s Seen, now time.Time, why string) Step {
	m.enter(retiring, now)
	m.ending = Outcome{Verdict: Refused, Code: api.CodeAgentBusy, Evidence: why}
	if box := at(s); box != nil && !box.Empty && !m.holds(s, box) && m.occupied(s) == "" {
		m.ending.Code = api.CodeDraftPresent // something else was typed at the same time
	}
	m.keys = clearer{}
	if m.mixed(at(s)) {
		m.ending.Left = true
		return m.end(s, now, m.ending)
	}
	return m.takeBack(s, now)
}

func (m *Machine) takeBack(s Seen, now time.Time) Step {
	var box *agent.Composer
	if s.Reading != nil && s.Reading.Dialog == nil {
		box = s.Reading.Composer
	}
	if box != nil && box.Empty && m.keys.pressed > 0 {
		return m.end(s, now, m.ending)
	}
	if m.over(now, takeBackFor) {
		m.ending.Left = m.keys.pressed > 0 || box != nil && !box.Empty
		return m.end(s, now, m.ending)
	}
	if box == nil || box.Empty || m.keys.pressed == 0 && !m.holds(s, box) {
		return look() // the echo may be late, and a person's draft is not touched
	}
	key, stuck := m.keys.next(m.o.Typer, box, now)
	if stuck {
		m.ending.Left = true
		return m.end(s, now, m.ending)
	}
	return write(key)
}

// clearer presses the keys that clear, one at a time.
type clearer struct {
	pressed, stuck int
	text           string // before the last key
	at             time.Time
}

// next is the key to press now, nil to wait; stuck when no key helps.
func (k *clearer) next(t agent.MessageTyper, box *agent.Composer, now time.Time) (key []byte, stuck bool) {
	if box == nil {
		return nil, false
	}
	if k.pressed > 0 {
		if box.Text != k.text {
			k.stuck = 0
		} else if now.Sub(k.at) < clearHolds {
			return nil, false
		} else {
			k.stuck++
		}
	}
	key = t.Clear(box, k.stuck)
	if key == nil || k.pressed >= clearKeys {
		return nil, true
	}
	k.pressed, k.text, k.at = k.pressed+1, box.Text, now
	return key, false
}

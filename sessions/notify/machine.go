package notify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Bounds of a Machine.
const (
	// A rule sends at most burst notices at once, and then one in each period of every. An
	// occasion over this limit waits. It is dropped when it is over.
	burst = 10
	every = 6 * time.Second
	// reportWaits is how long a report may wait, because a report is never over by itself.
	reportWaits = 10 * time.Minute
	// mostReports and mostPrompts bound what waits of one session, because a report may have 16 KiB,
	// and an agent may ask without end. The oldest are dropped first.
	mostReports = 20
	mostPrompts = 50
	// ofRule bounds the notices of one rule that are being sent, so that a slow service delays no
	// other rule.
	ofRule = 4
	// holdMost bounds how long a service may ask a rule to wait.
	holdMost = time.Hour
)

// Occasion is something that rules may notify about. It exists for as long as it is true.
type Occasion struct {
	Key     string          `json:"key"` // the same after a restart
	Kind    string          `json:"kind"`
	Session string          `json:"session"` // id
	Since   time.Time       `json:"since"`
	Cursor  uint64          `json:"cursor"`
	Prompt  string          `json:"prompt,omitempty"` // id
	Data    json.RawMessage `json:"data,omitempty"`   // of the event
	Told    []string        `json:"told,omitempty"`   // ids of the rules whose notice of it was sent, or failed
	Found   bool            `json:"found,omitempty"`  // a session's status showed it; its event may still come
}

// Notice is what a rule has to send now.
type Notice struct {
	Rule     Rule
	Occasion Occasion
	Try      int // 1 for the first
}

// Line is an event as the machine reads it.
type Line struct {
	Cursor  uint64
	Type    string
	Session string // id
	Time    time.Time
	Raw     json.RawMessage
}

// Machine finds the notices to send. Its exported fields are kept over a restart of the server. It
// is for one goroutine.
type Machine struct {
	Cursor    uint64                 `json:"cursor"` // of the last event taken in
	Occasions map[string]*Occasion   `json:"occasions"`
	Rules     map[string]uint64      `json:"rules"` // by the rule's id: the newest event when the rule was first seen
	buckets   map[string]*bucket     // by rule
	flying    map[[2]string]struct{} // rule and key of the notices that are being sent
	tries     map[[2]string]try      // of those that failed and are sent again
	holds     map[string]time.Time   // by rule: its service asked it to wait until then
	served    served
}

// try says that a notice has failed n times, and when it is sent again.
type try struct {
	n  int
	at time.Time
}

type bucket struct {
	tokens float64
	at     time.Time
}

// New is a machine that knows nothing of what happened up to cursor.
func New(cursor uint64) *Machine {
	return &Machine{Cursor: cursor, Occasions: map[string]*Occasion{}, Rules: map[string]uint64{}}
}

// Take takes in an event.
func (m *Machine) Take(l Line) {
	if l.Cursor <= m.Cursor {
		return
	}
	m.Cursor = l.Cursor
	switch l.Type {
	case "state_change":
		var e struct{ Prev, Next string }
		if json.Unmarshal(l.Raw, &e) == nil {
			m.state(l, e.Next)
		}
	case "prompt":
		var e struct {
			Prompt struct {
				ID string `json:"id"`
			} `json:"prompt"`
		}
		if json.Unmarshal(l.Raw, &e) == nil {
			m.open(&Occasion{Key: "prompt:" + e.Prompt.ID, Kind: KindPrompt, Prompt: e.Prompt.ID}, l)
			m.fewer(l.Session, KindPrompt, mostPrompts)
		}
	case "prompt_resolved":
		var e struct{ Prompt string }
		if json.Unmarshal(l.Raw, &e) == nil {
			delete(m.Occasions, "prompt:"+e.Prompt)
		}
	case "exited":
		m.open(&Occasion{Key: fmt.Sprintf("exited:%d", l.Cursor), Kind: KindExited, Data: l.Raw}, l)
	case "restarted":
		m.drop(l.Session, KindExited, KindPrompt)
	case "report":
		m.open(&Occasion{Key: fmt.Sprintf("report:%d", l.Cursor), Kind: KindReport, Data: l.Raw}, l)
		m.fewer(l.Session, KindReport, mostReports)
	case "session_removed":
		m.drop(l.Session)
	case "notify":
		var e struct{ Rule, Key string }
		if json.Unmarshal(l.Raw, &e) == nil {
			m.Done(e.Rule, e.Key)
		}
	}
}

func (m *Machine) open(o *Occasion, l Line) {
	for key, old := range m.Occasions { // the same occasion, if a session's status showed it before its event
		if old.Found && old.Session == l.Session && old.Kind == o.Kind && old.Prompt == o.Prompt {
			o.Told = old.Told
			delete(m.Occasions, key)
		}
	}
	o.Session, o.Since, o.Cursor = l.Session, l.Time, l.Cursor
	m.Occasions[o.Key] = o
}

// state takes in that the session's state has changed.
func (m *Machine) state(l Line, next string) {
	m.drop(l.Session, slices.DeleteFunc([]string{KindIdle, KindError, KindParked}, func(kind string) bool { return kind == next && m.found(l.Session, kind) })...)
	switch next {
	case "idle":
		m.open(&Occasion{Key: fmt.Sprintf("idle:%d", l.Cursor), Kind: KindIdle}, l)
	case "error":
		m.open(&Occasion{Key: fmt.Sprintf("error:%d", l.Cursor), Kind: KindError, Data: l.Raw}, l)
	case "parked":
		m.open(&Occasion{Key: fmt.Sprintf("parked:%d", l.Cursor), Kind: KindParked, Data: l.Raw}, l)
	case "exited":
	default:
		m.drop(l.Session, KindExited)
	}
}

// drop ends a session's occasions of these kinds, or of all kinds if none is given.
func (m *Machine) drop(session string, kinds ...string) {
	maps.DeleteFunc(m.Occasions, func(_ string, o *Occasion) bool {
		return o.Session == session && (len(kinds) == 0 || slices.Contains(kinds, o.Kind))
	})
}

// fewer drops the oldest occasion of a kind of a session that has more than most, so that an agent that
// reports or asks without end uses bounded memory.
func (m *Machine) fewer(session, kind string, most int) {
	var list []*Occasion
	for _, o := range m.Occasions {
		if o.Kind == kind && o.Session == session {
			list = append(list, o)
		}
	}
	if len(list) > most {
		delete(m.Occasions, slices.MinFunc(list, byAge).Key)
	}
}

func byAge(a, b *Occasion) int { return cmp.Compare(a.Cursor, b.Cursor) }

// Settle ends occasions that are over according to the session's status. The caller uses it when
// events are missing.
func (m *Machine) Settle(session, state string, prompts []string) {
	maps.DeleteFunc(m.Occasions, func(_ string, o *Occasion) bool {
		if o.Session != session {
			return false
		}
		switch o.Kind {
		case KindPrompt:
			return !slices.Contains(prompts, o.Prompt)
		case KindReport:
			return false
		}
		return o.Kind != state
	})
}

// Found opens occasions that a session's status shows and no event has opened: the events up to the
// cursor may be missing. prompts are the open prompts by their ids, with the times when they came up.
func (m *Machine) Found(cursor uint64, session, state string, since time.Time, prompts map[string]time.Time) {
	l := Line{Cursor: cursor, Session: session}
	for id, at := range prompts {
		if l.Time = at; m.Occasions["prompt:"+id] == nil {
			m.open(&Occasion{Key: "prompt:" + id, Kind: KindPrompt, Prompt: id, Found: true}, l)
		}
	}
	if state != KindError && state != KindParked && state != KindExited && state != KindIdle {
		return
	}
	for _, o := range m.Occasions {
		if o.Session == session && o.Kind == state {
			return
		}
	}
	l.Time = since
	m.open(&Occasion{Key: fmt.Sprintf("%s:%d:%s", state, cursor, session), Kind: state, Found: true}, l)
}

// found reports whether the session's status showed this kind, and its event hasn't come yet.
func (m *Machine) found(session, kind string) bool {
	for _, o := range m.Occasions {
		if o.Found && o.Session == session && o.Kind == kind {
			return true
		}
	}
	return false
}

// Again takes in that a notice has failed and is sent again at a later time, if its occasion still exists
// by then.
func (m *Machine) Again(rule, key string, at time.Time) {
	id := [2]string{rule, key}
	delete(m.flying, id)
	if m.tries == nil {
		m.tries = map[[2]string]try{}
	}
	m.tries[id] = try{m.tries[id].n + 1, at}
}

// Hold takes in that the rule's service asked it to send nothing for a while.
func (m *Machine) Hold(rule string, now time.Time, wait time.Duration) {
	if m.holds == nil {
		m.holds = map[string]time.Time{}
	}
	m.holds[rule] = now.Add(min(wait, holdMost))
}

// Done takes in that a notice was sent or has failed for the last time. A notice is sent only once.
func (m *Machine) Done(rule, key string) {
	delete(m.flying, [2]string{rule, key})
	delete(m.tries, [2]string{rule, key})
	if o := m.Occasions[key]; o != nil && !slices.Contains(o.Told, rule) {
		o.Told = append(o.Told, rule)
	}
}

// Due returns the notices to send now: at most most of them, in an order that is fair to the sessions. They are being sent
// until Done or Again is called. next is when to call Due again at the latest; the zero time means when
// something happens. rules gives the rules about a session.
func (m *Machine) Due(now time.Time, most int, rules func(session string) []Rule) (due []Notice, next time.Time) {
	wake := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	maps.DeleteFunc(m.tries, func(id [2]string, _ try) bool { return m.Occasions[id[1]] == nil })
	maps.DeleteFunc(m.holds, func(_ string, until time.Time) bool { return !until.After(now) })
	busy := map[string]int{}
	for id := range m.flying {
		busy[id[0]]++
	}
	ready := m.ready(now, rules, wake)
	for _, one := range m.fair(now, ready) {
		id := [2]string{one.rule.ID(), one.occasion.Key}
		switch {
		case len(due) >= most || busy[id[0]] >= ofRule: // the caller asks again after Done
		case !m.pass(id[0], now):
			wake(m.buckets[id[0]].at.Add(every))
		default:
			if m.flying == nil {
				m.flying = map[[2]string]struct{}{}
			}
			m.flying[id] = struct{}{}
			busy[id[0]]++
			m.served[[2]string{id[0], one.occasion.Session}] = now
			due = append(due, Notice{Rule: one.rule, Occasion: *one.occasion, Try: m.tries[id].n + 1})
		}
	}
	return due, next
}

// ready lists what rules may notify about now, the oldest first, and forgets reports that no rule wants or that have
// waited too long.
func (m *Machine) ready(now time.Time, rules func(session string) []Rule, wake func(time.Time)) (ready []candidate) {
	bySession := map[string][]Rule{}
	for _, o := range slices.SortedFunc(maps.Values(m.Occasions), byAge) {
		list, known := bySession[o.Session]
		if !known {
			list = rules(o.Session)
			bySession[o.Session] = list
		}
		if o.Kind == KindReport && now.Sub(o.Since) > reportWaits {
			delete(m.Occasions, o.Key)
			continue
		}
		wanted := false
		for _, r := range list {
			at, ok := m.when(o, r)
			if !ok {
				continue
			}
			switch wanted = true; {
			case at.After(now):
				wake(at)
			case m.holds[r.ID()].After(now):
				wake(m.holds[r.ID()])
			default:
				ready = append(ready, candidate{occasion: o, rule: r})
			}
		}
		if o.Kind == KindReport && !wanted && !m.isFlying(o.Key) {
			delete(m.Occasions, o.Key)
		}
	}
	return ready
}

func (m *Machine) isFlying(key string) bool {
	for f := range m.flying {
		if f[1] == key {
			return true
		}
	}
	return false
}

// when is the time at which a rule notifies of an occasion. ok is false if the rule never does, or
// already did.
func (m *Machine) when(o *Occasion, r Rule) (at time.Time, ok bool) {
	id := r.ID()
	_, flies := m.flying[[2]string{id, o.Key}]
	if flies || slices.Contains(o.Told, id) {
		return at, false
	}
	for _, word := range r.On {
		c, err := ParseCondition(word, plain)
		if err != nil || c.Kind != o.Kind {
			continue
		}
		t := o.Since.Add(Settles)
		switch c.Kind {
		case KindIdle:
			t = o.Since.Add(c.After)
		case KindReport:
			var e struct{ Kind string }
			if json.Unmarshal(o.Data, &e) != nil || c.Report != "" && c.Report != e.Kind {
				continue
			}
			t = o.Since
		}
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	if !ok {
		return at, false
	}
	since, seen := m.Rules[id]
	if !seen { // a rule notifies only of what happens after it was added
		since = m.Cursor
		m.Rules[id] = since
	}
	if again := m.tries[[2]string{id, o.Key}].at; again.After(at) {
		at = again
	}
	return at, o.Cursor > since
}

// See records the rules, so that they notify of what happens from now on.
func (m *Machine) See(rules []Rule) {
	for _, r := range rules {
		if _, seen := m.Rules[r.ID()]; !seen {
			m.Rules[r.ID()] = m.Cursor
		}
	}
}

// pass takes one token of the rule's rate limit. It is false if there is none.
func (m *Machine) pass(rule string, now time.Time) bool {
	if m.buckets == nil {
		m.buckets = map[string]*bucket{}
	}
	b := m.buckets[rule]
	if b == nil {
		b = &bucket{tokens: burst, at: now}
		m.buckets[rule] = b
	}
	b.tokens = min(burst, b.tokens+float64(now.Sub(b.at))/float64(every))
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// Flying is how many notices are being sent.
func (m *Machine) Flying() int { return len(m.flying) }

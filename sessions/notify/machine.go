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
	// A rule tells this many at once, and then one each so often. What is over
	// waits, and is forgotten when it is no longer so.
	burst = 10
	every = 6 * time.Second
	// A report is always so: it waits so long, and of more than these of one
	// session the oldest go first. A report may have 16 KiB.
	reportWaits = 10 * time.Minute
	mostReports = 20
)

// Occasion is something that rules may speak of, for as long as it is so.
type Occasion struct {
	Key     string          `json:"key"` // the same after a restart
	Kind    string          `json:"kind"`
	Session string          `json:"session"` // id
	Since   time.Time       `json:"since"`
	Cursor  uint64          `json:"cursor"`
	Prompt  string          `json:"prompt,omitempty"` // id
	Data    json.RawMessage `json:"data,omitempty"`   // of the event
	Told    []string        `json:"told,omitempty"`   // ids of the rules by which it was told
	Found   bool            `json:"found,omitempty"`  // a session showed it; the event that tells of it may yet come
}

// Notice is what is to be told now.
type Notice struct {
	Rule     Rule
	Occasion Occasion
}

// Line is an event as the machine reads it.
type Line struct {
	Cursor  uint64
	Type    string
	Session string // id
	Time    time.Time
	Raw     json.RawMessage
}

// Machine finds what is to be told. All that it knows is in its fields, which
// are kept over a restart; it is for one goroutine.
type Machine struct {
	Cursor    uint64                 `json:"cursor"` // of the last event that was taken in
	Occasions map[string]*Occasion   `json:"occasions"`
	Rules     map[string]uint64      `json:"rules"` // the newest event when a rule was first seen, by its id
	buckets   map[string]*bucket     // by rule
	flying    map[[2]string]struct{} // rule and key: being told
}

type bucket struct {
	tokens float64
	at     time.Time
}

// New is a machine that knows nothing of what was before.
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
		m.fewerReports(l.Session)
	case "session_removed":
		m.drop(l.Session)
	case "notify":
		var e struct{ Rule, Key string }
		if json.Unmarshal(l.Raw, &e) == nil {
			m.Told(e.Rule, e.Key)
		}
	}
}

func (m *Machine) open(o *Occasion, l Line) {
	for key, old := range m.Occasions { // found before: the same
		if old.Found && old.Session == l.Session && old.Kind == o.Kind && old.Prompt == o.Prompt {
			o.Told = old.Told
			delete(m.Occasions, key)
		}
	}
	o.Session, o.Since, o.Cursor = l.Session, l.Time, l.Cursor
	m.Occasions[o.Key] = o
}

// state takes in that the session is in another state.
func (m *Machine) state(l Line, next string) {
	m.drop(l.Session, slices.DeleteFunc([]string{KindIdle, KindError}, func(kind string) bool { return kind == next && m.found(l.Session, kind) })...)
	switch next {
	case "idle":
		m.open(&Occasion{Key: fmt.Sprintf("idle:%d", l.Cursor), Kind: KindIdle}, l)
	case "error":
		m.open(&Occasion{Key: fmt.Sprintf("error:%d", l.Cursor), Kind: KindError, Data: l.Raw}, l)
	case "exited":
	default:
		m.drop(l.Session, KindExited)
	}
}

// drop ends a session's occasions of these kinds; of all without any.
func (m *Machine) drop(session string, kinds ...string) {
	maps.DeleteFunc(m.Occasions, func(_ string, o *Occasion) bool {
		return o.Session == session && (len(kinds) == 0 || slices.Contains(kinds, o.Kind))
	})
}

// fewerReports: an agent that reports without end has nobody else's forgotten.
func (m *Machine) fewerReports(session string) {
	var reports []*Occasion
	for _, o := range m.Occasions {
		if o.Kind == KindReport && o.Session == session {
			reports = append(reports, o)
		}
	}
	if len(reports) <= mostReports {
		return
	}
	slices.SortFunc(reports, byAge)
	delete(m.Occasions, reports[0].Key)
}

func byAge(a, b *Occasion) int { return cmp.Compare(a.Cursor, b.Cursor) }

// Settle ends what is not so any more, as a session shows it: for when events
// in between are gone.
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

// Found opens what a session shows and no event told of: those up to the cursor
// may be gone. prompts are the open ones by their ids, with when they came up.
func (m *Machine) Found(cursor uint64, session, state string, since time.Time, prompts map[string]time.Time) {
	l := Line{Cursor: cursor, Session: session}
	for id, at := range prompts {
		if l.Time = at; m.Occasions["prompt:"+id] == nil {
			m.open(&Occasion{Key: "prompt:" + id, Kind: KindPrompt, Prompt: id, Found: true}, l)
		}
	}
	if state != KindError && state != KindExited && state != KindIdle {
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

// found says whether the session showed that, and no event told of it yet.
func (m *Machine) found(session, kind string) bool {
	for _, o := range m.Occasions {
		if o.Found && o.Session == session && o.Kind == kind {
			return true
		}
	}
	return false
}

// Told is the end of a notice, however it went: it is told once.
func (m *Machine) Told(rule, key string) {
	delete(m.flying, [2]string{rule, key})
	if o := m.Occasions[key]; o != nil && !slices.Contains(o.Told, rule) {
		o.Told = append(o.Told, rule)
	}
}

// Due is what is to be told now, at most so many, the oldest first; it counts
// as being told until Told says so. next is when to ask again at the latest,
// the zero time: when something happens. rules are those about a session.
func (m *Machine) Due(now time.Time, most int, rules func(session string) []Rule) (due []Notice, next time.Time) {
	wake := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	bySession := map[string][]Rule{}
	for _, o := range slices.SortedFunc(maps.Values(m.Occasions), byAge) {
		list, known := bySession[o.Session]
		if !known {
			list = rules(o.Session)
			bySession[o.Session] = list
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
			case len(due) >= most: // asked again when one of them is told
			case !m.pass(r.ID(), now):
				wake(m.buckets[r.ID()].at.Add(every))
			default:
				if m.flying == nil {
					m.flying = map[[2]string]struct{}{}
				}
				m.flying[[2]string{r.ID(), o.Key}] = struct{}{}
				due = append(due, Notice{Rule: r, Occasion: *o})
			}
		}
		if o.Kind == KindReport && (!wanted && !m.isFlying(o.Key) || now.Sub(o.Since) > reportWaits) {
			delete(m.Occasions, o.Key)
		}
	}
	return due, next
}

func (m *Machine) isFlying(key string) bool {
	for f := range m.flying {
		if f[1] == key {
			return true
		}
	}
	return false
}

// when is the moment at which a rule tells of an occasion; ok is false if it
// never does, or has.
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
	if !seen { // a rule speaks of what comes after it
		since = m.Cursor
		m.Rules[id] = since
	}
	return at, o.Cursor > since
}

// See has the rules known, so that they speak of what comes now.
func (m *Machine) See(rules []Rule) {
	for _, r := range rules {
		if _, seen := m.Rules[r.ID()]; !seen {
			m.Rules[r.ID()] = m.Cursor
		}
	}
}

// pass takes one of the rule's turns.
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

// Flying is how many notices are being told.
func (m *Machine) Flying() int { return len(m.flying) }

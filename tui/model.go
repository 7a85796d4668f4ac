// Package tui is the dashboard: a list of the sessions, the screen or the prompt of the chosen one, and
// keys that act on it. sshd/dispatch runs it for a client with a terminal and no command.
//
// The Model is pure: sessions, keys and the clock go in, a picture and effects come out, and one
// goroutine calls it. run.go is the Bubble Tea program around it, with all goroutines: one reads the
// client's keys, one follows the event log, one follows each shown screen, one writes to the client.
package tui

import (
	"maps"
	"slices"
	"time"

	"berth/agent"
	"berth/sessions"
)

// World is what the person may see and do at one moment.
type World struct {
	Sessions []*sessions.Status // the sessions that the person may see
	May      Rights             // the verbs that the person may use
	Hosts    []FleetHost        // of a fleet, at its gateway: names of sessions begin with their host
	Cut      map[string]bool    // ids of sessions whose prompt isn't known whole

	Profiles   []string // profiles that the person may start a session from
	OwnCommand bool     // whether the person may start a session with any command
}

// Rights are the verbs that the person may use now.
type Rights map[string]bool

// Typing is the key in Rights for the right to type at sessions' terminals.
const Typing = "attach as writer"

// Person is the person at the dashboard.
type Person struct {
	Name string
	Role string
}

// Model is a dashboard. Its methods are called by one goroutine.
type Model struct {
	theme      theme
	person     Person
	cols, rows int
	now        time.Time
	strayed    time.Time // when keys for a session last began to arrive here, or when the last of them came
	flash      flash
	doing      int // number of acts under way

	listing
	flow
	preview
	card  card
	wall  wall
	mouse mouse
	writing
	notices
	overlay
}

// listing is the list of sessions: their order and the chosen one.
type listing struct {
	world    World
	byID     map[string]*sessions.Status
	by       grouping
	mixed    bool             // sessions of all hosts are grouped by by
	order    []string         // ids in the order of the list
	groups   map[string]group // of these sessions
	depths   map[string]int   // of those that are shown below their parents
	selected string
	wanted   string    // id of a new session, to be chosen when it is listed
	touched  time.Time // time of the last key
	moved    time.Time // when the selection last moved by itself
	top      int       // first shown line of the list
	seen     map[string]uint64
	filter   filter
	marks    map[string]bool // ids of the marked sessions
	detail   bool            // on a small terminal: show the session instead of the list
}

// overlay is what covers the list and the session.
type overlay struct {
	help              bool
	helpTop, helpLast int       // first shown line of the help, and its maximum
	talk              *talk     // the conversation that the person reads
	page              *pager    // a page that the person reads
	start             *starting // the form for a new session
	before            startedBefore
	command           *commandBar // the person types a verb
	said              []string    // the lines that were run in it, the newest last
	running           bool        // one of them is running
	confirm           *confirm    // waits for the person's yes
}

// flash is a message in the last line. The next key removes it.
type flash struct {
	text  string
	tone  tone
	until time.Time // no key removes it before this time
}

// An Effect is what the program around the model must do after a key; nil is nothing.
type Effect any

type (
	// Quit ends the dashboard.
	Quit struct{}
	// Attach shares the terminal of the session with this id.
	Attach struct{ ID string }
)

// NewModel returns an empty dashboard. seen has the states that the person has seen before: for each
// session the number of the event that made the state.
func NewModel(p Person, seen map[string]uint64, cols, rows int, now time.Time) *Model {
	if seen == nil {
		seen = map[string]uint64{}
	}
	return &Model{person: p, listing: listing{seen: seen}, cols: cols, rows: rows, now: now}
}

// calm is how long after a key the list is sorted again. Nothing moves while the person is choosing.
const calm = 5 * time.Second

// SetWorld sets what the person may see and do now.
func (m *Model) SetWorld(w World, now time.Time) {
	m.world, m.now = w, now
	m.byID = make(map[string]*sessions.Status, len(w.Sessions))
	for _, s := range w.Sessions {
		m.byID[s.ID] = s
	}
	maps.DeleteFunc(m.marks, func(id string, _ bool) bool { return m.byID[id] == nil })
	m.noteWaits(w.Sessions)
	m.sort()
	if m.wanted != "" && m.byID[m.wanted] != nil {
		m.Select(m.wanted)
		m.wanted = ""
	}
	m.syncCard()
}

// holding reports whether nothing may move, because the person is doing something or has just pressed
// a key.
func (m *Model) holding() bool {
	return m.edit != nil || m.confirm != nil || m.card.step > 0 || m.card.filling || m.card.review || !m.touched.IsZero() && m.now.Sub(m.touched) < calm
}

// Due is when the picture next changes without an event: when an age changes, when the list may be sorted
// again, or when a key begins to work.
func (m *Model) Due() time.Time {
	next := m.now.Truncate(time.Minute).Add(time.Minute)
	for _, id := range m.order {
		if young := m.now.Sub(m.byID[id].Since); young >= 0 && young < time.Minute {
			next = earlier(next, m.now.Truncate(time.Second).Add(time.Second))
			break
		}
	}
	if again := m.touched.Add(calm); m.now.Before(again) {
		next = earlier(next, again)
	}
	if works := m.settles(); !works.IsZero() {
		next = earlier(next, works)
	}
	return next
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Tick sets the clock. It reports whether a new minute has begun: rights may have ended with the last one.
func (m *Model) Tick(now time.Time) (minute bool) {
	minute = !now.Truncate(time.Minute).Equal(m.now.Truncate(time.Minute))
	m.now = now
	m.sort()
	m.syncCard()
	return minute
}

// Resize sets the window's size.
func (m *Model) Resize(cols, rows int) { m.cols, m.rows = cols, rows }

// Wanted is the id of the session whose screen is shown; empty if none is.
func (m *Model) Wanted() string {
	if l := m.layout(); !m.help && m.talk == nil && m.page == nil && m.start == nil && l.preview && m.world.May["screen"] {
		return m.selected
	}
	return ""
}

// Flash shows a message in the last line until the next key.
func (m *Model) Flash(text string, of tone) { m.flash = flash{text: text, tone: of} }

// Select chooses a session if it is listed.
func (m *Model) Select(id string) {
	if slices.Contains(m.order, id) {
		m.selected = id
		m.markSeen()
		m.syncCard()
	}
}

// current is the chosen session; nil if there is none.
func (l *listing) current() *sessions.Status { return l.byID[l.selected] }

// Back records that the person is back after an attachment. why says what ended it; it is empty
// if the person detached.
func (m *Model) Back(why string, now time.Time) {
	m.now, m.strayed = now, time.Time{}
	if why != "" {
		m.strayed, m.stray = now, "no longer attached: keys typed for the session do nothing here"
		m.Flash(why, failed)
	}
}

// astray reports whether a key was typed for a session that isn't attached. Such keys end
// with the first pause, because a person keeps typing until they look up.
func (m *Model) astray() bool {
	if !m.strays() {
		return false
	}
	m.strayed = m.now
	m.Flash(m.stray, waits)
	return true
}

// strays reports whether a key that comes now was typed for a session.
func (m *Model) strays() bool { return !m.strayed.IsZero() && m.now.Sub(m.strayed) < settleTime }

// markSeen records that the person has seen the chosen session's state.
func (l *listing) markSeen() {
	if s := l.current(); s != nil {
		l.seen[s.ID] = s.StateSeq
	}
}

// unseen reports whether a session has a result that the person hasn't seen yet.
func (l *listing) unseen(s *sessions.Status) bool {
	switch s.Now {
	case agent.Prompt, agent.InError, agent.Parked, agent.Idle, agent.Exited:
		return l.seen[s.ID] < s.StateSeq
	}
	return false
}

// waiting counts the sessions that wait for a person.
func (l *listing) waiting() int {
	n := 0
	for _, s := range l.world.Sessions {
		if s.Now == agent.Prompt {
			n++
		}
	}
	return n
}

// Package tui is the dashboard: a list of the sessions, the one that is chosen
// beside it, and what can be done with it. The Model is a function of values:
// what there is, keys, and a clock passed in; run.go is the Bubble Tea program
// around it, with all goroutines.
package tui

import (
	"slices"
	"time"

	"berth/agent"
	"berth/sessions"
)

// World is what the server has to show at one moment.
type World struct {
	Sessions []*sessions.Status // those that the person may see
	May      Rights             // what the person may do with them

	Profiles   []string // that sessions can be made from
	OwnCommand bool     // or with a command of the person's own
}

// Rights are the verbs that the person may use now.
type Rights map[string]bool

// Typing stands among Rights for the right to type at sessions' terminals.
const Typing = "attach as writer"

// Person is who looks.
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
	strayed    time.Time // when an attachment last ended by itself, or a key meant for that session last came
	flash      flash
	doing      int // acts under way

	listing
	preview
	card card
	writing
	notices
	overlay
}

// listing is the list: what there is, in which order, and what of it is chosen.
type listing struct {
	world    World
	byID     map[string]*sessions.Status
	order    []string // ids, as they are listed
	selected string
	wanted   string    // id of one that was made and is to be chosen when it is listed
	touched  time.Time // when a key last came
	moved    time.Time // when another session came to be chosen by itself
	top      int       // first line of the list that is shown
	seen     map[string]uint64
	filter   filter
	detail   bool // on a small terminal: the session is shown instead of the list
}

// overlay is what is in the place of list and session.
type overlay struct {
	help              bool
	helpTop, helpLast int       // first line of it that is shown, and the most that may be
	page              *pager    // is read
	start             *starting // a session is being made
	confirm           *confirm  // waits for a yes
}

// flash is something told in the last line until the next key.
type flash struct {
	text  string
	tone  tone
	until time.Time // stays until then whatever key comes
}

// An Effect is what the rim has to do after a key; nil is nothing.
type Effect any

type (
	// Quit ends the dashboard.
	Quit struct{}
	// Attach shares the terminal of the session with this id.
	Attach struct{ ID string }
)

// NewModel is an empty dashboard. seen are the states that the person has seen
// before, by session, as the number of the event that made them.
func NewModel(p Person, seen map[string]uint64, cols, rows int, now time.Time) *Model {
	if seen == nil {
		seen = map[string]uint64{}
	}
	return &Model{person: p, listing: listing{seen: seen}, cols: cols, rows: rows, now: now}
}

// calm is how long after a key the list is put in order again: nothing moves
// while a person aims at something.
const calm = 5 * time.Second

// SetWorld takes in what there is now.
func (m *Model) SetWorld(w World, now time.Time) {
	m.world, m.now = w, now
	m.byID = make(map[string]*sessions.Status, len(w.Sessions))
	for _, s := range w.Sessions {
		m.byID[s.ID] = s
	}
	m.begun(w.Sessions)
	m.sort()
	if m.wanted != "" && m.byID[m.wanted] != nil {
		m.Select(m.wanted)
		m.wanted = ""
	}
	m.syncCard()
}

// sort puts the list in order, unless a key has just come: then what there is
// keeps its place, and what is new comes behind it.
func (m *Model) sort() {
	shown := m.matching()
	slices.SortFunc(shown, inbox)
	held := m.holding()
	place := map[string]int{}
	if held {
		for i, id := range m.order {
			place[id] = i + 1
		}
		slices.SortStableFunc(shown, func(a, b *sessions.Status) int {
			pa, pb := place[a.ID], place[b.ID]
			switch {
			case pa == 0 && pb == 0:
				return 0
			case pa == 0:
				return 1
			case pb == 0:
				return -1
			}
			return pa - pb
		})
	}
	before := slices.Index(m.order, m.selected)
	order := make([]string, len(shown))
	for i, s := range shown {
		order[i] = s.ID
	}
	m.order = order
	if slices.Contains(order, m.selected) {
		return
	}
	m.selected = ""
	if len(order) > 0 { // where the one that is gone stood
		m.selected = order[min(max(before, 0), len(order)-1)]
	}
	if before >= 0 {
		m.moved = m.now
	}
}

// holding says that the person is at something, or has pressed a key so lately,
// that nothing may move.
func (m *Model) holding() bool {
	return m.edit != nil || m.confirm != nil || m.card.step > 0 || m.card.filling || m.card.review || !m.touched.IsZero() && m.now.Sub(m.touched) < calm
}

// Due is when the picture changes without anything happening: at the next full
// minute by the times it shows, or when the list may be put in order again.
func (m *Model) Due() time.Time {
	next := m.now.Truncate(time.Minute).Add(time.Minute)
	if again := m.touched.Add(calm); m.now.Before(again) {
		next = earlier(next, again)
	}
	return next
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Tick tells the time.
func (m *Model) Tick(now time.Time) {
	m.now = now
	m.sort()
	m.syncCard()
}

// Resize tells the window's size.
func (m *Model) Resize(cols, rows int) { m.cols, m.rows = cols, rows }

// Wanted is the session whose screen is shown, if any is.
func (m *Model) Wanted() string {
	if l := m.layout(); !m.help && m.page == nil && m.start == nil && l.preview && m.world.May["screen"] {
		return m.selected
	}
	return ""
}

// Tell shows a line until the next key.
func (m *Model) Tell(text string, of tone) { m.flash = flash{text: text, tone: of} }

// Select chooses a session, if it is there.
func (m *Model) Select(id string) {
	if slices.Contains(m.order, id) {
		m.selected = id
		m.look()
		m.syncCard()
	}
}

// current is the chosen session; nil when there is none.
func (l *listing) current() *sessions.Status { return l.byID[l.selected] }

// jumped says that another session has just come to be chosen by itself, for which a
// key cannot be meant.
func (m *Model) jumped() bool {
	if m.moved.IsZero() || m.now.Sub(m.moved) >= stands {
		return false
	}
	m.Tell("another session has just come here: look again", waits)
	return true
}

// Back records that the person is back after an attachment. why says what ended it; it is empty
// if the person detached.
func (m *Model) Back(why string, now time.Time) {
	m.now, m.strayed = now, time.Time{}
	if why != "" {
		m.strayed = now
		m.Tell(why, failed)
	}
}

// astray says whether a key was typed for a session that has just ended by itself. Such keys end
// with the first pause: a person keeps typing until they look up.
func (m *Model) astray() bool {
	if m.strayed.IsZero() || m.now.Sub(m.strayed) >= stands {
		return false
	}
	m.strayed = m.now
	m.Tell("not attached any more: a key typed for the session does nothing here; look again", waits)
	return true
}

// look notes that the person has seen what the chosen session does.
func (l *listing) look() {
	if s := l.current(); s != nil {
		l.seen[s.ID] = s.StateSeq
	}
}

// unseen says that something has come of a session that the person has not
// looked at since.
func (l *listing) unseen(s *sessions.Status) bool {
	switch s.Now {
	case agent.Prompt, agent.InError, agent.Idle, agent.Exited:
		return l.seen[s.ID] < s.StateSeq
	}
	return false
}

// waiting counts those that wait for a person.
func (l *listing) waiting() int {
	n := 0
	for _, s := range l.world.Sessions {
		if s.Now == agent.Prompt {
			n++
		}
	}
	return n
}

package audit

import (
	"fmt"
	"time"

	"berth/api"
)

// The bounds split a log's total so that no caller below admin can fill it within keepFor. All
// such callers together have 3/8 of Total over that time and 1/8 at once; one of them has 1/8
// and 1/32; refusals have 1/8 and 1/16. An admin has 1/2 and 1/4 for each verb and each type of
// event. So a script in a loop of one verb can't push out lines younger than keepFor, and the
// admin's other calls are still logged.
const keepFor = 7 * 24 * time.Hour

// countFor is for how long lines are only counted before the count is written.
const countFor = time.Minute

// lineBytes is the size of a line without its event and text, with its part of a head.
const lineBytes = 512

// purse is a token bucket of bytes.
type purse struct {
	left, most float64
	rate       float64 // a second
	last       time.Time
}

// newPurse makes a full one: over keepFor it refills total, and it holds at most most.
func newPurse(total, most int64, now time.Time) purse {
	return purse{left: float64(most), most: float64(most), rate: float64(total) / keepFor.Seconds(), last: now}
}

func (p *purse) fill(now time.Time) {
	if d := now.Sub(p.last); d > 0 {
		p.left = min(p.most, p.left+p.rate*d.Seconds())
	}
	p.last = now
}

// has says whether n bytes are left.
func (p *purse) has(n float64, now time.Time) bool {
	p.fill(now)
	return p.left >= n
}

// budget says which lines of callers below admin are written, and counts the others.
type budget struct {
	total   int64
	all     purse
	refused purse
	callers map[string]*spender
	admins  map[string]bool // callers that have an admin's share
	swept   time.Time
}

// spender is a caller below admin, or an admin's use of one verb or type of event.
type spender struct {
	purse
	more map[counted]*Entry // with Count
	all  *purse             // a purse that its lines are charged to as well; nil for an admin
}

// has says whether n bytes are left.
func (s *spender) has(n float64, now time.Time) bool {
	return s.purse.has(n, now) && (s.all == nil || s.all.has(n, now))
}

func (s *spender) spend(n float64) {
	s.left -= n
	if s.all != nil {
		s.all.left -= n
	}
}

// counted identifies lines that are counted together.
type counted struct {
	kind Kind
	verb string
}

func newBudget(total int64, now time.Time) *budget {
	return &budget{total: total, all: newPurse(total*3/8, total/8, now), refused: newPurse(total/8, total/16, now),
		callers: map[string]*spender{}, admins: map[string]bool{}, swept: now}
}

// spenderOf is the caller whose budget pays for a line; empty for none.
func spenderOf(e Entry) string {
	switch e.Kind {
	case KindLogin, KindVerb, KindDone, KindEvent:
	default:
		return "" // the log's own, and refusals, which have their own
	}
	if e.Identity == "" { // the session's own doing
		return "session " + e.ID
	}
	return e.Identity + " " + e.Fingerprint
}

func cost(e Entry) float64 { return float64(lineBytes + len(e.Event) + len(e.Text)) }

// take says whether a line is written. Otherwise it has been counted.
func (b *budget) take(e Entry, now time.Time) bool {
	who := spenderOf(e)
	if who == "" {
		return true
	}
	// Events don't say which role their caller has: the verb or login before them does.
	if e.Kind != KindEvent {
		if e.Admin {
			b.admins[who] = true
		} else {
			delete(b.admins, who)
		}
	}
	s := b.spender(who, e.Verb, now)
	n := cost(e)
	// If the start was written, write its end too.
	if ends := e.Kind == KindDone && e.Of != 0; ends || e.Kind != KindDone && s.has(n, now) {
		s.spend(n)
		return true
	}
	k := counted{e.Kind, e.Verb}
	one := s.more[k]
	if one == nil {
		one = &Entry{Kind: e.Kind, Identity: e.Identity, Caller: e.Caller, CallerID: e.CallerID, Fingerprint: e.Fingerprint, Source: e.Source, Verb: e.Verb, Session: e.Session, ID: e.ID, counted: now}
		s.more[k] = one
	}
	if one.ID != e.ID || one.Session != e.Session { // of several sessions
		one.ID, one.Session = "", ""
	}
	one.Count++
	return false
}

func (b *budget) spender(who, verb string, now time.Time) *spender {
	total, most, all := b.total/8, b.total/32, &b.all
	if b.admins[who] {
		who, total, most, all = who+" "+verb, b.total/2, b.total/4, nil
	}
	s := b.callers[who]
	if s == nil {
		s = &spender{purse: newPurse(total, most, now), more: map[counted]*Entry{}, all: all}
		b.callers[who] = s
	}
	return s
}

// over returns the lines for what was only counted, for long enough and by callers that may have a line
// again.
func (b *budget) over(now time.Time) (out []Entry) {
	if !now.Before(b.swept) && now.Sub(b.swept) < countFor {
		return nil
	}
	b.swept = now
	for who, s := range b.callers {
		for k, one := range s.more {
			countLine := one.countLine()
			if n := cost(countLine); now.Sub(one.counted) >= countFor && s.has(n, now) {
				s.spend(n)
				delete(s.more, k)
				out = append(out, countLine)
			}
		}
		if len(s.more) == 0 && s.purse.has(s.most, now) {
			delete(b.callers, who)
		}
	}
	return out
}

// end returns the lines for everything that was only counted.
func (b *budget) end() (out []Entry) {
	for _, s := range b.callers {
		for _, one := range s.more {
			out = append(out, one.countLine())
		}
	}
	clear(b.callers)
	return out
}

// countLine is the line for lines that were only counted.
func (e *Entry) countLine() Entry {
	line := *e
	line.Text = fmt.Sprintf("%d more of these from %s on", e.Count, e.counted.UTC().Format(api.TimeLayout))
	return line
}

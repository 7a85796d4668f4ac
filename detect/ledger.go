package detect

import (
	"time"

	"berth/agent"
)

// Ledger gives the entries of a session log what only the others tell: the turn
// they are of, and at its end its last words. Entries are mostly in the order
// of time; but when Claude Code makes the file, the end of a short first turn may
// stand before its beginning. A Ledger may be copied, and goes into a checkpoint
// as it is.
type Ledger struct {
	Turn   string    `json:"turn"`   // of the newest entry that names one
	Over   bool      `json:"over"`   // its end was told
	Loose  time.Time `json:"loose"`  // when a turn ended whose beginning was not told yet
	Answer string    `json:"answer"` // the model's id of its last answer with words in it
	Words  string    `json:"words"`  // of that answer
}

// wordsLimit bounds the last words, in bytes. A model's answer is below that.
const wordsLimit = 1 << 20

// Enter takes in a fact of the next entry and completes it.
func (l *Ledger) Enter(f *agent.Fact) {
	if f.Agent != "" {
		return
	}
	if f.Turn != "" && f.Turn != l.Turn {
		*l = Ledger{Turn: f.Turn, Loose: l.Loose, Over: !f.At.IsZero() && f.At.Before(l.Loose)}
	}
	switch f.Kind {
	case agent.Acting:
		if f.Text != "" {
			l.say(f)
		}
	case agent.TurnEnded:
		l.end(f)
	}
}

// Late is the end of a turn with its words, where the entry that Enter has just taken in has words of a
// turn whose end was told before its beginning: that end had neither its name nor words.
func (l *Ledger) Late(f agent.Fact) (end agent.Fact, ok bool) {
	if f.Kind != agent.Acting || f.Text == "" || f.Agent != "" || !l.Over || f.At.IsZero() || !f.At.Before(l.Loose) {
		return agent.Fact{}, false
	}
	f.Kind, f.How, f.Turn, f.Text, f.At = agent.TurnEnded, agent.Completed, l.Turn, l.Words, l.Loose
	f.Activity, f.Usage = nil, nil
	return f, true
}

// end: an end that names no turn is that of the newest one, unless that is over
// or there is none.
func (l *Ledger) end(f *agent.Fact) {
	if f.Turn == "" && (l.Turn == "" || l.Over) {
		l.Loose = f.At
		return
	}
	l.Over, f.Turn = true, l.Turn
	if f.How == agent.Completed && f.Text == "" {
		f.Text = l.Words
	}
}

// say keeps the words of an answer, whose parts are entries of their own.
func (l *Ledger) say(f *agent.Fact) {
	answer := ""
	if f.Usage != nil {
		answer = f.Usage.Answer
	}
	if answer != "" && answer == l.Answer && len(l.Words)+len(f.Text) < wordsLimit {
		l.Words += "\n\n" + f.Text
		return
	}
	l.Answer, l.Words = answer, f.Text
}

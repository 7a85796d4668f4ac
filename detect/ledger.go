package detect

import (
	"time"

	"berth/agent"
)

// Ledger completes the entries of a session log with what only earlier entries have: the id of
// their turn, and at its end the last answer's text. Entries are mostly in order of time; but when
// Claude Code creates the file, the answers and the end of a short first turn may come before its
// start. A Ledger may be copied, and goes into a checkpoint as it is.
type Ledger struct {
	Turn   string    `json:"turn"`   // of the newest entry with a turn's id
	Over   bool      `json:"over"`   // its end was logged
	Loose  time.Time `json:"loose"`  // when a turn ended whose start wasn't logged yet
	Answer string    `json:"answer"` // the model's id of its last answer with text
	Words  string    `json:"words"`  // the text of that answer
	Early  time.Time `json:"early"`  // when the first answer was logged of a turn whose start wasn't
}

// wordsLimit bounds the last answer's text, in bytes. A model's answer is shorter.
const wordsLimit = 1 << 20

// Enter reads a fact of the next entry and completes it. adopts says that the entry is a turn's
// start, and that the answers that were entered before it are that turn's.
func (l *Ledger) Enter(f *agent.Fact) (adopts bool) {
	if f.Agent != "" {
		return false
	}
	if f.Turn != "" && f.Turn != l.Turn {
		was := *l
		*l = Ledger{Turn: f.Turn, Loose: l.Loose, Over: !f.At.IsZero() && f.At.Before(l.Loose)}
		if adopts = !f.At.IsZero() && f.At.Before(was.Early); adopts {
			l.Answer, l.Words = was.Answer, was.Words
		}
	}
	if l.Turn == "" && l.Early.IsZero() && f.Usage != nil {
		l.Early = f.At
	}
	switch f.Kind {
	case agent.Acting:
		if f.Text != "" {
			l.say(f)
		}
	case agent.TurnEnded:
		l.end(f)
	}
	return adopts
}

// Late returns the end of a turn with its text, if the end was logged before the turn's start and
// the entry that Enter just read has the text, or is the start after an early answer. The logged
// end had neither the turn's id nor its text.
func (l *Ledger) Late(f agent.Fact) (end agent.Fact, ok bool) {
	has := f.Kind == agent.Acting && f.Text != "" || f.Kind == agent.TurnStarted && l.Words != ""
	if !has || f.Agent != "" || !l.Over || f.At.IsZero() || !f.At.Before(l.Loose) {
		return agent.Fact{}, false
	}
	f.Kind, f.How, f.Turn, f.Text, f.At = agent.TurnEnded, agent.Completed, l.Turn, l.Words, l.Loose
	f.Activity, f.Usage = nil, nil
	return f, true
}

// end handles a turn's end. Without an id it is the end of the newest turn, unless that is over or
// there is none.
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

// say keeps the text of an answer. Each part of an answer is an entry of its own.
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

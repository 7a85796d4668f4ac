package detect

import "berth/agent"

// Ledger gives the entries of a session log what only those before them tell:
// the turn they are of, and at its end its last words. It may be copied, and
// goes into a checkpoint as it is.
type Ledger struct {
	Turn   string `json:"turn"`   // of the newest entry that names one
	Answer string `json:"answer"` // the model's id of its last answer with words in it
	Words  string `json:"words"`  // of that answer
}

// wordsLimit bounds the last words, in bytes. A model's answer is below that.
const wordsLimit = 1 << 20

// Enter takes in a fact of the next entry and completes it.
func (l *Ledger) Enter(f *agent.Fact) {
	if f.Agent != "" {
		return
	}
	if f.Turn != "" && f.Turn != l.Turn {
		*l = Ledger{Turn: f.Turn}
	}
	switch f.Kind {
	case agent.Acting:
		if f.Text != "" {
			l.say(f)
		}
	case agent.TurnEnded:
		if f.Turn == "" {
			f.Turn = l.Turn
		}
		if f.How == agent.Completed && f.Text == "" {
			f.Text = l.Words
		}
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

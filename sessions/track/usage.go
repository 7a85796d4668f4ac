package track

import "berth/agent"

// Usage is what a turn took of the model. What subagents took is not in it:
// they keep logs of their own.
type Usage struct {
	agent.Tokens
	Requests int    `json:"requests"` // to the model, those that were answered
	Model    string `json:"model"`    // that answered last
}

// turnsMetered bounds how many turns' usage is kept, and answersMetered how many
// answers of one turn are kept apart: of those before only the sum is known.
const (
	turnsMetered   = 8
	answersMetered = 64
)

// Meter adds up the usage of turns, from facts of the log or the output. The checkpoint has it as it is.
type Meter struct {
	Turns []*metered `json:"turns"` // the newest last
}

// metered is one turn.
type metered struct {
	Turn    string       `json:"turn"`
	Answers []answerTook `json:"answers"` // the newest last
	Before  agent.Tokens `json:"before"`  // the sum of older answers
	Count   int          `json:"count"`
	Model   string       `json:"model"`
	Whole   *agent.Usage `json:"whole"` // the agent's own sum
	Over    bool         `json:"over"`  // no more answers follow
}

type answerTook struct {
	Answer string       `json:"answer"`
	Took   agent.Tokens `json:"took"`
}

// Take adds the usage of a fact to a turn. over says that no more answers follow.
func (m *Meter) Take(turn string, f agent.Fact, over bool) {
	if f.Agent != "" || f.Usage == nil && !over {
		return
	}
	t := m.of(turn)
	if t == nil {
		t = &metered{Turn: turn}
		if m.Turns = append(m.Turns, t); len(m.Turns) > turnsMetered {
			m.Turns = m.Turns[1:]
		}
	}
	t.Over = t.Over || over
	switch u := f.Usage; {
	case u == nil:
	case u.Whole:
		t.Whole = u
	default:
		t.answer(u)
	}
}

// answer counts an answer once. Its last report is right.
func (t *metered) answer(u *agent.Usage) {
	t.Model = u.Model
	for i := range t.Answers {
		if t.Answers[i].Answer == u.Answer {
			t.Answers[i].Took = u.Tokens
			return
		}
	}
	t.Count++
	if t.Answers = append(t.Answers, answerTook{u.Answer, u.Tokens}); len(t.Answers) > answersMetered {
		t.Before = t.Before.Plus(t.Answers[0].Took)
		t.Answers = t.Answers[1:]
	}
}

// Adopt gives a turn the answers that were logged before its start, and before any turn's.
func (m *Meter) Adopt(turn string) {
	if early := m.of(""); early != nil && !early.Over && m.of(turn) == nil {
		early.Turn = turn
	}
}

// End marks all turns as over, because the program has ended. A claude -p logs no end of its turn.
func (m *Meter) End() {
	for _, t := range m.Turns {
		t.Over = true
	}
}

// of returns the turn; nil if it is unknown.
func (m *Meter) of(turn string) *metered {
	for i := len(m.Turns) - 1; i >= 0; i-- {
		if m.Turns[i].Turn == turn {
			return m.Turns[i]
		}
	}
	return nil
}

// Usage is the turn's usage; nil if it is unknown or not complete yet.
func (m *Meter) Usage(turn string) *Usage {
	t := m.of(turn)
	if t == nil || !t.Over || t.Count == 0 && t.Whole == nil {
		return nil
	}
	u := &Usage{Tokens: t.Before, Requests: t.Count, Model: t.Model}
	for _, a := range t.Answers {
		u.Tokens = u.Plus(a.Took)
	}
	if w := t.Whole; w != nil {
		u.Tokens = w.Tokens
		if u.Requests == 0 {
			u.Requests, u.Model = w.Answers, w.Model
		}
	}
	return u
}

// Complete reports whether all of the turn's usage is known.
func (m *Meter) Complete(turn string) bool {
	t := m.of(turn)
	return t != nil && t.Over
}

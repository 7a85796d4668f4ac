package sessions

import (
	"context"
	"time"

	"berth/agent"
)

// Usage is what a turn took of the model. What subagents took is not in it:
// they keep logs of their own.
type Usage struct {
	agent.Tokens
	Requests int    `json:"requests"` // to the model, those that were answered
	Model    string `json:"model"`    // that answered last
}

// turnsMetered bounds how many turns' usage is kept, and answersMetered how many
// answers of one turn are told apart: of those before only the sum is known.
const (
	turnsMetered   = 8
	answersMetered = 64
)

// meter adds up what turns take, by the facts of a log or an output. It goes into
// a checkpoint as it is.
type meter struct {
	Turns []*metered `json:"turns"` // the newest last
}

// metered is one turn.
type metered struct {
	Turn    string       `json:"turn"`
	Answers []answerTook `json:"answers"` // the newest last
	Before  agent.Tokens `json:"before"`  // of answers that are not told apart any more
	Count   int          `json:"count"`
	Model   string       `json:"model"`
	Whole   *agent.Usage `json:"whole"` // by the agent's own sum
	Over    bool         `json:"over"`  // no more comes
}

type answerTook struct {
	Answer string       `json:"answer"`
	Took   agent.Tokens `json:"took"`
}

// take takes in what a fact of the turn says. Over: no more answers follow.
func (m *meter) take(turn string, f agent.Fact, over bool) {
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

// answer counts an answer once: what is told of it last is right.
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

// end: the program is over, and so are its turns. A claude -p logs no end of its
// turn.
func (m *meter) end() {
	for _, t := range m.Turns {
		t.Over = true
	}
}

// of is the turn's, nil when nothing is known of it.
func (m *meter) of(turn string) *metered {
	for i := len(m.Turns) - 1; i >= 0; i-- {
		if m.Turns[i].Turn == turn {
			return m.Turns[i]
		}
	}
	return nil
}

// usage is what the turn took; nil when that is not known, or not whole yet.
func (m *meter) usage(turn string) *Usage {
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

// complete says whether all is known of what the turn took.
func (m *meter) complete(turn string) bool {
	t := m.of(turn)
	return t != nil && t.Over
}

// logLags is how long a turn's last entries are waited for: a log follows what
// hooks and files tell by 10 to 100 ms.
const logLags = 300 * time.Millisecond

// used is what the turn took. Of one that is over the log's word is waited for,
// for as long as that may lag.
func (s *Session) used(ctx context.Context, turn string, over bool) *Usage {
	ctx, cancel := context.WithTimeout(ctx, logLags)
	defer cancel()
	changed, stop := s.Subscribe()
	defer stop()
	type took struct {
		usage *Usage
		more  bool // to be waited for
	}
	for {
		t, err := ask(context.WithoutCancel(ctx), s, func(c *core) (took, error) {
			d := c.detection
			if d == nil {
				return took{}, nil
			}
			return took{d.meter.usage(turn), d.files.log.tail != nil && !d.meter.complete(turn)}, nil
		})
		if err != nil || !over || !t.more || pauseFor(ctx, changed, logLags) != nil {
			return t.usage
		}
	}
}

// LastSaid is the agent's last message and what its turn took; nil when there
// was none.
func (s *Session) LastSaid(ctx context.Context) *Said {
	said := s.Status().Said
	if said == nil || s.reg.now().Sub(said.Time.Time) >= logLags {
		return said
	}
	whole := *said
	if u := s.used(ctx, said.Turn, true); u != nil {
		whole.Usage = u
	}
	return &whole
}

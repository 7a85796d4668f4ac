package track

import (
	"encoding/json"
	"fmt"
	"testing"

	"berth/agent"
)

func took(answer string, in, out int64) agent.Fact {
	return agent.Fact{Kind: agent.Acting, Usage: &agent.Usage{Answer: answer, Model: "m-" + answer, Tokens: agent.Tokens{Input: in, Output: out}}}
}

func TestMeter(t *testing.T) {
	whole := agent.Fact{Kind: agent.TurnEnded, Usage: &agent.Usage{Whole: true, Answers: 3, Model: "w", Tokens: agent.Tokens{Input: 7, Output: 8}}}
	for name, c := range map[string]struct {
		facts []agent.Fact
		want  string
	}{
		"nothing":                         {nil, "null"},
		"an end alone":                    {[]agent.Fact{done("1", "")}, "null"},
		"each block of an answer":         {[]agent.Fact{took("a", 5, 1), took("a", 5, 9), took("a", 5, 9)}, `{"input_tokens":5,"output_tokens":9,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"requests":1,"model":"m-a"}`},
		"two answers":                     {[]agent.Fact{took("a", 5, 1), took("b", 6, 2), took("a", 5, 3)}, `{"input_tokens":11,"output_tokens":5,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"requests":2,"model":"m-a"}`},
		"a subagent's":                    {[]agent.Fact{{Agent: "x", Kind: agent.Acting, Usage: took("s", 1, 1).Usage}}, "null"},
		"the agent's own sum":             {[]agent.Fact{whole}, `{"input_tokens":7,"output_tokens":8,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"requests":3,"model":"w"}`},
		"the agent's own sum and answers": {[]agent.Fact{took("a", 1, 1), whole}, `{"input_tokens":7,"output_tokens":8,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"requests":1,"model":"m-a"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var m Meter
			for _, f := range c.facts {
				m.Take("1", f, false)
			}
			if u := m.Usage("1"); u != nil && !m.Complete("1") {
				t.Errorf("%+v before the turn's end", u)
			}
			m.Take("1", done("1", ""), true)
			got, err := json.Marshal(m.Usage("1"))
			if err != nil || string(got) != c.want {
				t.Errorf("%s, %v; want %s", got, err, c.want)
			}
		})
	}
}

// TestMeterIsBounded: the sums stay right for very many answers and turns.
func TestMeterIsBounded(t *testing.T) {
	var m Meter
	for turn := range 20 {
		for i := range 1000 {
			m.Take(fmt.Sprint(turn), took(fmt.Sprint("a", i), 1, 2), false)
		}
		m.Take(fmt.Sprint(turn), done("", ""), true)
	}
	u := m.Usage("19")
	if u == nil || u.Requests != 1000 || u.Input != 1000 || u.Output != 2000 || m.Usage("3") != nil || len(m.Turns) != turnsMetered {
		t.Errorf("%+v, %d turns", u, len(m.Turns))
	}
	data, err := json.Marshal(m)
	var again Meter
	if err != nil || json.Unmarshal(data, &again) != nil || *again.Usage("19") != *u {
		t.Errorf("%+v after a checkpoint of %d bytes", again.Usage("19"), len(data))
	}
}

func done(id, text string) agent.Fact {
	return agent.Fact{Kind: agent.TurnEnded, How: agent.Completed, Turn: id, Text: text}
}

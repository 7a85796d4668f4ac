package detect

import (
	"testing"
	"time"

	"berth/agent"
)

func TestLedger(t *testing.T) {
	at := func(s int) time.Time { return t0.Add(time.Duration(s) * time.Second) }
	begin := func(turn string, s int) agent.Fact {
		return agent.Fact{Kind: agent.TurnStarted, Turn: turn, At: at(s)}
	}
	says := func(answer, text string, s int) agent.Fact {
		return agent.Fact{Kind: agent.Acting, Text: text, At: at(s), Usage: &agent.Usage{Answer: answer}}
	}
	end := func(s int) agent.Fact {
		return agent.Fact{Kind: agent.TurnEnded, How: agent.Completed, At: at(s)}
	}
	for _, c := range []struct {
		name       string
		facts      []agent.Fact
		turn, text string // of the last fact
		over       bool
	}{
		{"a turn", []agent.Fact{begin("1", 1), says("a", "words", 2), end(3)}, "1", "words", true},
		{"parts of an answer", []agent.Fact{begin("1", 1), says("a", "one", 2), says("a", "two", 2), end(3)}, "1", "one\n\ntwo", true},
		{"the last of two answers", []agent.Fact{begin("1", 1), says("a", "one", 2), says("b", "two", 2), end(3)}, "1", "two", true},
		{"words of the turn before", []agent.Fact{begin("1", 1), says("a", "old", 2), end(3), begin("2", 4), end(5)}, "2", "", true},
		{"messages of one turn", []agent.Fact{begin("1", 1), says("a", "words", 2), begin("1", 3), end(4)}, "1", "words", true},
		{"an interrupt", []agent.Fact{begin("1", 1), says("a", "w", 2), {Kind: agent.TurnEnded, How: agent.Interrupted, Turn: "1", At: at(3)}}, "1", "", true},
		{"an end of nothing", []agent.Fact{end(3)}, "", "", false},
		{"the end first", []agent.Fact{end(3), begin("1", 1)}, "1", "", true},
		{"the end first, and then another turn", []agent.Fact{end(3), begin("1", 1), says("a", "w", 2), begin("2", 5)}, "2", "", false},
		{"a second turn's end first", []agent.Fact{begin("1", 1), end(2), end(5), begin("2", 4)}, "2", "", true},
		{"a subagent's", []agent.Fact{begin("1", 1), {Kind: agent.TurnEnded, Agent: "s", At: at(3)}}, "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l Ledger
			var last agent.Fact
			for _, last = range c.facts {
				l.Enter(&last)
			}
			if last.Turn != c.turn || last.Text != c.text || l.Over != c.over {
				t.Errorf("turn %q, text %q, over %v", last.Turn, last.Text, l.Over)
			}
		})
	}
}

// TestLateWords: a turn whose end was logged before its start gets its text once that is logged.
func TestLateWords(t *testing.T) {
	at := func(s int) time.Time { return t0.Add(time.Duration(s) * time.Second) }
	var l Ledger
	for _, c := range []struct {
		fact agent.Fact
		want string // the text of the end that is reported now
	}{
		{agent.Fact{Kind: agent.TurnEnded, How: agent.Completed, At: at(3)}, ""},
		{agent.Fact{Kind: agent.TurnStarted, Turn: "1", At: at(1)}, ""},
		{agent.Fact{Kind: agent.Acting, Text: "one", At: at(2), Usage: &agent.Usage{Answer: "a"}}, "one"},
		{agent.Fact{Kind: agent.Acting, Text: "sub", Agent: "s", At: at(2)}, ""},
		{agent.Fact{Kind: agent.Acting, Text: "two", At: at(2), Usage: &agent.Usage{Answer: "a"}}, "one\n\ntwo"},
		{agent.Fact{Kind: agent.TurnStarted, Turn: "2", At: at(5)}, ""},
		{agent.Fact{Kind: agent.Acting, Text: "three", At: at(6)}, ""},
		{agent.Fact{Kind: agent.TurnEnded, How: agent.Completed, At: at(7)}, ""},
		{agent.Fact{Kind: agent.Acting, Text: "after it", At: at(8)}, ""},
	} {
		l.Enter(&c.fact)
		end, ok := l.Late(c.fact)
		if ok != (c.want != "") || end.Text != c.want || ok && (end.Kind != agent.TurnEnded || end.How != agent.Completed || end.Turn != "1" || !end.At.Equal(at(3))) {
			t.Errorf("%+v: %+v, want %q", c.fact, end, c.want)
		}
	}
}

package outbox

import (
	"testing"
	"time"

	"berth/agent"
)

// exact is a typer that knows no more than whether two texts are the same.
type exact struct{ agent.MessageTyper }

func (exact) Same(typed, told string) bool { return typed == told }

func began(id, text string) agent.Fact {
	return agent.Fact{Kind: agent.TurnStarted, Turn: id, Text: text}
}

func done(id, text string) agent.Fact {
	return agent.Fact{Kind: agent.TurnEnded, How: agent.Completed, Turn: id, Text: text}
}

// TestTurnOfAProgramThatEnds: it is over with the program, also when that has been started
// again before anybody looks; and not because the holder does not answer.
func TestTurnOfAProgramThatEnds(t *testing.T) {
	out := newOutbox(t, t.TempDir())
	w := &turnWatch{id: "2", typed: "us", typer: exact{}}
	w.fact(began("2", "us"))
	for _, state := range []agent.State{agent.Unknown, agent.Working} {
		if s := w.standingNow(state, false); s.over || s.inferred {
			t.Errorf("%s: %+v", state, s)
		}
	}
	if s := w.standingNow(agent.Prompt, false); !s.over {
		t.Errorf("at a prompt: %+v", s)
	}
	out.watches = append(out.watches, w)
	out.End()
	out.Begin(time.Now())
	for _, state := range []agent.State{agent.Starting, agent.Idle, agent.Restarting} {
		if s := w.standingNow(state, false); !s.over || s.State != agent.Exited {
			t.Errorf("started again, and %s: %+v", state, s)
		}
	}
}

// TestTurnOfAMessage: whatever order hooks and log tell in, the message is that
// of the turn which took the text.
func TestTurnOfAMessage(t *testing.T) {
	interrupted := agent.Fact{Kind: agent.TurnEnded, How: agent.Interrupted, Turn: "2"}
	for _, c := range []struct {
		name   string
		queued bool
		before []agent.Fact // before it is known whether the message was taken
		facts  []agent.Fact
		state  agent.State
		want   string // the message; - for none, empty for a turn that is not over
	}{
		{name: "its end", before: []agent.Fact{began("2", "us")}, facts: []agent.Fact{done("2", "words")}, state: agent.Idle, want: "words"},
		{name: "the end of the turn before arrives late", before: []agent.Fact{began("2", "us"), done("1", "old")}, state: agent.Idle, want: ""},
		{name: "the log first, without words", before: []agent.Fact{began("2", "us")}, facts: []agent.Fact{done("2", ""), done("2", "words")}, state: agent.Idle, want: "words"},
		{name: "an interrupt", before: []agent.Fact{began("2", "us")}, facts: []agent.Fact{interrupted}, state: agent.Idle, want: "-"},
		{name: "another turn after it", before: []agent.Fact{began("2", "us")}, facts: []agent.Fact{done("2", "words"), began("3", "them")}, state: agent.Working, want: "words"},
		{name: "reported twice", before: []agent.Fact{began("2", "us")}, facts: []agent.Fact{began("2", "us"), done("2", "words")}, state: agent.Working, want: ""},
		{name: "kept for later", queued: true, facts: []agent.Fact{done("1", "old")}, state: agent.Working, want: ""},
		{name: "kept for later, and taken", queued: true, facts: []agent.Fact{done("1", "old"), began("2", "us"), done("2", "words")}, state: agent.Idle, want: "words"},
		{name: "kept, and taken before that was known", queued: true, before: []agent.Fact{done("1", "old"), began("2", "us")}, facts: []agent.Fact{done("2", "words")}, state: agent.Idle, want: "words"},
		{name: "taken with others", queued: true, facts: []agent.Fact{done("1", "old"), began("a", "them"), began("2", "us"), began("b", "them"), done("b", "words")}, state: agent.Idle, want: "words"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &turnWatch{typed: "us", typer: exact{}}
			for _, f := range c.before {
				w.fact(f)
			}
			if w.id = "2"; c.queued {
				w.id = ""
				w.wait()
			}
			for _, f := range c.facts {
				w.fact(f)
			}
			got := ""
			if s := w.standingNow(c.state, false); s.over && s.Message == nil {
				got = "-"
			} else if s.over {
				got = *s.Message
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestTurnWordless: a source that names neither turn nor words may be the first
// to tell of the end.
func TestTurnWordless(t *testing.T) {
	w := &turnWatch{id: "2"}
	w.fact(agent.Fact{Kind: agent.TurnEnded, How: agent.Completed})
	w.fact(agent.Fact{Kind: agent.TurnEnded, How: agent.Completed, Turn: "2", Text: "the answer"})
	if got := w.standingNow(agent.Idle, false); !got.over || got.Message == nil || *got.Message != "the answer" {
		t.Errorf("%+v", got)
	}
}

// TestTurnsWithoutNames: an agent that names no turns may end another turn before the caller looks. The
// message is that of the first one.
func TestTurnsWithoutNames(t *testing.T) {
	w := &turnWatch{}
	for _, f := range []agent.Fact{began("", "us"), done("", "words"), began("", "them"), done("", "their words")} {
		w.fact(f)
	}
	if got := w.standingNow(agent.Idle, false); !got.over || got.Message == nil || *got.Message != "words" {
		t.Errorf("%+v", got)
	}
}

// TestTurnWithoutItsWordsYet: Claude Code may log the end of a short first turn before the turn. The
// words are waited for, and not for ever.
func TestTurnWithoutItsWordsYet(t *testing.T) {
	w := &turnWatch{id: "2"}
	w.fact(agent.Fact{Kind: agent.TurnEnded, How: agent.Completed, Source: agent.SourceLog})
	if got := w.standingNow(agent.Idle, false); got.over || !got.inferred {
		t.Errorf("without its words: %+v", got)
	}
	for _, words := range []string{"one", "one\n\ntwo"} {
		w.fact(agent.Fact{Kind: agent.TurnEnded, How: agent.Completed, Source: agent.SourceLog, Turn: "2", Text: words})
		if got := w.standingNow(agent.Idle, false); !got.over || *got.Message != words {
			t.Errorf("with the words %q: %+v", words, got)
		}
	}
}

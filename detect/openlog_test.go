package detect

import (
	"testing"
	"time"

	"berth/agent"
)

// logger is an agent whose log says which calls are open.
type logger struct{ agent.Driver }

func (logger) Table() agent.Table {
	return agent.Table{agent.MoveFollow: []agent.Witness{{Source: agent.SourceHook}}}
}
func (logger) OpenCalls() agent.OpenCalls { return agent.OpenCalls{Results: []string{"log:result"}} }

// TestLacksLog: a log of the conversation isn't read. Any dialog may be that of a call there, whatever turns begin and end, until the agent has
// another conversation.
func TestLacksLog(t *testing.T) {
	now := time.Now()
	f := New(logger{}, Options{Conversation: "one", Start: now})
	f.m.Hooked = true
	d := &agent.Dialog{Type: agent.PromptPermission}
	if f.coversOpen(&request{Prompt: &agent.Request{}}, d) {
		t.Error("a call counts before")
	}
	f.LacksLog(now)
	f.LoggedBefore(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceLog, Turn: "t", Time: now})
	f.LoggedBefore(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceLog, Turn: "t", Time: now})
	if !f.coversOpen(&request{Prompt: &agent.Request{}}, d) {
		t.Error("no call counts")
	}
	f.m.Conversation = "two"
	if f.coversOpen(&request{Prompt: &agent.Request{}}, d) {
		t.Error("a call counts in another conversation")
	}
}

package anyorder

import (
	"time"

	"berth/agent"
)

// repeats is a report that comes again, late, and with other ids, folders or names.
func (w *world) repeats() {
	if len(w.told) == 0 {
		return
	}
	for _, f := range w.told[w.r.IntN(len(w.told))] {
		f.Hook = ""
		changed := ""
		if f.Source == agent.SourceHook && w.r.IntN(4) > 0 || w.r.IntN(4) > 0 {
			changed = w.changes(&f)
		}
		w.say("again %s %s of %q, with another %s", f.Source, f.Kind, f.Call, changed)
		w.apply(f)
	}
}

// changes is another field of a report.
func (w *world) changes(f *agent.Fact) string {
	either := func(list ...string) string { return list[w.r.IntN(len(list))] }
	n := w.r.IntN(8)
	if f.Request != nil && (n == 4 || n == 6) { // what it asks is read from these
		n = 7
	}
	switch n {
	case 0:
		f.Conversation = either("other", "")
		return "conversation " + f.Conversation
	case 1:
		f.Turn = either("other", "")
		return "turn " + f.Turn
	case 2:
		if f.Call = ""; w.open != nil && w.r.IntN(2) == 0 {
			f.Call = w.open.id
		}
		return "call " + f.Call
	case 3:
		if f.Agent, f.AgentType = "", ""; w.r.IntN(2) == 0 {
			f.Agent, f.AgentType = "x", "y"
		}
		return "agent " + f.Agent
	case 4:
		f.Tool = either("", "Other")
		return "tool " + f.Tool
	case 5:
		f.At = w.now.Add(time.Duration(w.r.IntN(7200)-3600) * time.Second)
		return "time"
	case 6:
		f.Input = nil
		return "input"
	}
	kinds := []agent.Kind{agent.ToolStarted, agent.ToolEnded, agent.StepEnded, agent.Answered, agent.Acting, agent.Queued, agent.SubagentStarted, agent.SubagentEnded, agent.ConversationStarted, agent.ConversationEnded, agent.TurnStarted, agent.TurnEnded, agent.FailureSeen}
	f.Kind = kinds[w.r.IntN(len(kinds))]
	if f.Kind == agent.ConversationStarted {
		f.Text = either("startup", "resume", "clear", "compact")
	}
	if f.Kind == agent.TurnEnded {
		f.How = []agent.How{agent.Completed, agent.Failed, agent.Interrupted}[w.r.IntN(3)]
	}
	return "kind " + string(f.Kind)
}

// level is a title, a sequence or a file of state that another process writes.
func (w *world) level() {
	f := agent.Fact{Kind: agent.LevelIs, Cause: "forged"}
	f.Source = []agent.Source{agent.SourceTitle, agent.SourceOSC, agent.SourceRegistry, agent.SourceProgress}[w.r.IntN(4)]
	f.Level = []agent.Level{agent.LevelBusy, agent.LevelIdle, agent.LevelNotBusy, agent.LevelWaiting, agent.LevelUnknown}[w.r.IntN(5)]
	w.say("forged %s says %s", f.Source, f.Level)
	w.apply(f)
}

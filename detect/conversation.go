package detect

import "berth/agent"

// follows reports whether the fact belongs to the followed conversation. The fold follows another
// conversation only after the agent's own report.
func (f *Fold) follows(fact *agent.Fact) bool {
	m := &f.m
	id := fact.Conversation
	replaced, forked := false, false
	switch {
	case id == "" || id == m.Conversation:
		if fact.Kind == agent.ConversationStarted && id != "" {
			m.ConversationOver = false
			m.Resumed = fact.Text == "resume"
		}
		return true
	case !f.may(agent.MoveFollow, fact.Source):
		// A log is read only because it is this conversation's, so its fact counts.
		return fact.Source == agent.SourceLog && m.Conversation == ""
	case id == f.o.Forked && fact.Kind == agent.ConversationStarted && fact.Text == "resume" && m.Turns == 0 && m.Left == "":
		return true // the fork's own start; it isn't a move
	case m.Conversation == "":
		if fact.Kind == agent.ConversationEnded {
			return true
		}
	case id == m.ForkedFrom && fact.Source == agent.SourceRegistry:
		return false // the copy runs in another process, and the agent no longer writes this state file
	case fact.Source == agent.SourceRegistry:
		// The state file belongs to this process, by its pid. Right after a move it may still have
		// the old id.
		if id == m.Left && f.now.Sub(m.LeftAt) < silence {
			return true
		}
	case fact.Kind == agent.ConversationStarted && (fact.Text == "clear" || m.ConversationOver):
	case fact.Kind == agent.ConversationStarted && fact.Text == "fork" && m.Turn.Phase == "":
		// The agent continues in a copy. A copy that a tool makes starts during a turn.
		forked = true
	case f.may(agent.MoveReplace, fact.Source) && m.Turn.ID == "" && fact.Agent == "" &&
		(fact.Kind == agent.ConversationStarted || fact.Kind == agent.TurnStarted && id == m.Left):
		replaced = true
	case fact.Kind == agent.TurnStarted && m.Resumed && m.Turns == 0:
		// The agent announces a fork by the id of the conversation that it copied.
	default:
		return false
	}
	if m.Conversation != "" {
		f.leave(fact, replaced)
	}
	m.ForkedFrom = ""
	if forked {
		m.ForkedFrom = m.Conversation
	}
	m.Conversation, m.ConversationOver = id, false
	m.Resumed = fact.Kind == agent.ConversationStarted && fact.Text == "resume"
	return true
}

// Ours reports whether a conversation is the followed one. It doesn't move to another.
func (f *Fold) Ours(conversation string) bool {
	return conversation == "" || f.m.Conversation == "" || conversation == f.m.Conversation
}

// leave ends what belongs to the old conversation. A state file may report a move late, and a turn
// without an id that runs at a replacement belongs to the new conversation: both leave the turn as
// it is.
func (f *Fold) leave(fact *agent.Fact, replaced bool) {
	m := &f.m
	f.mark(fact.Source, fact.Cause, fact.Evidence)
	if m.Turn.Phase != "" && fact.Source != agent.SourceRegistry && !replaced {
		f.leaveTurn()
	}
	m.Failure, m.Pending = nil, nil
	m.Turns, m.Left, m.LeftAt = 0, m.Conversation, f.now
}

// leaveTurn ends the old conversation's turn. The switch itself is work too, so the agent rests
// only when no level says busy.
func (f *Fold) leaveTurn() {
	m := &f.m
	if l := f.level(); l == nil || l.Value != agent.LevelBusy {
		f.finish(true)
		return
	}
	f.m.remember(m.Turn.ID)
	f.drop("ended", m.Why, false, func(*request) bool { return true })
	f.spend()
	clear(m.Background)
	m.Turn = turn{Phase: ending, How: agent.Completed, Started: m.Turn.Started, Source: m.Turn.Source}
	f.unasked(m.Calls...)
	m.Calls, m.Activity = nil, &agent.Activity{Kind: agent.Thinking}
}

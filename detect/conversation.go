package detect

import "berth/agent"

// follows says whether the fact is of the conversation that this session
// follows. It moves to another one only by the agent's own word.
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
		// A log is read because it is the conversation's own.
		return fact.Source == agent.SourceLog && m.Conversation == ""
	case id == f.o.Forked && fact.Kind == agent.ConversationStarted && fact.Text == "resume" && m.Turns == 0 && m.Left == "":
		return true // its own begin, and no move
	case m.Conversation == "":
		if fact.Kind == agent.ConversationEnded {
			return true
		}
	case id == m.ForkedFrom && fact.Source == agent.SourceRegistry:
		return false // the copy runs in another process, and the file of this one is not written any more
	case fact.Source == agent.SourceRegistry:
		// Its own file, by its pid. It may be late about a move just made.
		if id == m.Left && f.now.Sub(m.LeftAt) < silence {
			return true
		}
	case fact.Kind == agent.ConversationStarted && (fact.Text == "clear" || m.ConversationOver):
	case fact.Kind == agent.ConversationStarted && fact.Text == "fork" && m.Turn.Phase == "":
		// The agent goes on in a copy. One that a tool makes begins in a turn.
		forked = true
	case f.may(agent.MoveReplace, fact.Source) && m.Turn.ID == "" && fact.Agent == "" &&
		(fact.Kind == agent.ConversationStarted || fact.Kind == agent.TurnStarted && id == m.Left):
		replaced = true
	case fact.Kind == agent.TurnStarted && m.Resumed && m.Turns == 0:
		// A fork is announced by the id of what it was forked from.
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

// Ours says whether something of that conversation is of the one that is
// followed, without moving to it.
func (f *Fold) Ours(conversation string) bool {
	return conversation == "" || f.m.Conversation == "" || conversation == f.m.Conversation
}

// leave ends what belongs to the conversation so far. A live file that is
// late tells of the one that has begun meanwhile; and a turn that is under way
// without a name when another conversation takes its place is that one's.
func (f *Fold) leave(fact *agent.Fact, replaced bool) {
	m := &f.m
	f.mark(fact.Source, fact.Cause, fact.Evidence)
	if m.Turn.Phase != "" && fact.Source != agent.SourceRegistry && !replaced {
		f.leaveTurn()
	}
	m.Failure, m.Pending = nil, nil
	m.Turns, m.Left, m.LeftAt = 0, m.Conversation, f.now
}

// leaveTurn ends the turn that belongs to the conversation so far. To go over
// to another one is work too: it is at rest when nothing says busy any more.
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
	m.Calls, m.Activity = nil, &agent.Activity{Kind: agent.Thinking}
}

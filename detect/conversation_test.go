package detect

import (
	"testing"

	"berth/agent"
)

func TestConversations(t *testing.T) {
	from := func(b *bench, k agent.Kind, conversation, turn, text string) bool {
		return b.say(agent.Fact{Kind: k, Source: agent.SourceHook, Conversation: conversation, Turn: turn, Text: text, How: agent.Completed}).Foreign
	}
	t.Run("a nested one is foreign", func(t *testing.T) {
		b := working(t)
		b.at(2000)
		for _, k := range []agent.Kind{agent.ConversationStarted, agent.TurnStarted, agent.TurnEnded, agent.ConversationEnded} {
			if !from(b, k, "nested", "n", "startup") {
				t.Errorf("%s of another conversation is not foreign", k)
			}
		}
		b.at(3000)
		b.want()
		if b.fold.Status().Conversation != "c" {
			t.Errorf("follows %s", b.fold.Status().Conversation)
		}
	})
	t.Run("clear moves it", func(t *testing.T) {
		b := started(t)
		b.at(2000)
		if from(b, agent.ConversationEnded, "c", "", "clear") || from(b, agent.ConversationStarted, "d", "", "clear") || !from(b, agent.TurnStarted, "c", "x", "") {
			t.Error("not moved")
		}
		b.want()
		from(b, agent.TurnStarted, "d", "y", "")
		b.want("2000 working")
	})
	t.Run("clear is work for as long as a level says so", func(t *testing.T) {
		b := started(t)
		b.at(2000).title(agent.LevelBusy)
		b.at(2200)
		from(b, agent.ConversationEnded, "c", "", "clear")
		b.at(2400)
		from(b, agent.ConversationStarted, "d", "", "clear")
		b.at(2800).title(agent.LevelNotBusy)
		b.at(4000)
		b.want("2080 working", "2900 idle")
	})
	t.Run("a copy moves it between turns", func(t *testing.T) {
		b := started(t)
		b.at(2000)
		// Claude Code's agents view: a helper of its own begins, then the copy.
		if !from(b, agent.ConversationStarted, "spare", "", "startup") || from(b, agent.ConversationStarted, "d", "", "fork") {
			t.Error("not moved")
		}
		b.at(9000).say(agent.Fact{Kind: agent.LevelIs, Source: agent.SourceRegistry, Conversation: "c", Level: agent.LevelIdle})
		from(b, agent.TurnStarted, "d", "y", "")
		b.want("9000 working")
		if !from(b, agent.ConversationStarted, "e", "", "fork") || b.fold.Status().Conversation != "d" {
			t.Error("a copy that a tool makes is followed")
		}
	})
	t.Run("clear ends an error", func(t *testing.T) {
		b := working(t)
		b.at(2000).say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceHook, Turn: "a", How: agent.Failed, Conversation: "c", Failure: &agent.Failure{Class: agent.Invalid}})
		b.title(agent.LevelNotBusy)
		b.at(3000)
		from(b, agent.ConversationEnded, "c", "", "clear")
		from(b, agent.ConversationStarted, "d", "", "clear")
		b.want("2000 error/invalid", "3000 idle")
	})
	t.Run("a fork is known by its first turn", func(t *testing.T) {
		b := newBench(t, Options{})
		b.at(100)
		from(b, agent.ConversationStarted, "old", "", "resume")
		if from(b, agent.TurnStarted, "new", "a", "") || b.fold.Status().Conversation != "new" {
			t.Error("not followed")
		}
	})
	t.Run("a fork with an id that Berth gave", func(t *testing.T) {
		b := newBench(t, Options{Conversation: "new", Forked: "old"})
		b.at(100)
		if from(b, agent.ConversationStarted, "old", "", "resume") || b.fold.Status().Conversation != "new" {
			t.Error("its own begin is foreign, or moves it")
		}
		if from(b, agent.TurnStarted, "new", "a", "") {
			t.Error("not followed")
		}
		b.want("100 idle", "100 working")
		for _, k := range []agent.Kind{agent.ConversationStarted, agent.TurnEnded, agent.ConversationEnded} {
			if !from(b, k, "old", "b", "resume") {
				t.Errorf("%s of what it was forked from is not foreign", k)
			}
		}
	})
	t.Run("the one Berth gave", func(t *testing.T) {
		b := newBench(t, Options{Conversation: "given"})
		b.at(100)
		if !from(b, agent.ConversationStarted, "nested", "", "startup") || from(b, agent.ConversationStarted, "given", "", "startup") {
			t.Error("follows the first instead of the given")
		}
	})
	t.Run("a live file that is late about a clear", func(t *testing.T) {
		b := started(t)
		b.at(2000)
		from(b, agent.ConversationEnded, "c", "", "clear")
		from(b, agent.ConversationStarted, "d", "", "clear")
		b.at(2050).registry(agent.LevelIdle)
		if got := b.fold.Status().Conversation; got != "d" {
			t.Errorf("went back to %s", got)
		}
	})
	t.Run("the live file of its own process", func(t *testing.T) {
		b := started(t)
		b.at(2000).say(agent.Fact{Kind: agent.LevelIs, Source: agent.SourceRegistry, Level: agent.LevelIdle, Conversation: "z"})
		if got := b.fold.Status().Conversation; got != "z" {
			t.Errorf("follows %s", got)
		}
	})
}

package codex

import (
	"strings"

	"berth/agent"
)

// OSC reads OSC 7501, "state=S:app=codex[:kind=K]", and the progress reports in OSC 9 that other
// programs send. Codex's own OSC 9 are notifications, which are evidence only.
func (Driver) OSC(number int, payload string) []agent.Fact {
	f := agent.Fact{Kind: agent.Noted, Source: agent.SourceOSC, Cause: "osc", Evidence: agent.FirstLine(payload)}
	switch {
	case number == agent.StateOSC:
		return state(f, payload)
	case number == 9 && strings.HasPrefix(payload, "4;"):
		value, _, _ := strings.Cut(payload[len("4;"):], ";")
		f.Cause = "osc:9;4;" + value
	}
	return []agent.Fact{f}
}

// state reads a state word. "done" and "error" are ends of a turn. After "done" Codex may still ask
// about a plan; that has no state of its own.
func state(f agent.Fact, payload string) []agent.Fact {
	word := agent.ReadStateWord(payload)
	if word.App != Name { // "clear", at the exit, has no app
		return []agent.Fact{f}
	}
	f.Cause, f.Evidence = "osc:7501:"+agent.FirstLine(word.State), agent.FirstLine(payload)
	end := f
	end.Kind = agent.TurnEnded
	f.Kind = agent.LevelIs
	switch word.State {
	case "working":
		f.Level = agent.LevelBusy
	case "idle":
		f.Level = agent.LevelIdle
	case "blocked":
		f.Level, f.Text = agent.LevelWaiting, word.Kind
	case "done":
		end.How, f.Level = agent.Completed, agent.LevelNotBusy
		return []agent.Fact{end, f}
	case "error":
		end.How, f.Level = agent.Failed, agent.LevelNotBusy
		return []agent.Fact{end, f}
	default:
		f.Kind = agent.Noted
	}
	return []agent.Fact{f}
}

// actionRequired is in the title while something waits for an answer. The mark before it blinks.
const actionRequired = "] Action Required"

// Title reads a terminal title: a spinner while Codex works, otherwise only names. "Action
// Required" doesn't count as a waiting prompt: Codex also shows it for an asynchronous question,
// while it continues to work. It only shows that the turn isn't over.
func (Driver) Title(title string) []agent.Fact {
	f := agent.Fact{Kind: agent.Noted, Source: agent.SourceTitle, Cause: "title", Evidence: title}
	glyph, _, _ := strings.Cut(title, " ")
	switch {
	case strings.TrimSpace(title) == "": // at the exit
	case isSpinner(glyph):
		f.Kind, f.Level, f.Cause = agent.LevelIs, agent.LevelBusy, "title:spinner"
	case strings.HasPrefix(title, "[ ") && strings.HasPrefix(title[min(3, len(title)):], " "+actionRequired):
		f.Kind, f.Level, f.Cause = agent.LevelIs, agent.LevelBusy, "title:action_required"
	default:
		f.Kind, f.Level, f.Cause = agent.LevelIs, agent.LevelNotBusy, "title:names"
	}
	return []agent.Fact{f}
}

// isSpinner reports whether the glyph is one braille character.
func isSpinner(glyph string) bool {
	r := []rune(glyph)
	return len(r) == 1 && r[0] > '\u2800' && r[0] <= '\u28ff'
}

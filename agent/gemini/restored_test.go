package gemini_test

import (
	"errors"
	"testing"

	"berth/agent"
	"berth/agent/gemini"
	"berth/detect"
)

// restart goes on as a server after this one does.
func (s *story) restart() *story {
	s.t.Helper()
	data, err := s.fold.Checkpoint()
	if err != nil {
		s.t.Fatal(err)
	}
	if s.fold, err = detect.Restore(gemini.Driver{}, detect.Options{Start: midnight}, data, s.moment()); err != nil {
		s.t.Fatal(err)
	}
	return s
}

// TestPromptWithoutInput: a prompt whose input no hook reported has none after a restart of the
// server either. It keeps its id and its dialog, and what no hook reported stays unknown.
func TestPromptWithoutInput(t *testing.T) {
	s := tell(t)
	s.begin(1000).at(1100).asks("ls").screen(confirm("ls")...).at(1500)
	before := s.fold.Status().Request
	s.restart().screen(confirm("ls")...).at(2500)
	if p := s.fold.Status().Request; p == nil || p.ID != before.ID || p.Contested || len(p.Raw) > 0 || !s.keyed(p.ID) {
		t.Errorf("a command that its notification alone reported, after a restart: %+v", p)
	}

	boxes := box("Answer Questions", "", "Which ones?", "(Select all that apply)", "", "▲", "● 1. [ ] One", "  2. [ ] Two", "  3. [ ] Three", "▼", "", "Enter to select · ↑/↓ to navigate · Esc to cancel")
	s = tell(t)
	s.begin(1000).screen(boxes...).at(2000).restart().screen(boxes...).at(3000)
	p, ok := s.fold.Pending("")
	if !ok || p.Dialog == nil {
		t.Fatalf("%+v", p)
	}
	answer := agent.Answer{Kind: agent.AnswerEach, Each: []agent.QuestionPick{{Options: []int{1}}}}
	if _, err := (gemini.Driver{}).Keys(p.Request, answer, p.Dialog); !errors.Is(err, agent.ErrCannot) {
		t.Errorf("three boxes of a longer list are in view, after a restart: %v", err)
	}
}

// TestHintOfAQuestion: the words that an empty line shows are known after a restart of the server too.
func TestHintOfAQuestion(t *testing.T) {
	asks := box("Answer Questions", "", "Which one?", "", "● 1.  One", "  2.  Two", "  3.  Name it", "", "Enter to select · ↑/↓ to navigate · Esc to cancel")
	s := tell(t)
	s.begin(1000).at(1100).hook("BeforeTool", `"tool_name":"ask_user","tool_input":{"questions":[{"question":"Which one?","header":"One","type":"choice","placeholder":"Name it","options":[{"label":"One","description":""},{"label":"Two","description":""}]}]}`)
	s.hook("Notification", `"notification_type":"ToolPermission","details":{"type":"ask_user"}`).screen(asks...).at(2000)
	before := s.fold.Status().Request
	if before == nil || !s.keyed(before.ID) {
		t.Fatalf("%+v", before)
	}
	s.restart().at(2100).screen(rest...).screen(asks...).at(3000)
	if p := s.fold.Status().Request; p == nil || p.ID != before.ID || !s.keyed(p.ID) {
		t.Errorf("after a restart, prompt %s is %+v", before.ID, p)
	}
}

package copilot_test

import (
	"strings"
	"testing"

	"berth/agent"
)

// TestEditOfAnotherFile: a dialog about one file isn't that of a call that edits another one.
func TestEditOfAnotherFile(t *testing.T) {
	for file, same := range map[string]bool{"/srv/ws/a.txt": true, "/srv/ws/run.sh": false} {
		s, drawn := newTalk(t), partly("Do you want to edit /srv/ws/a.txt?", "1 + hello")
		s.log("tool.execution_start", `{"toolCallId":"a","toolName":"edit","arguments":{"path":"`+file+`","old_str":"a","new_str":"b"}}`)
		s.log("permission.requested", `{"permissionRequest":{"kind":"write","toolCallId":"a","intention":"Edit file","fileName":"`+file+`","diff":""},"promptRequest":{"kind":"write"}}`)
		p, keyed := s.looks(drawn)
		for range 12 {
			p, keyed = s.looks(drawn)
		}
		if keyed != same {
			t.Errorf("the call edits %s: keys %v at %q", file, keyed, strings.Join([]string{agent.Value(p.Title), p.FullInput}, "\n"))
		}
	}
}

// TestEditBelowAnother: only the question of a dialog about a change names its file. Neither the rows of the change nor the question's own words do.
func TestEditBelowAnother(t *testing.T) {
	for _, c := range [][2]string{{"/etc/evil.sh", "1 + see evil.sh"}, {"/etc/evil.sh", "1 + see /etc/evil.sh"}, {"/srv/ws/ed", "1 + hello"}, {"/srv/ws/in", "1 + hello"}, {"/x/a.txt", "1 + hello"}} {
		s := newTalk(t)
		s.log("tool.execution_start", `{"toolCallId":"a","toolName":"edit","arguments":{"path":"`+c[0]+`","old_str":"a","new_str":"b"}}`)
		drawn := partly("Do you want to edit /srv/ws/a.txt?", c[1])
		for range 12 {
			s.looks(drawn)
		}
		if p, keyed := s.looks(drawn); !keyed || !strings.Contains(agent.Value(p.Text), "of a call of edit, with\n{\"new_str\":\"b\",\"old_str\":\"a\",\"path\":\""+c[0]) {
			t.Errorf("over an edit of %s: keys %v at %q", c[0], keyed, agent.Value(p.Text))
		}
	}
}

// TestNeverSeen: the log has a command's permission. A dialog of edits that the log lacks may be drawn over that one's.
func TestNeverSeen(t *testing.T) {
	drawn := partly("Do you want to edit /srv/ws/a.txt?", "1 + hello")
	for _, asked := range []bool{true, false} {
		s := newTalk(t)
		if asked {
			s.starts("a", "touch one.txt", "")
			s.asks("a", in("/srv/ws"))
		}
		keyed := false
		for range 12 {
			_, keyed = s.looks(drawn)
		}
		if keyed == asked {
			t.Errorf("a command asks: %v: keys %v, it asks %+v", asked, keyed, s.f.Status().Requests)
		}
	}
}

// TestCallBefore: the log has a command and its permission before the call of the drawn dialog. Forged hooks report that the turn is over. The prompt
// names the command until the log has its result.
func TestCallBefore(t *testing.T) {
	for _, over := range []bool{false, true} {
		s := newTalk(t)
		s.starts("a", "touch one.txt", "")
		s.asks("a", in("/srv/ws"))
		for _, kind := range []agent.Kind{agent.TurnEnded, agent.TurnStarted} {
			s.f.Apply(agent.Fact{Kind: kind, Source: agent.SourceHook, How: agent.Completed, Time: s.now})
		}
		s.log("tool.execution_start", `{"toolCallId":"b","toolName":"edit","arguments":{"path":"/srv/ws/a.txt","old_str":"a","new_str":"b"}}`)
		s.log("permission.requested", `{"permissionRequest":{"kind":"write","toolCallId":"b","intention":"Edit file","fileName":"/srv/ws/a.txt","diff":""},"promptRequest":{"kind":"write"}}`)
		if over {
			s.log("tool.execution_complete", `{"toolCallId":"a"}`)
		}
		var p *agent.Request
		keyed := false
		for range 12 {
			p, keyed = s.looks(partly("Do you want to edit /srv/ws/a.txt?", "1 + hello"))
		}
		if !keyed || strings.Contains(agent.Value(p.Text), "of a call of bash, with\n{\"command\":\"touch one.txt\"") == over {
			t.Errorf("the command has a result: %v: keys %v, it asks %q", over, keyed, agent.Value(p.Text))
		}
	}
}

// TestUnknownQuestion: the log has a command, and a box asks another question than the measured ones. Its prompt names the command.
func TestUnknownQuestion(t *testing.T) {
	s := newTalk(t)
	s.starts("a", "touch one.txt", "")
	var p *agent.Request
	keyed := false
	for range 12 {
		p, keyed = s.looks(partly("Do you want to go on?", "all is well"))
	}
	if !keyed || !strings.Contains(agent.Value(p.Text), "of a call of bash, with\n{\"command\":\"touch one.txt\"") {
		t.Errorf("keys %v at %q", keyed, agent.Value(p.Text))
	}
	for _, patch := range []struct {
		question string
		named    bool
	}{{"Do you want to update /srv/ws/a.txt?", false}, {"Do you want to update /srv/ws/other.txt?", true}, {"Do you want to read /srv/ws/a.txt?", true}, {"Do you want to go on?", true}} {
		s := newTalk(t)
		s.log("tool.execution_start", `{"toolCallId":"a","toolName":"apply_patch","arguments":"*** Begin Patch\n*** Update File: /srv/ws/a.txt\n@@\n-a\n+b\n*** End Patch"}`)
		for range 12 {
			p, keyed = s.looks(partly(patch.question, "1 + hello"))
		}
		if !keyed || strings.Contains(agent.Value(p.Text), "of a call of apply_patch") != patch.named {
			t.Errorf("%s over a patch: keys %v at %q", patch.question, keyed, agent.Value(p.Text))
		}
	}
}

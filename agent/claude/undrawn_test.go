package claude_test

import (
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
)

// TestForgedFields: a dialog doesn't draw every field of a call. No key answers a prompt with
// fewer fields while another call that is drawn the same waits. A prompt gets no more fields
// under an id that a caller has read without them.
func TestForgedFields(t *testing.T) {
	const plain, more = `{"command":"npm test","description":"Test"}`, `{"command":"npm test","description":"Test","dangerouslyDisableSandbox":true}`
	r := asksOfCommand("Test", "npm test")
	play := map[byte]func(s *forgery){
		'f': func(s *forgery) { s.asks("Bash", plain, "") },
		'F': func(s *forgery) { s.asks("Bash", plain, "6") },
		't': func(s *forgery) { s.asks("Bash", more, "7") },
		'd': func(s *forgery) { s.show(r) },
		'g': func(s *forgery) {
			for _, id := range []string{"6", "7"} {
				s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: id, Time: s.step()})
			}
		},
	}
	for _, order := range []string{"ftd", "fdt", "tfd", "tdf", "dft", "dtf", "Ftd", "Fdt", "dFt", "dtF", "ftdg", "fdtg", "dftg", "dtfg", "tgfd", "tdgf", "Ftgd", "dFtg"} {
		s := newForgery(t)
		was := map[string]string{}
		for i := range order {
			play[order[i]](s)
			for _, p := range s.f.Status().Requests {
				if before, known := was[p.ID]; known && before != text(p.Text) {
					t.Errorf("%s: prompt %s showed %q, and shows %q now", order[:i+1], p.ID, before, text(p.Text))
				}
				was[p.ID] = text(p.Text)
			}
		}
		s.pass(2 * time.Second)
		s.show(r)
		shown := false
		for _, p := range s.f.Status().Requests {
			if p.Text == nil && s.keyed(p.ID, r.Dialog) {
				t.Errorf("%s: without the field, prompt %s is answered at the dialog", order, p.ID)
			}
			shown = shown || text(p.Text) == "dangerouslyDisableSandbox: true"
		}
		if !shown {
			t.Errorf("%s: the call is not shown", order)
		}
	}
}

// TestForgedFieldsOfAPlan: a plan is shown with all of its fields, and its dialog draws one of
// them. A plan that a hook reported without its text isn't the prompt that the dialog shows.
func TestForgedFieldsOfAPlan(t *testing.T) {
	r := asksOfPlan("Test it.")
	for told, input := range map[string]string{
		`{}`:                           "",
		`{"plan":""}`:                  "",
		`{"plan":"Test it.","more":1}`: "more: 1",
		`{"plan":"Test it.","planFilePath":"/w/p.md","allowedPrompts":[{"tool":"Bash","prompt":"x"}]}`: "/w/p.md\nallowedPrompts: [{\"tool\":\"Bash\",\"prompt\":\"x\"}]",
	} {
		s := newForgery(t)
		s.asks("ExitPlanMode", told, "")
		id := s.f.Status().Request.ID
		if p := s.f.Status().Request; text(p.Input) != input {
			t.Errorf("%s is shown with %q", told, text(p.Input))
		}
		s.show(r)
		p := s.f.Status().Request
		if s.keyed(id, r.Dialog) || p.ID == id || text(p.Text) != "Test it." || !s.keyed(p.ID, r.Dialog) {
			t.Errorf("%s, reported as prompt %s, is %+v", told, id, p)
		}
	}
	s := newForgery(t)
	s.asks("ExitPlanMode", `{"plan":"Test it.","planFilePath":"/w/p.md"}`, "")
	s.show(r)
	if p := s.f.Status().Request; p.ID != "1" || !s.keyed("1", r.Dialog) {
		t.Errorf("with its text: %+v", p)
	}
}

// TestUndrawnFieldInTheLog: the session log reports a field that the dialog doesn't draw. No key answers
// a prompt of a hook without that field, because a hook can be forged.
func TestUndrawnFieldInTheLog(t *testing.T) {
	const unsafe = `{"command":"rm -rf x","description":"Clean","dangerouslyDisableSandbox":true}`
	const bare = `{"command":"rm -rf x","description":"Clean"}`
	for _, c := range []struct {
		log, hook string
		keyed     bool
	}{{unsafe, bare, false}, {bare, unsafe, false}, {unsafe, unsafe, true}, {bare, bare, true}} {
		s := newForgery(t)
		r := asksOfCommand("Clean", "rm -rf x")
		facts, err := claude.Driver{}.Log([]byte(`{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"k","name":"Bash","input":` + c.log + `}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		s.f.Apply(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceHook, Turn: "t", Conversation: "s", Time: s.step()})
		for _, f := range facts {
			f.Time = s.step()
			s.f.Apply(f)
		}
		s.asks("Bash", c.hook, "")
		s.show(r)
		if p := s.find("rm -rf x"); p == nil || s.keyed(p.ID, r.Dialog) != c.keyed {
			t.Errorf("the log has %s and the hook %s: answered by keys %v", c.log, c.hook, !c.keyed)
		}
	}
}

// TestUndrawnFieldOfAFile: a field that the dialog about a file does not draw was not shown with the
// prompt that the dialog had, nor under that prompt's digest.
func TestUndrawnFieldOfAFile(t *testing.T) {
	for input, same := range map[string]bool{
		`{"file_path":"/w/notes.txt","content":"hello"}`:               true,
		`{"file_path":"/w/notes.txt","content":"hello","mode":"4755"}`: false,
	} {
		s := newForgery(t)
		r := asksOfFile("/w/notes.txt", "hello")
		s.show(r)
		was := s.f.Status().Request
		s.asks("Write", input, "7")
		s.show(r)
		p, ok := s.f.Pending(was.ID)
		if kept := ok && p.Hook == "7"; kept != same {
			t.Errorf("%s is answered by the hook under the id of what was seen: %v", input, kept)
		}
	}
}

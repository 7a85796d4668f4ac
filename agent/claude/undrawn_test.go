package claude_test

import (
	"testing"
	"time"

	"berth/agent"
)

// A dialog does not draw each field of a call. A prompt that shows fewer is not answered at it
// while another call that is drawn the same waits, and gets no fields under an id that was
// read without them.
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

// A plan is shown with all of its fields, and its dialog draws one of them. A plan that was told
// without its text is another prompt than the one that the dialog shows.
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
			t.Errorf("%s, told as prompt %s, is %+v", told, id, p)
		}
	}
	s := newForgery(t)
	s.asks("ExitPlanMode", `{"plan":"Test it.","planFilePath":"/w/p.md"}`, "")
	s.show(r)
	if p := s.f.Status().Request; p.ID != "1" || !s.keyed("1", r.Dialog) {
		t.Errorf("with its text: %+v", p)
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

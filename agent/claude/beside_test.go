package claude_test

import (
	"fmt"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/claude"
)

// TestSaidBeside: the prompt and its digest include what a dialog says in addition to its subject:
// a description, a warning, and a question in other words.
func TestSaidBeside(t *testing.T) {
	of := func(description, note, question string) *agent.Reading {
		rows := []string{strings.Repeat("─", 80), " Bash command", " " + description, strings.Repeat("╌", 80), " ls", strings.Repeat("╌", 80)}
		if note != "" {
			rows = append(rows, " "+note)
		}
		return draw(80, 40, strings.Join(append(rows, " "+question, " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"), "\n"))
	}
	plain := func(description, note, question string) *agent.Reading {
		rows := []string{strings.Repeat("─", 80), " Bash command", "", "   ls", "   \x1b[38;5;246m" + description + "\x1b[39m", "", " " + note}
		return draw(80, 40, strings.Join(append(rows, " "+question, " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"), "\n"))
	}
	const usual = "Do you want to proceed?"
	for version, of := range map[string]func(_, _, _ string) *agent.Reading{"2.1.330": of, "2.1.197": plain} {
		digests, ids := map[string]bool{}, map[string]bool{}
		s := newForgery(t)
		for _, c := range []struct{ description, note, question, text string }{
			{"List", "", usual, `description: "List"`},
			{"List all", "", usual, `description: "List all"`},
			{"List", "It contains a newline", usual, "description: \"List\"\nnote: \"It contains a newline\""},
			{"List", "", "Do you want to run it without the sandbox?", "description: \"List\"\nquestion: \"Do you want to run it without the sandbox?\""},
		} {
			r := of(c.description, c.note, c.question)
			s.show(r)
			p := s.f.Status().Request
			if p == nil || text(p.Input) != "ls" || text(p.Text) != c.text || ids[p.ID] || digests[p.Digest] || !s.keyed(p.ID, r.Dialog) {
				t.Fatalf("%s: %q: %+v", version, c.text, p)
			}
			ids[p.ID], digests[p.Digest] = true, true
			s.f.Typed(s.step())
		}
	}
	for question, same := range map[string]bool{usual: true, "Do you want to run it without the sandbox?": false} {
		s := newForgery(t)
		s.asks("Bash", `{"command":"ls","description":"List"}`, "")
		id := s.f.Status().Request.ID
		r := plain("List", "", question)
		s.show(r)
		if keyed := s.keyed(id, r.Dialog); keyed != same {
			t.Errorf("%s: a key answers the reported prompt: %v", question, keyed)
		}
	}
	s := newForgery(t)
	s.show(asksOfFile("notes.txt", "hello"))
	if p := s.f.Status().Request; p.Text != nil {
		t.Errorf("a question about the file that is shown: %q", text(p.Text))
	}
}

// accept is the option that says yes to this call. Where several say yes to more, the caller
// chooses one.
func TestAcceptsOnce(t *testing.T) {
	for labels, key := range map[string]string{
		"Yes|No":                        "1",
		"Yes|Yes, and always|No":        "1",
		"No|Yes":                        "", // no such dialog was seen with numbers
		"Yes, allow the imports|No":     "1",
		"Yes, and always|Yes, all|No":   "",
		"Yes, and always|No|Yes, all":   "",
		"look first|Yes, and always|No": "",
	} {
		rows := []string{strings.Repeat("─", 80), " Bash command", " List", strings.Repeat("╌", 80), " ls", strings.Repeat("╌", 80), " Do you want to proceed?"}
		for i, label := range strings.Split(labels, "|") {
			mark := "   "
			if i == 0 {
				mark = " ❯ "
			}
			rows = append(rows, fmt.Sprintf("%s%d. %s", mark, i+1, label))
		}
		r := draw(80, 40, strings.Join(append(rows, "", " Esc to cancel · Tab to amend"), "\n"))
		k, err := claude.Driver{}.Keys(&agent.Request{Type: agent.PromptPermission}, agent.Answer{Kind: agent.Accept}, r.Dialog)
		if got := len(k.Steps) > 0; got != (key != "") || got && k.Steps[0].Key != key {
			t.Errorf("%s: %+v, %v", labels, k.Steps, err)
		}
	}
}

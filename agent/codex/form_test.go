package codex_test

import (
	"errors"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/codex"
)

// TestTextForm: a page of a server's form whose field takes text is a notice that Esc cancels. Berth types
// nothing into it, and the text that a person types there isn't part of the prompt.
func TestTextForm(t *testing.T) {
	const above = "• Calling lab.ask\n\n  1. One\n  2. Two\n\n"
	const asks = "  \x1b[2mField 1/2\x1b[22m\n  Tell me about it.\n\n  Name\n  Your whole name\n\n"
	const several, one = "\n\n  enter to submit answer | ^p / ^n change field | esc to cancel", "\n\n  enter to submit | esc to cancel"
	for name, c := range map[string]struct {
		page     string
		row, col int
		body     string
		cut      bool
	}{
		"empty":              {above + asks + "  › \x1b[2mType your answer (optional)\x1b[22m" + several, 11, 4, "Field 1/2\nTell me about it.\n\nName\nYour whole name", false},
		"typed":              {above + asks + "  › Bob" + several, 11, 7, "Field 1/2\nTell me about it.\n\nName\nYour whole name", false},
		"typed in two rows":  {above + asks + "  › Bob and\n    Ann" + several, 12, 7, "Field 1/2\nTell me about it.\n\nName\nYour whole name", false},
		"like an option":     {above + asks + "  › 1. Yes" + several, 11, 10, "Field 1/2\nTell me about it.\n\nName\nYour whole name", false},
		"one field":          {above + strings.Replace(asks, "1/2", "1/1", 1) + "  › " + one, 11, 4, "Field 1/1\nTell me about it.\n\nName\nYour whole name", false},
		"a head in its text": {above + strings.Replace(asks, "Tell me about it.", "Field 2/2\n  Go on.", 1) + "  › " + several, 12, 4, "Field 1/2\nField 2/2\nGo on.\n\nName\nYour whole name", false},
		"without its head":   {"  Name\n\n  › " + one, 2, 4, "Name", true},
	} {
		r := draw(c.page, c.row, c.col)
		d := r.Dialog
		if r.Composer != nil || d == nil || d.Type != agent.PromptNotice || len(d.Options) != 0 || d.Body != c.body || d.Cut != c.cut {
			t.Errorf("%s: %+v, %+v", name, r.Composer, d)
			continue
		}
		p := codex.Driver{}.FromDialog(d)
		k, err := codex.Driver{}.Keys(p, agent.Answer{Kind: agent.Deny}, d)
		if err != nil || len(k.Steps) != 1 || k.Steps[0].Key != "Escape" || k.Outcome != agent.OutcomeDenied {
			t.Errorf("%s: deny presses %+v, %v", name, k, err)
		}
		for _, a := range []agent.Answer{{Kind: agent.Accept}, {Kind: agent.ChooseOption, Option: 1}, {Kind: agent.AnswerText, Text: "Bob"}, {Kind: agent.Deny, Text: "no"}} {
			if _, err := (codex.Driver{}).Keys(p, a, d); !errors.Is(err, agent.ErrCannot) || !strings.Contains(err.Error(), "attach, and fill the form in") {
				t.Errorf("%s: %s gives %v", name, a.Kind, err)
			}
		}
	}
	d := draw("• Calling lab.ask\n\n  \x1b[1mlab needs your approval.\x1b[22m\n\n  Server: \x1b[1mlab\x1b[22m\n\n  Tell me about it.\n\n\n› 1. Yes, provide the requested info (y)\n  2. No, but continue without it (esc)\n  3. Cancel this request (esc)"+confirm, -1, 0).Dialog
	if d == nil || d.Type != agent.PromptPermission || d.Cut || d.Partial || d.Title != "lab needs your approval." || d.Body != "Server: lab\n\nTell me about it." {
		t.Errorf("a form without fields to draw: %+v", d)
	}
	s := newSeen()
	page := func(field, typed string) *agent.Reading {
		return draw(strings.Replace(asks, "1/2", field, 1)+"  › "+typed+several, 6, 4+len(typed))
	}
	first := s.show(page("1/2", "")).ID
	if p := s.show(page("1/2", "Bob")); p.ID != first {
		t.Errorf("filled in, prompt %s is %+v", first, p)
	}
	if p := s.show(page("2/2", "")); p.ID == first {
		t.Errorf("the next page is prompt %s too", first)
	}
}

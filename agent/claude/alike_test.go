package claude_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
)

// skillDialog is how 2.1.330 asks for a skill: without the arguments that the skill gets.
func skillDialog(title, question string, options ...string) *agent.Reading {
	rows := []string{strings.Repeat("─", 80), " " + title, " Claude may use instructions, code, or files from this Skill.", " Deploys the project", "", " " + question}
	return draw(80, 40, strings.Join(append(append(rows, options...), "", " Esc to cancel · Tab to amend"), "\n"))
}

// TestNextSkill: a skill's dialog doesn't draw its arguments. After a key, the same dialog may be the
// next skill's, which is another prompt. That prompt takes no answer at first; then it has an id and a
// digest of its own.
func TestNextSkill(t *testing.T) {
	r := skillDialog(`Use skill "deploy"?`, "Do you want to proceed?", " ❯ 1. Yes", "   2. Yes, and don't ask again for deploy in /w", "   3. No")
	s := newForgery(t)
	s.show(r)
	was := s.f.Status().Request
	if was == nil || was.Type != agent.PromptPermission || !s.keyed(was.ID, r.Dialog) {
		t.Fatalf("it is read as %+v", was)
	}
	s.f.Typed(s.step())
	s.show(r)
	if p, ok := s.f.Pending(was.ID); ok && (s.f.Asks(r.Dialog, was.ID) || !p.Alike) {
		t.Errorf("right after a key the first id is answered: %+v", p)
	}
	s.pass(3 * time.Second)
	p := s.f.Status().Request
	if p == nil || p.ID == was.ID || p.Digest == was.Digest || !s.keyed(p.ID, r.Dialog) {
		t.Errorf("the next one is %+v, the first was %+v", p, was)
	}
}

// TestSkillOfAServer: the dialog for a server's skill shows the call of the skill above its question, and
// its options have other words. It is a permission, and takes its answers. The test draws the dialog after
// the program's source.
func TestSkillOfAServer(t *testing.T) {
	for name, c := range map[string]struct {
		question string
		options  []string
		yes      string // the key
	}{
		"by its name":          {"Do you want to proceed?", []string{" ❯ 1. Allow once", "   2. Deny"}, "1"},
		"by another one":       {`Called as "dep". Do you want to proceed?`, []string{" ❯ 1. Allow once", "   2. Allow this version of deploy (saved in your user settings)", "   3. Deny"}, "1"},
		"by a long one":        {`Called as "` + strings.Repeat("d", 45) + "\". Do you want to\n proceed?", []string{" ❯ 1. Allow once", "   2. Deny"}, "1"},
		"without a classifier": {`Called as "dep". Do you want to proceed?`, []string{" ❯ Deny", "   Allow once"}, "Down"},
	} {
		r := skillDialog(`Use skill "deploy"?`, c.question, c.options...)
		s := newForgery(t)
		s.show(r)
		p := s.f.Status().Request
		if p == nil || p.Type != agent.PromptPermission || !s.keyed(p.ID, r.Dialog) {
			t.Errorf("%s: %+v", name, p)
			continue
		}
		if all := p.FullInput + text(p.Text); !strings.Contains(all, "Deploys the project") || strings.Contains(c.question, "Called as") && !strings.Contains(all, "Called as") {
			t.Errorf("%s: it shows %q", name, all)
		}
		for kind, want := range map[agent.AnswerKind]string{agent.Accept: c.yes, agent.Deny: "Escape"} {
			k, err := claude.Driver{}.Keys(p, agent.Answer{Kind: kind}, r.Dialog)
			if err != nil || k.Steps[0].Key != want {
				t.Errorf("%s: %s presses %+v, %v", name, kind, k.Steps, err)
			}
		}
	}
	short := skillDialog(`Use skill "deploy"?`, `Called as "dep". Make the terminal taller.`, " ❯ 1. Allow once", "   2. Deny")
	if short.Dialog == nil || short.Dialog.Type == agent.PromptPermission {
		t.Errorf("without room: %+v", short.Dialog)
	}
}

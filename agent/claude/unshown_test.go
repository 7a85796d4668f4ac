package claude_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// asksForSkill is the dialog of a skill.
func asksForSkill() *agent.Reading {
	return draw(80, 40, strings.Join([]string{strings.Repeat("─", 80), ` Use skill "deploy"?`, " Claude may use instructions, code, or files from this Skill.", "",
		"   Deploys the project", "", " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"}, "\n"))
}

// TestSkillsFile: what a skill does is in its file, which any process may change until the skill runs. The prompt says so, by a hook and
// by keys, and stays one that can be answered.
func TestSkillsFile(t *testing.T) {
	const line = "The skill's file isn't shown here. It can allow tools and set hooks, and it can change until the skill runs."
	const call = `{"skill":"deploy","args":"staging"}`
	for _, first := range []bool{true, false} {
		s, r := newForgery(t), asksForSkill()
		if first {
			s.show(r)
		}
		s.asks("Skill", call, "7")
		s.show(r)
		s.pass(time.Second)
		p := s.f.Status().Request
		if len(s.f.Status().Requests) != 1 || p.Channel != agent.ChannelHook || !p.OnScreen || strings.Count(text(p.Text), line) != 1 {
			t.Errorf("by a hook, the dialog before it %v: it asks %+v", first, p)
		}
	}
	s, r := newLogged(t), asksForSkill()
	s.show(r)
	if p := s.f.Status().Request; text(p.Text) == "" || !strings.HasSuffix(text(p.Text), line) {
		t.Errorf("not logged yet: it asks %q", text(p.Text))
	}
	s.logsCalls([]string{"Skill", call})
	s.show(r)
	s.pass(time.Second)
	if p := s.f.Status().Request; strings.Count(text(p.Text), line) != 1 || !strings.Contains(text(p.Text), `args: "staging"`) || !s.keyed(p.ID, r.Dialog) {
		t.Errorf("logged: it asks %+v", p)
	}
}

// TestWorkflowsScript: a call can name the file of its script.
func TestWorkflowsScript(t *testing.T) {
	const line = "The workflow's script isn't shown here, and its file can hold another one by now."
	for input, want := range map[string]string{
		`{"scriptPath":"/w/flow.js"}`: line, `{"name":"y"}`: line, `{"script":"return 1"}`: "", `{"script":"return 1","scriptPath":"/w/flow.js"}`: line,
	} {
		s := newForgery(t)
		s.asks("Workflow", input, "7")
		if p := s.f.Status().Request; text(p.Text) != want || text(p.Input) != input {
			t.Errorf("%s: it asks %+v", input, p)
		}
	}
}

// TestLineEndsOfAnEdit: Claude ends the lines of a file that it edits as most of them end, and no dialog draws that. The prompt says so where
// a CR changes what the file does.
func TestLineEndsOfAnEdit(t *testing.T) {
	const line = "Claude ends each line of the file as most of its lines end: each may get a CR."
	for _, c := range []struct{ tool, input, want string }{
		{"Edit", `{"file_path":"/w/a.sh","old_string":"x","new_string":"exit"}`, line},
		{"Edit", `{"file_path":"/w/a.go","old_string":"x","new_string":"y \\\n z"}`, line},
		{"Edit", `{"file_path":"/w/a.go","old_string":"x","new_string":"exit"}`, ""},
		{"Write", `{"file_path":"/w/a.sh","content":"exit\n"}`, ""},
	} {
		s := newForgery(t)
		s.asks(c.tool, c.input, "7")
		if p := s.f.Status().Request; p == nil || text(p.Text) != c.want {
			t.Errorf("%s %s: it asks %+v", c.tool, c.input, p)
		}
	}
}

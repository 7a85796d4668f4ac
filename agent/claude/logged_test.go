package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
)

// logs applies a line of the session log.
func (s *forgery) logs(line string) {
	s.t.Helper()
	facts, err := claude.Driver{}.Log([]byte(line))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range facts {
		f.Time = s.step()
		s.f.Apply(f)
	}
}

// logsCalls applies lines with calls: for each the tool and its input.
func (s *forgery) logsCalls(calls []string) {
	s.t.Helper()
	for i := 0; i < len(calls); i += 2 {
		s.logs(fmt.Sprintf(`{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"c%d","name":%q,"input":%s}]}}`, i, calls[i], calls[i+1]))
	}
}

// newLogged is a session without hooks whose log has a message.
func newLogged(t *testing.T) *forgery {
	s := newForgery(t)
	s.logs(`{"type":"user","sessionId":"s","promptId":"t","promptSource":"typed","message":{"content":"begin"}}`)
	return s
}

// plainCommand is a command's dialog as 2.1.197 draws it.
func plainCommand(head string, rows ...string) *agent.Reading {
	out := []string{strings.Repeat("─", 80), " " + head, ""}
	for _, row := range rows {
		out = append(out, strings.TrimRight("   "+row, " "))
	}
	return draw(80, 40, strings.Join(append(out, "   \x1b[38;5;246mList\x1b[39m", "", " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"), "\n"))
}

// TestLoggedCallIsShown: without hooks a key allows only what the session log has. 2.1.197 doesn't
// draw what has no room after tabs: the end of this command, of this file's line and of this
// question.
func TestLoggedCallIsShown(t *testing.T) {
	tabs := strings.Repeat(`\t`, 40)
	const list = `{"command":"ls","description":"List"}`
	hides := fmt.Sprintf(`{"command":"ls%s; rm -rf x","description":"List"}`, tabs)
	cut := plainCommand("Bash command", "ls", "", "")
	for name, c := range map[string]struct {
		dialog *agent.Reading
		calls  []string
		keyed  bool
	}{
		"the call":               {plainCommand("Bash command", "ls"), []string{"Bash", list}, true},
		"no call yet":            {cut, nil, true},
		"more than is drawn":     {cut, []string{"Bash", hides}, false},
		"one of two":             {plainCommand("Bash command", "ls"), []string{"Bash", hides, "Bash", list}, false},
		"the other of two":       {cut, []string{"Bash", list, "Bash", hides}, false},
		"beside a long one":      {plainCommand("Bash command", "ls"), []string{"Bash", strings.Replace(hides, "ls", "id", 1), "Bash", list}, false}, // the first of the two may have asked unseen
		"after one":              {plainCommand("Bash command", "ls"), []string{"Bash", list, "Bash", strings.Replace(hides, "ls", "id", 1)}, true},
		"beside another tool":    {cut, []string{"Read", `{"file_path":"/w/a"}`, "Bash", hides}, false},
		"a subagent's":           {plainCommand("Bash command · from the helper agent", "ls"), []string{"Agent", `{"prompt":"x"}`}, true},
		"a file":                 {asksOfFile("notes.txt", "hello"), []string{"Write", `{"file_path":"/w/notes.txt","content":"hello"}`}, true},
		"a file's line":          {asksOfFile("notes.txt", "hello"), []string{"Write", fmt.Sprintf(`{"file_path":"/w/notes.txt","content":"hello%s; rm"}`, tabs)}, false},
		"an edit":                {edits("   x = 1"), []string{"Edit", `{"file_path":"/w/a.txt","old_string":"x = 0","new_string":"x = 1"}`}, true},
		"an edit's line":         {edits("   x = 1", ""), []string{"Edit", fmt.Sprintf(`{"file_path":"/w/a.txt","old_string":"x = 0","new_string":"x = 1%s; rm"}`, tabs)}, false},
		"a description":          {asksColor("Which color?"), []string{"AskUserQuestion", strings.Replace(questionOf("Which color?"), `Choose Red"`, `Choose Red`+tabs+`for production"`, 1)}, false},
		"a question":             {asksColor("Which color?"), []string{"AskUserQuestion", questionOf("Which color?")}, true},
		"another question":       {asksColor("Which color?"), []string{"AskUserQuestion", questionOf("Which color?" + tabs + "for production?")}, false},
		"a server's tool":        {servedCall("list"), []string{"mcp__lab__list", `{"a":1}`}, true},
		"its tool, renamed":      {servedCall("list"), []string{"mcp__lab__wipe", `{"a":1}`}, true},
		"not what a server asks": {servedCall("list"), []string{"Bash", list}, false},
	} {
		s := newLogged(t)
		s.show(c.dialog)
		s.logsCalls(c.calls)
		p := s.f.Status().Request
		if p == nil || s.keyed(p.ID, c.dialog.Dialog) != c.keyed || p.Contested == c.keyed || (p.Channel == agent.ChannelKeys) != c.keyed {
			t.Errorf("%s: %+v", name, p)
		}
		if strings.Contains(name, "renamed") && !strings.Contains(text(p.Text), "tool: mcp__lab__wipe") {
			t.Errorf("%s: the prompt's text is %q", name, text(p.Text))
		}
	}
	s := newLogged(t)
	s.hook(`{"session_id":"s","hook_event_name":"PreToolUse","prompt_id":"t","tool_name":"Bash","tool_use_id":"c0","tool_input":`+list+`}`, "")
	s.show(cut)
	if s.logsCalls([]string{"Bash", hides}); !s.f.Status().Request.Contested {
		t.Error("a forged hook reported the call's start with another input")
	}
}

// edits is the dialog of an edit of a part of a line, drawn in these rows.
func edits(rows ...string) *agent.Reading {
	out := []string{strings.Repeat("─", 80), " Edit file", " a.txt", strings.Repeat("╌", 80), " 1  one", " 2 -   x = 0"}
	for i, row := range rows {
		out = append(out, []string{" 2 +", "   +"}[min(i, 1)]+row)
	}
	return draw(80, 40, strings.Join(append(out, strings.Repeat("╌", 80), " Do you want to make this edit to a.txt?",
		" ❯ 1. Yes", "   2. Yes, allow all edits during this session (shift+tab)", "   3. No", "", " Esc to cancel · Tab to amend"), "\n"))
}

func questionOf(text string) string {
	return fmt.Sprintf(`{"questions":[{"question":"%s","header":"Color","multiSelect":false,"options":[{"label":"Red","description":"Choose Red"},{"label":"Green","description":"Choose Green"}]}]}`, text)
}

func servedCall(tool string) *agent.Reading {
	return draw(80, 40, strings.Join([]string{strings.Repeat("─", 80), " Tool use", "", "   lab - " + tool + "(a: 1) (MCP)", "   \x1b[38;5;246mIt lists\x1b[39m", "",
		" Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"}, "\n"))
}

// TestUndrawnOfALoggedCall: what no dialog draws of a call is in the prompt, from the session log. A
// call that is logged after its dialog makes a new prompt. Calls with the same dialog are all shown.
func TestUndrawnOfALoggedCall(t *testing.T) {
	skill := draw(80, 40, strings.Join([]string{strings.Repeat("─", 80), ` Use skill "deploy"?`, " Claude may use instructions, code, or files from this Skill.", "",
		"   Deploys the project", "", " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"}, "\n"))
	for name, c := range map[string]struct {
		dialog *agent.Reading
		calls  []string
		says   []string
	}{
		"a skill":           {skill, []string{"Skill", `{"skill":"deploy","args":"staging"}`}, []string{`args: "staging"`}},
		"two skills":        {skill, []string{"Skill", `{"skill":"deploy","args":"staging"}`, "Skill", `{"skill":"deploy","args":"production"}`}, []string{`args: "staging"`, `args: "production"`}},
		"without a sandbox": {asksOfCommand("List", "ls"), []string{"Bash", `{"command":"ls","description":"List","dangerouslyDisableSandbox":true}`}, []string{"dangerouslyDisableSandbox: true"}},
	} {
		for _, first := range []bool{true, false} {
			s := newLogged(t)
			if !first {
				s.show(c.dialog)
			}
			was := s.f.Status().Request
			s.logsCalls(c.calls)
			s.show(c.dialog)
			s.pass(time.Second)
			p := s.f.Status().Request
			if p == nil || !s.keyed(p.ID, c.dialog.Dialog) || was != nil && (was.ID == p.ID || was.Digest == p.Digest || s.keyed(was.ID, c.dialog.Dialog)) {
				t.Fatalf("%s: %+v, and before %+v", name, p, was)
			}
			for _, line := range c.says {
				if !strings.Contains(text(p.Text), line) {
					t.Errorf("%s: the text %q has no %q", name, text(p.Text), line)
				}
			}
		}
	}
}

// TestLoggedWhileHidden: a call may be logged while its dialog is off the screen, or was reported as over. What the
// dialog doesn't draw of it makes another prompt nevertheless.
func TestLoggedWhileHidden(t *testing.T) {
	dialog := asksOfCommand("List", "ls")
	for name, hide := range map[string]func(s *forgery){
		"off the screen": func(s *forgery) { s.show(&agent.Reading{}) },
		"reported as over": func(s *forgery) {
			s.hook(`{"session_id":"s","hook_event_name":"PostToolUse","prompt_id":"t","tool_name":"Bash"}`, "")
		},
	} {
		s := newLogged(t)
		s.show(dialog)
		was := s.f.Status().Request
		hide(s)
		s.logsCalls([]string{"Bash", `{"command":"ls","description":"List","dangerouslyDisableSandbox":true}`})
		s.show(dialog)
		s.pass(2 * time.Second)
		p := s.f.Status().Request
		if p == nil || p.ID == was.ID || !strings.Contains(text(p.Text), "dangerouslyDisableSandbox: true") || s.keyed(was.ID, dialog.Dialog) || !s.keyed(p.ID, dialog.Dialog) {
			t.Errorf("%s: %+v, and before %+v", name, p, was)
		}
	}
}

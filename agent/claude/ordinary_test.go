package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// ran applies a call that was logged and has its result.
func (s *forgery) ran(i int, tool, input string) {
	s.logs(fmt.Sprintf(`{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"x%d","name":%q,"input":%s}]}}`, i, tool, input))
	s.logs(fmt.Sprintf(`{"type":"user","sessionId":"s","promptId":"t","message":{"content":[{"type":"tool_result","tool_use_id":"x%d","content":"x"}]}}`, i))
}

func asksOfSkill() *agent.Reading {
	return draw(80, 40, strings.Join([]string{strings.Repeat("─", 80), ` Use skill "deploy"?`, " Claude may use instructions, code, or files from this Skill.", " Deploys the project", "",
		" Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"}, "\n"))
}

// TestKeysAfterOrdinaryWork: an hour of work without a dialog, with lines that may have no room, leaves
// the next dialog answerable.
func TestKeysAfterOrdinaryWork(t *testing.T) {
	wide := `\tif err := run(ctx, first, second, third); err != nil { return fmt.Errorf(\"run %s: %w\", first, err) }\n`
	for tool, c := range map[string]struct {
		r     *agent.Reading
		input string
	}{
		"Bash":  {plainCommand("Bash command", "ls"), `{"command":"ls","description":"List"}`},
		"Edit":  {edits("   x = 1"), `{"file_path":"/w/a.txt","old_string":"x = 0","new_string":"x = 1"}`},
		"Write": {asksOfFile("notes.txt", "hello"), `{"file_path":"/w/notes.txt","content":"hello"}`},
		"Skill": {asksOfSkill(), `{"skill":"deploy"}`},
	} {
		for _, hooked := range []bool{false, true} {
			s := newLogged(t)
			if hooked {
				s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
			}
			for i := range 700 {
				s.ran(3*i, "Read", fmt.Sprintf(`{"file_path":"/w/%d.go"}`, i))
				s.ran(3*i+1, "Grep", fmt.Sprintf(`{"pattern":"code %d","-n":true}`, i))
				if i%4 == 0 { // 2 MB in all
					s.ran(3*i+2, "Write", fmt.Sprintf(`{"file_path":"/w/%d.go","content":"package p%d\n%s"}`, i, i, strings.Repeat(wide, 120)))
				}
			}
			s.logsCalls([]string{tool, c.input})
			if hooked {
				s.asks(tool, c.input, "7")
			}
			s.show(c.r)
			if hooked {
				s.gone("7")
			}
			s.pass(3 * time.Second)
			p := s.f.Status().Request
			if p == nil || p.Contested || !s.keyed(p.ID, c.r.Dialog) || strings.Contains(text(p.Text), ".go") {
				t.Errorf("%s, hooked %v: %+v", tool, hooked, p)
			}
		}
	}
}

// TestPastCallsOfOtherTools: the calls of a tool that have no room contest the dialogs of that tool alone.
func TestPastCallsOfOtherTools(t *testing.T) {
	for tool, keyed := range map[string]bool{"Bash": false, "WebFetch": true} {
		s := newLogged(t)
		for i := range 2100 {
			s.ran(i, tool, fmt.Sprintf(`{"command":"id %d","url":"x","timeout":%d}`, i, i))
		}
		s.logsCalls([]string{"Bash", `{"command":"ls","description":"List"}`})
		r := plainCommand("Bash command", "ls")
		s.show(r)
		s.pass(2 * time.Second)
		if p := s.f.Status().Request; s.keyed(p.ID, r.Dialog) != keyed {
			t.Errorf("%s: %+v", tool, p)
		}
	}
}

// TestPastCallWithOtherFields: the same command ran with a time limit. What the dialog doesn't draw of that call is
// in the text of another prompt, unless its own dialog was on the screen.
func TestPastCallWithOtherFields(t *testing.T) {
	const ls, limited = `{"command":"ls","description":"List"}`, `{"command":"ls","description":"List","timeout":60000}`
	r := plainCommand("Bash command", "ls")
	for _, asked := range []bool{false, true} {
		s := newLogged(t)
		s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
		if asked {
			s.logs(`{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"x1","name":"Bash","input":` + limited + `}]}}`)
			s.asks("Bash", limited, "5")
			s.show(r)
			s.f.Answered(s.find("ls").ID, true)
			s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: "5", Time: s.step()})
			rule := strings.Repeat("─", 80)
			s.show(draw(80, 40, rule+"\n❯\u00a0\n"+rule+"\n  ? for shortcuts"))
			s.logs(`{"type":"user","sessionId":"s","promptId":"t","message":{"content":[{"type":"tool_result","tool_use_id":"x1","content":"x"}]}}`)
		} else {
			s.ran(1, "Bash", limited)
		}
		s.pass(time.Minute)
		s.logsCalls([]string{"Bash", ls})
		s.asks("Bash", ls, "7")
		s.show(r)
		s.pass(2 * time.Second)
		was := s.find("ls").ID
		s.gone("7")
		s.pass(2 * time.Second)
		p := s.find("ls")
		if p == nil || !s.keyed(p.ID, r.Dialog) || strings.Contains(text(p.Text), "timeout: 60000") == asked || (p.ID == was) != asked {
			t.Errorf("asked %v, prompt %s before: %+v", asked, was, p)
		}
	}
}

// TestFewPastCallsAreShown: a dialog that may be about many past calls takes no key until they are forgotten, and
// the fold asks for a tick at that time.
func TestFewPastCallsAreShown(t *testing.T) {
	s := newLogged(t)
	for i := range 12 {
		s.ran(i, "Bash", fmt.Sprintf(`{"command":"ls","description":"List","timeout":%d}`, i+1))
	}
	s.logsCalls([]string{"Bash", `{"command":"ls","description":"List"}`})
	r := plainCommand("Bash command", "ls")
	s.show(r)
	s.pass(2 * time.Second)
	p := s.f.Status().Request
	if !p.Contested || strings.Count(text(p.Text), "timeout: ") != 8 {
		t.Errorf("%+v", p)
	}
	for range 20 { // rules of other kinds wait too
		at := s.f.Deadline()
		if at.IsZero() {
			break
		}
		s.now = at
		s.f.Tick(at)
	}
	if p := s.f.Status().Request; p == nil || p.Contested || !s.keyed(p.ID, r.Dialog) {
		t.Errorf("after an hour: %+v", p)
	}
}

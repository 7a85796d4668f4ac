package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// TestUnderByItsOptions: another process draws a plan's or a page's own options in another place, and "No" is then what allows it.
func TestUnderByItsOptions(t *testing.T) {
	page := func(rows string) *agent.Reading { return draw(80, 40, strings.Repeat("─", 80)+"\n"+rows) }
	const key = " Detected a custom API key in your environment\n\n ANTHROPIC_API_KEY: sk-ant-...abc\n\n Do you want to use this API key?\n\n"
	plan := asksOfPlan("Build it.")
	fewer := strings.NewReplacer("1. Yes, and use auto mode", "1. Yes, manually approve edits", "2. Yes, manually approve edits", "2. Tell Claude what to change", "\n   3. Tell Claude what to change", "").
		Replace(strings.Join(plan.Dialog.Lines, "\n"))
	swapped := strings.NewReplacer("1. Yes, I trust this folder", "1. No, exit", "2. No, exit", "2. Yes, I trust this folder").Replace(trustPage)
	question := func(rows, chat string) *agent.Reading {
		return draw(80, 40, "● A question.\n"+questionRule+"\n ☐ One\n\n"+bold("Go on?")+"\n\n"+rows+questionRule+"\n  "+chat+". Chat about this\n\nEnter to select · ↑/↓ to navigate · Esc to cancel")
	}
	for name, c := range map[string][2]*agent.Reading{
		"a plan":    {plan, draw(plan.Dialog.Cols, 40, fewer)},
		"trust":     {page(trustPage), page(swapped)},
		"a key":     {page(key + "   1. Yes\n ❯ 2. No (recommended)\n\n Enter to confirm · Esc to cancel"), page(key + " ❯ 1. No (recommended)\n   2. Yes\n\n Enter to confirm · Esc to cancel")},
		"described": {question("❯ 1. Keep it\n  2. Delete it all\n  3. Ask me later\n  4. Type something.\n", "5"), question("❯ 1. Keep it\n     Delete it all\n  2. Ask me later\n  3. Type something.\n", "4")},
	} {
		if c[0].Dialog == nil || c[1].Dialog == nil {
			t.Fatalf("%s: %+v", name, c)
		}
		s := newForgery(t)
		if s.show(c[0]); s.takesKeys(c[1]) {
			t.Errorf("%s: it asks %+v", name, s.f.Status().Requests)
		}
	}
}

// TestAlikeIsAnother: a command's row may end in a blank or in a line break. Another process's hook reports the blank, so the command's dialog
// counts as that prompt's, and the process draws it in one row.
func TestAlikeIsAnother(t *testing.T) {
	row := "echo " + strings.Repeat("A", 53)
	below, drawn := plainCommand("Bash command", row, "./makemadefile.sh"), plainCommand("Bash command", row+" ./makemadefile.sh")
	for _, ends := range []bool{true, false} {
		s := newLogged(t)
		blank := fmt.Sprintf(`{"command":%q,"description":"List"}`, row+" ./makemadefile.sh")
		if ends {
			s.logsCalls([]string{"Bash", strings.Replace(blank, " ./", `\n./`, 1)})
		}
		s.logsCalls([]string{"Bash", blank})
		s.asks("Bash", blank, "7")
		if ends {
			s.show(below)
			p, held := s.f.HeldBy("7")
			if !held || !p.OnScreen {
				t.Fatalf("it isn't the prompt's: %+v", s.f.Status().Requests)
			}
		}
		s.show(drawn)
		s.gone("7")
		if s.takesKeys(drawn) == ends {
			t.Errorf("the row has an end: %v: it asks %+v", ends, s.f.Status().Requests)
		}
	}
}

// TestAllowedByAnother: a hook's allowance answers a dialog only if it shows all of that call, and no other call is drawn so.
func TestAllowedByAnother(t *testing.T) {
	const one, two, ls = `{"file_path":"/w/notes.txt","content":"rm -rf /"}`, `{"file_path":"/w/notes.txt","content":"hello"}`, `{"command":"ls","description":"List"}`
	overwrites := draw(80, 40, strings.Replace(strings.Join(asksOfFile("notes.txt", "rm -rf /").Dialog.Lines, "\n"), "Create file", "Overwrite file", 1))
	const unsafe, safe = `{"command":"touch made.txt","description":"Makes","dangerouslyDisableSandbox":true}`, `{"command":"touch made.txt","description":"Makes"}`
	for name, c := range map[string]struct {
		tool, first, second string
		below               *agent.Reading
	}{
		"in part": {"Write", one, two, overwrites},
		"alike":   {"Bash", unsafe, safe, asksOfCommand("Makes", "touch made.txt")},
	} {
		s, drawn := newLogged(t), asksOfCommand("List", "ls")
		s.logsCalls([]string{c.tool, c.first, c.tool, c.second, "Bash", ls})
		s.asks(c.tool, c.second, "7")
		s.show(c.below)
		p, held := s.f.HeldBy("7")
		if !held || !p.OnScreen {
			t.Fatalf("%s: %+v", name, s.f.Status().Requests)
		}
		s.f.Answered(p.ID, true)
		s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: "7", Time: s.step()})
		s.show(drawn)
		s.about("PostToolUse", c.tool, c.second, "")
		s.asks("Bash", ls, "")
		if s.takesKeys(drawn) {
			t.Errorf("%s: it asks %+v", name, s.f.Status().Requests)
		}
	}
}

// TestIdWithAnotherInput: another process reports the id of a call with another input, and its hook takes an allowance of that.
func TestIdWithAnotherInput(t *testing.T) {
	row := "echo " + strings.Repeat("A", 53)
	truly, forged := fmt.Sprintf(`{"command":%q,"description":"List"}`, row+"\n./makemadefile.sh"), fmt.Sprintf(`{"command":%q,"description":"List"}`, row+" ./makemadefile.sh")
	const ls = `{"command":"ls","description":"List"}`
	s, drawn := newLogged(t), asksOfCommand("List", "ls")
	s.hook(`{"session_id":"s","hook_event_name":"PreToolUse","prompt_id":"t","tool_name":"Bash","tool_input":`+forged+`,"tool_use_id":"c0"}`, "")
	s.logsCalls([]string{"Bash", truly, "Bash", ls})
	s.asks("Bash", forged, "7")
	s.show(plainCommand("Bash command", row, "./makemadefile.sh"))
	p, held := s.f.HeldBy("7")
	if !held || !p.OnScreen {
		t.Fatalf("%+v", s.f.Status().Requests)
	}
	s.f.Answered(p.ID, true)
	s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: "7", Time: s.step()})
	s.show(drawn)
	s.asks("Bash", ls, "")
	if s.takesKeys(drawn) {
		t.Errorf("it asks %+v", s.f.Status().Requests)
	}
}

// TestFloodOfOtherConversations: prompts of other conversations don't make Berth forget one of this conversation that was never seen.
func TestFloodOfOtherConversations(t *testing.T) {
	s, drawn := newForgery(t), asksOfFile("notes.txt", "hello")
	s.asks("Bash", hiddenCommand, "7")
	s.gone("7")
	s.about("PostToolUse", "Bash", hiddenCommand, "")
	for i := range 17 {
		s.hook(fmt.Sprintf(`{"session_id":"other","hook_event_name":"PermissionRequest","prompt_id":"t","tool_name":"Bash","tool_input":{"command":"x %d"}}`, i), fmt.Sprint(100+i))
	}
	s.show(atComposer(""))
	s.pass(20 * time.Second)
	if !s.f.Covered() {
		t.Error("a message isn't tried with a word")
	}
	s.asks("Write", `{"file_path":"/w/notes.txt","content":"hello"}`, "")
	if s.takesKeys(drawn) {
		t.Errorf("it asks %+v", s.f.Status().Requests)
	}
}

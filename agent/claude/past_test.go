package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

func atComposer(above string) *agent.Reading {
	rule := strings.Repeat("─", 80)
	return draw(80, 40, above+rule+"\n❯\u00a0\n"+rule+"\n  ? for shortcuts")
}

// TestPastCallsAtRest: once the turn is over and the composer was on the screen for a while, no dialog of an earlier
// call can come, so it contests none. A screen that shows work, or a turn without an end, releases nothing.
func TestPastCallsAtRest(t *testing.T) {
	hidden := fmt.Sprintf(`{"command":"ls%s; rm -rf x","description":"List"}`, strings.Repeat(`\t`, 40))
	for name, c := range map[string]struct {
		ends  bool
		shows *agent.Reading
		keyed bool
	}{
		"at rest":               {true, atComposer(""), true},
		"at work on the screen": {true, atComposer("✻ Thinking… (3s · esc to interrupt)\n\n"), false},
		"within the turn":       {false, atComposer(""), false},
		"with a draft":          {true, draw(80, 40, strings.Repeat("─", 80)+"\n❯\u00a0hello\n"+strings.Repeat("─", 80)+"\n  ? for shortcuts"), false},
	} {
		for _, variants := range []bool{false, true} {
			s := newLogged(t)
			s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
			if variants {
				for i := range 12 {
					s.ran(i, "Bash", fmt.Sprintf(`{"command":"ls","description":"List","timeout":%d}`, i+1))
				}
			} else {
				s.ran(1, "Bash", hidden)
			}
			if c.ends {
				s.hook(`{"session_id":"s","hook_event_name":"Stop","prompt_id":"t"}`, "")
			} else { // a level keeps the turn
				s.f.Apply(agent.Fact{Kind: agent.LevelIs, Source: agent.SourceTitle, Level: agent.LevelBusy, Time: s.step()})
			}
			s.show(c.shows)
			s.now = s.now.Add(30 * time.Minute) // and no tick
			s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"u","prompt":"y"}`, "")
			s.logsCalls([]string{"Bash", `{"command":"ls","description":"List"}`})
			s.hook(`{"session_id":"s","hook_event_name":"PermissionRequest","prompt_id":"u","tool_name":"Bash","tool_input":{"command":"ls","description":"List"}}`, "7")
			r := plainCommand("Bash command", "ls")
			s.show(r)
			s.gone("7")
			s.pass(2 * time.Second)
			if p := s.find("ls"); p == nil || s.keyed(p.ID, r.Dialog) != c.keyed || p.Contested == c.keyed {
				t.Errorf("%s, variants %v: %+v", name, variants, p)
			}
		}
	}
}

// TestManyChangesAreNotForgotten: so many files were changed that the calls have no room as they are. What an earlier
// one of them may leave out of its dialog is contested nevertheless, and other files' dialogs aren't.
func TestManyChangesAreNotForgotten(t *testing.T) {
	wide := `\tif err := run(ctx, first, second, third); err != nil { return fmt.Errorf(\"run %s: %w\", first, err) }\n`
	hides := fmt.Sprintf(`hello%s; rm`, strings.Repeat(`\t`, 40))
	for tool, c := range map[string]struct {
		r, other        *agent.Reading
		hidden, another string
	}{
		"Write": {
			asksOfFile("notes.txt", "hello"), asksOfFile("else.txt", "world"),
			`{"file_path":"/w/notes.txt","content":"` + hides + `"}`, `{"file_path":"/w/else.txt","content":"world"}`,
		},
		"Edit": {
			edits("   hello"), edits("   x = 1"),
			`{"file_path":"/w/a.txt","old_string":"","new_string":"` + hides + `"}`, `{"file_path":"/w/a.txt","old_string":"x = 0","new_string":"x = 1"}`,
		},
	} {
		for dialog, call := range map[*agent.Reading]string{c.r: strings.Replace(c.hidden, hides, "hello", 1), c.other: c.another} { // as drawn
			s := newLogged(t)
			s.ran(0, tool, c.hidden)
			for i := range 230 { // of 12 KB: more than there is room for
				s.ran(i+1, "Write", fmt.Sprintf(`{"file_path":"/w/%d.go","content":"package p%d\n%s"}`, i, i, strings.Repeat(wide, 120)))
			}
			s.logsCalls([]string{tool, call})
			s.show(dialog)
			s.pass(2 * time.Second)
			p := s.f.Status().Request
			if keyed := s.keyed(p.ID, dialog.Dialog); keyed != (dialog == c.other) {
				t.Errorf("%s: answered by keys %v at\n%s", tool, keyed, strings.Join(dialog.Dialog.Lines, "\n"))
			}
		}
	}
	s := newLogged(t)
	lines := strings.Repeat(fmt.Sprintf(`hello%s; rm\n`, strings.Repeat(`\t`, 500)), 4)
	for i := range 1500 { // without room for the shortest form of each
		s.ran(i, "Write", fmt.Sprintf(`{"file_path":"/w/%d.go","content":"%s"}`, i, lines))
	}
	r := asksOfFile("else.txt", "world")
	s.logsCalls([]string{"Write", `{"file_path":"/w/else.txt","content":"world"}`})
	s.show(r)
	s.pass(2 * time.Second)
	if p := s.f.Status().Request; !p.Contested || s.keyed(p.ID, r.Dialog) {
		t.Errorf("after too many calls: %+v", p)
	}
}

// TestPathOfAReadingTool: the end of a path may have no room in the dialog of a tool that reads. It is in the
// prompt's text after the call was reported as over, too.
func TestPathOfAReadingTool(t *testing.T) {
	path := "/w/a" + strings.Repeat(`\t`, 40) + "/../../etc/shadow"
	r := draw(80, 40, strings.Join([]string{strings.Repeat("─", 80), " Read file", "", "  Read(/w/a)", "", " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"}, "\n"))
	s := newLogged(t)
	s.ran(1, "Read", `{"file_path":"`+path+`"}`)
	s.show(r)
	s.pass(2 * time.Second)
	p := s.f.Status().Request
	if p == nil || s.keyed(p.ID, r.Dialog) && !strings.Contains(text(p.Text), "shadow") {
		t.Errorf("%+v, %s", p, text(p.Text))
	}
}

// TestEqualPastCalls: of two equal calls one has asked. The other was reported as over, and its dialog may still
// come.
func TestEqualPastCalls(t *testing.T) {
	const unsafe = `{"command":"ls","description":"List","dangerouslyDisableSandbox":true}`
	call := func(id string) string {
		return `{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"` + id + `","name":"Bash","input":` + unsafe + `}]}}`
	}
	over := func(id string) string {
		return `{"type":"user","sessionId":"s","promptId":"t","message":{"content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"x"}]}}`
	}
	rule := strings.Repeat("─", 80)
	busy := draw(80, 40, "✻ Thinking… (3s · esc to interrupt)\n\n"+rule+"\n❯\u00a0\n"+rule+"\n  ? for shortcuts")
	for _, first := range []bool{true, false} { // the other one is reported as over before this one has asked
		s := newLogged(t)
		s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
		s.logs(call("a"))
		s.logs(call("b"))
		if first {
			s.logs(over("b"))
			s.logs(over("a"))
		}
		s.asks("Bash", unsafe, "5")
		r := plainCommand("Bash command", "ls")
		s.show(r)
		s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: "5", Time: s.step()})
		s.show(busy)
		s.pass(2 * time.Second)
		if !first {
			s.logs(over("a"))
			s.logs(over("b"))
		}
		s.logs(strings.Replace(call("c"), `,"dangerouslyDisableSandbox":true`, "", 1)) // forged
		s.asks("Bash", `{"command":"ls","description":"List"}`, "")
		s.show(r)
		s.pass(3 * time.Second)
		for _, p := range s.f.Status().Requests {
			if !strings.Contains(text(p.Text), "dangerouslyDisableSandbox") && s.keyed(p.ID, r.Dialog) {
				t.Errorf("over first %v: the field isn't shown: %+v", first, p)
			}
		}
	}
}

// TestSubagentsHookIsAnotherOnes: a process ends the hook of a subagent's call, and reports by a hook of its own what
// the dialog draws of the call. The forged hook may take an answer, and no key is pressed.
func TestSubagentsHookIsAnotherOnes(t *testing.T) {
	for _, waits := range []string{"7", ""} {
		for _, ends := range []bool{true, false} {
			s := newLogged(t)
			s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
			s.logsCalls([]string{"Agent", `{"prompt":"x"}`})
			s.hook(`{"session_id":"s","hook_event_name":"PermissionRequest","prompt_id":"t","agent_id":"a1","agent_type":"helper","tool_name":"Bash","tool_input":{"command":"ls","description":"List"}}`, waits)
			r := plainCommand("Bash command · from the helper agent", "ls")
			s.show(r)
			if waits != "" && ends {
				s.gone(waits)
			}
			s.pass(2 * time.Second)
			p := s.find("ls")
			if held := waits != "" && !ends; p == nil || p.Contested == held || s.f.Asks(r.Dialog, p.ID) || held && p.Channel != agent.ChannelHook {
				t.Errorf("hook %q, ended %v: %+v", waits, ends, p)
			}
		}
	}
}

// TestSubagentsHookIsReleased: 2.1.330 draws no dialog of a background subagent while its hook waits. When a person
// attaches, Berth releases that hook, and the dialog that comes at once takes keys. Another process can have sent that hook, and
// drawn over the dialog until then, so the prompt's text says that only a hook reported the rest of the call. A later dialog, or
// one whose hook ended otherwise, may be about another call.
func TestSubagentsHookIsReleased(t *testing.T) {
	for _, c := range []struct {
		why   string
		later time.Duration
		keyed bool
	}{{agent.HookReleased, 0, true}, {agent.HookReleased, 2 * time.Second, false}, {"closed", 0, false}} {
		s := newLogged(t)
		s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
		s.hook(`{"session_id":"s","hook_event_name":"PermissionRequest","prompt_id":"t","agent_id":"a1","agent_type":"helper","tool_name":"Bash","tool_input":{"command":"ls","description":"List"}}`, "7")
		s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: "7", Evidence: c.why, Time: s.step()})
		s.pass(c.later)
		r := plainCommand("Bash command · from the helper agent", "ls")
		s.show(r)
		s.pass(2 * time.Second)
		if p := s.find("ls"); p == nil || s.keyed(p.ID, r.Dialog) != c.keyed || strings.Contains(text(p.Text), "Only a hook says") != c.keyed {
			t.Errorf("%s, %v later: %+v, %s", c.why, c.later, p, text(p.Text))
		}
	}
}

// TestCoveredDialogIsNotRest: another process covers a dialog by an empty composer, and reports that its call and the turn are
// over. Nothing was typed since the dialog was there, so it isn't answered, and its call counts for the next dialog that looks
// the same.
func TestCoveredDialogIsNotRest(t *testing.T) {
	const plain, unsafe = `{"command":"ls","description":"List"}`, `{"command":"ls","description":"List","dangerouslyDisableSandbox":true}`
	r := plainCommand("Bash command", "ls")
	for _, c := range []struct {
		typed, again, over bool
	}{{}, {over: true}, {again: true}, {typed: true}} {
		s := newLogged(t)
		begins := func(turn string) {
			s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"`+turn+`","prompt":"x"}`, "")
		}
		ends := func() {
			s.logs(`{"type":"user","sessionId":"s","promptId":"t","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}}`)
		}
		begins("t")
		s.logs(`{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"a","name":"Bash","input":` + unsafe + `}]}}`)
		if c.over {
			ends()
		}
		s.show(r)
		s.pass(time.Second)
		if c.typed {
			s.f.Typed(s.step())
		}
		s.show(atComposer(""))
		ends()
		if c.again {
			s.ran(1, "Bash", unsafe)
		}
		s.hook(`{"session_id":"s","hook_event_name":"Stop","prompt_id":"t"}`, "")
		s.pass(30 * time.Minute)
		begins("u")
		s.logsCalls([]string{"Bash", plain})
		s.show(r)
		s.asks("Bash", plain, "7")
		s.gone("7")
		s.pass(2 * time.Second)
		keyed := false
		for _, p := range s.f.Status().Requests {
			if s.keyed(p.ID, r.Dialog) {
				if keyed = true; strings.Contains(text(p.Text), "dangerouslyDisableSandbox") == c.typed {
					t.Errorf("%+v: a key answers %q", c, text(p.Text))
				}
			}
		}
		if !keyed {
			t.Errorf("%+v: no key answers it: %+v", c, s.f.Status().Requests)
		}
	}
}

// TestRestAfterAQuestion: a question that its hook has answered doesn't keep Berth from forgetting past calls at rest.
func TestRestAfterAQuestion(t *testing.T) {
	s := newLogged(t)
	s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
	s.ran(1, "Bash", fmt.Sprintf(`{"command":"ls%s; rm -rf x","description":"List"}`, strings.Repeat(`\t`, 40)))
	s.logsCalls([]string{"AskUserQuestion", questionOf("Which color?")})
	s.asks("AskUserQuestion", questionOf("Which color?"), "5")
	s.show(asksColor("Which color?"))
	held, _ := s.f.HeldBy("5")
	s.f.Answered(held.ID, false)
	s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: "5", Time: s.step()})
	s.logsResult("c0", "")
	s.show(atComposer(""))
	s.hook(`{"session_id":"s","hook_event_name":"Stop","prompt_id":"t"}`, "")
	s.pass(8 * time.Second)
	s.f.Proven(s.step()) // the message begins with a word
	s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"u","prompt":"y"}`, "")
	s.logsCalls([]string{"Bash", `{"command":"ls","description":"List"}`})
	s.hook(`{"session_id":"s","hook_event_name":"PermissionRequest","prompt_id":"u","tool_name":"Bash","tool_input":{"command":"ls","description":"List"}}`, "")
	r := plainCommand("Bash command", "ls")
	s.show(r)
	s.pass(2 * time.Second)
	if p := s.find("ls"); p == nil || !s.keyed(p.ID, r.Dialog) {
		t.Errorf("%+v", p)
	}
}

// TestAnswerOfOneOfEqualPastCalls: two equal calls were reported as over before their dialogs, and a key answers the first one's. The
// other's, which another process covers, still counts.
func TestAnswerOfOneOfEqualPastCalls(t *testing.T) {
	const unsafe = `{"command":"ls","description":"List","dangerouslyDisableSandbox":true}`
	s := newLogged(t)
	begins := func(turn string) {
		s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"`+turn+`","prompt":"x"}`, "")
	}
	begins("t")
	s.ran(1, "Bash", unsafe)
	s.ran(2, "Bash", unsafe)
	r := plainCommand("Bash command", "ls")
	s.asks("Bash", unsafe, "")
	s.show(r)
	s.f.Typed(s.step())
	s.show(atComposer("✻ Thinking… (3s · esc to interrupt)\n\n"))
	s.show(r)
	s.show(atComposer(""))
	s.hook(`{"session_id":"s","hook_event_name":"Stop","prompt_id":"t"}`, "")
	s.pass(8 * time.Second)
	begins("u")
	s.logsCalls([]string{"Bash", `{"command":"ls","description":"List"}`})
	s.hook(`{"session_id":"s","hook_event_name":"PermissionRequest","prompt_id":"u","tool_name":"Bash","tool_input":{"command":"ls","description":"List"}}`, "")
	s.show(r)
	s.pass(3 * time.Second)
	keyed := 0
	for _, p := range s.f.Status().Requests {
		if s.keyed(p.ID, r.Dialog) {
			if keyed++; !strings.Contains(text(p.Text), "dangerouslyDisableSandbox") {
				t.Errorf("a key answers %q", text(p.Text))
			}
		}
	}
	if keyed == 0 {
		t.Error("no key answers")
	}
}

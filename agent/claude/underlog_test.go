package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

func (s *forgery) logsResult(id, more string) {
	s.logs(`{"type":"user","sessionId":"s","promptId":"t","message":{"content":[{"type":"tool_result","tool_use_id":"` + id + `"}]}` + more + `}`)
}

// finishes is a message of Claude Code that a task of the background is done.
func (s *forgery) finishes(id, says string) {
	text := fmt.Sprintf("<task-notification>\n<task-id>%s</task-id>\n<result>%s</result>\n</task-notification>", id, says)
	s.logs(fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","sessionId":"s","content":%q}`, text))
}

// listsAfter reports a command after what is played, ends its hook and draws its dialog, which then takes keys or not.
func (s *forgery) listsAfter(name string, play func(s *forgery), keyed bool) {
	s.t.Helper()
	play(s)
	s.logsCall("c9", "Bash", `{"command":"ls","description":"List"}`, "8")
	s.gone("8")
	if s.takesKeys(asksOfCommand("List", "ls")) != keyed {
		s.t.Errorf("%s: it asks %+v", name, s.f.Status().Requests)
	}
}

// TestSubagentBelow: a subagent in the background asks for a command. Another process ends that call's hook, hides the dialog, and draws a
// dialog of the main agent's call. The main agent's log has when the subagent began, and when it was done.
func TestSubagentBelow(t *testing.T) {
	const list = `{"command":"ls","description":"List"}`
	begins := func(s *forgery) {
		s.logsCalls([]string{"Agent", `{"prompt":"x"}`})
		s.logsResult("c0", `,"toolUseResult":{"status":"async_launched","agentId":"a1"}`)
	}
	for name, c := range map[string]struct {
		play  func(s *forgery)
		keyed bool
	}{
		"none":             {func(*forgery) {}, true},
		"one runs":         {begins, false},
		"one is done":      {func(s *forgery) { begins(s); s.finishes("a1", "done") }, true},
		"another is done":  {func(s *forgery) { begins(s); s.finishes("a2", "done") }, false},
		"another names it": {func(s *forgery) { begins(s); s.finishes("a2", "<task-id>a1</task-id>") }, false},
		"it may go on":     {func(s *forgery) { begins(s); s.finishes("a1", "It may resume on its own when that work completes") }, false},
		"a hook ends it": {func(s *forgery) {
			begins(s)
			s.hook(`{"session_id":"s","hook_event_name":"SubagentStop","agent_id":"a1"}`, "")
		}, false},
		"a new turn begins": {func(s *forgery) {
			begins(s)
			s.logs(`{"type":"user","sessionId":"s","promptId":"u","promptSource":"typed","message":{"content":"more"}}`)
		}, false},
		"one that was too many": {func(s *forgery) {
			for i := range 80 {
				s.logsCalls([]string{"Agent", `{"prompt":"x"}`})
				s.logsResult("c0", fmt.Sprintf(`,"toolUseResult":{"status":"async_launched","taskId":"t%d"}`, i))
			}
			for i := range 80 {
				s.finishes(fmt.Sprintf("t%d", i), "done")
			}
		}, false},
		"a result of another shape": {func(s *forgery) {
			s.logsCalls([]string{"Bash", list})
			s.logsResult("c0", `,"toolUseResult":"async_launched"`)
		}, true},
	} {
		newLogged(t).listsAfter(name, c.play, c.keyed)
	}
}

// TestCallsOfTheLog: hooks change nothing about which calls the log has without a result, and after too many of them any dialog may be one's.
func TestCallsOfTheLog(t *testing.T) {
	for name, c := range map[string]struct {
		play  func(s *forgery)
		keyed bool
	}{
		"a tool that only plans": {func(s *forgery) { s.logsCalls([]string{"TodoWrite", `{"todos":[]}`}) }, true},
		"it has a result":        {func(s *forgery) { s.logsCalls([]string{"Bash", hiddenCommand}); s.logsResult("c0", "") }, true},
		"it was refused": {func(s *forgery) {
			s.logsCalls([]string{"Bash", hiddenCommand})
			s.logs(`{"type":"user","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"c0","is_error":true,"content":"The user doesn't want to proceed"}]}}`)
		}, true},
		"hooks report that the turn has ended": {func(s *forgery) {
			s.logsCalls([]string{"Bash", hiddenCommand})
			s.hook(`{"session_id":"s","hook_event_name":"Stop","prompt_id":"t"}`, "")
			s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"u","prompt":"x"}`, "")
		}, false},
		"hooks report its end": {func(s *forgery) {
			s.logsCalls([]string{"Bash", hiddenCommand})
			s.about("PostToolUse", "Bash", hiddenCommand, "")
		}, false},
		"its dialog was there, and a key was pressed": {func(s *forgery) {
			s.logsCalls([]string{"Bash", hiddenCommand})
			s.show(asksHidden())
			s.f.Typed(s.step())
		}, false},
		"too many": {func(s *forgery) {
			for range 80 {
				s.logs(fmt.Sprintf(`{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"d%d","name":"TodoWrite","input":{}}]}}`, s.step().UnixNano()))
			}
		}, false},
	} {
		newLogged(t).listsAfter(name, c.play, c.keyed)
	}
}

// TestRefusedNeverSeen: another process's hook takes the refusal of a prompt that was never seen. Its dialog may be below for an hour.
func TestRefusedNeverSeen(t *testing.T) {
	const list = `{"command":"ls","description":"List"}`
	for name, c := range map[string]struct {
		allowed bool
		waits   time.Duration
		keyed   bool
	}{"refused": {false, 0, false}, "allowed": {true, 0, true}, "refused an hour ago": {false, time.Hour, true}} {
		for _, late := range []bool{false, true} {
			s, drawn := newForgery(t), asksOfCommand("List", "ls")
			s.asks("Bash", hiddenCommand, "7")
			p, _ := s.f.HeldBy("7")
			if late { // the prompt was reported as over before its hook says that it has the answer
				s.about("PostToolUse", "Bash", hiddenCommand, "")
			}
			s.f.Answered(p.ID, c.allowed)
			s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: "7", Time: s.step()})
			s.about("PostToolUse", "Bash", hiddenCommand, "")
			s.pass(c.waits)
			s.asks("Bash", list, "8")
			s.gone("8")
			if s.takesKeys(drawn) != c.keyed {
				t.Errorf("%s, late %v: it asks %s", name, late, strings.Join(drawn.Dialog.Lines, "\n"))
			}
		}
	}
}

// TestCallBefore: the log has a call before that of the drawn dialog, and hooks report that it is over. It counts although the dialog may show a
// part of it, and one that Berth's key has allowed doesn't.
func TestCallBefore(t *testing.T) {
	const list = `{"command":"ls","description":"List"}`
	ls, hidden := asksOfCommand("List", "ls"), asksHidden()
	for name, c := range map[string]struct {
		calls []string
		drawn *agent.Reading
		keyed bool
	}{
		"another command":               {[]string{"Bash", hiddenCommand, "Bash", list}, ls, false},
		"it is the last":                {[]string{"Bash", list, "Bash", hiddenCommand}, ls, true},
		"equal ones":                    {[]string{"Bash", list, "Bash", list}, ls, true},
		"one between equal ones":        {[]string{"Bash", list, "Bash", hiddenCommand, "Bash", list}, ls, false},
		"another tool of a server":      {[]string{"mcp__prod__wipe", `{"db":"prod"}`, "mcp__lab__list", `{"a":1}`}, servedCall("list"), false},
		"the same name in other folder": {[]string{"Write", `{"file_path":"/etc/notes.txt","content":"hello"}`, "Write", `{"file_path":"/w/notes.txt","content":"hello"}`}, asksOfFile("notes.txt", "hello"), false},
	} {
		s := newLogged(t)
		s.logsCalls(c.calls)
		last := 0
		if !c.keyed {
			last = len(c.calls) - 2
			s.hook(fmt.Sprintf(`{"session_id":"s","hook_event_name":"PostToolUse","prompt_id":"t","tool_name":%q,"tool_input":%s,"tool_use_id":"c0"}`, c.calls[0], c.calls[1]), "")
		}
		s.asks(c.calls[last], c.calls[last+1], "8")
		s.gone("8")
		if s.takesKeys(c.drawn) != c.keyed {
			t.Errorf("%s: it asks %+v", name, s.f.Status().Requests)
		}
	}
	for _, allowed := range []bool{true, false} {
		s := newLogged(t)
		s.logsCalls([]string{"Bash", hiddenCommand, "Bash", list})
		if !s.takesKeys(hidden) {
			t.Fatalf("it asks %+v", s.f.Status().Requests)
		}
		p := s.f.Status().Request
		s.f.Answered(p.ID, allowed)
		s.show(atComposer(""))
		s.pass(time.Second)
		s.show(atComposer(""))
		if s.takesKeys(ls) != allowed {
			t.Errorf("Berth's key has allowed the first: %v: it asks %+v", allowed, s.f.Status().Requests)
		}
	}
	for _, over := range []bool{true, false} { // the log has one call of a server, and a forged hook reports another
		const wipe = `{"db":"prod"}`
		s := newLogged(t)
		s.logsCalls([]string{"mcp__prod__wipe", wipe})
		if over {
			s.hook(`{"session_id":"s","hook_event_name":"PostToolUse","prompt_id":"t","tool_name":"mcp__prod__wipe","tool_input":`+wipe+`,"tool_use_id":"c0"}`, "")
		}
		s.asks("mcp__lab__list", `{"a":1}`, "8")
		s.gone("8")
		keyed := s.takesKeys(servedCall("list"))
		for _, p := range s.f.Status().Requests {
			if keyed && p.OnScreen && !strings.Contains(text(p.Text), "mcp__prod__wipe") {
				t.Errorf("its end was reported: %v: a key answers %q", over, text(p.Text))
			}
		}
	}
	s := newLogged(t) // a notice with options allows nothing by itself, and its key may
	s.logsCalls([]string{"Bash", hiddenCommand})
	notice := draw(80, 40, strings.Repeat("─", 80)+"\n Confirm\n\n Go on?\n\n ❯ 1. Yes\n   2. No\n\n Enter to confirm · Esc to cancel")
	if s.takesKeys(notice) {
		t.Errorf("a notice: it asks %+v", s.f.Status().Requests)
	}
}

// TestGuessedPrompt: the call's own hooks were ended, another process reports a plainer call, and draws a composer until the agent's state file has
// made a prompt. At the true dialog that prompt takes no key: nothing has reported what the dialog leaves out.
func TestGuessedPrompt(t *testing.T) {
	const plain = `{"command":"ls","description":"List"}`
	s, drawn := newLogged(t), asksOfCommand("List", "ls")
	s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
	s.show(atComposer(""))
	s.logsCalls([]string{"Bash", `{"command":"ls","description":"List","dangerouslyDisableSandbox":true}`})
	s.hook(`{"session_id":"s","hook_event_name":"PreToolUse","prompt_id":"t","tool_name":"Bash","tool_input":`+plain+`,"tool_use_id":"z"}`, "")
	s.f.Apply(agent.Fact{Kind: agent.LevelIs, Source: agent.SourceRegistry, Cause: "registry", Level: agent.LevelWaiting, Text: "permission prompt", Time: s.step()})
	s.show(atComposer(""))
	s.pass(time.Second)
	if s.takesKeys(drawn) {
		t.Errorf("it takes keys: %+v", s.f.Status().Requests)
	}
}

// TestOverACallOfTheLog: the log has a command whose dialog was never on the screen, and that no hook reports. A server's form, a subagent's dialog or
// another question that is drawn over it takes no key. Two questions are two calls.
func TestOverACallOfTheLog(t *testing.T) {
	ofSubagent := draw(80, 40, strings.Replace(strings.Join(asksOfCommand("List", "ls").Dialog.Lines, "\n"), "Bash command", "Bash command · from the helper agent", 1))
	for name, c := range map[string]struct {
		drawn *agent.Reading
		below []string
		also  []string // a call that runs
	}{
		"a form":           {asksByForm("lab"), []string{"Bash", hiddenCommand}, []string{"mcp__lab__ask", `{"a":1}`}},
		"a server's tool":  {asksByForm("lab"), []string{"mcp__a__wipe", `{"db":"x"}`}, []string{"mcp__lab__ask", `{"a":1}`}},
		"a subagent":       {ofSubagent, []string{"Bash", hiddenCommand}, []string{"Agent", `{"prompt":"x"}`}},
		"another question": {asksColor("Which color?"), []string{"AskUserQuestion", questionOf("Delete it?")}, []string{"AskUserQuestion", questionOf("Which color?")}},
	} {
		for _, open := range []bool{true, false} {
			s := newLogged(t)
			if open {
				s.logs(`{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"h1","name":"` + c.below[0] + `","input":` + c.below[1] + `}]}}`)
			}
			s.logs(`{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"h2","name":"` + c.also[0] + `","input":` + c.also[1] + `}]}}`)
			if s.takesKeys(c.drawn) == open {
				t.Errorf("%s over a call, %v: %+v", name, open, s.f.Status().Requests)
			}
		}
	}
}

package claude_test

import (
	"fmt"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/claude"
	"berth/agent/generic"
	"berth/agent/generic/rules"
	"berth/detect"
)

// logsCall is a call as Claude Code reports it: by a hook, by its log, and by the hook of its permission.
func (s *forgery) logsCall(id, tool, input, hook string) {
	s.hook(fmt.Sprintf(`{"session_id":"s","hook_event_name":"PreToolUse","prompt_id":"t","tool_name":%q,"tool_input":%s,"tool_use_id":%q}`, tool, input, id), "")
	s.logs(fmt.Sprintf(`{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}}`, id, tool, input))
	s.asks(tool, input, hook)
}

// TestParallelTools: of two calls the agent asks about the first, and any process can end that one's hook, hide its dialog and draw the other's.
// So keys for the second wait until the first has a result in the log, whatever hooks report.
func TestParallelTools(t *testing.T) {
	const write = `{"file_path":"/w/notes.txt","content":"hello"}`
	first, second := asksHidden(), asksOfFile("notes.txt", "hello")
	result := func(s *forgery, id string) {
		s.logs(`{"type":"user","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"` + id + `"}]}}`)
	}
	for name, c := range map[string]struct {
		hooks bool
		drawn *agent.Reading
		then  func(s *forgery)
		keyed bool
	}{
		"without hooks, the first":                  {false, first, func(*forgery) {}, true},
		"without hooks, the second":                 {false, second, func(*forgery) {}, false},
		"without hooks, the second, after a result": {false, second, func(s *forgery) { result(s, "c0") }, true},
		"the first":                                   {true, first, func(*forgery) {}, true},
		"the first, after a result":                   {true, first, func(s *forgery) { result(s, "c2") }, true},
		"the first, after a reported end":             {true, first, func(s *forgery) { s.about("PostToolUse", "Write", write, "c2") }, true},
		"the second":                                  {true, second, func(*forgery) {}, false},
		"the second, its first call's hook is gone":   {true, second, func(s *forgery) { s.gone("7"); s.about("PostToolUse", "Bash", hiddenCommand, "c1") }, false},
		"the second, the first was there and is over": {true, second, func(s *forgery) { s.show(first); s.f.Typed(s.step()); s.gone("7"); result(s, "c1") }, true},
	} {
		s := newLogged(t)
		if c.hooks {
			s.logsCall("c1", "Bash", hiddenCommand, "7")
			if c.drawn == second {
				s.logsCall("c2", "Write", write, "8")
			} else { // it waits for its turn to ask, or another process has ended its hooks
				s.logs(fmt.Sprintf(`{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"c2","name":"Write","input":%s}]}}`, write))
			}
		} else {
			s.logsCalls([]string{"Bash", hiddenCommand, "Write", write}) // c0 and c2
		}
		c.then(s)
		s.takesKeys(c.drawn)
		for _, p := range s.f.Status().Requests {
			if now, _ := s.f.Pending(p.ID); p.OnScreen && now.Disputed == c.keyed {
				t.Errorf("%s: keyed %v, it asks %+v", name, !now.Disputed, p)
			}
		}
	}
}

// TestUnderAnotherProgram: a process takes the foreground of the agent's shell for a moment, and draws over the agent's dialog. The agent's own
// dialog takes keys when it is back.
func TestUnderAnotherProgram(t *testing.T) {
	for name, c := range map[string]struct {
		drawn *agent.Reading
		keyed bool
	}{"the same": {asksHidden(), true}, "a command": {asksOfCommand("List", "ls"), false}, "a form": {asksByForm("lab"), false}} {
		for _, covered := range []bool{false, true} {
			s := newForgery(t)
			if s.show(asksHidden()); covered {
				s.show(c.drawn)
			}
			s.f = detect.New(claude.Driver{}, detect.Options{Start: s.now, Dir: "/w", Left: s.f.Leaves(), Returns: true})
			if s.takesKeys(c.drawn) != c.keyed {
				t.Errorf("%s, covered before that: %v: it asks %+v", name, covered, s.f.Status().Requests)
			}
		}
	}
}

// TestRulesOverAnAgent: a program that rules read takes the foreground over an agent's dialog. Its question takes no key until a client has
// pressed one.
func TestRulesOverAnAgent(t *testing.T) {
	set, err := rules.Compile(map[string]rules.Set{"x": {Prompt: []rules.Rule{{Lines: []string{`^(?P<text>Go on)\? \[y/n\]$`}, Options: []rules.Option{{Label: "Yes", Keys: []string{"y"}}}}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ruled := generic.Driver{Ruleset: set}.ForCommand([]string{"x"}, "x")
	asks := func() *agent.Reading {
		return ruled.Screen(&agent.View{Cols: 80, Rows: 1, Lines: []agent.Row{{Text: "Go on? [y/n]"}}})
	}
	for _, over := range []bool{false, true} {
		s := newForgery(t)
		if over {
			s.show(asksHidden())
		}
		s.f = detect.New(ruled, detect.Options{Start: s.now, Left: s.f.Leaves()})
		if s.takesKeys(asks()) == over {
			t.Errorf("over a dialog: %v: it asks %+v", over, s.f.Status().Requests)
		}
		if s.f.Typed(s.step()); !s.takesKeys(asks()) {
			t.Errorf("over a dialog: %v: after a key it asks %+v", over, s.f.Status().Requests)
		}
	}
}

// TestFormOverAnotherConversation: another process reports that the agent has left its conversation. The prompt of a hook that waits is then
// another conversation's, and a form that is drawn over its dialog takes no key, even where Berth has released the form's hook.
func TestFormOverAnotherConversation(t *testing.T) {
	for _, left := range []bool{true, false} {
		s, form := newForgery(t), asksByForm("lab")
		s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
		s.hook(`{"session_id":"s","hook_event_name":"SessionEnd","reason":"clear"}`, "")
		s.hook(`{"session_id":"s2","hook_event_name":"SessionStart","source":"clear"}`, "")
		if left {
			s.asks("Bash", hiddenCommand, "7")
		}
		s.hook(`{"session_id":"s2","hook_event_name":"Elicitation","prompt_id":"t","mcp_server_name":"lab","message":"Continue?","requested_schema":{"type":"object","properties":{}}}`, "8")
		s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Evidence: agent.HookReleased, Hook: "8", Time: s.step()})
		if s.takesKeys(form) == left {
			t.Errorf("a hook waits: %v: it asks %+v", left, s.f.Status().Requests)
		}
	}
}

// TestPartOfAPrompt: the rows of a dialog that are left on the screen are those of another command, which a hook reports. So the dialog counts
// as that command's in part, and isn't the one that shows all of it.
func TestPartOfAPrompt(t *testing.T) {
	rows := strings.Join(asksOfCommand("List", "rm -rf x", "echo ok").Dialog.Lines, "\n")
	part := draw(80, 40, rows[strings.Index(rows, " echo ok"):])
	for _, c := range []struct {
		cols   int  // of the screen that the whole one is drawn on
		before bool // it was drawn before, too
	}{{80, false}, {80, true}, {100, false}} {
		drawn := draw(c.cols, 40, strings.Join(asksOfCommand("List", "echo ok").Dialog.Lines, "\n"))
		s := newForgery(t)
		s.asks("Bash", `{"command":"echo ok","description":"List"}`, "7")
		if c.before {
			s.show(drawn)
		}
		s.show(part)
		if p, held := s.f.HeldBy("7"); !held || !p.OnScreen {
			t.Fatalf("the part isn't the prompt's: %+v", p)
		}
		s.show(drawn)
		s.gone("7")
		if s.takesKeys(drawn) {
			t.Errorf("%+v: it asks %+v", c, s.f.Status().Requests)
		}
	}
}

// TestPageOverAPage: the second page of a reported prompt is drawn over the first one. A key there answers the first question.
func TestPageOverAPage(t *testing.T) {
	const asks = `{"questions":[{"question":"Delete?","header":"One","multiSelect":false,"options":[{"label":"All","description":"One"},{"label":"Keep","description":"Two"}]},
		{"question":"Color?","header":"Two","multiSelect":false,"options":[{"label":"Red","description":"One"},{"label":"Green","description":"Two"}]}]}`
	first := asksOfPages("Delete?", "All", "Keep")
	second := draw(80, 40, strings.NewReplacer("\x1b[48;5;153m ☐ One \x1b[49m ☐ Two ", " ☐ One \x1b[48;5;153m ☐ Two \x1b[49m").Replace(pagesOf("Color?", "Red", "Green")))
	for _, pressed := range []bool{false, true} {
		s := newForgery(t)
		s.asks("AskUserQuestion", asks, "7")
		s.show(first)
		if s.gone("7"); !s.takesKeys(first) {
			t.Fatalf("the first page takes no keys: %+v", s.f.Status().Requests)
		}
		if pressed {
			s.f.Pressed(s.f.Status().Request.ID)
		}
		if s.takesKeys(second) != pressed {
			t.Errorf("a key was pressed: %v: it asks %+v", pressed, s.f.Status().Request)
		}
	}
}

// TestWordBeforeADialog: a word that was typed before a dialog came doesn't show that it has gone, also if another process had drawn that
// dialog, or many others, before.
func TestWordBeforeADialog(t *testing.T) {
	for name, before := range map[string]int{"none": 0, "the same": 1, "many": 9} {
		s, drawn := newForgery(t), asksOfCommand("List", "ls")
		for i := range before {
			s.flash(asksOfCommand("Makes", "touch hidden.txt"+strings.Repeat("x", i)))
		}
		s.show(atComposer(""))
		word := s.step()
		s.show(asksHidden())
		s.show(atComposer("word"))
		s.f.Proven(word)
		if s.takesKeys(drawn) {
			t.Errorf("%s: it asks %+v", name, s.f.Status().Requests)
		}
	}
}

// TestUnderByItsWords: two questions may differ in the descriptions of their options alone, and two notices in their text.
func TestUnderByItsWords(t *testing.T) {
	question := func(a, b string) *agent.Reading {
		return draw(80, 40, strings.Join([]string{"● A question.", questionRule, " ☐ Mode", "", bold("Which?"), "", "❯ 1. A", "     " + a, "  2. B", "     " + b,
			"  3. Type something.", questionRule, "  4. Chat about this", "", "Enter to select · Tab/Arrow keys to navigate · Esc to cancel"}, "\n"))
	}
	notice := func(text string) *agent.Reading {
		return draw(80, 40, strings.Join([]string{strings.Repeat("─", 80), "  Confirm", "", "  " + text, "", "  ❯ 1. Yes", "    2. No", "", "  Enter to confirm · Esc to cancel"}, "\n"))
	}
	for name, c := range map[string][2]*agent.Reading{
		"a question": {question("Deletes production", "Keeps"), question("Keeps", "Deletes production")},
		"a notice":   {notice("Delete the production server."), notice("Show the version.")},
	} {
		s := newForgery(t)
		s.show(c[0])
		if s.takesKeys(c[1]) {
			t.Errorf("%s: it asks %+v", name, s.f.Status().Requests)
		}
		if s = newForgery(t); !s.takesKeys(c[1]) {
			t.Errorf("%s alone takes no keys: %+v", name, s.f.Status().Requests)
		}
	}
}

package claude_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
)

const hiddenCommand = `{"command":"touch hidden.txt","description":"Makes"}`

func asksHidden() *agent.Reading { return asksOfCommand("Makes", "touch hidden.txt") }

// takesKeys shows a dialog until it would take keys, and reports whether it does.
func (s *forgery) takesKeys(r *agent.Reading) bool {
	s.show(r)
	s.pass(2 * time.Second)
	s.show(r)
	for _, p := range s.f.Status().Requests {
		if p.OnScreen && s.keyed(p.ID, r.Dialog) {
			return true
		}
	}
	return false
}

// asksToUse is a dialog of a tool, with that title.
func asksToUse(title string, rows ...string) *agent.Reading {
	out := append([]string{strings.Repeat("─", 80), " " + title}, rows...)
	return draw(80, 40, strings.Join(append(out, "", " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"), "\n"))
}

func asksByForm(server string, rows ...string) *agent.Reading {
	top := append([]string{strings.Repeat("─", 80), "  MCP server “" + server + "” requests your input", "", "  Continue?", ""}, rows...)
	return draw(80, 30, strings.Join(append(top, "", "    Accept    Decline", "", "  Esc to cancel · ↑/↓ to navigate"), "\n"))
}

// asksOfPages is the first of two questions.
func asksOfPages(question string, options ...string) *agent.Reading {
	return draw(80, 40, pagesOf(question, options...))
}

func pagesOf(question string, options ...string) string {
	rows := []string{"● A question.", questionRule, "← \x1b[48;5;153m ☐ One \x1b[49m ☐ Two  ✔ Submit →", "", bold(question), "", "❯ 1. " + options[0], "     One", "  2. " + options[1], "     Two",
		"  3. Type something.", questionRule, "  4. Chat about this", "", "Enter to select · Tab/Arrow keys to navigate · Esc to cancel"}
	return strings.Join(rows, "\n")
}

// TestUnderByItsLook: without hooks a dialog is another one if anything in it differs, and then it may be drawn over the one before it.
func TestUnderByItsLook(t *testing.T) {
	titled := func(title string) *agent.Reading {
		rows := asksOfFile("notes.txt", "hello").Dialog.Lines
		return draw(80, 40, strings.Replace(strings.Join(rows, "\n"), "Create file", title, 1))
	}
	page := func(rows ...string) *agent.Reading {
		return draw(80, 40, strings.Repeat("─", 80)+"\n"+strings.Join(rows, "\n"))
	}
	autoMode := page("  Make auto mode your default permission mode?", "", "  Auto mode lets Claude handle permission prompts automatically.", "",
		"  ❯ 1. Yes, set auto mode as my default permission mode", "    2. No, keep manual mode")
	long := sized(t)["197 long"]["80x24"]
	if !long.Dialog.Cut {
		t.Fatalf("it isn't cut off: %+v", long.Dialog)
	}
	ls := asksOfCommand("List", "ls")
	for name, c := range map[string]struct{ below, drawn *agent.Reading }{
		"a title":                 {titled("Overwrite file"), titled("Create file")},
		"a tool":                  {asksToUse("Wipe disk", "", "   /w/data"), asksToUse("Read file", "", "   /w/data")},
		"who asks":                {plainCommand("Bash command · from the deployer agent", "ls"), plainCommand("Bash command", "ls")},
		"a server":                {asksByForm("bank"), asksByForm("lab")},
		"a field":                 {asksByForm("lab", "  ❯   Pay: not set"), asksByForm("lab", "  ❯   Name: not set")},
		"a plan within a plan":    {asksOfPlan("Delete production."), asksOfPlan("We will never do this:", "", "Delete production.")},
		"a question":              {asksOfPages("Delete production?", "Delete all", "Keep"), asksOfPages("Color?", "Red", "Green")},
		"a question's options":    {asksOfPages("Go on?", "Delete all", "Keep"), asksOfPages("Go on?", "Red", "Green")},
		"a page of the setup":     {autoMode, ls},
		"trust":                   {page(trustPage), page(" Theme", "", " Choose the text style that looks best with your terminal", "", " ❯ 1. Auto (match terminal)", "   2. Dark mode", "   3. Light mode", "", " Enter to select · Esc to cancel")},
		"it was cut off":          {long, draw(80, 24, strings.Join(ls.Dialog.Lines, "\n"))},
		"cut off, then a resize":  {long, draw(100, 30, strings.Join(ls.Dialog.Lines, "\n"))},
		"it was cut off there":    {draw(80, 40, strings.Join(asksHidden().Dialog.Lines, "\n")+strings.Repeat(" ", 70)+"x"), asksHidden()},
		"its refusal is not seen": {draw(80, 40, strings.Replace(strings.Join(asksHidden().Dialog.Lines, "\n"), "   3. No", "   3. ..", 1)), ls},
	} {
		for _, frames := range []int{1, 20} {
			s := newForgery(t)
			if !s.takesKeys(c.drawn) {
				t.Fatalf("%s: alone it takes no keys: %+v", name, s.f.Status().Requests)
			}
			s = newForgery(t)
			for range frames {
				s.flash(c.below)
			}
			if s.takesKeys(c.drawn) {
				t.Errorf("%s, after %d frames: it takes keys", name, frames)
			}
			s.f.Proven(s.step())
			if !s.takesKeys(c.drawn) {
				t.Errorf("%s, after %d frames: after a word it takes no keys: %+v", name, frames, s.f.Status().Requests)
			}
		}
	}
}

// TestHalfDrawn: a dialog that Claude Code draws in two steps is one. So is one that is drawn anew after a resize: before that the terminal
// shows it in other rows.
func TestHalfDrawn(t *testing.T) {
	whole := asksOfFile("notes.txt", "hello")
	rows := strings.Join(whole.Dialog.Lines, "\n")
	half := draw(80, 40, strings.Replace(rows, " 1 hello", " …", 1))
	if half.Dialog == nil || !half.Dialog.Partial {
		t.Fatalf("not half drawn: %+v", half.Dialog)
	}
	s := newForgery(t)
	s.flash(half)
	if !s.takesKeys(whole) {
		t.Errorf("after a half-drawn frame it takes no keys: %+v", s.f.Status().Requests)
	}
	s = newForgery(t)
	s.show(half)
	s.pass(3 * time.Second)
	s.show(half)
	if s.takesKeys(whole) {
		t.Errorf("a file has a line with an ellipsis, and another dialog is drawn over it: it asks %+v", s.f.Status().Requests)
	}
	wide := asksOfCommand("Makes", "touch hidden.txt")
	again := draw(100, 40, strings.Replace(strings.Join(wide.Dialog.Lines, "\n"), " touch hidden.txt", " touch\n hidden.txt", 1))
	anew := draw(100, 40, strings.Replace(strings.Join(wide.Dialog.Lines, "\n"), strings.Repeat("─", 80), strings.Repeat("─", 100), 1))
	for _, resized := range []bool{true, false} {
		s := newForgery(t)
		if s.show(wide); !resized {
			s.show(anew)
		}
		s.flash(again)
		if s.takesKeys(anew) != resized {
			t.Errorf("resized: %v: it asks %+v", resized, s.f.Status().Requests)
		}
	}
}

// TestNeverSeen: a command's hook waited, and another process covered its dialog before it was seen. A drawn dialog of another tool, which a
// hook reports, takes no key until a client has pressed one or the composer has taken a word. An empty composer may be drawn.
func TestNeverSeen(t *testing.T) {
	const write = `{"file_path":"/w/notes.txt","content":"hello"}`
	drawn := asksOfFile("notes.txt", "hello")
	for name, c := range map[string]struct {
		end   func(s *forgery)
		keyed bool
	}{
		"its hook waits":     {func(*forgery) {}, false},
		"its hook was ended": {func(s *forgery) { s.gone("7") }, false},
		"its call was ended": {func(s *forgery) { s.gone("7"); s.about("PostToolUse", "Bash", hiddenCommand, "") }, false},
		"with a composer": {func(s *forgery) {
			s.gone("7")
			s.about("PostToolUse", "Bash", hiddenCommand, "")
			s.show(atComposer(""))
			s.pass(20 * time.Second)
		}, false},
		"a client pressed a key": {func(s *forgery) { s.gone("7"); s.about("PostToolUse", "Bash", hiddenCommand, ""); s.f.Typed(s.step()) }, true},
		"a word":                 {func(s *forgery) { s.gone("7"); s.about("PostToolUse", "Bash", hiddenCommand, ""); s.f.Proven(s.step()) }, true},
		"released for a client": {func(s *forgery) {
			s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Evidence: agent.HookReleased, Hook: "7", Time: s.step()})
		}, true},
	} {
		s := newForgery(t)
		s.asks("Bash", hiddenCommand, "7")
		c.end(s)
		if strings.HasPrefix(name, "its call") || name == "with a composer" {
			if !s.f.Covered() {
				t.Errorf("%s: a message isn't tried with a word", name)
			}
		}
		s.asks("Write", write, "")
		if s.takesKeys(drawn) != c.keyed {
			t.Errorf("%s: it asks %+v", name, s.f.Status().Requests)
		}
	}
}

// TestComposerOverNeverSeen: another process draws a composer for longer than an agent delays its dialog. The prompt of the call that was never
// seen closes, and the dialog that is drawn then takes no key.
func TestComposerOverNeverSeen(t *testing.T) {
	const list = `{"command":"ls","description":"List"}`
	for _, wait := range []time.Duration{2 * time.Second, 7 * time.Second} {
		s := newLogged(t)
		if wait < 5*time.Second { // it has a prompt that is guessed from the state file
			s.f.Apply(agent.Fact{Kind: agent.LevelIs, Source: agent.SourceRegistry, Cause: "registry", Level: agent.LevelWaiting, Time: s.step()})
		}
		s.logsCall("c1", "Bash", hiddenCommand, "7")
		s.logsCall("c2", "Bash", list, "8")
		s.show(atComposer(""))
		s.pass(wait)
		drawn := asksOfCommand("List", "ls")
		s.show(drawn)
		s.gone("8")
		if s.takesKeys(drawn) {
			t.Errorf("after a composer of %s it asks %+v", wait, s.f.Status().Requests)
		}
	}
}

// TestRefusedByAForgedHook: another process's hook takes the refusal of a plan or the answer of a question. The true dialog is open, and a
// key at one that is drawn over it would choose something there.
func TestRefusedByAForgedHook(t *testing.T) {
	for tool, c := range map[string]struct {
		input string
		asks  *agent.Reading
	}{
		"ExitPlanMode":    {`{"plan":"Delete production."}`, asksOfPlan("Delete production.")},
		"AskUserQuestion": {questionOf("Which color?"), asksColor("Which color?")},
		"Bash":            {hiddenCommand, asksHidden()},
	} {
		s, drawn := newForgery(t), asksOfCommand("List", "ls")
		s.logsCall("c1", tool, c.input, "7")
		s.show(c.asks)
		p, held := s.f.HeldBy("7")
		if !held || !p.OnScreen {
			t.Fatalf("%s: %+v", tool, p)
		}
		s.f.Answered(p.ID, tool == "AskUserQuestion")
		s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: "7", Time: s.step()})
		s.show(drawn)
		s.about("PostToolUse", tool, c.input, "")
		if s.takesKeys(drawn) {
			t.Errorf("%s: it takes keys", tool)
		}
		if !s.f.Covered() {
			t.Errorf("%s: a message isn't tried with a word", tool)
		}
	}
}

// TestWrappedAnew: after a resize a dialog's rows end at other places. It is the same one if the log has one call that may be drawn so.
func TestWrappedAnew(t *testing.T) {
	const command = `{"command":"echo aaaaaaaaaa bbbbbbbbbb cccccccccc # dddddddddd","description":"Prints"}`
	at := func(cols int, rows ...string) *agent.Reading {
		dashes := strings.Repeat("╌", cols)
		out := append([]string{strings.Repeat("─", cols), " Bash command", " Prints", dashes}, rows...)
		return draw(cols, 40, strings.Join(append(out, dashes, " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"), "\n"))
	}
	wide, narrow := at(80, " echo aaaaaaaaaa bbbbbbbbbb cccccccccc # dddddddddd"), at(40, " echo aaaaaaaaaa bbbbbbbbbb cccccccccc #", " dddddddddd")
	for name, c := range map[string]struct {
		calls []string
		keyed bool
	}{
		"logged":             {[]string{"Bash", command}, true},
		"not logged":         {nil, false},
		"another like it":    {[]string{"Bash", command, "Bash", strings.Replace(command, "# d", `#\nd`, 1)}, false},
		"another that ended": {[]string{"Bash", command, "Bash", strings.Replace(command, "# d", `#\nd`, 1)}, false},
		"another, unlike it": {[]string{"Bash", command, "Bash", `{"command":"ls","description":"List"}`}, true},
		"another, read late": {[]string{"Bash", command}, false},
	} {
		s := newForgery(t)
		if c.calls != nil {
			s = newLogged(t)
			s.logsCalls(c.calls)
		}
		switch name {
		case "another that ended":
			s.about("PostToolUse", "Bash", c.calls[3], "")
		case "another, read late":
			facts, err := claude.Driver{}.Log([]byte(`{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"late","name":"Bash","input":` + strings.Replace(command, "# d", `#\nd`, 1) + `}]}}`))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range facts {
				f.Time = s.step()
				s.f.LoggedBefore(f)
			}
		}
		s.show(wide)
		s.show(narrow)
		if got := s.takesKeys(wide); got != c.keyed {
			t.Errorf("%s: keys %v, it asks %+v", name, got, s.f.Status().Requests)
		}
	}
}

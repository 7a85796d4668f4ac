package codex_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/codex"
	"berth/detect"
)

// A question that was not shown is not answered.
func TestUnseenQuestion(t *testing.T) {
	r := draw("  \x1b[2mQuestion 1/2 (2 unanswered)\x1b[22m\n  Go on?\n\n  › 1. Yes           Delete all\n    2. No            Keep all\n    3. None of the above\n\n  tab to add notes | enter to submit answer | esc to interrupt", -1, 0)
	p := codex.Driver{}.FromDialog(r.Dialog)
	each := agent.Answer{Kind: agent.AnswerEach, Each: []agent.QuestionPick{{Options: []int{1}}, {Options: []int{1}}}}
	if k, err := (codex.Driver{}).Keys(p, each, r.Dialog); err == nil {
		t.Errorf("question 2 was never shown and is answered by %d keys", len(k.Steps))
	}
	p.Questions[1] = agent.Question{Text: "Really?", Options: []string{"Yes", "No"}}
	if _, err := (codex.Driver{}).Keys(p, each, r.Dialog); err != nil {
		t.Error(err)
	}
}

// The words of a start-up page in another dialog are only words.
func TestWordsOfAStartupPage(t *testing.T) {
	for _, words := range []string{
		"Use your own OpenAI API key Paste or type your API key below Press enter to save",
		"Welcome to Codex https://example.com",
		"interactive TUI may not work in this terminal Continue anyway? [y/N]:",
		"Update available Update now", "Hooks need review hooks won't run", "Question 1/1",
	} {
		for _, row := range []string{"$ echo " + words, "$ ls\n  " + words, "Reason: " + words + "\n\n  $ ls"} {
			r := draw("  \x1b[1mWould you like to run the following command?\x1b[22m\n\n  "+row+"\n\n› 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel", -1, 0)
			if d := r.Dialog; d == nil || d.Type != agent.PromptPermission || d.Subtype != "" || len(d.Options) != 2 {
				t.Errorf("%q: %+v", row, d)
			}
		}
		r := draw("  \x1b[2mQuestion 1/1 (1 unanswered)\x1b[22m\n  "+words+"\n\n  › 1. Red           It is red\n    2. None of the above\n\n  tab to add notes | enter to submit answer | esc to interrupt", -1, 0)
		if d := r.Dialog; d == nil || d.Type != agent.PromptQuestion {
			t.Errorf("%q as a question: %+v", words, d)
		}
	}
}

// Words that are apart are not those that are not.
func TestForgedWords(t *testing.T) {
	d := draw("  \x1b[2mQuestion 1/1 (1 unanswered)\x1b[22m\n  Drop the tables / keep the data?\n\n  › 1. Drop it           It is gone\n    2. None of the above\n\n  tab to add notes | enter to submit answer | esc to interrupt", -1, 0).Dialog
	for told, want := range map[[2]string]agent.Match{
		{"Drop the tables / keep the data?", "Drop it"}:     agent.WholeMatch,
		{"Drop the tables /keep the data?", "Drop it"}:      agent.AlikeMatch,
		{"Drop the tables\n/ keep the data?", "Drop it"}:    agent.AlikeMatch,
		{"Drop the tables / keep the data?", "Dropit"}:      agent.AlikeMatch,
		{"Drop the tables / keep the data", "Drop it"}:      agent.NoMatch,
		{"Drop the tables / keep the data?", "Drop it all"}: agent.NoMatch,
	} {
		p := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{Text: told[0], Options: []string{told[1]}}}}
		if got := (codex.Driver{}).Match(d, p); got != want {
			t.Errorf("%q: %v, want %v", told, got, want)
		}
	}
}

// TestForgedPlan: a plan with the same words on other lines may be another plan.
func TestForgedPlan(t *testing.T) {
	r := draw("• Proposed Plan\n\n  Build it.\n  Do not push.\n\n\n  Implement this plan?\n\n› 1. Yes, implement this plan          Switch to Default and start coding\n  2. No, stay in Plan mode             Continue planning with the model\n\n  enter select · esc back", -1, 0)
	for told, want := range map[string]agent.Match{
		"Build it.\nDo not push.": agent.WholeMatch, "Build it. Do not push.": agent.AlikeMatch, "Build it.": agent.NoMatch,
	} {
		if got := (codex.Driver{}).Match(r.Dialog, &agent.Request{Type: agent.PromptPlan, Text: &told}); got != want {
			t.Errorf("%q: %v, want %v; the dialog has %q", told, got, want, r.Dialog.Body)
		}
	}
}

// TestHeadWithinACommand: a command may contain lines that look like the head of a dialog. The
// prompt starts at the real head, and is cut when the real head has left the screen.
func TestHeadWithinACommand(t *testing.T) {
	const fake = "  Would you like to run the following command?\n\n  $ ls"
	const options = "\n\n\n› 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel"
	told := hook(t, "PermissionRequest", `,"tool_name":"Bash","tool_input":{"command":"ls"}`)[0].Request
	for name, drawn := range map[string]string{
		"words of another command": fake,
		"words of edits":           "  Would you like to make the following edits?\n\n  Destination: notes.txt",
		"words in color":           "  \x1b[1;38;5;110mWould you like to run the following command?\x1b[m\n\n  $ ls",
	} {
		d := draw("• Running it\n\n\n  \x1b[1mWould you like to run the following command?\x1b[22m\n\n  $ rm -rf /srv\n"+drawn+options, -1, 0).Dialog
		if d == nil || d.Tool != "Bash" || d.Cut || !strings.HasPrefix(codex.Driver{}.FromDialog(d).FullInput, "rm -rf /srv\n") {
			t.Errorf("%s: %+v", name, d)
			continue
		}
		if got := (codex.Driver{}).Match(d, told); got != agent.NoMatch {
			t.Errorf("%s: the dialog shows %q as %v", name, told.FullInput, got)
		}
		d = draw("  rm -rf /srv\n"+drawn+options, -1, 0).Dialog
		if d == nil || !d.Cut {
			t.Errorf("%s, and its head is off the screen: %+v", name, d)
		}
	}
}

// seen is a session that shows these dialogs, one after the other.
type seen struct {
	f   *detect.Fold
	now time.Time
}

func newSeen() *seen {
	s := &seen{now: time.Unix(0, 0)}
	s.f = detect.New(codex.Driver{}, detect.Options{Start: s.now, Dir: "/w"})
	return s
}

func (s *seen) show(r *agent.Reading) *agent.Request {
	for range 4 {
		s.now = s.now.Add(100 * time.Millisecond)
		s.f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r, Time: s.now})
	}
	return s.f.Status().Request
}

// keyed says whether an answer to the prompt presses a key at the dialog.
func (s *seen) keyed(id string, d *agent.Dialog) bool {
	p, ok := s.f.Pending(id)
	return ok && p.Dialog != nil && p.Whole && !p.Request.Contested && !p.Over && !p.Alike && s.f.Asks(d, id)
}

// TestWordsOfAnotherCall: a dialog that shows a reported call in part may be another call's. The prompt
// of the call whose hook waits doesn't take that dialog's words.
func TestWordsOfAnotherCall(t *testing.T) {
	s := newSeen()
	for _, f := range hook(t, "PermissionRequest", `,"cwd":"/w","tool_name":"apply_patch","tool_input":{"command":"*** Delete File: /w/sub/a.txt"}`) {
		f.Hook, f.Time = "7", s.now
		s.f.Apply(f)
	}
	s.show(draw(strings.Replace(edits, "  Description:", "  Reason: the user asked for it\n\n  Description:", 1), -1, 0))
	p, ok := s.f.HeldBy("7")
	if !ok || text(p.Input) != "*** Delete File: /w/sub/a.txt" || p.Text != nil {
		t.Errorf("%+v asks with the words %q", p, text(p.Text))
	}
}

// TestNextAlike: after a key the dialog may belong to the next call. One of edits shows only the
// files, and one of a command doesn't show its folder.
func TestNextAlike(t *testing.T) {
	for _, screen := range []string{edits, runs} {
		s, r := newSeen(), draw(screen, -1, 0)
		p := s.show(r)
		if p == nil || !s.keyed(p.ID, r.Dialog) {
			t.Fatalf("%+v", p)
		}
		s.f.Typed(s.now)
		s.show(r)
		if s.keyed(p.ID, r.Dialog) {
			t.Errorf("%s: right after a key it is answered by keys", p.ID)
		}
		for range 10 {
			s.show(r)
		}
		now := s.f.Status().Request
		if !s.keyed(now.ID, r.Dialog) || now.ID == p.ID || len(s.f.Status().Requests) != 1 {
			t.Errorf("a while after a key prompt %s is %+v", p.ID, now)
		}
	}
}

const planEnds = "\n\n\n  Implement this plan?\n\n\n› 1. Yes, implement this plan          Switch to Default and start coding\n  2. No, stay in Plan mode             Continue planning with the model\n\n  enter select · esc back"

// TestPlanThatLeftTheScreen: no key answers a plan whose start has left the screen.
func TestPlanThatLeftTheScreen(t *testing.T) {
	const plan, says = "  Build it.\n  Do not push.", "\n\n\n• Here is my plan.\n\n  Worked for <1s"
	for _, c := range []struct {
		name, above, text string
		keyed             bool
	}{
		{"whole", "› plan it\n\n• Proposed Plan\n\n" + plan, "Build it.\nDo not push.", true},
		{"with a message below", "• Proposed Plan\n\n" + plan + says, "Build it.\nDo not push.", true},
		{"its end", plan, "Build it.\nDo not push.", false},
		{"its end, with a message below", plan + says, "Build it.\nDo not push.\n\n\n• Here is my plan.\n\nWorked for <1s", false},
		{"gone", "", "", false},
		{"an older one", "• Proposed Plan\n\n" + plan + "\n\n› another", "", false},
		{"two", "• Proposed Plan\n\n  Push it.\n\n• Or so.\n\n• Proposed Plan\n\n" + plan + says, "Push it.\n\n• Or so.\n\n• Proposed Plan\n\nBuild it.\nDo not push.", true},
	} {
		s, r := newSeen(), draw(c.above+planEnds, -1, 0)
		p := s.show(r)
		if p == nil || p.Type != agent.PromptPlan || text(p.Text) != c.text || s.keyed(p.ID, r.Dialog) != c.keyed {
			t.Errorf("%s: answered by keys %v: %+v", c.name, !c.keyed, p)
		}
	}
	s := newSeen()
	whole, end := draw("• Proposed Plan\n\n"+plan+planEnds, -1, 0), draw("  Do not push."+planEnds, -1, 0)
	id := s.show(whole).ID
	end.Dialog.Height--
	if p := s.show(end); p.ID != id || text(p.Text) != "Build it.\nDo not push." || s.keyed(id, end.Dialog) {
		t.Errorf("without room it is %+v", p)
	}
	if p := s.show(whole); p.ID != id || !s.keyed(id, whole.Dialog) {
		t.Errorf("with room again it is %+v", p)
	}
}

// The descriptions of options are a part of the question.
func TestExplainedOtherwise(t *testing.T) {
	asks := func(yes string) *agent.Reading {
		return draw("  \x1b[2mQuestion 1/1 (1 unanswered)\x1b[22m\n  Go on?\n\n  › 1. Yes           "+yes+"\n    2. No            Keep all\n    3. None of the above\n\n  tab to add notes | enter to submit answer | esc to interrupt", -1, 0)
	}
	d := asks("Delete all\n                     of it").Dialog
	for told, want := range map[string]agent.Match{
		"Delete all of it": agent.WholeMatch, "Delete nothing": agent.PartMatch, "": agent.PartMatch, "Delete all": agent.PartMatch,
	} {
		p := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{Text: "Go on?", Options: []string{"Yes", "No"}, Descriptions: []string{told, "Keep all"}}}}
		if got := (codex.Driver{}).Match(d, p); got != want {
			t.Errorf("%q: %v, want %v", told, got, want)
		}
	}
	s := newSeen()
	id := s.show(asks("Delete nothing")).ID
	if p := s.show(asks("Delete all")); p.ID == id || p.Questions[0].Descriptions[0] != "Delete all" {
		t.Errorf("explained otherwise, prompt %s is %+v", id, p)
	}
}

// Two questions in a row, one page each, are two dialogs.
func TestNextQuestion(t *testing.T) {
	key := func(question string, of string) string {
		return draw("  \x1b[2mQuestion 1/"+of+" (1 unanswered)\x1b[22m\n  "+question+"\n\n  › 1. Yes           Do it\n    2. None of the above\n\n  tab to add notes | enter to submit answer | esc to interrupt", -1, 0).Dialog.Key
	}
	if key("Go on?", "1") == key("Delete all?", "1") || key("Go on?", "1") != key("Go\n  on?", "1") || key("Go on?", "2") != key("Delete all?", "2") {
		t.Errorf("%q, %q", key("Go on?", "1"), key("Delete all?", "1"))
	}
}

// TestCommandThatMayBeShown: a dialog may break a command into rows or hide its blanks, so the
// match is uncertain. Once the hook is gone, the prompt is the dialog as it is drawn, and keys
// answer it there.
func TestCommandThatMayBeShown(t *testing.T) {
	const head, end = "  \x1b[1mWould you like to run the following command?\x1b[22m\n\n", "\n\n\n› 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel"
	long := "touch " + strings.Repeat("x", 100)
	for command, c := range map[string]struct {
		rows string
		sure bool
	}{
		"ls -la":               {"  $ ls -la", true},
		long + " y-and-more":   {"  $ " + long + "\n  y-and-more", false},
		"grep 'a\\tb' f":       {"  $ grep 'a b' f", false},
		"cat <<E\\na\\nE\\nls": {"  $ cat <<E\n  a\n  E\n  ls", false},
		"ls\\t-la":             {"  $ ls -la", true},
		"echo 'a \\nb'":        {"  $ echo 'a\n  b'", false},
	} {
		for _, id := range []string{"7", ""} {
			s, r := newSeen(), draw(head+c.rows+end, -1, 0)
			for _, f := range hook(t, "PermissionRequest", `,"tool_name":"Bash","tool_input":{"command":"`+command+`"}`) {
				f.Hook, f.Time = id, s.now
				s.f.Apply(f)
			}
			told := s.f.Status().Request.ID
			if id != "" {
				s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: id, Time: s.now})
			}
			for range 6 {
				s.show(r)
			}
			p := s.f.Status().Request
			if p == nil || (p.ID == told) != c.sure || !s.keyed(p.ID, r.Dialog) || s.keyed(told, r.Dialog) != c.sure {
				t.Errorf("%s, reported with the hook %q as prompt %s: %+v", command, id, told, p)
			}
		}
	}
}

// TestHeaderThatIsNotDrawn: no dialog of a question draws its header, so the prompt leaves out
// the header that a hook reports.
func TestHeaderThatIsNotDrawn(t *testing.T) {
	p := codex.Driver{}.Waiting(&agent.Fact{Tool: "request_user_input", Input: []byte(`{"questions":[{"question":"Drop the tables?","header":"Keep them?","options":[{"label":"Yes","description":""}]}]}`)})
	if len(p.Questions) != 1 || p.Questions[0].Header != "" || text(p.Title) != "Question 1/1" {
		t.Errorf("%+v", p)
	}
}

// TestIndentOfACommand: the prompt keeps the blanks at the start of a command's line.
func TestIndentOfACommand(t *testing.T) {
	r := draw(strings.Replace(runs, "$ ", "$ cat <<EOF\n    two\n  EOF\n  ", 1), -1, 0)
	if p := (codex.Driver{}).FromDialog(r.Dialog); p.Input == nil || !strings.HasPrefix(*p.Input, "cat <<EOF\n  two\nEOF\n") {
		t.Errorf("it asks %q", text(p.Input))
	}
}

// TestFewerOptions: a question reported with fewer options than the dialog has is another question.
func TestFewerOptions(t *testing.T) {
	d := draw("  \x1b[2mQuestion 1/1 (1 unanswered)\x1b[22m\n  Go on?\n\n  › 1. Yes           Go\n    2. No            Stop\n    3. Wipe          Delete all\n    4. None of the above\n\n  tab to add notes | enter to submit answer | esc to interrupt", -1, 0).Dialog
	for n, want := range map[int]agent.Match{1: agent.NoMatch, 2: agent.NoMatch, 3: agent.WholeMatch} {
		p := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{Text: "Go on?", Options: []string{"Yes", "No", "Wipe"}[:n], Descriptions: []string{"Go", "Stop", "Delete all"}[:n]}}}
		if m := (codex.Driver{}).Match(d, p); m != want {
			t.Errorf("%d options: match %v, want %v", n, m, want)
		}
	}
}

// TestUndrawnCharacters: Codex draws no tab, and no characters without a width. A call with such
// characters is drawn like another call. So the dialog is contested while it may be about that call,
// whatever other hooks report.
func TestUndrawnCharacters(t *testing.T) {
	r := draw("  \x1b[1mWould you like to run the following command?\x1b[22m\n\n  $ rm -rf build/\n\n\n› 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel", -1, 0)
	tell := func(s *seen, event, command string) {
		for _, f := range hook(t, event, `,"turn_id":"1","tool_name":"Bash","tool_input":{"command":"`+command+`"},"tool_use_id":""`) {
			f.Time = s.now
			s.f.Apply(f)
		}
	}
	const forged = "rm -rf build/"
	for _, real := range []string{`rm -rf build\t/`, `rm -rf build\u034f/`, `rm -rf build/\ufe00`, `rm -rf build\u200b/`} {
		for name, tells := range map[string]func(s *seen){
			"reported":          func(s *seen) { tell(s, "PermissionRequest", real) },
			"reported after it": func(s *seen) { tell(s, "PermissionRequest", forged); tell(s, "PermissionRequest", real) },
			"reported over":     func(s *seen) { tell(s, "PermissionRequest", real); tell(s, "PostToolUse", real) },
			"its turn is over":  func(s *seen) { tell(s, "PermissionRequest", real); tell(s, "Stop", real) },
			"its step is over":  func(s *seen) { tell(s, "PermissionRequest", real); tell(s, "PreModelRequest", real) },
			"it is interrupted": func(s *seen) { tell(s, "PermissionRequest", real); tell(s, "Interrupt", real) },
		} {
			s := newSeen()
			tell(s, "UserPromptSubmit", "")
			tells(s)
			tell(s, "PermissionRequest", forged)
			for range 8 {
				s.show(r)
			}
			for _, p := range s.f.Status().Requests {
				if s.keyed(p.ID, r.Dialog) {
					t.Errorf("%q, %s: a key answers %+v", real, name, p)
				}
			}
		}
	}
	s := newSeen()
	tell(s, "PermissionRequest", forged)
	for range 8 {
		s.show(r)
	}
	if p := s.f.Status().Request; !s.keyed(p.ID, r.Dialog) {
		t.Errorf("alone it is not answered: %+v", p)
	}
}

// TestOptionsLikeCodexsOwn: a model may name its options like the one that Codex adds. The prompt shows each.
func TestOptionsLikeCodexsOwn(t *testing.T) {
	for _, labels := range [][]string{{"None of the above", "Wipe it"}, {"Wipe it", "None of the above"}} {
		d := draw("  \x1b[2mQuestion 1/1 (1 unanswered)\x1b[22m\n  Go on?\n\n  › 1. "+labels[0]+"\n    2. "+labels[1]+"\n    3. None of the above\n\n  tab to add notes | enter to submit answer | esc to interrupt", -1, 0).Dialog
		p := codex.Driver{}.FromDialog(d)
		if m := (codex.Driver{}).Match(d, p); !slices.Equal(p.Questions[0].Options, labels) || m != agent.WholeMatch {
			t.Errorf("%q: match %v, %+v", labels, m, p.Questions)
		}
	}
}

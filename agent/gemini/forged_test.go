package gemini_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/gemini"
	"berth/detect"
)

// TestForgedNames: Berth shows the same fields of a call that it compares with the dialog.
func TestForgedNames(t *testing.T) {
	r := draw(box("? Shell  rm -rf ~", "╭────────────────────────────╮", "│ rm -rf ~                   │", "╰────────────────────────────╯",
		"Allow execution of [Shell]?", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)")...)
	for input, want := range map[string]agent.Match{
		`{"command":"rm -rf ~"}`:                       agent.WholeMatch,
		`{"command":"ls -la","Command":"rm -rf ~"}`:    agent.NoMatch,
		`{"command":"ls -la","command":"rm -rf ~"}`:    agent.NoMatch,
		`{"Command":"rm -rf ~"}`:                       agent.NoMatch,
		`{"command":["rm -rf ~"]}`:                     agent.NoMatch,
		`{"command":"rm -rf ~","description":"Clean"}`: agent.WholeMatch,
	} {
		p := gemini.Driver{}.Waiting(&agent.Fact{Tool: "run_shell_command", Input: []byte(input)})
		if got := (gemini.Driver{}).Match(r.Dialog, p); got != want {
			t.Errorf("%s, shown as %q: %v, want %v", input, *p.Input, got, want)
		}
	}
}

// What a dialog does not show was not seen.
func TestUnseen(t *testing.T) {
	asks := []string{"Ready to start implementation?", "", "Read the code.", "", "● 1. Yes, automatically accept edits", "  2. Yes, manually accept edits", "", "Enter to select · Esc to cancel"}
	whole, hidden := draw(box(asks...)...).Dialog, draw(append(box(asks...), " Press ctrl-o to show more lines")...).Dialog
	p := gemini.Driver{}.Waiting(&agent.Fact{Tool: "exit_plan_mode", Input: []byte(`{"plan_path":"/p.md"}`)})
	for range 2 { // the plan is reported without its text, and then with the shown part of it
		if got := (gemini.Driver{}).Match(hidden, p); got != agent.PartMatch {
			t.Errorf("a plan with more lines than are shown: %v", got)
		}
		if got := (gemini.Driver{}).Match(whole, p); got != agent.WholeMatch {
			t.Errorf("a plan that is shown to its end: %v", got)
		}
		gemini.Driver{}.Fill(p, whole)
	}
	p = gemini.Driver{}.Waiting(&agent.Fact{Tool: "run_shell_command", Input: []byte(`{"command":"ls"}`)})
	// The first row is the model's description of a long command. Without the command's own box,
	// or with a part of it, the dialog doesn't show the command.
	for _, body := range [][]string{nil, {"rm -rf ~"}, {"╭──────────╮", "│ ls       │"}, {"│ ls       │", "╰──────────╯"}} {
		rows := slices.Concat([]string{"? Shell  ls"}, body, []string{"Allow execution of [Shell]?", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)"})
		d := draw(box(rows...)...).Dialog
		if got := (gemini.Driver{}).Match(d, p); got != agent.PartMatch || !d.Cut {
			t.Errorf("ls, with %q below it: %v, cut %v", body, got, d.Cut)
		}
	}
}

// The words of a start-up dialog in a question are only words.
func TestWordsOfAStartupDialog(t *testing.T) {
	for words, option := range map[string]string{
		"Do you trust the files in this folder?":                   "Trust folder (ws)",
		"How would you like to authenticate for this project?":     "Use Gemini API Key",
		"Enter Gemini API Key\n(Press Enter to submit, Esc to go)": "Yes",
	} {
		rows := append([]string{"Answer Questions", ""}, strings.Split(words, "\n")...)
		r := draw(box(append(rows, "", "● 1. "+option, "  2. No", "", "Enter to select · ↑/↓ to navigate · Esc to cancel")...)...)
		if d := r.Dialog; d == nil || d.Type != agent.PromptQuestion {
			t.Errorf("%q: %+v", words, d)
		}
	}
}

// Words that are apart are not those that are not, and a label is compared whole.
func TestForgedWords(t *testing.T) {
	d := draw(box("Answer Questions", "", "Drop the tables / keep the data?", "", "● 1.  Drop it", "  2.  Keep", "", "Enter to select · ↑/↓ to navigate · Esc to cancel")...).Dialog
	for told, want := range map[[2]string]agent.Match{
		{"Drop the tables / keep the data?", "Drop it"}:     agent.WholeMatch,
		{"Drop the tables /keep the data?", "Drop it"}:      agent.AlikeMatch,
		{"Drop the tables - keep the data?", "Drop it"}:     agent.NoMatch,
		{"Drop the `tables` / keep the data?", "Drop it"}:   agent.AlikeMatch,
		{"Drop the tables / keep the data?", "Dropit"}:      agent.AlikeMatch,
		{"Drop the tables / keep the data?", "Drop it not"}: agent.PartMatch,
		{"Drop the tables / keep the data?", "Keep"}:        agent.NoMatch,
	} {
		p := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{Text: told[0], Options: []string{told[1], "Keep"}}}}
		if got := (gemini.Driver{}).Match(d, p); got != want {
			t.Errorf("%q: %v, want %v", told, got, want)
		}
	}
}

// TestForgedPlan: a plan with the same words on other lines may be another plan.
func TestForgedPlan(t *testing.T) {
	d := &agent.Dialog{Type: agent.PromptPlan, Body: "Build it.\nDo not push."}
	for told, want := range map[string]agent.Match{
		"Build it.\nDo not push.": agent.WholeMatch, "Build it. Do not push.": agent.AlikeMatch, "Build it.": agent.NoMatch,
	} {
		if got := (gemini.Driver{}).Match(d, &agent.Request{Type: agent.PromptPlan, Text: &told}); got != want {
			t.Errorf("%q: %v, want %v", told, got, want)
		}
	}
}

// TestPageOfAQuestion: a page isn't a question's page if only its start has that question's words.
func TestPageOfAQuestion(t *testing.T) {
	d := draw(box("Answer Questions", "", "← □ A │ □ B │ ≡ Review →", "", "Drop it all?", "", "● 1.  Yes", "  2.  No", "", "Enter to select · ←/→ to switch questions · Esc to cancel")...).Dialog
	p := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{Header: "A", Text: "Drop it"}, {Header: "B", Text: "Drop it all?"}}}
	gemini.Driver{}.Fill(p, d)
	if p.QuestionCurrent != 1 {
		t.Errorf("question %d", p.QuestionCurrent)
	}
}

// The descriptions of options are a part of the question.
func TestExplainedOtherwise(t *testing.T) {
	asks := func(yes ...string) *agent.Dialog {
		rows := append([]string{"Answer Questions", "", "Drop the tables?", "", "▲", "● 1.  Yes"}, yes...)
		return draw(box(append(rows, "  2.  No", "      Keep all.", "▼", "", "Enter to select · ↑/↓ to navigate · Esc to cancel")...)...).Dialog
	}
	d := asks("      Drop all", "      of them.")
	for told, want := range map[string]agent.Match{
		"Drop all of them.": agent.WholeMatch, "Drop none of them.": agent.PartMatch, "": agent.PartMatch, "Drop all": agent.PartMatch,
	} {
		p := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{Text: "Drop the tables?", Options: []string{"Yes", "No"}, Descriptions: []string{told, "Keep all."}}}}
		if got := (gemini.Driver{}).Match(d, p); got != want {
			t.Errorf("%q: %v, want %v", told, got, want)
		}
	}
	p := gemini.Driver{}.FromDialog(asks("      Drop none."))
	if got := (gemini.Driver{}).Match(d, p); got != agent.PartMatch {
		t.Errorf("seen with another explanation: %v of %+v", got, p.Questions)
	}
}

// Two questions in a row, one page each, are two dialogs.
func TestNextQuestion(t *testing.T) {
	key := func(rows ...string) string {
		rows = append(append([]string{"Answer Questions", ""}, rows...), "", "● 1.  Yes", "  2.  No", "", "Enter to select · ↑/↓ to navigate · Esc to cancel")
		return draw(box(rows...)...).Dialog.Key
	}
	if key("Go on?") == key("Delete all?") || key("Go on?") != key("Go", "on?") {
		t.Errorf("%q, %q", key("Go on?"), key("Delete all?"))
	}
}

// TestFoldedCall: the dialog of a server's tool hides the tool's input, so another call's
// dialog looks the same.
func TestFoldedCall(t *testing.T) {
	ends := []string{"● 1. Allow once", "  2. Allow tool for this session", "  3. No, suggest changes (esc)"}
	d := draw(box(append([]string{"? remove (files MCP Server)", "MCP Server: files", "Tool: remove", "", "MCP Tool Details:", "(press ctrl+o to expand MCP tool details)",
		`Allow execution of MCP tool "remove" from server "files"?`}, ends...)...)...).Dialog
	if d == nil || d.Type != agent.PromptPermission || !d.Alike {
		t.Errorf("a server's tool: %+v", d)
	}
	d = draw(box(append([]string{"? Shell  ls", "╭──────────╮", "│ ls       │", "╰──────────╯", "Allow execution of [Shell]?"}, ends...)...)...).Dialog
	if d == nil || d.Alike {
		t.Errorf("a command: %+v", d)
	}
}

// TestNoticeWithOtherOptions: where an option of a notice can be chosen, its text and its options
// are the question.
func TestNoticeWithOtherOptions(t *testing.T) {
	f, now := detect.New(gemini.Driver{}, detect.Options{Start: time.Unix(0, 0)}), time.Unix(0, 0)
	show := func(body string, options ...string) *agent.Request {
		r := draw(box(append([]string{"Usage limit reached", "", body, ""}, options...)...)...)
		for range 4 {
			now = now.Add(100 * time.Millisecond)
			f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r, Time: now})
		}
		return f.Status().Request
	}
	first := show("Resets soon.", "● 1. Keep trying", "  2. Stop")
	again := show("Resets soon.", "  1. Keep trying", "● 2. Stop")
	later := show("Resets now.", "● 1. Keep trying", "  2. Stop")
	other := show("Resets now.", "● 1. Keep trying", "  2. Buy more")
	if first == nil || first.Type != agent.PromptNotice || again.ID != first.ID || again.Digest != first.Digest {
		t.Fatalf("%+v, and then %+v", first, again)
	}
	if later == nil || later.ID == first.ID || later.Digest == first.Digest {
		t.Errorf("with another text: %+v, and before %+v", later, first)
	}
	if other == nil || other.ID == later.ID || other.ID == first.ID || other.Digest == first.Digest {
		t.Errorf("with other options: %+v, and before %+v", other, first)
	}
}

// TestHeaderThatIsNotDrawn: the dialog of a single question draws no header, so the prompt
// leaves out the header that a hook reports.
func TestHeaderThatIsNotDrawn(t *testing.T) {
	p := gemini.Driver{}.Waiting(&agent.Fact{Tool: "ask_user", Input: []byte(`{"questions":[{"question":"Drop the tables?","header":"Keep them?","options":[{"label":"Yes"}]}]}`)})
	if len(p.Questions) != 1 || p.Questions[0].Header != "" || p.Title != nil {
		t.Errorf("%+v", p)
	}
}

// TestBoxInACommand: the model's words above the command's box can draw another box.
func TestBoxInACommand(t *testing.T) {
	rows := []string{"? Shell  rm -rf ~", "         ╭────────────────────────╮", "         │ ls                     │", "         ╰────────────────────────╯",
		"╭────────────────────────────╮", "│ rm -rf ~                   │", "│ ╭────────────────────────╮ │", "│ │ ls                     │ │", "│ ╰────────────────────────╯ │", "╰────────────────────────────╯",
		"Allow execution of [Shell]?", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)"}
	d := draw(box(rows...)...).Dialog
	p := gemini.Driver{}.FromDialog(d)
	if want := "rm -rf ~\n╭────────────────────────╮\n│ ls                     │\n╰────────────────────────╯"; text(p.Input) != want {
		t.Errorf("it asks %q, want %q", text(p.Input), want)
	}
	if d := draw(box(append(rows[:4:4], rows[10:]...)...)...).Dialog; d == nil || !d.Cut {
		t.Errorf("without the own box: %+v", d)
	}
}

// TestFewerOptions: a question reported with fewer options than the dialog has is another question.
func TestFewerOptions(t *testing.T) {
	rows := []string{"● 1.  Keep", "  2.  Drop", "  3.  Wipe", "  4.  Enter a custom value"}
	for _, shown := range [][]string{rows, rows[:3]} { // it may show three at a time
		d := draw(box(append(append([]string{"Answer Questions", "", "What now?", ""}, shown...), "", "Enter to select · ↑/↓ to navigate · Esc to cancel")...)...).Dialog
		for n, want := range map[int]agent.Match{1: agent.NoMatch, 2: agent.NoMatch, 3: agent.WholeMatch} {
			p := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{Text: "What now?", Options: []string{"Keep", "Drop", "Wipe"}[:n]}}}
			if m := (gemini.Driver{}).Match(d, p); m != want {
				t.Errorf("%d options at %q: match %v, want %v", n, shown, m, want)
			}
		}
	}
}

// TestRowForOnesOwnWords: the row after the reported options is the line for a free answer if it shows
// its hint, or if the foot says that a person types into it. Another option that is chosen isn't that line.
func TestRowForOnesOwnWords(t *testing.T) {
	const selects, types = "Enter to select · ↑/↓ to navigate · Esc to cancel", "Enter to submit · Esc to cancel"
	for _, c := range []struct {
		rows  []string
		foot  string
		multi bool
		want  agent.Match
	}{
		{[]string{"▲", "  1.  Keep", "  2.  Drop", "● 3.  Wipe", "▼"}, selects, false, agent.NoMatch},
		{[]string{"▲", "  2.  Drop", "● 3.  Wipe", "  4.  Enter a custom value", "▼"}, selects, false, agent.NoMatch},
		{[]string{"  1.  Keep", "  2.  Drop", "● 3.  Wipe"}, types, false, agent.WholeMatch},
		{[]string{"  1.  Keep", "  2.  Drop", "● 3.  Enter a custom value"}, selects, false, agent.WholeMatch},
		{[]string{"▲", "  2. [ ] Drop", "● 3. [ ] All of the above", "  4. [x] Wipe", "▼"}, selects, true, agent.NoMatch},
		{[]string{"▲", "  2. [ ] Drop", "  3. [ ] All of the above", "  4. [x] Enter a custom value", "●  Done"}, selects, true, agent.WholeMatch},
		{[]string{"▲", "  2. [ ] Drop", "  3. [ ] All of the above", "● 4. [ ] Wipe", "▼"}, selects, true, agent.NoMatch},
		{[]string{"▲", "  2. [ ] Drop", "  3. [ ] All of the above", "● 4. [x] Wipe", "▼"}, types, true, agent.WholeMatch},
	} {
		d := draw(box(append(append([]string{"Answer Questions", "", "What now?", ""}, c.rows...), "", c.foot)...)...).Dialog
		p := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{Text: "What now?", Options: []string{"Keep", "Drop"}, MultiSelect: c.multi}}}
		if m := (gemini.Driver{}).Match(d, p); m != c.want {
			t.Errorf("%q, %s: match %v, want %v", c.rows, c.foot, m, c.want)
		}
	}
}

// TestUnseenOption: only a hook reported the options that are out of view. No digit is pressed before
// the dialog has shown all of them. No digit chooses the line for a free answer either: the dialog may
// have another option there.
func TestUnseenOption(t *testing.T) {
	const selects = "Enter to select · ↑/↓ to navigate · Esc to cancel"
	page := func(foot string, rows ...string) *agent.Reading {
		return draw(box(append(append([]string{"Answer Questions", "", "What now?", "", "▲"}, rows...), "▼", "", foot)...)...)
	}
	begins := page(selects, "● 1.  Keep", "  2.  Drop", "  3.  Copy")
	third := page(selects, "  1.  Keep", "  2.  Drop", "● 3.  Copy")
	fourth := page(selects, "  2.  Drop", "  3.  Copy", "● 4.  Wipe")
	for name, c := range map[string]struct {
		told   []string
		hint   string
		answer agent.Answer
		want   string
	}{
		"another option": {[]string{"Keep", "Drop", "Copy", "Move"}, "", agent.Answer{Kind: agent.ChooseOption, Option: 4}, "Down Down Down 4 answered"},
		"an option more": {[]string{"Keep", "Drop", "Copy"}, "", agent.Answer{Kind: agent.AnswerText, Text: "as you like"}, "Down Down Down Up 4 <as you like> Enter answered"},
		"a hint like it": {[]string{"Keep", "Drop", "Copy"}, "Wipe", agent.Answer{Kind: agent.AnswerText, Text: "as you like"}, "Down Down Down <as you like> Enter answered"},
		"one before it":  {[]string{"Keep", "Drop", "Copy", "Move"}, "", agent.Answer{Kind: agent.ChooseOption, Option: 3}, "Down Down Down Up 3 answered"},
		"the first":      {[]string{"Keep", "Drop", "Copy", "Move"}, "", agent.Answer{Kind: agent.ChooseOption, Option: 1}, "Down Down Down Up Up Up 1 answered"},
		"all were seen":  {[]string{"Keep", "Drop", "Copy"}, "", agent.Answer{Kind: agent.ChooseOption, Option: 3}, "3 answered"},
	} {
		p := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{Text: "What now?", Options: c.told, Hint: c.hint}}, Raw: []byte("{}")}
		k, err := gemini.Driver{}.Keys(p, c.answer, begins.Dialog)
		if err != nil || press(k) != c.want {
			t.Fatalf("%s: %s, %v", name, press(k), err)
		}
		if len(k.Steps) == 1 {
			continue
		}
		inWords := draw(box("Answer Questions", "", "What now?", "", "> ", "", "Enter to submit · Esc to cancel")...)
		for i, step := range k.Steps {
			if step.Ready(inWords) {
				t.Errorf("%s: key %d is pressed at a question without options", name, i)
			}
		}
		if !k.Steps[0].Ready(begins) || !k.Steps[2].Ready(third) || k.Steps[2].Ready(begins) {
			t.Errorf("%s: it does not go on", name)
		}
		if taken := (gemini.Driver{}).Match(fourth.Dialog, p) != agent.NoMatch; taken != (c.hint != "") {
			t.Errorf("%s: the fourth row passes for the reported option: %v", name, taken)
		}
		if c.answer.Text != "" && k.Steps[3].Ready(fourth) {
			t.Errorf("%s: it goes on at an option", name)
		}
	}
}

// TestNextFile: Gemini leaves folders of a long path out, and the folder of a command. So after a key the dialog may
// be that of another file or folder with the same text, unless a hook reports which it is.
func TestNextFile(t *testing.T) {
	for name, c := range map[string]struct {
		rows  []string
		alike bool
	}{
		"write": {[]string{"? WriteFile  Writing to aaaaaaaaaaaaaaaaaaaaaa.../.../d.txt", "╭──────────╮", "│ 1 hello  │", "╰──────────╯", "Apply this change?", "● 1. Allow once", "  2. Allow for this session", "  3. Modify with external editor", "  4. No, suggest changes (esc)"}, true},
		"edit":  {[]string{"? Edit  aaaaaaaaaaaaaaaaaaaaaa.../.../d.txt: a => b", "╭──────────╮", "│ 1 - a    │", "│ 1 + b    │", "╰──────────╯", "Apply this change?", "● 1. Allow once", "  2. Allow for this session", "  3. Modify with external editor", "  4. No, suggest changes (esc)"}, true},
		"shell": {[]string{"? Shell  ls", "╭──────────╮", "│ ls       │", "╰──────────╯", "Allow execution of [Shell]?", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)"}, true},
	} {
		f, now, r := detect.New(gemini.Driver{}, detect.Options{Start: time.Unix(0, 0)}), time.Unix(0, 0), draw(box(c.rows...)...)
		show := func(times int) *agent.Request {
			for range times {
				now = now.Add(100 * time.Millisecond)
				f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r, Time: now})
			}
			return f.Status().Request
		}
		before := show(4)
		f.Typed(now)
		after := show(40)
		if before == nil || after == nil || (after.ID != before.ID) != c.alike || (after.Digest != before.Digest) != c.alike {
			t.Errorf("%s: %+v, and after a key %+v", name, before, after)
		}
	}
}

// TestPathThatDrawsAnOption: what a command is to have access to is shown to its end, also where a path is
// broken so that a row of it looks like an option.
func TestPathThatDrawsAnOption(t *testing.T) {
	rows := []string{"? Shell  ls", "╭──────────╮", "│ ls       │", "╰──────────╯", "To run [Shell], allow access to the following?", "• Write: /tmp/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"● 1. Allow once, /root/.ssh", "2. Allow for this session", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)"}
	d := draw(box(rows...)...).Dialog
	p := gemini.Driver{}.FromDialog(d)
	if want := "To run [Shell], allow access to the following?\n• Write: /tmp/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n● 1. Allow once, /root/.ssh\n2. Allow for this session"; text(p.Text) != want || len(d.Options) != 3 {
		t.Errorf("it asks %q, and offers %q", text(p.Text), d.Labels())
	}
}

// TestBoxInAPath: nor do such paths draw the command's box.
func TestBoxInAPath(t *testing.T) {
	rows := []string{"? Shell  rm -rf ~", "╭────────────────────────────╮", "│ rm -rf ~                   │", "╰────────────────────────────╯", "To run [Shell], allow access to the following?", "• Write: /",
		"╭──────────╮", "│ ls       │", "╰──────────╯", "Allow execution of [Shell]?", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)"}
	d := draw(box(rows...)...).Dialog
	p := gemini.Driver{}.FromDialog(d)
	if text(p.Input) != "rm -rf ~" || !strings.HasPrefix(text(p.Text), "To run [Shell], allow access to the following?\n• Write: /\n╭──") {
		t.Errorf("it asks %q, %q", text(p.Input), text(p.Text))
	}
	told := &agent.Request{Type: agent.PromptPermission, Tool: agent.Pointer("run_shell_command"), Raw: []byte(`{"command":"ls"}`)}
	if m := (gemini.Driver{}).Match(d, told); m != agent.NoMatch {
		t.Errorf("a command that is not asked about is shown as %v", m)
	}
}

// TestWiderThanItsRow: a text that is wider on the terminal than Gemini CLI took it for goes on in the
// first column of the next row, where it can draw another box. Such a dialog takes no key.
func TestWiderThanItsRow(t *testing.T) {
	fills := func(columns int) string { return "\u0915" + strings.Repeat("\u093f", columns-1) } // one cluster, a column for each character
	evil := "│ │ touch evil; : " + fills(80-18) + "╭──" + fills(77) + "│ ? Shell  ls" + fills(67) + "│ ╭──" + fills(75) + "│ │ ls" + strings.Repeat(" ", 60) + " │ │"
	rows := []string{"✦ I will do it.", "", roof, "│ ? Shell  touch evil", "│ ╭──────────╮", evil, "│ ╰──────────╯", "│ Allow execution of [Shell]?", "│", "│ ● 1. Allow once", "│   2. No, suggest changes (esc)", ground}
	r := draw(rows...)
	if r.Dialog == nil {
		return
	}
	p := gemini.Driver{}.Waiting(&agent.Fact{Tool: "run_shell_command", Input: []byte(`{"command":"ls"}`)})
	if m := (gemini.Driver{}).Match(r.Dialog, p); m >= agent.AlikeMatch || !r.Dialog.Cut {
		t.Errorf("ls is shown %v: %+v", m, r.Dialog)
	}
}

// TestOptionsLikeTheLine: a model may name its options like the line for a text. The prompt shows each.
func TestOptionsLikeTheLine(t *testing.T) {
	for _, labels := range [][]string{{"Enter a custom value", "Wipe it"}, {"Wipe it", "Enter a custom value"}} {
		d := draw(box("Answer Questions", "", "What now?", "", "● 1.  "+labels[0], "  2.  "+labels[1], "  3.  Enter a custom value", "", "Enter to select · ↑/↓ to navigate · Esc to cancel")...).Dialog
		p := gemini.Driver{}.FromDialog(d)
		if m := (gemini.Driver{}).Match(d, p); !slices.Equal(p.Questions[0].Options, labels) || m != agent.WholeMatch {
			t.Errorf("%q: match %v, %+v", labels, m, p.Questions)
		}
	}
}

// TestTextBesideAnOptionLikeTheLine: no number of an option is pressed for a text.
func TestTextBesideAnOptionLikeTheLine(t *testing.T) {
	const own = "Enter a custom value"
	for _, c := range []struct {
		rows []string
		keys string
	}{
		{[]string{"● 1.  " + own, "  2.  Wipe it", "  3.  " + own}, "3 <bob> Enter answered"},
		{[]string{"● 1.  Keep it", "  2.  Wipe it", "  3.  " + own, "▼"}, ""}, // the line is below
		{[]string{"● 1.  Keep it", "  2.  " + own, "  3.  Wipe it", "▼"}, ""},
	} {
		d := draw(box(slices.Concat([]string{"Answer Questions", "", "What now?", ""}, c.rows, []string{"", "Enter to select · ↑/↓ to navigate · Esc to cancel"})...)...).Dialog
		k, err := gemini.Driver{}.Keys(gemini.Driver{}.FromDialog(d), agent.Answer{Kind: agent.AnswerText, Text: "bob"}, d)
		if (err == nil) != (c.keys != "") || err == nil && press(k) != c.keys {
			t.Errorf("%q: %s, %v", c.rows, press(k), err)
		}
	}
}

// TestNumbersOfAScrolledList: a list shows three rows at a time. The number that a prompt gives to an option is the one that chooses it,
// wherever the list was scrolled to.
func TestNumbersOfAScrolledList(t *testing.T) {
	rows := func(from, focus int) []string {
		all := []string{"Keep", "Drop", "Wipe", "Enter a custom value"}
		out := []string{"Answer Questions", "", "What now?", "", "▲"}
		for n := from; n < from+3; n++ {
			out = append(out, fmt.Sprintf("%s %d.  %s", map[bool]string{true: "●", false: " "}[n == focus], n, all[n-1]))
		}
		return box(append(out, "▼", "", "Enter to select · ↑/↓ to navigate · Esc to cancel")...)
	}
	labels, keyed := []string{"Keep", "Drop", "Wipe"}, false
	for _, order := range [][]int{{1}, {1, 2}, {2}, {2, 1}, {1, 2, 1}} {
		s := &story{t: t, fold: detect.New(gemini.Driver{}, detect.Options{Start: midnight})} // without hooks, as in a shell
		s.at(100).title("◇  Ready (work)").screen(rest...)
		s.at(1000).title("✦  Working… (work)").screen(work...)
		var d *agent.Dialog
		for i, from := range order {
			screen := rows(from, from+1)
			s.at(2000 + 2000*i).screen(screen...)
			d = draw(screen...).Dialog
		}
		s.at(12000)
		for _, p := range s.fold.Status().Requests {
			for i, label := range p.Options {
				k, err := (gemini.Driver{}).Keys(p, agent.Answer{Kind: agent.ChooseOption, Option: i + 1}, d)
				pressed := err == nil && s.fold.Asks(d, p.ID) && k.Steps[0].Ready(&agent.Reading{Dialog: d})
				if keyed = keyed || pressed; pressed && (i >= len(labels) || label != labels[i]) {
					t.Errorf("%v: %q is chosen by %s at %q", order, label, press(k), d.Labels())
				}
			}
		}
	}
	if !keyed {
		t.Error("no order is answered")
	}
}

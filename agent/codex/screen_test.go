package codex_test

import (
	"fmt"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/codex"
	"berth/detect"
	"berth/terminal"
)

// draw is the reading of a screen of at least 12 rows that ends on these
// lines, the caret at row and column of them, or hidden.
func draw(lines string, row, col int) *agent.Reading { return drawAt(120, lines, row, col) }

// drawAt is draw on a screen of that many columns.
func drawAt(cols int, lines string, row, col int) *agent.Reading {
	rows := strings.Split(strings.TrimSuffix(lines, "\n"), "\n")
	height := max(12, len(rows))
	first := height - len(rows)
	t := terminal.New(terminal.Options{Cols: cols, Rows: height})
	for i, line := range rows {
		_, _ = fmt.Fprintf(t, "\x1b[%d;1H%s\x1b[0m", first+i+1, line)
	}
	_, _ = fmt.Fprintf(t, "\x1b[%d;%dH", first+row+1, col+1)
	if row < 0 {
		_, _ = t.Write([]byte("\x1b[?25l"))
	}
	var w detect.Viewer
	return codex.Driver{}.Screen(w.View(t.Snapshot(0)))
}

const (
	hint   = "› \x1b[2mAsk Codex to do anything\x1b[22m\n"
	model  = "\n  mock-model default · ~/work\n"
	footer = model + "  ← for agents · ? for shortcuts\n"
	work   = "• Working (\x1b[2m2s • \x1b[22mesc\x1b[2m to interrupt)\x1b[22m"
)

func TestComposer(t *testing.T) {
	message := func(text string) agent.Composer {
		return agent.Composer{Mode: agent.ModeMessage, Text: text, Empty: text == "", Focused: true}
	}
	placeholder := message("")
	placeholder.Hint = "Ask Codex to do anything"
	for name, c := range map[string]struct {
		drawn    string
		row, col int
		want     agent.Composer
	}{
		"empty":                {hint + footer, 0, 2, placeholder},
		"a splash":             {hint + "\n  ? for shortcuts", 0, 2, placeholder},
		"nothing in it":        {"›\n" + footer, 0, 2, message("")},
		"a draft":              {"› hello\n" + model, 0, 7, message("hello")},
		"its caret at home":    {"› hello\n" + model, 0, 2, message("hello")},
		"several lines":        {"› one\n  two\n    three\n" + model, 1, 4, message("one\ntwo\n  three")},
		"a blank line in it":   {"› one\n\n  two\n" + model, 2, 5, message("one\n\ntwo")},
		"a line break after":   {"› one\n\n" + model, 1, 2, message("one")},
		"a line break alone":   {"›\n\n" + model, 1, 2, agent.Composer{Mode: agent.ModeMessage, Focused: true}},
		"a paste":              {"› [Pasted Content 10244 chars]\n" + model, 0, 30, message("[Pasted Content 10244 chars]")},
		"a menu above":         {"› /quit  exit Codex\n\n› /quit\n" + model, 2, 7, message("/quit")},
		"what looks like work": {"• Working (2s • esc to interrupt)\n\n› x\n" + model, 2, 3, message("x")},
		"an option typed":      {"› 1. Yes, proceed (y)\n  2. No\n" + footer, 1, 7, message("1. Yes, proceed (y)\n2. No")},
	} {
		r := draw("\x1b[2m›\x1b[22m hello\n\n• Done.\n\n"+c.drawn, c.row+4, c.col)
		if r.Composer == nil || *r.Composer != c.want || r.Dialog != nil || r.Busy != "" {
			t.Errorf("%s: %+v (dialog %+v, busy %q), want %+v", name, r.Composer, r.Dialog, r.Busy, c.want)
		}
	}
}

func TestNoComposer(t *testing.T) {
	for name, c := range map[string]struct {
		drawn    string
		row, col int
	}{
		"nothing":                     {"", 0, 0},
		"a message that was sent":     {"\x1b[2m›\x1b[22m hello\n" + footer, 0, 4},
		"no caret":                    {hint + footer, -1, 0},
		"the caret in what was said":  {"• Done.\n" + hint + footer, 0, 3},
		"the caret at the very left":  {hint + footer, 0, 0},
		"a shell":                     {"$ › ls", 0, 6},
		"the caret below all of this": {hint + footer, 3, 4},
	} {
		if r := draw(c.drawn, c.row, c.col); r.Composer != nil || r.Dialog != nil || r.Bare() {
			t.Errorf("%s: %+v, %+v", name, r.Composer, r.Dialog)
		}
	}
}

func TestWork(t *testing.T) {
	for name, c := range map[string]struct {
		above string
		busy  bool
		hook  bool
		retry string
	}{
		"nothing":            {"• Done.\n", false, false, ""},
		"working":            {work + "\n", true, false, ""},
		"thinking":           {strings.Replace(work, "Working", "Thinking about what", 1) + "\n", true, false, ""},
		"a terminal too":     {work + "\x1b[2m · 1 background terminal running · /ps to view\x1b[22m\n", true, false, ""},
		"a hook":             {work + "\x1b[2m · Running hook\x1b[22m\n", true, true, ""},
		"two hooks":          {work + "\x1b[2m · Running 2 hooks\x1b[22m\n", true, true, ""},
		"trying again":       {strings.Replace(work, "Working", "Server is busy, reconnecting 1/2", 1) + "\n", true, false, "1/2"},
		"messages wait":      {work + "\n\n• Queued follow-up inputs\n  ↳ and then\n", true, false, ""},
		"messages to submit": {work + "\n\n• Messages to be submitted after next tool call (press esc)\n  ↳ and then\n", true, false, ""},
		"a menu":             {work + "\n\n› /quit  exit Codex\n  /queue  more\n", true, false, ""},
		"said by the model":  {"• Working (2s • esc to interrupt)\n", false, false, ""},
		"further up":         {work + "\n\n• Done.\n", false, false, ""},
	} {
		drawn := c.above + "\n" + hint + footer
		r := draw(drawn, strings.Count(c.above, "\n")+1, 2)
		retry := ""
		if r.Retry != nil {
			retry = fmt.Sprintf("%d/%d", r.Retry.Attempt, r.Retry.Of)
		}
		if r.Composer == nil || (r.Busy != "") != c.busy || r.Hook != c.hook || retry != c.retry || r.Bare() == c.busy {
			t.Errorf("%s: busy %q, hook %v, retry %q", name, r.Busy, r.Hook, retry)
		}
	}
}

const (
	runs = "• Running touch /tmp/par_b\n\n\n  \x1b[1mWould you like to run the following command?\x1b[22m\n\n  Environment: local\n\n  Reason: Second of two?\n\n  $ touch /tmp/par_b\n\n\n" +
		"› 1. Yes, proceed (y)\n  2. Yes, and don't ask again for commands that start with\n     `touch /tmp/par_b` (p)\n  3. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel"
	edits = "  \x1b[1mWould you like to make the following edits?\x1b[22m\n\n  Description: Apply proposed file edits\n  Destination: /w/a.txt\n\n\n" +
		"› 1. Yes, proceed (y)\n  2. Yes, and don't ask again for these files (a)\n  3. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel"
	offer = "\n  Meet GPT-6 Sol\n\n  It is new.\n\n› 1. Try new model\n  2. Use existing model\n\n  enter/esc confirm · ^c quit"
	pick  = "  Select Model\n  What it is.\n\n› 1. gpt-6\n  2. gpt-5\n\n  Press enter to confirm or esc to go back"
)

// TestDialogs reads dialogs that no recording shows, and such as are not whole.
func TestDialogs(t *testing.T) {
	for name, c := range map[string]struct {
		drawn   string
		kind    string
		title   string
		body    string
		options string
		partial bool
	}{
		"a command": {runs, "permission  Bash", "Would you like to run the following command?", "Environment: local\n\nReason: Second of two?\n\n$ touch /tmp/par_b",
			"*Yes, proceed (y)|Yes, and don't ask again for commands that start with `touch /tmp/par_b` (p)|No, and tell Codex what to do differently (esc)", false},
		"edits": {edits, "permission  apply_patch", "Would you like to make the following edits?", "Description: Apply proposed file edits\nDestination: /w/a.txt",
			"*Yes, proceed (y)|Yes, and don't ask again for these files (a)|No, and tell Codex what to do differently (esc)", false},
		"a command that is not drawn to its end": {strings.TrimSuffix(runs, "\n\n  Press enter to confirm or esc to cancel"), "permission  Bash",
			"Would you like to run the following command?", "Environment: local\n\nReason: Second of two?\n\n$ touch /tmp/par_b",
			"*Yes, proceed (y)|Yes, and don't ask again for commands that start with `touch /tmp/par_b` (p)|No, and tell Codex what to do differently (esc)", true},
		"its head pushed off the screen": {edits[strings.Index(edits, "  Destination"):], "permission  ", "", "Destination: /w/a.txt",
			"*Yes, proceed (y)|Yes, and don't ask again for these files (a)|No, and tell Codex what to do differently (esc)", false},
		"another question of its kind": {"  \x1b[1mWould you like to grant these permissions?\x1b[22m\n\n› 1. Yes, grant\n  2. No, continue without\n\n  Press enter to confirm or esc to cancel",
			"permission  ", "Would you like to grant these permissions?", "", "*Yes, grant|No, continue without", false},
		"another model": {offer, "setup model_offer ", "Meet GPT-6 Sol", "Meet GPT-6 Sol\n\nIt is new.", "*Try new model|Use existing model", false},
		"a list":        {pick, "notice  ", "Select Model", "What it is.", "*gpt-6|gpt-5", false},
		"a terminal that can do nothing": {"TERM is set to \"dumb\". Codex's interactive TUI may not work in this terminal.\nContinue anyway? [y/N]:", "setup startup_terminal ",
			"TERM is set to \"dumb\"", "TERM is set to \"dumb\". Codex's interactive TUI may not work in this terminal.\nContinue anyway? [y/N]:", "", false},
	} {
		row := -1
		if strings.HasPrefix(c.drawn, "TERM") {
			row = 1
		}
		d := draw(c.drawn, row, 24).Dialog
		if d == nil {
			t.Errorf("%s: no dialog", name)
			continue
		}
		var options []string
		for _, o := range d.Options {
			mark := ""
			if o.Focused {
				mark = "*"
			}
			options = append(options, mark+o.Label)
		}
		kind := string(d.Type) + " " + d.Subtype + " " + d.Tool
		if kind != c.kind || d.Title != c.title || d.Body != c.body || strings.Join(options, "|") != c.options || d.Partial != c.partial || len(d.Lines) == 0 {
			t.Errorf("%s: %q %q %q %q partial %v\nwant %q %q %q %q", name, kind, d.Title, d.Body, options, d.Partial, c.kind, c.title, c.body, c.options)
		}
	}
}

// TestNarrow: a command's dialog as Codex 0.169.0 lays it out at 80 and at 40 columns.
func TestNarrow(t *testing.T) {
	const wide = "  \x1b[1mWould you like to run the following command?\x1b[22m\n\n  Environment: local\n\n  $ touch a-file-with-a-long-name-one.txt\n\n\n" +
		"› 1. Yes, proceed (y)\n  2. Yes, and don't ask again for commands that start with `touch` (p)\n  3. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel\n"
	const narrow = "  \x1b[1mWould you like to run the following\x1b[22m\n  command?\n\n  Environment: local\n\n  $ touch\n  a-file-with-a-long-name-one.txt\n\n\n" +
		"› 1. Yes, proceed (y)\n  2. Yes, and don't ask again for\n     commands that start with `touch` (p)\n  3. No, and tell Codex what to do\n     differently (esc)\n\n  Press enter to confirm or esc to\n  cancel\n"
	for name, drawn := range map[string]string{"wide": wide, "narrow": narrow} {
		d := draw(drawn, 0, 0).Dialog
		if d == nil || d.Type != agent.PromptPermission || d.Tool != "Bash" || d.Title != "Would you like to run the following command?" || d.Partial ||
			strings.Join(d.Labels(), "|") != "Yes, proceed (y)|Yes, and don't ask again for commands that start with `touch` (p)|No, and tell Codex what to do differently (esc)" {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestNoDialog: a dialog that a conversation quotes isn't a dialog.
func TestNoDialog(t *testing.T) {
	quoted := "• It says:\n  Would you like to run the following command?\n  1. Yes, proceed (y)\n  2. No\n  Press enter to confirm or esc to cancel\n\n"
	trust := "• It says:\n  Folder access\n  Trust this folder?\n  1. Trust and continue\n  2. Back\n\n  enter continue · esc back\n"
	if r := draw(quoted+hint+footer, 6, 2); r.Dialog != nil || r.Composer == nil {
		t.Errorf("quoted above a composer: %+v", r.Dialog)
	}
	if r := draw(trust, -1, 0); r.Dialog != nil && r.Dialog.Subtype != "" {
		t.Errorf("a startup dialog within a conversation: %+v", r.Dialog)
	}
	if r := draw("  1. one\n  2. two\n", -1, 0); r.Dialog != nil {
		t.Errorf("a list: %+v", r.Dialog)
	}
	// A command that quotes a startup dialog is asked about as a command.
	if r := draw(strings.Replace(runs, "$ touch /tmp/par_b", "$ echo 'Hooks need review\n  hooks won't run'", 1), -1, 0); r.Dialog == nil || r.Dialog.Tool != "Bash" {
		t.Errorf("a command that quotes: %+v", r.Dialog)
	}
}

// TestShowsTheLastFirst: of two calls at once the dialog is the one's whose
// command it shows.
func TestShowsTheLastFirst(t *testing.T) {
	d := draw(runs, -1, 0).Dialog
	for command, want := range map[string]bool{"touch /tmp/par_a": false, "touch /tmp/par_b": true} {
		facts := hook(t, "PermissionRequest", `,"tool_name":"Bash","tool_input":{"command":"`+command+`"}`)
		if got := (codex.Driver{}).Match(d, facts[0].Request) != agent.NoMatch; got != want {
			t.Errorf("the dialog is that of %q: %v", command, got)
		}
	}
	patch := hook(t, "PermissionRequest", `,"tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a.txt"}`)[0].Request
	if (codex.Driver{}).Match(d, patch) != agent.NoMatch || (codex.Driver{}).Match(draw(edits, -1, 0).Dialog, patch) != agent.PartMatch {
		t.Error("edits and commands are mixed up")
	}
}

// TestEditsAbove: Match ignores the edits that Codex draws above their dialog, because they may be
// another call's: Codex once drew two edits of one file, and asked about the first of them.
func TestEditsAbove(t *testing.T) {
	above := "• Added /w/a.txt (+1 -0)\n    1 +hostile\n    + Show details\n\n• Added /w/a.txt (+1 -0)\n    1 +harmless\n    + Show details\n\n\n"
	d := draw(above+edits, -1, 0).Dialog
	for _, content := range []string{"hostile", "harmless", "harm", "harmless\\n+and more", "another"} {
		p := hook(t, "PermissionRequest", `,"tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Add File: /w/a.txt\n+`+content+`\n*** End Patch"}`)[0].Request
		if got := (codex.Driver{}).Match(d, p); got != agent.PartMatch {
			t.Errorf("%s: %v", content, got)
		}
	}
}

// FuzzScreen: no screen, however small or torn, stops the reading of it.
func FuzzScreen(f *testing.F) {
	for _, s := range []string{runs, edits, offer, pick, hint + footer, "› 1. \n  2. ", "\x1b[1;3H›", "  Question 9/2\n  › 1. a\n", "╭\n│", "Continue anyway? [y/N]:"} {
		f.Add(s, uint8(20), uint8(5), uint8(1), uint8(2), true)
	}
	f.Fuzz(func(t *testing.T, text string, cols, rows, row, col uint8, visible bool) {
		v := &agent.View{Cols: int(cols), Rows: int(rows), Cursor: agent.Caret{Row: int(row), Col: int(col), Visible: visible}}
		for _, line := range strings.Split(text, "\n") {
			v.Lines = append(v.Lines, agent.Row{Text: strings.TrimRight(line, " ")})
		}
		r := codex.Driver{}.Screen(v)
		if r.Composer != nil && r.Dialog != nil {
			t.Errorf("both a composer and a dialog: %q", text)
		}
		if d := r.Dialog; d != nil {
			p := codex.Driver{}.FromDialog(d)
			for _, a := range []agent.Answer{{Kind: agent.Accept}, {Kind: agent.Deny}, {Kind: agent.ChooseOption, Option: 1}, {Kind: agent.AnswerText, Text: "x"},
				{Kind: agent.AnswerEach, Each: []agent.QuestionPick{{Options: []int{1}}, {Options: []int{2}}}}} {
				answer, err := codex.Driver{}.Keys(p, a, d)
				if (err == nil) != (len(answer.Steps) > 0) {
					t.Errorf("%+v: %d keys, %v", a, len(answer.Steps), err)
				}
			}
		}
	})
}

// TestRowOfALabel: an option's label has the start of a command. A row of that command that looks
// like an option isn't another option.
func TestRowOfALabel(t *testing.T) {
	const begin = "  \x1b[1mWould you like to run the following command?\x1b[22m\n\n  $ touch x\n\n\n› 1. Yes, proceed (y)\n" +
		"  2. Yes, and don't ask again for commands that start with `bash -c\n"
	const end = "  3. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel"
	for _, row := range []string{"     2. No, and stop` (p)", "   › 2. No` (p)"} {
		d := draw(begin+row+"\n"+end, -1, 0).Dialog
		if d == nil || len(d.Options) != 3 || !strings.HasPrefix(d.Options[1].Label, "Yes, and don't ask again") {
			t.Errorf("with %q: %+v", row, d)
		}
	}
	if d := draw(begin+"  2. No` (p)\n"+end, -1, 0).Dialog; d == nil || !d.Partial {
		t.Errorf("a number that comes twice: %+v", d)
	}
}

// TestEndOfALabel: a label is compared whole.
func TestEndOfALabel(t *testing.T) {
	d := draw("  \x1b[2mQuestion 1/1 (1 unanswered)\x1b[22m\n  Go on?\n\n  › 1. Yes           Delete all\n    2. No            Keep all\n    3. None of the above\n\n  tab to add notes | enter to submit answer | esc to interrupt", -1, 0).Dialog
	for label, want := range map[string]agent.Match{"Yes": agent.WholeMatch, "Yes, but delete nothing": agent.NoMatch} {
		told := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{Text: "Go on?", Options: []string{label, "No"}}}}
		if got := (codex.Driver{}).Match(d, told); got != want {
			t.Errorf("%q: %v", label, got)
		}
	}
}

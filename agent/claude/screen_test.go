package claude_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
	"berth/detect"
	"berth/terminal"
)

// draw is the reading of a screen on which a program wrote that.
func draw(cols, rows int, text string) *agent.Reading {
	t := terminal.New(terminal.Options{Cols: cols, Rows: rows})
	_, _ = t.Write([]byte(strings.ReplaceAll(text, "\n", "\r\n")))
	var w detect.Viewer
	return claude.Driver{}.Screen(w.View(t.Snapshot(0)))
}

const (
	rule   = "────────────────────────────────────────\n"
	caret  = "\x1b[7m \x1b[27m"
	footer = "  ? for shortcuts · ← for agents\n"
)

func TestComposer(t *testing.T) {
	for name, c := range map[string]struct {
		drawn string
		want  agent.Composer
	}{
		"empty":            {rule + "❯\u00a0" + caret + "\n" + rule + footer, agent.Composer{Mode: "message", Empty: true, Focused: true}},
		"without focus":    {rule + "❯\u00a0\n" + rule + footer, agent.Composer{Mode: "message", Empty: true}},
		"labelled rule":    {"──────────────── my session name ──\n❯\u00a0" + caret + "\n" + rule + footer, agent.Composer{Mode: "message", Empty: true, Focused: true}},
		"grey while busy":  {rule + "\x1b[38;5;246m❯\u00a0\x1b[39m" + caret + "\n" + rule + "  esc to interrupt\n", agent.Composer{Mode: "message", Empty: true, Focused: true}},
		"placeholder":      {rule + "❯\u00a0\x1b[7mP\x1b[27m\x1b[2mress up to edit queued messages\x1b[22m\n" + rule, agent.Composer{Mode: "message", Empty: true, Focused: true, Hint: "Press up to edit queued messages"}},
		"draft":            {rule + "❯\u00a0hello " + caret + "\n" + rule, agent.Composer{Mode: "message", Focused: true, Text: "hello"}},
		"caret on a draft": {rule + "❯\u00a0\x1b[7mh\x1b[27mello\n" + rule, agent.Composer{Mode: "message", Focused: true, Text: "hello"}},
		"blanks typed":     {rule + "❯\u00a0 " + caret + "\n" + rule, agent.Composer{Mode: "message", Focused: true}},
		"an empty line":    {rule + "❯\u00a0\n  " + caret + "\n" + rule, agent.Composer{Mode: "message", Focused: true}},
		"several lines":    {rule + "❯\u00a0one\n  two\n    three" + caret + "\n" + rule, agent.Composer{Mode: "message", Focused: true, Text: "one\ntwo\n  three"}},
		"pasted":           {rule + "❯\u00a0[Pasted text #1 +7 lines]" + caret + "\n" + rule, agent.Composer{Mode: "message", Focused: true, Text: "[Pasted text #1 +7 lines]"}},
		"shell":            {rule + "\x1b[38;5;211m!\u00a0\x1b[39mls" + caret + "\n" + rule, agent.Composer{Mode: "shell", Focused: true, Text: "ls"}},
		"shell, empty":     {rule + "!\u00a0" + caret + "\n" + rule, agent.Composer{Mode: "shell", Empty: true, Focused: true}},
		"search":           {rule + "❯\u00a0\n" + rule + "  search prompts:\n", agent.Composer{Mode: "search"}},
		"menu below":       {rule + "❯\u00a0/he" + caret + "\n" + rule + "  /help      Show help\n  /hooks     Manage\n", agent.Composer{Mode: "message", Focused: true, Text: "/he"}},
		"a rule typed":     {rule + "❯\u00a0one\n  ─────────\n  two" + caret + "\n" + rule, agent.Composer{Mode: "message", Focused: true, Text: "one\n─────────\ntwo"}},
	} {
		r := draw(60, 16, "● Done.\n\n"+c.drawn)
		if r.Composer == nil || *r.Composer != c.want || r.Dialog != nil {
			t.Errorf("%s: %+v (dialog %+v), want %+v", name, r.Composer, r.Dialog, c.want)
		}
	}
}

func TestNoComposer(t *testing.T) {
	for name, drawn := range map[string]string{
		"nothing":                "",
		"a message already sent": rule + "❯ hello\n" + rule,
		"one rule":               "❯\u00a0hello\n" + rule,
		"an editor":              "hello\n~\n~\n-- INSERT --",
		"the agents view":        "Working\n" + rule + "❯\u00a0describe a task for a new session\n" + rule + "  enter to return · space to reply · ctrl+x to remove · ? for shortcuts\n",
		"a transcript":           "❯ hello\n\n● Done.\n" + rule + "  Showing detailed transcript · ctrl+o to toggle\n",
	} {
		if r := draw(60, 16, drawn); r.Composer != nil || r.Dialog != nil || r.Bare() {
			t.Errorf("%s: %+v, %+v", name, r.Composer, r.Dialog)
		}
	}
}

func TestWork(t *testing.T) {
	composer := rule + "❯\u00a0" + caret + "\n" + rule
	for drawn, want := range map[string]string{
		"✽ Booping… \n\n" + composer + footer:                                                    "✽ Booping…",
		"✻ Churning… (1s · ↓ 5 tokens)\n  ⎿  Tip: Ask\n\n" + composer + footer:                   "✻ Churning… (1s · ↓ 5 tokens)",
		"✢ Doing it… (1s)\n  ⎿  ✔ First task\n     ◻ Second\n\n  ❯ queued\n" + composer + footer: "✢ Doing it… (1s)",
		composer + "  esc to interrupt · ← for agents\n":                                         "esc to interrupt",
		"✻ Brewed for 9s\n\n" + composer + footer:                                                "",
		"● I will wait…\n\n✻ Brewed for 9s\n\n" + composer + footer:                              "",
		"✽ Booping…\n● and then it was done\n\n" + composer + footer:                             "",
		"● esc to interrupt\n\n" + composer + footer:                                             "",
		"  · a list…\n\n" + composer + footer:                                                    "",
	} {
		r := draw(70, 16, drawn)
		if r.Composer == nil || r.Busy != want || r.Bare() != (want == "") {
			t.Errorf("%q: busy %q, want %q", drawn, r.Busy, want)
		}
	}
	for drawn, want := range map[string]agent.Activity{
		"✻ API error · Retrying in 15s · attempt 6/10":           {Kind: agent.Retrying, Attempt: 6, Of: 10, DelayMS: 15000},
		"✻ API error · retrying in 1s · attempt 1/2":             {Kind: agent.Retrying, Attempt: 1, Of: 2, DelayMS: 1000},
		"✻ 401 invalid x-api-key · retrying in 2s · attempt 2/2": {Kind: agent.Retrying, Attempt: 2, Of: 2, DelayMS: 2000},
		"✻ 401 invalid x-api-key · retrying… · attempt 2/2":      {Kind: agent.Retrying, Attempt: 2, Of: 2},
	} {
		if r := draw(70, 16, drawn+"\n\n"+composer+"  esc to interrupt\n"); r.Retry == nil || *r.Retry != want {
			t.Errorf("%q: %+v", drawn, r.Retry)
		}
	}
}

const bashDialog = rule + ` Bash command

   rm -rf build
   Remove it

 Do you want to proceed?
 ❯ 1. Yes
   2. Yes, and don't ask again for rm commands in
      /home/me/project
   3. No

 Esc to cancel · Tab to amend · ctrl+e to explain
`

func TestDialogs(t *testing.T) {
	r := draw(60, 24, "● Bash(rm -rf build)\n  ⎿  Waiting…\n\n"+bashDialog)
	d := r.Dialog
	if d == nil || d.Type != agent.PromptPermission || d.Tool != "Bash" || d.Partial || len(d.Options) != 3 ||
		d.Options[1].Label != "Yes, and don't ask again for rm commands in /home/me/project" || !d.Options[0].Focused {
		t.Fatalf("a permission: %+v", d)
	}
	sub := draw(60, 24, strings.Replace(bashDialog, "Bash command", "Bash command · from the general-purpose agent", 1)).Dialog
	if sub == nil || sub.Agent != "general-purpose" || sub.Title != "Bash command" || sub.Tool != "Bash" {
		t.Errorf("a subagent's: %+v", sub)
	}
	tasks := draw(60, 24, bashDialog+"  2 tasks (1 done, 1 open)\n  ✔ First\n  ◻ 2. Second\n").Dialog
	if tasks == nil || len(tasks.Options) != 3 {
		t.Errorf("with tasks below: %+v", tasks)
	}
	half := draw(60, 24, bashDialog[:strings.Index(bashDialog, "   3. No")]).Dialog
	if half == nil || !half.Partial {
		t.Errorf("half painted: %+v", half)
	}
}

// TestNoticeWithASearch: its title ends where the frame of the search begins.
func TestNoticeWithASearch(t *testing.T) {
	for _, cols := range []int{40, 60, 120} {
		frame := strings.Repeat("─", cols-6)
		d := draw(cols, 24, "❯ /resume\n\n"+strings.Repeat("─", cols)+"\n  Resume session\n  ╭"+frame+"╮\n  │ ⌕ Search…"+strings.Repeat(" ", cols-16)+"│\n  ╰"+frame+
			"╯\n    ws\n\n   No conversations found in this project.\n\n    Type to search · Esc to cancel\n").Dialog
		if d == nil || d.Type != agent.PromptNotice || d.Title != "Resume session" {
			t.Errorf("at %d columns: %+v", cols, d)
		}
	}
}

// TestStashed: the footer shows that a draft is stashed. Each version has its own words for
// it.
func TestStashed(t *testing.T) {
	for foot, want := range map[string]bool{
		"  › stashed (auto-restores after submit)\n":                    true,
		"  ⏸ manual mode on · ? for shortcuts          draft stashed\n": true,
		footer: false,
	} {
		if r := draw(80, 16, rule+"❯\u00a0"+caret+"\n"+rule+foot); r.Composer == nil || r.Stashed != want {
			t.Errorf("%q: stashed is %v", foot, r.Stashed)
		}
	}
}

// TestNotADialog: what the agent prints may look like one; the composer below
// shows that it is not.
func TestNotADialog(t *testing.T) {
	r := draw(60, 30, bashDialog+"\n✻ Brewed for 9s\n\n"+rule+"❯\u00a0"+caret+"\n"+rule+footer)
	if r.Dialog != nil || !r.Bare() {
		t.Errorf("read as %+v", r.Dialog)
	}
	if r := draw(60, 30, "Do you want to proceed?\n❯ 1. Yes\n  2. No\n"); r.Dialog != nil {
		t.Errorf("without a rule: %+v", r.Dialog)
	}
}

func FuzzScreen(f *testing.F) {
	f.Add(60, 24, bashDialog)
	f.Add(40, 12, rule+"❯\u00a0hello\n  two"+caret+"\n"+rule+footer)
	f.Add(80, 24, rule+" ☐ Color\n\nWhich?\n\n❯ 1. [ ] Red\n  2. [✔] Blue\n"+rule+"  3. Chat about this\n\nEnter to select · ↑/↓ to navigate · Esc to cancel\n")
	f.Add(80, 24, rule+"  MCP server “x” requests your input\n\n  Name\n\n    Accept    Decline\n\n  Esc to cancel\n")
	f.Add(3, 2, "❯\u00a0")
	f.Fuzz(func(t *testing.T, cols, rows int, text string) {
		if len(text) > 1<<14 {
			return
		}
		d := claude.Driver{}
		r := draw(cols, rows, text)
		if r.Composer != nil && r.Dialog != nil {
			t.Fatal("a composer and a dialog at once")
		}
		fold := detect.New(d, detect.Options{Start: time.Unix(0, 0)})
		for i := range 3 {
			fold.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r, Time: time.Unix(int64(i), 0)})
		}
		if r.Dialog != nil {
			p := d.FromDialog(r.Dialog)
			if p.Type != r.Dialog.Type {
				t.Fatalf("a prompt of type %s of a dialog of type %s", p.Type, r.Dialog.Type)
			}
			if st := fold.Status(); !r.Dialog.Partial && st.State != agent.Prompt {
				t.Fatalf("%s with a dialog on the screen: %+v", st.State, r.Dialog)
			}
		}
	})
}

// TestSignIn: pages of a sign-in by browser as the real Claude Code 2.1.197 and 2.1.330 drew
// them at 120 columns, the last after a key.
func TestSignIn(t *testing.T) {
	const (
		one   = "https://claude.com/cai/oauth/authorize?code=true&client_id=9d1c250a-e61b-44d9-88ed-5944d1962f5e&response_type=code&redir"
		two   = "ect_uri=https%3A%2F%2Fplatform.claude.com%2Foauth%2Fcode%2Fcallback&scope=org%3Acreate_api_key+user%3Aprofile+user%3Ainf"
		three = "erence&code_challenge_method=S256&state=N9dRh2rwzLn0XdlqiD-gSJY9uT67UmA-OWgN6H3xAWw"
		begin = rule + "  Login\n\n  Browser didn't open? Use the url below to sign in (c to copy)\n\n"
		end   = "\n\n  Esc to cancel\n"
		field = "\n\n  Paste code here if prompted >"
	)
	box := func(typed string) string { // of 2.1.330
		return "  Paste code here if prompted\n  ╭──────────────────╮\n  │ " + typed + strings.Repeat(" ", 17-len(typed)) + "│\n  ╰──────────────────╯"
	}
	page := agent.Dialog{Type: agent.PromptSetup, Subtype: agent.SubtypeOAuthLogin, Title: "Sign in", Body: "Browser didn't open? Use the url below to sign in"}
	for name, c := range map[string]struct {
		drawn, title, body, url, input string
		partial                        bool
	}{
		"opening":  {rule + "  Login\n\n  · Opening browser to sign in…" + end, page.Title, "Opening browser to sign in…", "", "", true},
		"the URL":  {begin + one + "\n" + two + "\n" + three + field + end, page.Title, page.Body, one + two + three, "", false},
		"a code":   {begin + "  " + one[2:] + "\n  " + two[2:] + "\n  " + three[2:] + field + " ******#state" + end, page.Title, page.Body, "", "******#state", false},
		"a box":    {rule + "  Login\n\n  Browser didn't open? Use the URL below to sign in (c to copy)\n\nhttps://claude.ai/oauth/authorize?z-abc\n\n" + box("") + end, page.Title, page.Body, "https://claude.ai/oauth/authorize?z-abc", "", false},
		"its code": {rule + "  Login\n\n  Browser didn't open? Use the URL below to sign in (c to copy)\n\nhttps://claude.ai/oauth/authorize?z-abc\n\n" + box("******#state") + end, page.Title, page.Body, "https://claude.ai/oauth/authorize?z-abc", "******#state", false},
		"refused":  {rule + "  Login\n\n  ✘ OAuth error: That code wasn't accepted. It may be\n    incomplete.\n\n  Press Enter to retry\n\n  Esc to cancel\n", "Sign in failed", "OAuth error: That code wasn't accepted. It may be incomplete.", "", "", false},
		"failed":   {rule + "  Login\n\n  OAuth error: Socket is closed\n\n  Press Enter to retry.\n\n  Esc to cancel\n", "Sign in failed", "OAuth error: Socket is closed", "", "", false},
	} {
		d := draw(120, 24, "https://elsewhere.example/\n❯ /login\n\n"+c.drawn).Dialog // what is above is not the page
		if d == nil || d.Type != page.Type || d.Subtype != page.Subtype || d.Title != c.title || d.Body != c.body || d.URL != c.url || d.Input != c.input || d.Partial != c.partial {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestTallComposer: if a composer is taller than the screen, its end is read. Rows that only
// look like such an end aren't a composer.
func TestTallComposer(t *testing.T) {
	view := func(rows ...string) *agent.View {
		v := &agent.View{Cols: 40, Rows: len(rows)}
		for _, text := range rows {
			row := agent.Row{Text: text}
			if text, ok := strings.CutSuffix(text, "^"); ok { // where the caret is
				row = agent.Row{Text: text + " ", Spans: []agent.Span{{From: len(text), To: len(text) + 1, Inverse: true}}}
			}
			v.Lines = append(v.Lines, row)
		}
		return v
	}
	rule := strings.Repeat("─", 40)
	for name, c := range map[string]struct {
		view *agent.View
		text string
	}{
		"with a footer":        {view("  two", "", "  three^", rule, "  manual mode on"), "two\n\nthree"},
		"without":              {view("  two", "  three^", rule, ""), "two\nthree"},
		"no caret":             {view("  two", "  three", rule, ""), ""},
		"a caret further up":   {view("  two^", "  three", rule, ""), ""},
		"words of the model's": {view("● two", "  three^", rule, ""), ""},
		"a dialog":             {view("  three^", rule, "  Bash command", "", "  ls", "", "  Do you want to proceed?", "  ❯ 1. Yes"), ""},
		"a selected option":    {view("  Do you want to proceed?", "  ❯ 1. Yes", "    2. No^", rule, "  Esc to cancel · Tab to amend"), ""},
		"an option, no footer": {view("  Do you want to proceed?", "  ❯ 1. Yes", "    2. No", rule), ""},
	} {
		got := claude.Driver{}.Screen(c.view).Composer
		if (got == nil) != (c.text == "") || got != nil && (got.Text != c.text || !got.Above || got.Empty) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

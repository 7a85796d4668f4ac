package opencode_test

import (
	"errors"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/opencode"
	"berth/detect/replay"
)

// report reads one report of the plugin.
func report(t testing.TB, payload string) agent.Fact {
	t.Helper()
	facts, err := opencode.Driver{}.Hook([]byte(payload))
	if err != nil || len(facts) != 1 {
		t.Fatalf("%s: %v, %v", payload, facts, err)
	}
	return facts[0]
}

const (
	command = `{"event":"permission.asked","session":"ses_1","request":"per_1","permission":"bash","patterns":["touch one.txt"],"always":["touch *"],` +
		`"metadata":{"command":"touch one.txt"},"call":"c","tool":"bash","input":{"command":"touch one.txt","description":"d","workdir":"/tmp"}}`
	colors = `{"event":"question.asked","session":"ses_1","request":"que_1","call":"c","questions":[` +
		`{"question":"Which color?","header":"Color","options":[{"label":"Red","description":"r"},{"label":"Green","description":"g"}]},` +
		`{"question":"Which features?","header":"Features","multiple":true,"options":[{"label":"Logs","description":"l"},{"label":"Metrics","description":"m"}]}]}`
)

// TestReports: what each report of the plugin is.
func TestReports(t *testing.T) {
	for _, c := range []struct {
		payload string
		kind    agent.Kind
		text    string
		how     agent.How
		class   agent.Class
	}{
		{`{"event":"conversation","session":"ses_1","source":"startup"}`, agent.ConversationStarted, "startup", "", ""},
		{`{"event":"turn","session":"ses_1","text":"hello"}`, agent.TurnStarted, "hello", "", ""},
		{`{"event":"turn","session":"ses_1","agent":"ses_2","agent_type":"general","text":"look"}`, agent.SubagentStarted, "", "", ""},
		{`{"event":"queued","session":"ses_1","text":"later"}`, agent.Queued, "later", "", ""},
		{`{"event":"retry","session":"ses_1","attempt":2,"delay":1500.5,"text":"slow down"}`, agent.Acting, "", "", ""},
		{`{"event":"tool.before","session":"ses_1","tool":"bash","call":"c","input":{"command":"ls"}}`, agent.ToolStarted, "", "", ""},
		{`{"event":"tool.after","session":"ses_1","tool":"bash","call":"c","status":"completed"}`, agent.ToolEnded, "", "", ""},
		{`{"event":"tool.after","session":"ses_1","tool":"bash","call":"c","status":"error"}`, agent.Noted, "", "", ""},
		{`{"event":"idle","session":"ses_1","text":"done"}`, agent.TurnEnded, "done", agent.Completed, ""},
		{`{"event":"idle","session":"ses_1","text":"done","stopped":true}`, agent.TurnEnded, "done", agent.Interrupted, ""},
		{`{"event":"idle","session":"ses_1","error":{"name":"MessageAbortedError","message":"Aborted"}}`, agent.TurnEnded, "", agent.Interrupted, ""},
		{`{"event":"idle","session":"ses_1","error":{"name":"APIError","message":"no","status":401}}`, agent.TurnEnded, "", agent.Failed, agent.Unauthorized},
		{`{"event":"idle","session":"ses_1","error":{"name":"APIError","message":"no","status":400}}`, agent.TurnEnded, "", agent.Failed, agent.Invalid},
		{`{"event":"idle","session":"ses_1","error":{"name":"APIError","message":"no","status":529}}`, agent.TurnEnded, "", agent.Failed, agent.Overloaded},
		{`{"event":"idle","session":"ses_1","error":{"name":"UnknownError","message":"Unable to connect"}}`, agent.TurnEnded, "", agent.Failed, agent.Network},
		{`{"event":"idle","session":"ses_1","agent":"ses_2"}`, agent.SubagentEnded, "", "", ""},
		{`{"event":"news","session":"ses_1"}`, agent.Noted, "", "", ""},
	} {
		f := report(t, c.payload)
		if f.Kind != c.kind || f.Text != c.text || f.How != c.how || (f.Failure == nil) != (c.class == "") || f.Failure != nil && f.Failure.Class != c.class {
			t.Errorf("%s: %+v %+v", c.payload, f, f.Failure)
		}
	}
	for _, payload := range []string{"", "{", "[]", `{"event":"turn"}`, `{"session":"ses_1"}`} {
		if _, err := (opencode.Driver{}).Hook([]byte(payload)); !errors.Is(err, opencode.ErrEvent) {
			t.Errorf("%q: %v", payload, err)
		}
	}
}

// TestVerdicts: what the plugin gets for each answer.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		asked  string
		answer agent.Answer
		want   string
	}{
		{command, agent.Answer{Kind: agent.Accept}, `{"reply":"once"}`},
		{command, agent.Answer{Kind: agent.ChooseOption, Option: 1}, `{"reply":"once"}`},
		{command, agent.Answer{Kind: agent.ChooseOption, Option: 2}, `{"reply":"always"}`},
		{command, agent.Answer{Kind: agent.ChooseOption, Option: 3}, `{"reply":"reject"}`},
		{command, agent.Answer{Kind: agent.Deny}, `{"reply":"reject"}`},
		{command, agent.Answer{Kind: agent.Deny, Text: "use make"}, `{"reply":"reject","message":"use make"}`},
		{command, agent.Answer{Kind: agent.ChooseOption, Option: 4}, ""},
		{command, agent.Answer{Kind: agent.AnswerText, Text: "yes"}, ""},
		{colors, agent.Answer{Kind: agent.Deny}, `{}`},
		{colors, agent.Answer{Kind: agent.Deny, Text: "no"}, ""},
		{colors, agent.Answer{Kind: agent.ChooseOption, Option: 1}, ""},
		{colors, agent.Answer{Kind: agent.AnswerEach, Each: []agent.QuestionPick{{Options: []int{2}}, {Options: []int{1, 2}, Text: "more"}}}, `{"answers":[["Green"],["Logs","Metrics","more"]]}`},
		{colors, agent.Answer{Kind: agent.AnswerEach, Each: []agent.QuestionPick{{Options: []int{1, 2}}, {Options: []int{1}}}}, ""},
		{colors, agent.Answer{Kind: agent.AnswerEach, Each: []agent.QuestionPick{{Options: []int{3}}, {Options: []int{1}}}}, ""},
	} {
		v, err := opencode.Driver{}.Verdict(report(t, c.asked).Request, c.answer, nil)
		if string(v.Stdout) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %s, %v; want %s", c.answer, v.Stdout, err, c.want)
		}
	}
}

// TestPrompt: a permission shows what its dialog leaves out.
func TestPrompt(t *testing.T) {
	p := report(t, command).Request
	if p.FullInput != "touch one.txt" || agent.Value(p.Tool) != "bash" || !strings.Contains(agent.Value(p.Text), "touch *") {
		t.Errorf("%+v", p)
	}
	if got := (opencode.Driver{}).Undrawn("bash", p.Raw, "/ws"); got != `workdir: "/tmp"` {
		t.Errorf("undrawn %q", got)
	}
	if got := (opencode.Driver{}).Undrawn("bash", p.Raw, "/tmp"); got != "" {
		t.Errorf("undrawn in its own folder %q", got)
	}
	edit := report(t, `{"event":"permission.asked","session":"s","permission":"edit","metadata":{"filepath":"/ws/a.txt","diff":"Index: a\n@@ -1 +1 @@\n-old\n+new\n"}}`).Request
	s, ok := opencode.Driver{}.Subject(edit)
	if !ok || len(s.Changes) != 1 || s.Changes[0].File != "/ws/a.txt" || len(s.Changes[0].Patch) != 3 || s.Changes[0].Patch[2] != (agent.PatchLine{Sign: '+', Text: "new"}) {
		t.Errorf("%+v", s)
	}
	if s, ok := (opencode.Driver{}).Subject(p); !ok || s.Command != "touch one.txt" {
		t.Errorf("%+v", s)
	}
}

// drawn are the dialogs of a recording, with colors, by their titles or questions.
func drawnDialogs(t *testing.T, size string) map[string]*agent.Dialog {
	t.Helper()
	all := map[string]*agent.Dialog{}
	replay.Run(recording(t, size), seer{all: all}, replay.Options{})
	return all
}

// seer keeps the complete dialogs that the driver reads.
type seer struct {
	opencode.Driver
	all map[string]*agent.Dialog
}

func (s seer) Screen(v *agent.View) *agent.Reading {
	r := s.Driver.Screen(v)
	if d := r.Dialog; d != nil && !d.Partial && s.all[d.Title+"|"+d.Body] == nil {
		s.all[d.Title+"|"+d.Body] = d
	}
	return r
}

var _ agent.Driver = seer{}

// TestKeys: the keys of each answer, each only while the dialog is as it was.
func TestKeys(t *testing.T) {
	for _, size := range sizes {
		var once, page, color *agent.Dialog
		for _, d := range drawnDialogs(t, size) {
			switch {
			case d.Tool == "bash" && strings.HasPrefix(d.Body, "$ touch one.txt"):
				once = d
			case d.Title == "Always allow":
				page = d
			case strings.HasPrefix(d.Body, "Which color") && len(d.Tabs) == 0:
				color = d
			}
		}
		for name, c := range map[string]struct {
			d       *agent.Dialog
			answer  agent.Answer
			keys    string
			outcome string
		}{
			"accept":        {once, agent.Answer{Kind: agent.Accept}, "Enter", agent.OutcomeAccepted},
			"deny":          {once, agent.Answer{Kind: agent.Deny}, "Escape", agent.OutcomeDenied},
			"option 3":      {once, agent.Answer{Kind: agent.ChooseOption, Option: 3}, "Escape", agent.OutcomeDenied},
			"always":        {once, agent.Answer{Kind: agent.ChooseOption, Option: 2}, "Right Enter", agent.OutcomeAnswered},
			"deny words":    {once, agent.Answer{Kind: agent.Deny, Text: "no"}, "", ""},
			"page confirm":  {page, agent.Answer{Kind: agent.ChooseOption, Option: 1}, "Enter", agent.OutcomeAnswered},
			"page cancel":   {page, agent.Answer{Kind: agent.ChooseOption, Option: 2}, "Escape", agent.OutcomeAnswered},
			"page accept":   {page, agent.Answer{Kind: agent.Accept}, "", ""},
			"page deny":     {page, agent.Answer{Kind: agent.Deny}, "", ""},
			"page words":    {page, agent.Answer{Kind: agent.Deny, Text: "no"}, "", ""},
			"page option 3": {page, agent.Answer{Kind: agent.ChooseOption, Option: 3}, "", ""},
			"color":         {color, agent.Answer{Kind: agent.ChooseOption, Option: 2}, "2", agent.OutcomeAnswered},
			"color own":     {color, agent.Answer{Kind: agent.ChooseOption, Option: 4}, "", ""},
			"color dismiss": {color, agent.Answer{Kind: agent.Deny}, "Escape", agent.OutcomeDenied},
			"not drawn yet": {nil, agent.Answer{Kind: agent.Accept}, "", ""},
		} {
			if c.d == nil && name != "not drawn yet" {
				t.Errorf("%s %s: no dialog", size, name)
				continue
			}
			p := &agent.Request{Type: agent.PromptPermission}
			if c.d != nil {
				p = opencode.Driver{}.FromDialog(c.d)
			}
			k, err := opencode.Driver{}.Keys(p, c.answer, c.d)
			var keys []string
			for _, s := range k.Steps {
				keys = append(keys, s.Key)
			}
			if got := strings.Join(keys, " "); got != c.keys || k.Outcome != c.outcome || (err == nil) != (c.keys != "") {
				t.Errorf("%s %s: %s, %s, %v", size, name, got, k.Outcome, err)
			}
			if len(k.Steps) > 0 {
				other := *c.d
				other.Body += " "
				if !k.Steps[0].Ready(&agent.Reading{Dialog: c.d}) || k.Steps[0].Ready(&agent.Reading{Dialog: &other}) || k.Steps[0].Ready(&agent.Reading{}) {
					t.Errorf("%s %s: its key is not bound to the dialog", size, name)
				}
			}
		}
	}
}

// TestMatch: a dialog shows a command whole, or not at all.
func TestMatch(t *testing.T) {
	p := report(t, command).Request
	show := func(body string) *agent.Dialog {
		d := &agent.Dialog{Type: agent.PromptPermission, Tool: "bash", Title: "# Shell command", Body: body, Cols: 80}
		for row := range strings.SplitSeq(body, "\n") {
			d.Rows = append(d.Rows, agent.DrawnRow{Text: row})
		}
		return d
	}
	for body, want := range map[string]agent.Match{
		"$ touch one.txt":     agent.WholeMatch,
		"$ touch one.txt\nls": agent.NoMatch,
		"$ touch one":         agent.NoMatch,
		"$ touch two.txt":     agent.NoMatch,
		"ls\n$ touch one.txt": agent.NoMatch,
		"$ touch one.txt\n漢字": agent.PartMatch,
	} {
		if got := (opencode.Driver{}).Match(show(body), p); got != want {
			t.Errorf("%q: %v, want %v", body, got, want)
		}
	}
	page := show("This will allow the following patterns until OpenCode is restarted\n\n- touch *")
	page.Title, page.Tool = "Always allow", ""
	if got := (opencode.Driver{}).Match(page, p); got != agent.NoMatch {
		t.Errorf("the page of always: %v", got)
	}
}

// TestMessages: no message is a command, a key or a file.
func TestMessages(t *testing.T) {
	const shield = "\u2063"
	for text, want := range map[string]string{
		"1":           "1",
		"hello":       "hello",
		"/help":       shield + "/help",
		"!ls":         shield + "!ls",
		"exit":        shield + "exit",
		"exit now":    "exit now",
		"read @a.txt": "read " + shield + "@a.txt",
		"@a and\n@b":  shield + "@a and\n" + shield + "@b",
		"a\u00a0@b":   "a\u00a0" + shield + "@b",
		"a@b.example": "a@b.example",
		"./a.txt":     "./a.txt",
		"a.png":       shield + "a.png",
		`"~/a b.JPG"`: shield + `"~/a b.JPG"`,
		`a\ b.pd\f`:   shield + `a\ b.pd\f`,
		"file:///a":   shield + "file:///a",
		"see a.png":   shield + "see a.png", // it may be one name
		"a.png is it": "a.png is it",
		"a\x1b[201~b": "a[201~b",
		" \n":         "",
	} {
		if got := (opencode.Driver{}).Message(text); got != want {
			t.Errorf("%q is typed as %q", text, got)
		}
	}
	marked := &agent.Composer{Mode: agent.ModeMessage, Text: "[Pasted ~3 lines]"}
	if d := (opencode.Driver{}); !d.Holds("a\nb\nc", marked) || d.Holds("a\nb", marked) || d.Displays("a\nb\nc", marked) || !d.Same("a", "a ") {
		t.Error("the mark of a paste is read wrongly")
	}
}

// FuzzHook and FuzzScreen: no bytes of an agent stop the driver.
func FuzzHook(f *testing.F) {
	f.Add([]byte(command))
	f.Add([]byte(colors))
	f.Fuzz(func(t *testing.T, payload []byte) {
		facts, _ := opencode.Driver{}.Hook(payload)
		for _, fact := range facts {
			if p := fact.Request; p != nil {
				opencode.Driver{}.Subject(p)
				opencode.Driver{}.Undrawn(agent.Value(p.Tool), p.Raw, "/")
				_, _ = opencode.Driver{}.Verdict(p, agent.Answer{Kind: agent.Accept}, nil)
			}
		}
	})
}

func FuzzScreen(f *testing.F) {
	for _, of := range screens(f) {
		for _, v := range of {
			f.Add(v.Text(0, len(v.Lines)-1))
		}
	}
	p := report(f, command).Request
	f.Fuzz(func(t *testing.T, text string) {
		v := &agent.View{Cols: 80, Rows: 24}
		for line := range strings.SplitSeq(text, "\n") {
			v.Lines = append(v.Lines, agent.Row{Text: strings.TrimRight(line, " ")})
		}
		if d := (opencode.Driver{}).Screen(v).Dialog; d != nil {
			opencode.Driver{}.Match(d, p)
			r := opencode.Driver{}.FromDialog(d)
			_, _ = opencode.Driver{}.Keys(r, agent.Answer{Kind: agent.Accept}, d)
		}
	})
}

// TestServerNamedLikeAFolder: the server "external" with a tool "directory" asks by the name of the permission for a folder. Its prompt
// has the whole input of the call.
func TestServerNamedLikeAFolder(t *testing.T) {
	p := report(t, `{"event":"permission.asked","session":"s","permission":"external_directory","patterns":["*"],"tool":"external_directory","input":{"remove":"/srv"}}`).Request
	if text := agent.Value(p.Text); !strings.Contains(text, `{"remove":"/srv"}`) {
		t.Errorf("it asks %q", text)
	}
	folder := report(t, `{"event":"permission.asked","session":"s","permission":"external_directory","patterns":["/tmp/*"],"tool":"read","metadata":{"directories":["/tmp"]}}`).Request
	if folder.FullInput != "/tmp/*" || string(folder.Raw) != `{"directories":["/tmp"]}` {
		t.Errorf("it asks %+v", folder)
	}
}

// TestLinks: an edit through a link changes the file that it leads to, which no dialog draws. The prompt says where that is.
func TestLinks(t *testing.T) {
	const links, want = `"links":[{"file":"/ws/a.sh","target":"/home/me/.bashrc"},{"file":"/ws/b\u200b","target":"/etc/b\n"}]`,
		`"/ws/a.sh" is a link to "/home/me/.bashrc".` + "\n" + `"/ws/b\u200b" is a link to "/etc/b\n".`
	edit := report(t, `{"event":"permission.asked","session":"s","permission":"edit","metadata":{"filepath":"/ws/a.sh","diff":"@@ -1 +1 @@\n-old\n+new\n"},`+links+`}`).Request
	if got := (opencode.Driver{}).Undrawn("edit", edit.Raw, "/ws"); !strings.HasSuffix(got, "\n"+want) {
		t.Errorf("an edit says %s", got)
	}
	folder := report(t, `{"event":"permission.asked","session":"s","permission":"external_directory","patterns":["/ws/*"],"tool":"write","input":{"filePath":"/ws/a.sh"},`+links+`}`).Request
	if got := agent.Value(folder.Text); !strings.HasSuffix(got, "\n"+want) {
		t.Errorf("a folder says %s", got)
	}
}

// TestFolderSaysItsCall: the dialog of a folder draws neither the tool nor what it would do there. The prompt has both.
func TestFolderSaysItsCall(t *testing.T) {
	p := report(t, `{"event":"permission.asked","session":"s","permission":"external_directory","patterns":["/srv/*"],"tool":"write",`+
		`"metadata":{"filepath":"/srv/keys","parentDir":"/srv"},"input":{"filePath":"/srv/keys","content":"a`+"\u200bb\u00a0"+`\n"}}`).Request
	if want := "tool: write\n" + `input: {"filePath":"/srv/keys","content":"a\u200bb\u00a0\n"}`; agent.Value(p.Text) != want {
		t.Errorf("it says %s, want %s", agent.Value(p.Text), want)
	}
	p = report(t, `{"event":"permission.asked","session":"s","permission":"external_directory","patterns":["/srv/*"],"tool":"apply_patch",`+
		`"metadata":{"filepath":"/srv/keys","parentDir":"/srv"},"input":{"patchText":"*** Begin Patch\n*** Add File: /srv/keys\n+a\n*** End Patch"}}`).Request
	if !strings.HasSuffix(agent.Value(p.Text), "\n"+agent.Replaces) {
		t.Errorf("of a patch it says %s", agent.Value(p.Text))
	}
	d := &agent.Dialog{Type: agent.PromptPermission, Tool: "external_directory", Title: "← Access external directory /srv", Body: "Patterns\n\n- /srv/*"}
	if p := (opencode.Driver{}).FromDialog(d); !p.InPart() {
		t.Errorf("the dialog alone is taken as all: %+v", p)
	}
}

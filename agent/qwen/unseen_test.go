package qwen_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/qwen"
	"berth/detect"
	"berth/test/anyorder"
)

const (
	hello   = `{"message":"hello","to":"all"}`
	ofLab   = "  ? ask (lab MCP Server) ←\n\n   MCP Server: lab\n   Tool: ask\n\n   Allow execution of MCP tool \"ask\" from server \"lab\"?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"
	waiting = "\n\n  ⠏ Waiting for user confirmation..."
)

// TestInputOfAServersTool: the dialog of a server's tool doesn't draw the tool's input. The prompt shows it as a
// hook reported it, and without a report it says that it is a part.
func TestInputOfAServersTool(t *testing.T) {
	d := draw(80, 24, ofLab+waiting).Dialog
	if p := (qwen.Driver{}).FromDialog(d); !p.InPart() {
		t.Errorf("without a report it asks %+v", p)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	fold := detect.New(qwen.Driver{}, detect.Options{Start: now})
	apply := func(f agent.Fact) {
		now = now.Add(time.Second)
		f.Time, f.At = now, now
		fold.Apply(f)
		fold.Tick(now.Add(900 * time.Millisecond))
	}
	apply(hook(t, `"hook_event_name":"SessionStart","source":"startup"`))
	apply(hook(t, `"hook_event_name":"UserPromptSubmit","prompt":"go"`))
	apply(hook(t, `"hook_event_name":"PermissionRequest","tool_name":"mcp__lab__ask","tool_input":`+hello))
	if p := fold.Status().Request; p == nil || p.FullInput != hello || p.Text != nil {
		t.Errorf("as its hook reports it, it asks %+v", p)
	}
	apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: draw(80, 24, ofLab+waiting)})
	p := fold.Status().Request
	if p == nil || !p.OnScreen || !strings.HasSuffix(agent.Value(p.Text), "\n\n"+hello) {
		t.Errorf("at its dialog it asks %+v: %s", p, agent.Value(p.Text))
	}
}

// TestDigestOfADialog: another call's dialog may look the same, so the digest of a prompt that only its dialog
// shows covers its id. A command's dialog shows all of it.
func TestDigestOfADialog(t *testing.T) {
	const command = "  ? Shell ls ←\n\n     ls\n\n   Allow execution of: 'ls'?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"
	for screen, differ := range map[string]bool{ofLab: true, command: false} {
		digest := func(id string) string {
			p := qwen.Driver{}.FromDialog(draw(80, 24, screen+waiting).Dialog)
			p.ID = id
			p.Sign()
			return p.Digest
		}
		if got := digest("1") != digest("2"); got != differ {
			t.Errorf("the digests differ: %v, want %v:\n%s", got, differ, screen)
		}
	}
}

// TestUndrawn: what a dialog doesn't draw of its tool's input.
func TestUndrawn(t *testing.T) {
	for call, want := range map[[2]string]string{
		{"run_shell_command", `{"command":"ls","description":"d","directory":"/x","is_background":false}`}: `directory: "/x"`,
		{"edit", `{"file_path":"/a.c","old_string":"x","new_string":"y"}`}:                                 "",
		{"edit", `{"file_path":"/a","old_string":"x","new_string":"y"}`}:                                   "Each line may get a CR, if the file's lines have one.",
		{"edit", `{"file_path":"/a.c","old_string":"x","new_string":"\u4e2d"}`}:                            "",
		{"edit", `{"file_path":"/a.sh","old_string":"x","new_string":"rm \u4e2d"}`}: "Each line may get a CR, if the file's lines have one.\n" +
			"In a file with another encoding than UTF-8, what isn't ASCII may be written as ?.",
		{"mcp__lab__ask", "{ \"message\": \"hello\" }"}:               `{"message":"hello"}`,
		{"web_fetch", `{"url":"https://berth.invalid","prompt":"p"}`}: `{"url":"https://berth.invalid","prompt":"p"}`,
		{"mcp__lab__ask", `{}`}:                                       "",
		{"mcp__lab__ask", ``}:                                         "",
		{"exit_plan_mode", `{"plan":"x"}`}:                            "",
		{"ask_user_question", `{"a":"b"}`}:                            "",
		{"mcp__lab__ask", `{"a":1,"a":2}`}:                            "",
	} {
		if got := (qwen.Driver{}).Undrawn(call[0], []byte(call[1]), "/w"); got != want {
			t.Errorf("%s: %q, want %q", call, got, want)
		}
	}
}

// TestOtherTools: Qwen Code takes escapes out of the paths of all its tools, and joins the lines of a command that it monitors.
func TestOtherTools(t *testing.T) {
	const joined = "Lines of the command may run as one"
	for call, want := range map[[2]string]string{
		{"notebook_edit", `{"notebook_path":"/w/a\\ b.ipynb"}`}:              `notebook_path: "/w/a b.ipynb"`,
		{"notebook_edit", `{"notebook_path":"/w/a b.ipynb"}`}:                "",
		{"read_file", `{"file_path":" /w/a"}`}:                               `file_path: "/w/a"`,
		{"lsp", `{"filePath":"/w/\\$a"}`}:                                    `filePath: "/w/$a"`,
		{"list_directory", `{"path":"/w/a\\!"}`}:                             `path: "/w/a!"`,
		{"mcp__lab__ask", `{"path":"/w/a\\ b"}`}:                             "",
		{"monitor", `{"command":"BASH_ENV=./e.sh\nbash -c 'echo x'"}`}:       joined,
		{"monitor", `{"command":"bash\n-c 'touch x'"}`}:                      joined,
		{"monitor", `{"command":"A=1\u00a0\"/bin/BASH.exe\" -c 'touch x'"}`}: joined,
		{"monitor", `{"command":"\\bash -c x\ntouch y"}`}:                    joined,
		{"monitor", `{"command":"\nbash -c 'touch x'\n"}`}:                   "",
		{"monitor", `{"command":"tail -f log |\ngrep bashful"}`}:             "",
		{"mcp__lab__ask", `{"command":"bash\n-c x"}`}:                        "",
	} {
		lines := strings.SplitN((qwen.Driver{}).Undrawn(call[0], []byte(call[1]), "/w"), "\n", 2)
		if got := strings.Join(lines[1:], ""); lines[0] != call[1] || got != want && !(want == joined && strings.HasPrefix(got, want)) {
			t.Errorf("%s: %q, want %q", call, lines, want)
		}
	}
}

// TestEditBySed: a command of sed that changes one file in place may be made as an edit, alone or by a shell.
func TestEditBySed(t *testing.T) {
	for command, want := range map[string]bool{
		"sed -i s/a/b/ f": true, " sed\n-Ei 's/a/b/' f": true, "sed --in-place= -e s/a/b/ f": true, "bash -c 'sed -i s/a/b/ f' ; x": true,
		"sed -n 1,20p f": false, "cd w && sed -i s/a/b/ f": false, "used -i": false, "bash -c 'cat f'": false,
	} {
		raw, err := json.Marshal(map[string]string{"command": command, "directory": "/x"})
		if err != nil {
			t.Fatal(err)
		}
		got := (qwen.Driver{}).Undrawn("run_shell_command", raw, "/w")
		if more := "directory: \"/x\"\ncommand: " + strconv.Quote(command) + "\nQwen Code may draw this as an edit"; strings.HasPrefix(got, more) != want || !strings.HasPrefix(got, `directory: "/x"`) {
			t.Errorf("%q: %q", command, got)
		}
	}
	draws := func(row string) *agent.Dialog {
		return draw(80, 24, "  ? Shell "+row+" ←\n\n   1 - a\n   1 + b\n\n   Apply this change?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"+waiting).Dialog
	}
	p := hook(t, `"hook_event_name":"PermissionRequest","tool_name":"run_shell_command","tool_input":{"command":"sed -i s/a/b/ f"}`).Request
	for row, want := range map[string]agent.Match{
		"sed -i s/a/b/ f": agent.PartMatch, "sed -i s/a/b/ f [in /x] (d)": agent.PartMatch, "sed -i s/a/b/ f (d)": agent.PartMatch, "sed -i s/a/b/ foo": agent.NoMatch,
	} {
		d := draws(row)
		if got := (qwen.Driver{}).Match(d, p); d.Cut || !d.Alike || got != want || agent.Value((qwen.Driver{}).FromDialog(d).Text) != "Shell "+row {
			t.Errorf("%s: it is read as %+v, and matches as %v", row, d, got)
		}
	}
}

// TestCallOfTheLog: any process of the session can end the hook of a call and send another one, also as a
// subagent's. No key answers the dialog then if the chat file has a call that is drawn the same and runs in another
// way, also after a forged end.
func TestCallOfTheLog(t *testing.T) {
	const screen = "  ? Shell ls ←\n\n     ls\n\n   Allow execution of: 'ls'?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"
	r := draw(80, 24, screen+waiting)
	for _, c := range []struct {
		logged, told, forged, want string // want is the text of the prompt that a key answers; "-": none does
		as                         string // what the forged hook says of who asks
	}{
		{`{"command":"ls"}`, `{"command":"ls"}`, "", "", ""},
		{`{"command":"ls","is_background":false}`, `{"command":"ls"}`, "", "", ""},
		{`{"command":"ls","directory":"/etc"}`, `{"command":"ls","directory":"/etc"}`, "", `directory: "/etc"`, ""},
		{`{"command":"ls","directory":"/etc"}`, `{"command":"ls"}`, "", "-", ""},
		{`{"command":"ls","directory":"/etc"}`, `{"command":"ls"}`, "PostToolBatch", "The dialog may be that of a call with\ndirectory: \"/etc\"", ""},
		{`{"command":"ls","directory":"/etc"}`, `{"command":"ls"}`, "Stop", "-", ""},
		{`{"command":"ls","directory":"/etc"}`, `{"command":"ls"}`, "", "-", `"agent_id":"x","agent_type":"y",`},
		{`{"command":"ls"}`, `{"command":"ls","directory":"/etc"}`, "", "-", ""},
		{`{"command":"ls"}`, `{"command":"ls","directory":"/etc"}`, "PostToolBatch", "directory: \"/etc\"\n\nThe dialog may be that of a call that it draws whole, in the session's folder.", ""},
		{`{"command":"ls","directory":"/etc"}`, "", "", `directory: "/etc"`, ""},
		{`{"command":"id","directory":"/etc"}`, `{"command":"ls"}`, "", "The dialog may be that of a call of run_shell_command, with\n" + `{"command":"id","directory":"/etc"}`, ""},
	} {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		fold := detect.New(qwen.Driver{}, detect.Options{Start: now, Dir: "/w"})
		apply := func(facts ...agent.Fact) {
			for _, f := range facts {
				now = now.Add(200 * time.Millisecond)
				f.Time = now
				fold.Apply(f)
			}
		}
		if c.told != "" {
			apply(hook(t, `"hook_event_name":"UserPromptSubmit","prompt":"go"`))
		}
		logged, err := qwen.Driver{}.Log([]byte(`{"type":"assistant","message":{"parts":[{"functionCall":{"id":"c","name":"run_shell_command","args":` + c.logged + `}}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		apply(logged...)
		if c.forged != "" {
			apply(hook(t, `"hook_event_name":"`+c.forged+`"`))
		}
		if c.told != "" {
			forged := hook(t, `"hook_event_name":"PermissionRequest",`+c.as+`"tool_name":"run_shell_command","tool_input":`+c.told)
			forged.Hook = "7"
			apply(forged, agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: "7"})
		}
		for range 12 {
			apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r})
		}
		got := "-"
		for _, p := range fold.Status().Requests {
			if d, ok := fold.Pending(p.ID); ok && d.Whole && !p.Contested && fold.Asks(r.Dialog, p.ID) {
				got = agent.Value(p.Text)
			}
		}
		if got != c.want {
			t.Errorf("%+v: a key answers %q", c, got)
		}
	}
}

// TestRanElsewhereBefore: a command ran in the session's folder, and its hook waits beside the dialog of the next one, in
// another folder. An option that only the dialog has can be chosen, because the prompt names both.
func TestRanElsewhereBefore(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	fold := detect.New(qwen.Driver{}, detect.Options{Start: now, Dir: "/w"})
	apply := func(facts ...agent.Fact) {
		for _, f := range facts {
			now = now.Add(200 * time.Millisecond)
			f.Time = now
			fold.Apply(f)
		}
	}
	logs := func(id, args string) {
		facts, err := qwen.Driver{}.Log([]byte(`{"type":"assistant","message":{"parts":[{"functionCall":{"id":"` + id + `","name":"run_shell_command","args":` + args + `}}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		apply(facts...)
	}
	apply(hook(t, `"hook_event_name":"UserPromptSubmit","prompt":"go"`))
	logs("a", `{"command":"ls"}`)
	apply(hook(t, `"hook_event_name":"PostToolBatch"`))
	logs("b", `{"command":"ls","directory":"/etc"}`)
	asks := hook(t, `"hook_event_name":"PermissionRequest","tool_name":"run_shell_command","tool_input":{"command":"ls","directory":"/etc"}`)
	asks.Hook = "7"
	apply(asks)
	r := draw(80, 24, "  ? Shell ls ←\n\n     ls\n\n   Allow execution of: 'ls'?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"+waiting)
	for range 4 {
		apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r})
	}
	p, held := fold.HeldBy("7")
	if d, ok := fold.Pending(p.ID); !held || !ok || d.Disputed || !fold.Asks(r.Dialog, p.ID) || !strings.HasSuffix(agent.Value(p.Text), "in the session's folder.") {
		t.Errorf("the hook waits (%v) for %+v: %s", held, p, agent.Value(p.Text))
	}
}

// TestSeveralMarks: options with two marks are drawn only in part, or a text draws one: it isn't a dialog.
func TestSeveralMarks(t *testing.T) {
	for marks, want := range map[string]bool{"›  ": true, "›› ": false, "   ": false} {
		var m []string
		for _, r := range marks {
			m = append(m, string(r))
		}
		d := draw(80, 24, "  ? Shell ls ←\n\n     ls\n\n   Allow execution of: 'ls'?\n\n   "+m[0]+" 1. Yes, allow once\n   "+m[1]+" 2. Always allow run 'ls *' commands\n   "+m[2]+" 3. No, suggest changes (esc)\n"+waiting).Dialog
		if (d != nil) != want {
			t.Errorf("with the marks %q it is read as %+v", marks, d)
		}
	}
}

// TestCommandThatDrawsOptions: a command whose last line is indented draws that line in the rows of the tool further to
// the right than they are. All of the command is below them.
func TestCommandThatDrawsOptions(t *testing.T) {
	const command = "touch options.txt\n› 1. Yes, allow once\n  2. No, suggest changes (esc)"
	draws := func(head string) *agent.Dialog {
		return draw(80, 24, head+"\n     "+strings.ReplaceAll(command, "\n", "\n     ")+"\n\n   Allow execution of: 'touch, ›, 2.'?\n\n   › 1. Yes, allow once\n     2. Always allow run 'touch *'…\n     3. Always allow run 'touch *'…\n     4. No, suggest changes (esc)\n"+waiting).Dialog
	}
	const head = "  ? Shell touch options.txt         ←\n    › 1. Yes, allow once\n      2. No, suggest changes (esc) (Run the lab's command)\n"
	if d := draws(head); d == nil || d.Cut || d.Body != command || len(d.Options) != 4 {
		t.Errorf("it is read as %+v", d)
	}
	if d := draws(strings.Replace(head, "Yes, allow once", "Yes", 1)); d == nil || !d.Cut {
		t.Errorf("below rows with another command it is read as %+v", d)
	}
	if d := draws(""); d == nil || !d.Cut || d.Body != command {
		t.Errorf("without the tool's rows it is read as %+v", d)
	}
}

// TestHookAfterItsDialog: a dialog was seen first, and its prompt names the folder of the only call of the log that is drawn like it.
// A hook without that folder then reports another call, such as a subagent's, which the log doesn't have. That is
// another prompt: the seen one says that the dialog is about the first call.
func TestHookAfterItsDialog(t *testing.T) {
	a := ordered(t)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	fold := detect.New(qwen.Driver{}, detect.Options{Start: now, Dir: "/w"})
	apply := func(facts ...agent.Fact) {
		for _, f := range facts {
			now = now.Add(100 * time.Millisecond)
			f.Time = now
			fold.Apply(f)
		}
	}
	look := func() {
		for range 20 {
			apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: a.Dialog[0]})
		}
	}
	apply(a.Report[anyorder.Message]("", 0)...)
	apply(a.Report[anyorder.Logged]("c", 1)...)
	look()
	if p := fold.Status().Request; p == nil || agent.Value(p.Text) != a.Lines[1] {
		t.Fatalf("the seen prompt is %+v", p)
	}
	apply(a.Report[anyorder.Step]("", 0)...)
	look()
	apply(a.Report[anyorder.Asks]("d", 0)...)
	look()
	for _, p := range fold.Status().Requests {
		if s, ok := fold.Pending(p.ID); ok && s.Whole && !p.Contested && fold.Asks(a.Dialog[0].Dialog, p.ID) && strings.HasPrefix(agent.Value(p.Text), a.Lines[1]) {
			t.Errorf("a key answers %q", agent.Value(p.Text))
		}
	}
}

// asksAfterLog is the prompt of a dialog of ls, after these lines of the chat file. late: they are read late.
func asksAfterLog(t *testing.T, late bool, lines ...string) (p *agent.Request, keyed bool) {
	t.Helper()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	fold := detect.New(qwen.Driver{}, detect.Options{Start: now, Dir: "/w"})
	for _, line := range lines {
		facts, err := qwen.Driver{}.Log([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range facts {
			if f.Time = now; late {
				fold.LoggedBefore(f)
			} else {
				fold.Apply(f)
			}
		}
	}
	r := draw(80, 24, "  ? Shell ls ←\n\n     ls\n\n   Allow execution of: 'ls'?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"+waiting)
	for range 12 {
		now = now.Add(200 * time.Millisecond)
		fold.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r, Time: now})
	}
	p = fold.Status().Request
	d, ok := fold.Pending(p.ID)
	return p, ok && d.Whole && !p.Contested
}

// TestCallBeside: the chat file has a call whose dialog was never on the screen, until its result. The prompt of another dialog names it.
func TestCallBeside(t *testing.T) {
	for _, over := range []bool{false, true} {
		lines := []string{`{"type":"assistant","message":{"parts":[{"functionCall":{"id":"a","name":"run_shell_command","args":{"command":"touch evil"}}},{"functionCall":{"id":"b","name":"run_shell_command","args":{"command":"ls"}}}]}}`}
		if over {
			lines = append(lines, `{"type":"tool_result","toolCallResult":{"callId":"a","status":"success"}}`)
		}
		p, keyed := asksAfterLog(t, false, lines...)
		if !keyed || strings.Contains(agent.Value(p.Text), "of a call of run_shell_command, with\n{\"command\":\"touch evil\"}") == over {
			t.Errorf("the first call has its result: %v: it asks %q, contested %v", over, agent.Value(p.Text), p.Contested)
		}
	}
}

// TestCallBelowAnUnknownTool: a dialog that names no measured tool may be drawn over that of any other call of the log. Its prompt names that
// call, whatever its input is, and also if a hook has reported the drawn one.
func TestCallBelowAnUnknownTool(t *testing.T) {
	const (
		fetch = "  ? WebFetch https://ok.test ←\n\n   https://ok.test\n\n   Do you want to proceed?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"
		skill = "  ? Skill tidy ←\n\n   tidy\n\n   Use the skill tidy?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"
	)
	for _, screen := range []string{fetch, skill, ofLab} {
		for _, call := range [][2]string{{"mcp__lab__delete", `{}`}, {"mcp__lab__delete", `{"all":true}`}, {"web_fetch", `{"prompt":"p","url":"http://other.test"}`}} {
			for _, hooked := range []bool{false, true} {
				now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
				fold := detect.New(qwen.Driver{}, detect.Options{Start: now, Dir: "/w"})
				apply := func(facts ...agent.Fact) {
					for _, f := range facts {
						now = now.Add(200 * time.Millisecond)
						f.Time = now
						fold.Apply(f)
					}
				}
				facts, err := qwen.Driver{}.Log([]byte(`{"type":"assistant","message":{"parts":[{"functionCall":{"id":"a","name":"` + call[0] + `","args":` + call[1] + `}}]}}`))
				if err != nil {
					t.Fatal(err)
				}
				apply(facts...)
				if hooked {
					apply(hook(t, `"hook_event_name":"UserPromptSubmit","prompt":"go"`))
					asks := hook(t, `"hook_event_name":"PermissionRequest","tool_name":"mcp__lab__ask","tool_input":`+hello)
					asks.Hook = "7"
					apply(asks, agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: "7"})
				}
				r := draw(80, 24, screen+waiting)
				for range 12 {
					apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r})
				}
				for _, p := range fold.Status().Requests {
					if d, ok := fold.Pending(p.ID); ok && d.Whole && !p.Contested && fold.Asks(r.Dialog, p.ID) && !strings.Contains(agent.Value(p.Text), "of a call of "+call[0]+", with\n"+call[1]) {
						t.Errorf("over %s, with a hook %v: a key answers %q", call, hooked, agent.Value(p.Text))
					}
				}
				if len(fold.Status().Requests) == 0 {
					t.Errorf("over %s, with a hook %v: it asks nothing", call, hooked)
				}
			}
		}
	}
}

// TestCallReadLate: a call of a log that was read late is known only as one of the log's. The prompt of a dialog that is like it names it, if the
// dialog leaves out a part.
func TestCallReadLate(t *testing.T) {
	for input, named := range map[string]bool{`{"command":"ls","directory":"/etc"}`: true, `{"command":"ls"}`: false} {
		p, keyed := asksAfterLog(t, true, `{"type":"assistant","message":{"parts":[{"functionCall":{"id":"a","name":"run_shell_command","args":`+input+`}}]}}`)
		if !keyed || strings.Contains(agent.Value(p.Text), `of a call of run_shell_command, with`) != named {
			t.Errorf("%s: it asks %q, contested %v", input, agent.Value(p.Text), p.Contested)
		}
	}
}

package opencode_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/opencode"
	"berth/detect"
)

// folded is what detection makes of reports and then of a screen that stays for some seconds. A report that
// starts with a name and a blank has a hook of that name, which waits.
func folded(t *testing.T, r *agent.Reading, reports ...string) *detect.Fold {
	t.Helper()
	now := time.Unix(0, 0)
	f := detect.New(opencode.Driver{}, detect.Options{Start: now, Dir: "/ws"})
	apply := func(fact agent.Fact) {
		now = now.Add(100 * time.Millisecond)
		fact.Time = now
		f.Apply(fact)
	}
	for _, text := range append([]string{`{"event":"turn","session":"ses_1","text":"go on"}`}, reports...) {
		hook, payload, waits := strings.Cut(text, " {")
		if !waits {
			hook, payload = "", text[1:]
		}
		facts, err := opencode.Driver{}.Hook([]byte("{" + payload))
		if err != nil {
			t.Fatal(err)
		}
		for _, fact := range facts {
			fact.Hook = hook
			apply(fact)
		}
	}
	if r == nil {
		return f
	}
	for range 20 {
		apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r})
	}
	return f
}

// drawnBash is the dialog of a command, with its first button chosen.
func drawnBash(t *testing.T) *agent.Reading {
	r := opencode.Driver{}.Screen(screens(t)["bash"]["80x24"])
	r.Dialog.Partial, r.Dialog.Options[0].Focused = false, true // texts of screens have no colors
	return r
}

// TestReplies: "Allow always" for a call allows another one of its step, and a refusal refuses it: no prompt of it
// stays open, though its dialog was never drawn.
func TestReplies(t *testing.T) {
	all := func(event, more string) (two []string) {
		for _, call := range []string{"1", "2"} {
			hook := ""
			if event == "permission.asked" {
				hook = "h" + call + " "
			}
			two = append(two, hook+`{"event":"`+event+`","session":"ses_1","tool":"bash","permission":"bash","call":"`+call+`","metadata":{"command":"touch `+call+`"},"input":{"command":"touch `+call+`"}`+more+`}`)
		}
		return two
	}
	begun := slices.Concat(all("tool.before", ""), all("permission.asked", ""))
	if open := folded(t, nil, begun...).Status().Requests; len(open) != 2 {
		t.Fatalf("%d prompts are open", len(open))
	}
	always := all("permission.replied", `,"reply":"always"`)
	s := folded(t, nil, slices.Concat(begun, always)...).Status()
	if len(s.Requests) != 0 || s.Activity == nil || s.Activity.Tool != "bash" {
		t.Errorf("after always: %+v, %+v", s.Requests, s.Activity)
	}
	if open := folded(t, nil, slices.Concat(begun, always[:1])...).Status().Requests; len(open) != 1 || open[0].FullInput != "touch 2" {
		t.Errorf("after one answer: %+v", open)
	}
	if open := folded(t, nil, slices.Concat(begun, all("permission.replied", `,"reply":"reject"`), []string{`{"event":"step","session":"ses_1"}`})...).Status().Requests; len(open) != 0 {
		t.Errorf("after a refusal: %+v", open)
	}
}

const (
	elsewhere = `{"event":"tool.before","session":"ses_1","tool":"bash","call":"c","input":{"command":"touch one.txt && echo ran-one","workdir":"/other"}}`
	here      = `{"event":"permission.asked","session":"ses_1","request":"per_1","permission":"bash","metadata":{"command":"touch one.txt && echo ran-one"},` +
		`"call":"c","tool":"bash","input":{"command":"touch one.txt && echo ran-one"}}`
)

// TestUndrawn: the folder of a command that no hook asks about is in its prompt, which takes no key where the plugin
// reports turns. A report that leaves it out is contested, also after a forged start with the call's id, and if it says that a
// subagent asks. After a forged end of the call its prompt names the folder too.
func TestUndrawn(t *testing.T) {
	dialog := drawnBash(t)
	for name, c := range map[string]struct {
		reports   []string
		contested bool
	}{
		"no hook asks":     {[]string{elsewhere}, true},
		"it is left out":   {[]string{elsewhere, here}, true},
		"a step is over":   {[]string{elsewhere, `{"event":"step","session":"ses_1"}`, here}, false},
		"it is over":       {[]string{elsewhere, `{"event":"tool.after","session":"ses_1","tool":"bash","call":"c","input":{}}`, here}, false},
		"of a subagent":    {[]string{elsewhere, strings.Replace(here, `"request"`, `"agent":"ses_2","agent_type":"y","request"`, 1)}, true},
		"its id is known":  {[]string{strings.Replace(elsewhere, `,"workdir":"/other"`, "", 1), elsewhere, here}, true},
		"and nothing else": {[]string{`{"event":"tool.before","session":"ses_1","tool":"bash","call":"c"}`, elsewhere, here}, true},
		"it is reported":   {[]string{elsewhere, strings.Replace(here, `ran-one"}}`, `ran-one","workdir":"/other"}}`, 1)}, false},
		"another is over":  {[]string{strings.Replace(elsewhere, `,"workdir":"/other"`, "", 1), `{"event":"step","session":"ses_1"}`, strings.Replace(strings.Replace(here, `ran-one"}}`, `ran-one","workdir":"/other"}}`, 1), `"call":"c"`, `"call":"d"`, 1)}, false},
		"in the session's": {[]string{strings.Replace(elsewhere, "/other", "/ws", 1), here}, false},
	} {
		all := folded(t, dialog, c.reports...).Status().Requests
		if len(all) != 1 || all[0].Contested != c.contested {
			t.Errorf("%s: %+v", name, all)
		} else if shown := strings.Contains(agent.Value(all[0].Text), `workdir: "/other"`); shown != (name == "no hook asks" || name == "it is reported" || name == "another is over" || strings.HasSuffix(name, " is over")) {
			t.Errorf("%s: its text is %q", name, agent.Value(all[0].Text))
		} else if name == "another is over" && !strings.HasSuffix(agent.Value(all[0].Text), "in the session's folder.") {
			t.Errorf("%s: its text is %q", name, agent.Value(all[0].Text))
		}
	}
}

// TestOtherInput: a request with another command than its call keeps what the call has beside it.
func TestOtherInput(t *testing.T) {
	p := report(t, strings.Replace(command, `{"command":"touch one.txt"}`, `{"command":"touch two.txt"}`, 1)).Request
	s, _ := opencode.Driver{}.Subject(p)
	if undrawn := (opencode.Driver{}).Undrawn("bash", p.Raw, "/ws"); s.Command != "touch two.txt" || undrawn != `workdir: "/tmp"` || !strings.Contains(agent.Value(p.Text), `"command":"touch one.txt"`) {
		t.Errorf("%+v, undrawn %q, text %q", s, undrawn, agent.Value(p.Text))
	}
}

// TestUndrawnOfEdit: lines with characters that no dialog draws are listed.
func TestUndrawnOfEdit(t *testing.T) {
	p := report(t, `{"event":"permission.asked","session":"s","permission":"edit","metadata":{"filepath":"/ws/a.txt","diff":"@@ -1 +1,2 @@\n-old\n+new\u202e\n+plain\n"}}`).Request
	if got := (opencode.Driver{}).Undrawn("edit", p.Raw, "/ws"); got != `diff: "+new\u202e"` {
		t.Errorf("%s", got)
	}
}

// TestLongCall: a prompt of a call whose texts the plugin has shortened says so, and is a part.
func TestLongCall(t *testing.T) {
	long := strings.Replace(here, `{"event"`, `{"cut":true,"event"`, 1)
	if p := report(t, long).Request; !p.InPart() || !strings.Contains(agent.Value(p.Text), "too long for Berth") {
		t.Errorf("a part: %v, text %q", p.InPart(), agent.Value(p.Text))
	}
	if p := report(t, here).Request; p.InPart() {
		t.Errorf("a part: %+v", p)
	}
}

// TestMove: the diff of a patch has the old name of a file that it moves, and is that of a new file for one that it adds. The prompt
// says where it is moved to, and that a file that is there is replaced.
func TestMove(t *testing.T) {
	const plan, replaced = `{"plan":"*** Begin Patch\n*** Update File: notes.txt\n*** Move to: .bashrc\n@@\n-old\n+new\n*** End Patch"}`, "\n" + agent.Replaces
	move := `{"event":"permission.asked","session":"s","permission":"edit","metadata":{"filepath":"notes.txt","diff":"@@ -1 +1 @@\n-old\n+new\n"},"tool":"apply_patch",` +
		`"input":{"patchText":"*** Begin Patch\n*** Update File: notes.txt\n*** Move to: .bashrc\n@@\n-old\n+new\n*** End Patch"}}`
	for name, c := range map[string]struct{ payload, want string }{
		"moved":         {move, "*** Update File: notes.txt\n*** Move to: .bashrc" + replaced},
		"added":         {strings.Replace(move, "*** Update File: notes.txt\\n*** Move to: .bashrc\\n@@\\n-old", "*** Add File: .bashrc", 1), "*** Add File: .bashrc" + replaced},
		"updated":       {strings.Replace(move, "*** Move to: .bashrc\\n", "", 1), "*** Update File: notes.txt"},
		"removed":       {strings.Replace(move, `*** Update File: notes.txt\n*** Move to: .bashrc\n@@\n-old\n+new`, `*** Delete File: notes.txt`, 1), "*** Delete File: notes.txt"},
		"by another":    {strings.NewReplacer("apply_patch", "rename", "patchText", "plan").Replace(move), plan + replaced},
		"edited":        {strings.Replace(move, "apply_patch", "edit", 1), ""},
		"and invisible": {strings.Replace(move, ".bashrc", `.bash\u200brc`, 1), `steps: "*** Move to: .bash\u200brc"` + "\n*** Update File: notes.txt\n*** Move to: .bash\u200brc" + replaced},
	} {
		if got := (opencode.Driver{}).Undrawn("edit", report(t, c.payload).Request.Raw, "/ws"); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestWaiting: a dialog of a question has the pages of its call.
func TestWaiting(t *testing.T) {
	input := colors[strings.Index(colors, `{"question":"Which color`) : len(colors)-2]
	f := &agent.Fact{Tool: "question", Input: []byte(`{"questions":[` + input + `]}`)}
	if p := (opencode.Driver{}).Waiting(f); p.Type != agent.PromptQuestion || len(p.Questions) != 2 || len(p.Questions[1].Options) != 2 {
		t.Errorf("%+v", p)
	}
	for _, f := range []*agent.Fact{{}, {Tool: "question", Input: []byte("[")}, {Tool: "bash", Input: []byte("[")}} {
		if (opencode.Driver{}).Waiting(f) == nil {
			t.Errorf("%+v: none", f)
		}
	}
}

// TestChangeWithoutTheReport: a patch can move or remove a file, and its dialog doesn't say so. Without the plugin's
// report the prompt says that it is a part.
func TestChangeWithoutTheReport(t *testing.T) {
	for name, part := range map[string]bool{"edit": true, "bash": false} {
		for size, v := range screens(t)[name] {
			d := opencode.Driver{}.Screen(v).Dialog
			if d == nil || d.Cut {
				continue
			}
			if p := (opencode.Driver{}).FromDialog(d); p.InPart() != part {
				t.Errorf("%s at %s: the prompt is a part: %v, want %v", name, size, p.InPart(), part)
			}
		}
	}
}

// TestInputOfOtherTools: the dialog of a server's tool draws its name and not its input, and that of a subagent not what
// the subagent is to do. Without the plugin's report the prompt says that it is a part.
func TestInputOfOtherTools(t *testing.T) {
	for _, c := range []struct {
		title, body string
		part        bool
	}{
		{"⚙ Call tool lab_run", "Tool: lab_run", true},
		{"# Explore Task", "◉ Look around", true},
		{"→ Read a.txt", "Path: a.txt", false},
		{`✱ Grep "x"`, "Pattern: x", false},
		{"% WebFetch https://berth.invalid", "URL: https://berth.invalid", false},
		{"⟳ Continue after repeated failures", "This keeps the session running.", false},
	} {
		for size, bash := range screens(t)["bash"] {
			v := *bash
			v.Lines = slices.Clone(bash.Lines)
			drawn := false
			for i := range v.Lines {
				row := &v.Lines[i]
				switch drawn = drawn || strings.Contains(row.Text, "# Shell command"); {
				case strings.Contains(row.Text, "# Shell command"):
					row.Text = strings.ReplaceAll(row.Text, "# Shell command", c.title)
				case drawn && strings.HasPrefix(row.Text, "  ┃  $ "):
					row.Text = "  ┃  " + c.body
				case drawn && strings.HasPrefix(row.Text, "  ┃  one"):
					row.Text = "  ┃"
				}
			}
			d := opencode.Driver{}.Screen(&v).Dialog
			if d == nil || d.Cut || d.Title != c.title {
				t.Fatalf("%s at %s is read as %+v", c.title, size, d)
			}
			if p := (opencode.Driver{}).FromDialog(d); p.InPart() != c.part || agent.Value(p.Input) != c.body {
				t.Errorf("%s at %s: the prompt %q is a part: %v, want %v", c.title, size, agent.Value(p.Input), p.InPart(), c.part)
			}
		}
	}
}

// TestDrawsItsRest: after the plugin's report of a turn's end opencode isn't idle before it draws that, because it takes no
// message until then. If it goes on drawing work, it works.
func TestDrawsItsRest(t *testing.T) {
	start := time.Unix(0, 0)
	for drawn, want := range map[time.Duration]time.Duration{0: 0, 3 * time.Second: 3 * time.Second, time.Hour: time.Hour} {
		f := detect.New(opencode.Driver{}, detect.Options{Start: start})
		shows := func(at time.Duration, busy string) {
			r := &agent.Reading{Composer: &agent.Composer{Mode: agent.ModeMessage, Empty: true}, Clear: true, Busy: busy}
			f.Apply(agent.Fact{Time: start.Add(at), Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r})
		}
		says := func(at time.Duration, report string) {
			facts, err := opencode.Driver{}.Hook([]byte(report))
			if err != nil {
				t.Fatal(err)
			}
			facts[0].Time = start.Add(at)
			f.Apply(facts[0])
		}
		const end = 10 * time.Second
		says(time.Second, `{"event":"turn","session":"ses_1","text":"go"}`)
		shows(2*time.Second, "■ esc interrupt")
		if drawn == 0 {
			shows(end-time.Millisecond, "")
		}
		says(end, `{"event":"idle","session":"ses_1","text":"done"}`)
		idle := time.Hour
		for at := time.Duration(0); at < 20*time.Second; at += 100 * time.Millisecond {
			if at == drawn {
				shows(end+at, "")
			}
			f.Tick(start.Add(end + at))
			if f.Status().State == agent.Idle {
				idle = min(idle, at)
			}
		}
		if idle != want {
			t.Errorf("drawn %s after the report, it is idle after %s, want %s", drawn, idle, want)
		}
	}
}

// TestCallsOfOneID: two subagents may have calls of one id. The answer to the call of one closes no prompt of the other's.
func TestCallsOfOneID(t *testing.T) {
	of := func(event, subagent, folder, more string) string {
		return `{"event":"` + event + `","session":"ses_1","agent":"` + subagent + `","agent_type":"general","permission":"bash","metadata":{"command":"ls"},` +
			`"tool":"bash","call":"bash:0","input":{"command":"ls","workdir":"` + folder + `"}` + more + `}`
	}
	both := []string{
		of("tool.before", "ses_2", "/prod", ""), of("tool.before", "ses_3", "/test", ""),
		"h1 " + of("permission.asked", "ses_2", "/prod", ""), "h2 " + of("permission.asked", "ses_3", "/test", ""),
	}
	for name, end := range map[string]string{
		"allowed": of("permission.replied", "ses_2", "/prod", `,"reply":"once"`), "over": of("tool.after", "ses_2", "/prod", `,"status":"completed"`),
	} {
		open := folded(t, nil, append(slices.Clone(both), end)...).Status().Requests
		if len(open) != 1 || !strings.Contains(agent.Value(open[0].Text), `workdir: "/test"`) {
			t.Errorf("%s: %+v", name, open)
		}
	}
}

// TestCutLines: opencode takes the shared indent, of any blanks, from a diff's lines, a file's first byte order mark, and the CRs of an
// edit. The prompt has the lines of the new text that the diff doesn't show as they are.
func TestCutLines(t *testing.T) {
	const file = "Index: /ws/a\n===================================================================\n--- /ws/a\n+++ /ws/a\n"
	for name, c := range map[string]struct {
		tool, diff, want string
		input            map[string]any
	}{
		"a file":              {"write", "@@ -0,0 +1,2 @@\n+ls\n+  pwd\n", "", map[string]any{"content": "ls\n  pwd\n"}},
		"of CRLF":             {"write", "@@ -0,0 +1,1 @@\n+ls\r\n", "", map[string]any{"content": "ls\r\n"}},
		"a wide indent":       {"write", "@@ -0,0 +1,2 @@\n+ls\n+pwd\n", `content: "\u3000ls"` + "\n" + `content: "\u00a0pwd"`, map[string]any{"content": "\u3000ls\n\u00a0pwd\n"}},
		"a mark":              {"write", "@@ -0,0 +1,1 @@\n+ls\n", `content: "\ufeffls"`, map[string]any{"content": "\ufeffls\n"}},
		"a mark alone":        {"write", "@@ -1,2 +1,2 @@\n ls\n-a\n+b\n", `content: "\ufeffls"`, map[string]any{"content": "\ufeffls\nb\n"}},
		"a part of a file":    {"write", "@@ -2,2 +2,2 @@\n x\n-a\n+  b\n", "", map[string]any{"content": "  1\nx\n  b\n"}},
		"and its indent":      {"write", "@@ -2,2 +2,2 @@\n x\n-a\n+b\n", `content: "\tb"`, map[string]any{"content": "  1\n\tx\n\tb\n"}},
		"an edit":             {"edit", "@@ -1,1 +1,2 @@\n-a\n+b\n+  c\n", "", map[string]any{"newString": "b\n  c"}},
		"within a line":       {"edit", "@@ -1,1 +1,1 @@\n-one a\n+one b\n", "", map[string]any{"newString": "b"}},
		"an edit's indent":    {"edit", "@@ -1,1 +1,2 @@\n-a\n+b\n+  c\n", `newString: "\tb"` + "\n" + `newString: "\t  c"`, map[string]any{"newString": "\tb\n\t  c"}},
		"at several places":   {"edit", "@@ -1,1 +1,1 @@\n-a\n+ b\n", `newString: " b"`, map[string]any{"newString": " b", "replaceAll": true}},
		"an edit's CR":        {"edit", "", `newString: "two\r"`, map[string]any{"newString": "two\r"}},
		"an edit of CRLF":     {"edit", "@@ -1,1 +1,2 @@\n-a\n+b\n+c\n", "", map[string]any{"newString": "b\r\nc\r\n"}},
		"a patch":             {"apply_patch", "@@ -1,1 +1,1 @@\n-a\n+ b\n\n" + file + "@@ -0,0 +1,1 @@\n+c\n", "*** Update File: x\n*** Add File: a\n" + agent.Replaces, map[string]any{"patchText": "*** Begin Patch\n*** Update File: x\n@@\n-a\n+ b\n*** Add File: a\n+c\n*** End Patch"}},
		"a patch's indent":    {"apply_patch", "@@ -0,0 +1,1 @@\n+c\n", "*** Add File: a\n" + agent.Replaces + "\n" + `patchText: "\u00a0c"`, map[string]any{"patchText": "*** Begin Patch\n*** Add File: a\n+\u00a0c\n*** End Patch"}},
		"a name with a hunk":  {"write", "@@ -0,0 +1,1 @@\n+ ls\n" + file + "@@ -0,0 +1,1 @@\n+ls\n", `content: " ls"` + "\n" + `content: " ls"`, map[string]any{"content": " ls\n"}},
		"a call of no report": {"", "@@ -0,0 +1,1 @@\n+c\n", "", nil},
	} {
		payload := agent.Encoded(map[string]any{
			"event": "permission.asked", "session": "s", "permission": "edit", "tool": c.tool, "input": c.input,
			"metadata": map[string]any{"filepath": "/ws/a.txt", "diff": file + c.diff},
		})
		if got := (opencode.Driver{}).Undrawn("edit", report(t, string(payload)).Request.Raw, "/ws"); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

// TestOneOfSeveralCalls: opencode doesn't say which of several calls of one id a permission is for. Each permission is a prompt with
// its own hook, and names all of them. The end of those calls isn't its end.
func TestOneOfSeveralCalls(t *testing.T) {
	const calls = `[{"tool":"write","input":{"filePath":"/x/evil.txt","content":"a"}},{"tool":"read","input":{"filePath":"/x/notes.txt"}}]`
	of := func(event, request, more string) string {
		return `{"event":"` + event + `","session":"ses_1","permission":"external_directory","patterns":["/x/*"],"metadata":{"filepath":"/x/a"},` +
			`"call":"x:0 ` + request + `","input":{"one of these calls":` + calls + `}` + more + `}`
	}
	both := []string{"h1 " + of("permission.asked", "per_1", ""), "h2 " + of("permission.asked", "per_2", "")}
	over := `{"event":"tool.after","session":"ses_1","tool":"read","call":"x:0","status":"completed","input":{}}`
	for left, more := range [][]string{
		2: {over},
		1: {over, of("permission.replied", "per_1", `,"reply":"once"`)},
		0: {of("permission.replied", "per_1", `,"reply":"once"`), of("permission.replied", "per_2", `,"reply":"always"`)},
	} {
		f := folded(t, nil, slices.Concat(both, more)...)
		open := f.Status().Requests
		if len(open) != left {
			t.Fatalf("%d prompts are open, want %d", len(open), left)
		}
		for i, p := range open {
			if d, _ := f.Pending(p.ID); d.Hook != fmt.Sprintf("h%d", 3-left+i) || !strings.Contains(agent.Value(p.Text), calls) || p.InPart() {
				t.Errorf("%d left: the hook %q, %+v", left, d.Hook, p)
			}
		}
	}
	if f := report(t, of("permission.replied", "per_1", `,"reply":"once"`)); f.Kind != agent.ToolEnded { // and no call begins
		t.Errorf("the answer is %+v", f)
	}
	for _, payload := range []string{
		of("permission.asked", "per_1", ""),
		strings.NewReplacer("external_directory", "bash", `"filepath":"/x/a"`, `"command":"ls"`).Replace(of("permission.asked", "per_1", "")),
		strings.NewReplacer("external_directory", "edit").Replace(of("permission.asked", "per_1", "")),
		strings.NewReplacer("external_directory", "webfetch", "filepath", "url").Replace(of("permission.asked", "per_1", "")),
		strings.NewReplacer("external_directory", "server_tool").Replace(of("permission.asked", "per_1", "")),
	} {
		p := folded(t, nil, "h1 "+payload).Status().Requests[0]
		if text := strings.ReplaceAll(agent.Value(p.Text), `\"`, `"`); !strings.Contains(text, calls) {
			t.Errorf("%s: %q", payload, text)
		}
		if s, ok := (opencode.Driver{}).Subject(p); ok && len(s.Arguments) == 0 {
			t.Errorf("%s is about %+v alone", payload, s)
		}
	}
}

// TestUnknownCall: a permission whose call the plugin doesn't know is a part of what is asked.
func TestUnknownCall(t *testing.T) {
	for known, payload := range map[bool]string{true: command, false: strings.Replace(command, `,"tool":"bash","input":{"command":"touch one.txt","description":"d","workdir":"/tmp"}`, "", 1)} {
		p := folded(t, nil, "h1 "+payload).Status().Requests[0]
		if p.InPart() == known || strings.Contains(agent.Value(p.Text), "It isn't known which call this is for") == known {
			t.Errorf("known: %v, %+v", known, p)
		}
	}
}

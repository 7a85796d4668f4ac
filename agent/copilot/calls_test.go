package copilot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/copilot"
	"berth/detect"
)

// talk is a session in /srv/ws whose log and screen are read.
type talk struct {
	t   *testing.T
	f   *detect.Fold
	now time.Time
}

func newTalk(t *testing.T) *talk {
	s := &talk{t: t, now: time.Unix(0, 0)}
	s.f = detect.New(copilot.Driver{}, detect.Options{Start: s.now, Dir: "/srv/ws"})
	s.f.Apply(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceHook, Cause: "hook:UserPromptSubmit", Time: s.now})
	return s
}

func (s *talk) log(kind, data string) {
	s.t.Helper()
	facts, err := copilot.Driver{}.Log([]byte(`{"type":"` + kind + `","data":` + data + `}`))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range facts {
		f.Time = s.now
		s.f.Apply(f)
	}
}

// calls is the call of "touch one.txt" with more fields, and asks its permission in a folder.
func (s *talk) calls(id, more string) {
	s.log("tool.execution_start", `{"toolCallId":"`+id+`","toolName":"bash","arguments":{"command":"touch one.txt","description":"Run it"`+more+`}}`)
}

func (s *talk) asks(id, segments string) {
	s.log("permission.requested", `{"permissionRequest":{"kind":"shell","toolCallId":"`+id+`","fullCommandText":"touch one.txt","intention":"Run it","commandSegments":[`+segments+`]}}`)
}

// show draws the dialog of the command, and returns the prompt and whether an answer presses a key.
func (s *talk) show() (p *agent.Request, keyed bool) {
	s.t.Helper()
	r := shown(command(" ❯ 1. Yes", "   2. No, and tell Copilot what to do differently (Esc to stop)")...)
	for range 4 {
		s.now = s.now.Add(100 * time.Millisecond)
		s.f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r, Time: s.now})
	}
	if p = s.f.Status().Request; p == nil {
		s.t.Fatal("it asks nothing")
	}
	d, ok := s.f.Pending(p.ID)
	return p, ok && d.Dialog != nil && d.Whole && !p.Contested && !d.Over && !d.Alike && s.f.Asks(r.Dialog, p.ID)
}

func in(folder string) string { return fmt.Sprintf(`{"workingDirectory":%q}`, folder) }

// TestUndrawn: the dialog of a command shows neither its folder nor how it runs. The prompt's text does, and
// its digest covers them, whether the log comes before the dialog or after it.
func TestUndrawn(t *testing.T) {
	digests := map[string]string{}
	for _, c := range []struct{ more, segments, want string }{
		{"", "", "Run it"},
		{"", in("/srv/ws"), "Run it"},
		{"", in("/srv/ws/") + "," + in("/srv/ws/"), "Run it"},
		{"", in("/etc"), "Run it\n\nworkingDirectory: \"/etc\""},
		{"", in("/srv/ws") + "," + in("/etc"), "Run it\n\nworkingDirectory: [\"/srv/ws\",\"/etc\"]"},
		{`,"detach":true`, in("/srv/ws"), "Run it\n\ndetach: true"},
		{`,"detach":false`, in("/srv/ws"), "Run it"},
		{`,"detach":true`, in("/etc"), "Run it\n\ndetach: true\nworkingDirectory: \"/etc\""},
		{`,"Command":"rm x"`, in("/srv/ws"), "Run it\n\ncall: {\"Command\":\"rm x\",\"command\":\"touch one.txt\",\"description\":\"Run it\"}"},
	} {
		name := c.more + " " + c.segments
		s := newTalk(t)
		s.calls("a", c.more)
		s.asks("a", c.segments)
		p, keyed := s.show()
		if agent.Value(p.Text) != c.want || !keyed {
			t.Errorf("%s: it asks %q, and a key answers it: %v", name, agent.Value(p.Text), keyed)
		}
		if other, ok := digests[p.Digest]; ok {
			t.Errorf("%s and %s have one digest", name, other)
		}
		digests[p.Digest] = name

		s = newTalk(t)
		before, _ := s.show()
		s.calls("a", c.more)
		s.asks("a", c.segments)
		p, keyed = s.show()
		if agent.Value(p.Text) != c.want || !keyed || (p.ID == before.ID) != (c.want == "Run it") {
			t.Errorf("%s, after its dialog: prompt %s, before %s, asks %q, and a key answers it: %v", name, p.ID, before.ID, agent.Value(p.Text), keyed)
		}
	}
}

// TestTwoCalls: while the log has another call that is drawn the same and that runs in another way, no key
// answers the dialog.
func TestTwoCalls(t *testing.T) {
	for more, want := range map[string]bool{"": true, `,"detach":false`: true, `,"detach":true`: false} {
		s := newTalk(t)
		s.calls("a", "")
		s.calls("b", more)
		s.asks("a", in("/srv/ws"))
		if p, keyed := s.show(); keyed != want {
			t.Errorf("beside a call with %q a key answers %+v: %v", more, p, keyed)
		}
		s = newTalk(t)
		s.calls("b", more)
		if p, keyed := s.show(); !keyed || more == `,"detach":true` && agent.Value(p.Text) != "Run it\n\ndetach: true" {
			t.Errorf("of a call alone with %q it asks %q, and a key answers it: %v", more, agent.Value(p.Text), keyed)
		}
	}
}

// TestCallReportedOver: any process of the session can cover a dialog for a moment, and report in the log that its call is
// over. The dialog may still be that call's, and its prompt says so, unless Berth's key has allowed the call.
func TestCallReportedOver(t *testing.T) {
	for _, allowed := range []bool{true, false} {
		s := newTalk(t)
		s.calls("a", `,"detach":true`)
		s.asks("a", in("/srv/ws"))
		p, keyed := s.show()
		if !keyed {
			t.Fatalf("no key answers %+v", p)
		}
		if allowed {
			s.f.Answered(p.ID, true)
		}
		for range 4 {
			s.now = s.now.Add(100 * time.Millisecond)
			s.f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: shown("x"), Time: s.now})
		}
		s.log("permission.completed", `{"toolCallId":"a","requestId":"r"}`)
		s.log("tool.execution_complete", `{"toolCallId":"a","success":true}`)
		s.calls("b", "")
		s.asks("b", in("/srv/ws"))
		for range 6 {
			s.show()
		}
		if p, keyed := s.show(); !keyed || strings.HasSuffix(agent.Value(p.Text), "may be that of a call with\ndetach: true") == allowed {
			t.Errorf("allowed %v: a key answers %q: %v", allowed, agent.Value(p.Text), keyed)
		}
	}
}

// TestEndThatTheScreenContradicts: a call in the session's folder is reported as over, and then a permission for the same
// command in another folder is logged. The prompt names both.
func TestEndThatTheScreenContradicts(t *testing.T) {
	for _, order := range []string{"cdof", "cofd", "cdofd"} {
		s := newTalk(t)
		for _, step := range order {
			switch step {
			case 'c':
				s.calls("a", "")
			case 'd':
				s.show()
			case 'o':
				s.f.Apply(agent.Fact{Kind: agent.TurnEnded, How: agent.Completed, Source: agent.SourceHook, Cause: "hook:Stop", Time: s.now})
			case 'f':
				s.f.Apply(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceHook, Cause: "hook:UserPromptSubmit", Time: s.now})
				s.asks("b", in("/etc"))
			}
		}
		for range 6 {
			s.show()
		}
		p, keyed := s.show()
		if text := agent.Value(p.Text); keyed && strings.Contains(text, "/etc") && !strings.HasSuffix(text, "in the session's folder.") || !keyed && order == "cofd" {
			t.Errorf("%s: a key answers (%v) %q", order, keyed, text)
		}
	}
}

// TestWaiting: the prompt of a call says what it would do.
func TestWaiting(t *testing.T) {
	for _, c := range []struct{ tool, input, asks, says string }{
		{"bash", `{"command":"ls","description":"List"}`, "ls", "List"},
		{"bash", `{"command":["ls"]}`, `{"command":["ls"]}`, agent.Unreadable},
		{"edit", `{"path":"/srv/a","old_str":"a","new_str":"b"}`, "/srv/a", ""},
		{"view", `{"path":"/srv/a"}`, `{"path":"/srv/a"}`, ""},
		{"", "", "", ""},
	} {
		p := copilot.Driver{}.Waiting(&agent.Fact{Tool: c.tool, Input: []byte(c.input)})
		if p.Type != agent.PromptPermission || agent.Value(p.Tool) != c.tool || agent.Value(p.Input) != c.asks || agent.Value(p.Text) != c.says {
			t.Errorf("%s %s: %+v asks %q", c.tool, c.input, p, agent.Value(p.Input))
		}
	}
}

// TestForgottenFolder: any process of the session can report by a hook that a turn is over whose dialog is still to
// come. What the log has of its call, and no dialog draws, counts nevertheless.
func TestForgottenFolder(t *testing.T) {
	for _, order := range []string{"cao", "ao", "coa", "co"} {
		s := newTalk(t)
		for _, step := range order {
			switch step {
			case 'c':
				s.calls("a", `,"detach":true`)
			case 'a':
				s.asks("a", in("/etc"))
			case 'o':
				s.f.Apply(agent.Fact{Kind: agent.StepEnded, Source: agent.SourceHook, Cause: "hook:forged", Time: s.now})
				s.f.Apply(agent.Fact{Kind: agent.TurnEnded, How: agent.Completed, Source: agent.SourceHook, Cause: "hook:Stop", Time: s.now})
			}
		}
		for range 6 {
			s.show()
		}
		if p, keyed := s.show(); keyed && !strings.HasSuffix(agent.Value(p.Text), map[bool]string{true: "\n\ndetach: true", false: `workingDirectory: "/etc"`}[order == "co"]) {
			t.Errorf("%s: a key answers %q", order, agent.Value(p.Text))
		}
	}
}

// TestPermissionTwice: another process writes a permission with the id of a call into the log too, or with that of an equal call which
// it has reported as over. What the call's own permission says counts as well.
func TestPermissionTwice(t *testing.T) {
	for _, forge := range []func(s *talk){
		func(s *talk) { s.asks("a", in("/srv/ws")) },
		func(s *talk) {
			s.over("a")
			s.calls("c", "")
			s.asks("c", in("/etc"))
			s.over("c")
			s.calls("d", "")
			s.over("d")
			s.asks("d", in("/srv/ws"))
		},
	} {
		s := newTalk(t)
		s.calls("a", "")
		s.asks("a", in("/etc"))
		s.show()
		forge(s)
		s.over("a")
		s.over("d")
		for range 4 {
			s.now = s.now.Add(100 * time.Millisecond)
			s.f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: shown("x"), Time: s.now})
		}
		s.asks("b", in("/srv/ws"))
		for range 6 {
			s.show()
		}
		if p, keyed := s.show(); keyed && !strings.Contains(agent.Value(p.Text), "/etc") {
			t.Errorf("a key answers %q", agent.Value(p.Text))
		}
	}
}

// TestPermissionOfAMergedCall: another process reports that a call is over before its permission is logged, and then an equal call. The
// permission still counts once its dialog was covered and it was reported as over too.
func TestPermissionOfAMergedCall(t *testing.T) {
	for _, c := range []struct {
		more, want string
		before     func(s *talk)
	}{
		{"", `workingDirectory: "/etc"`, func(s *talk) { s.calls("b", ""); s.over("b") }},
		{`,"detach":true`, "detach: true\nworkingDirectory: \"/etc\"", func(s *talk) { s.calls("b", `,"detach":true`); s.over("b") }},
		{"", `workingDirectory: "/etc"`, func(s *talk) {
			for n := range 300 { // the call has no room
				id := fmt.Sprint(n)
				s.log("tool.execution_start", `{"toolCallId":"`+id+`","toolName":"bash","arguments":{"command":"echo `+id+`"}}`)
				s.over(id)
			}
		}},
	} {
		s := newTalk(t)
		s.calls("a", c.more)
		s.over("a")
		c.before(s)
		s.asks("a", in("/etc"))
		s.show()
		s.over("a")
		for range 4 {
			s.now = s.now.Add(100 * time.Millisecond)
			s.f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: shown("x"), Time: s.now})
		}
		s.asks("c", in("/srv/ws"))
		for range 6 {
			s.show()
		}
		if p, keyed := s.show(); !keyed || !strings.Contains(agent.Value(p.Text), c.want) {
			t.Errorf("a key answers (%v) %q, and not %q", keyed, agent.Value(p.Text), c.want)
		}
	}
}

func (s *talk) over(id string) {
	s.log("permission.completed", `{"toolCallId":"`+id+`","requestId":"r"}`)
	s.log("tool.execution_complete", `{"toolCallId":"`+id+`","success":true}`)
}

// usesTool is the dialog of a server's tool. Its title may be over several rows.
func usesTool(args string, title ...string) *agent.Reading {
	side := func(text string) string {
		return "│" + text + strings.Repeat(" ", max(0, 78-len([]rune(text)))) + "│"
	}
	rows := []string{"╭" + strings.Repeat("─", 78) + "╮"}
	for _, row := range title {
		rows = append(rows, side(" "+row))
	}
	return shown(append(rows, side(" "+strings.Repeat("─", 76)), side(" ╭"+strings.Repeat("─", 74)+"╮"),
		side(" │ "+args+strings.Repeat(" ", 73-len(args))+"│"), side(" ╰"+strings.Repeat("─", 74)+"╯"), side(""), side(" Do you want to use this tool?"), side(""),
		side(" ❯ 1. Yes"), side("   2. No, and tell Copilot what to do differently (Esc to stop)"), side(""),
		side(" ↑/↓ to navigate · enter to select · esc to cancel"), "╰"+strings.Repeat("─", 78)+"╯")...)
}

// TestServersToolBelow: two tools of a server may have equal arguments. A dialog with one's title isn't that of the other one, which its prompt
// names.
func TestServersToolBelow(t *testing.T) {
	for _, c := range []struct {
		title string
		drawn []string
		named bool
	}{
		{"delete_all", []string{"read"}, true},
		{"delete_all", []string{"delete_all", "read"}, true},
		{"删除", []string{"读取"}, true},
		{"delete_all", []string{"delete_all"}, false},
		{"Delete all of the notes", []string{"Delete all of", "the notes"}, false},
		{"删除", []string{"删除"}, false},
	} {
		for _, args := range []string{`{"id":1}`, `{}`} {
			for _, both := range []bool{false, true} {
				s := newTalk(t)
				asks := func(id, tool, title string) {
					s.log("tool.execution_start", `{"toolCallId":"`+id+`","toolName":"`+tool+`","arguments":`+args+`}`)
					s.log("permission.requested", `{"permissionRequest":{"kind":"mcp","toolCallId":"`+id+`","serverName":"lab","toolName":"`+tool+`","toolTitle":"`+title+`","args":`+args+`,"readOnly":false}}`)
				}
				asks("a", "lab-delete_all", c.title)
				if both {
					asks("b", "lab-read", "read")
				}
				r := usesTool(args, c.drawn...)
				for range 12 {
					s.looks(r)
				}
				p, keyed := s.looks(r)
				if named := strings.Contains(agent.Value(p.Text), "of a call of lab-delete_all, with\n"+args); keyed && named != c.named || !keyed && !c.named {
					t.Errorf("%q below %q with %s, both %v: keys %v at %q", c.title, c.drawn, args, both, keyed, agent.Value(p.Text))
				}
			}
		}
	}
}

// TestServersTool: Copilot draws a server's tool by its title, and leaves characters out, also in the names of fields. The prompt's text
// has what the dialog doesn't draw, whether the log comes before the dialog or after it.
func TestServersTool(t *testing.T) {
	for _, c := range []struct{ title, args, says string }{
		{"ask", `{"dry_run":true}`, ""},
		{"ask", `{"dry_run\u200b":true}`, `\"args\":{\"dry_run\\u200b\":true}`},
		{"ask", `{"dry_run":"\u0085"}`, `\"args\":{\"dry_run\":\"\\u0085\"}`},
		{"look", `{"dry_run":true}`, `\"toolName\":\"lab-ask\"`},
	} {
		for _, first := range []string{"log", "dialog"} {
			s := newTalk(t)
			look := func() *agent.Request {
				for range 4 {
					s.now = s.now.Add(100 * time.Millisecond)
					s.f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: usesTool(`{"dry_run": true}`, c.title), Time: s.now})
				}
				return s.f.Status().Request
			}
			if first == "dialog" {
				look()
			}
			s.log("tool.execution_start", `{"toolCallId":"a","toolName":"lab-ask","arguments":`+c.args+`}`)
			s.log("permission.requested", `{"permissionRequest":{"kind":"mcp","toolCallId":"a","serverName":"lab","toolName":"lab-ask","toolTitle":"`+c.title+`","args":`+c.args+`,"readOnly":false}}`)
			p := look()
			if text := agent.Value(p.Text); !strings.Contains(text, c.says) || c.says == "" && (strings.Contains(text, "input:")) {
				t.Errorf("%s first, %s %s: %q", first, c.title, c.args, text)
			}
			s.log("tool.execution_start", `{"toolCallId":"b","toolName":"lab-ask","arguments":{"other":1}}`)
			s.log("permission.requested", `{"permissionRequest":{"kind":"mcp","toolCallId":"b","serverName":"lab","toolName":"lab-ask","toolTitle":"other","args":{"other":1},"readOnly":false}}`)
			if text := agent.Value(look().Text); strings.Contains(text, "may be that of a call with") || !strings.Contains(text, "of a call of lab-ask, with\n{\"other\":1}") {
				t.Errorf("%s: a call beside it with other arguments: %q", c.args, text)
			}
			s.log("tool.execution_start", `{"toolCallId":"c","toolName":"lab-ask","arguments":{"dry\u200c_run":true}}`)
			s.log("permission.requested", `{"permissionRequest":{"kind":"mcp","toolCallId":"c","serverName":"lab","toolName":"lab-ask","toolTitle":"ask","args":{"dry\u200c_run":true},"readOnly":false}}`)
			if text := agent.Value(look().Text); !strings.Contains(text, `dry\\u200c_run`) || c.says == "" && !strings.Contains(text, "may be that of a call that it draws whole") {
				t.Errorf("%s first, %s %s: a call that is drawn alike isn't named: %q", first, c.title, c.args, text)
			}
		}
	}
}

// TestOtherKinds: of a permission for neither a command, a change of a file nor a server's tool, the prompt has all that the log has.
func TestOtherKinds(t *testing.T) {
	facts, err := copilot.Driver{}.Log([]byte(`{"type":"permission.requested","data":{"permissionRequest":{"kind":"url","toolCallId":"a","url":"http://x/?a&b\u200b"}}}`))
	if err != nil || len(facts) != 1 || facts[0].Request == nil || facts[0].Request.FullInput != "{\"kind\":\"url\",\"url\":\"http://x/?a&b\\u200b\"}" {
		t.Errorf("%+v, %v", facts, err)
	}
}

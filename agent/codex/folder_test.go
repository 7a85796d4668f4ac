package codex_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/codex"
	"berth/detect"
)

// ask is the hook for ls in a folder, which waits under that id; "" reports without waiting.
func (s *seen) ask(t *testing.T, id, dir string) {
	t.Helper()
	for _, f := range hook(t, "PermissionRequest", `,"cwd":"`+dir+`","tool_name":"Bash","tool_input":{"command":"ls","description":"May I?"}`) {
		f.Hook, f.Time = id, s.now
		s.f.Apply(f)
	}
}

func (s *seen) release(id string) {
	s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: id, Time: s.now})
}

// asksInSomeFolder is the dialog of ls: it doesn't show the folder.
func asksInSomeFolder() *agent.Reading { return asksToRun("ls") }

func asksToRun(command string) *agent.Reading {
	return draw("  \x1b[1mWould you like to run the following command?\x1b[22m\n\n  Environment: local\n\n  Reason: May I?\n\n  $ "+command+"\n\n\n› 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel", -1, 0)
}

// TestFolderOfACommand: a hook reports the folder that a command would run in. The prompt shows it where
// it isn't the session's, and its digest covers it.
func TestFolderOfACommand(t *testing.T) {
	digests := map[string]string{}
	for dir, want := range map[string]string{"/w": "May I?", "/w/": "May I?", "/srv/more": "May I?\n\nworkdir: \"/srv/more\""} {
		s, r := newSeen(), asksInSomeFolder()
		s.ask(t, "7", dir)
		p := s.f.Status().Request
		if text(p.Text) != want {
			t.Errorf("in %s it asks %q, want %q", dir, text(p.Text), want)
		}
		if other := digests[p.Digest]; other != "" {
			t.Errorf("%s and %s have one digest", dir, other)
		}
		digests[p.Digest] = dir
		s.release("7")
		if now := s.show(r); now.ID != p.ID || text(now.Text) != want || !s.keyed(p.ID, r.Dialog) {
			t.Errorf("in %s, at its dialog, prompt %s is %+v", dir, p.ID, now)
		}
	}
}

// TestTwoFolders: two calls differ only in the folder, and the dialog doesn't show which of them it
// asks about.
func TestTwoFolders(t *testing.T) {
	s, r := newSeen(), asksInSomeFolder()
	s.ask(t, "7", "/srv/more")
	s.ask(t, "8", "/w")
	if n := len(s.f.Status().Requests); n != 2 {
		t.Fatalf("%d prompts", n)
	}
	s.release("7")
	s.release("8")
	s.show(r)
	for _, p := range s.f.Status().Requests {
		if s.keyed(p.ID, r.Dialog) {
			t.Errorf("a key answers %+v", p)
		}
	}
}

// TestFolderBesideADialog: where a dialog shows a hook's command in part, or may show another one, the
// prompt is the dialog as it is drawn, with the folder that the hook reported, before the dialog or after.
func TestFolderBesideADialog(t *testing.T) {
	const want = "May I?\n\nPermission rule: network" + noShell + noFolder + "\n\nworkdir: \"/srv/more\""
	r := draw("  \x1b[1mWould you like to run the following command?\x1b[22m\n\n  Reason: May I?\n\n  Permission rule: network\n\n  $ ls\n\n\n› 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel", -1, 0)
	s := newSeen()
	s.ask(t, "", "/srv/more")
	for range 6 {
		s.show(r)
	}
	if p := s.f.Status().Request; drawnText(p) != want || !s.keyed(p.ID, r.Dialog) {
		t.Errorf("it asks %+v", p)
	}
	s = newSeen()
	before := s.show(r)
	s.ask(t, "", "/srv/more")
	if p := s.show(r); drawnText(p) != want || p.ID == before.ID || !s.keyed(p.ID, r.Dialog) || s.keyed(before.ID, r.Dialog) {
		t.Errorf("reported after the dialog, prompt %s is %+v", before.ID, p)
	}
}

// TestFolderFromTheLog: the hook of another program decides about a call. Then only the session log
// reports the call.
func TestFolderFromTheLog(t *testing.T) {
	facts, err := codex.Driver{}.Log([]byte(`{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\",\"sandbox_permissions\":\"require_escalated\",\"justification\":\"May I?\",\"workdir\":\"/srv/more\"}","call_id":"k"}}`))
	if err != nil || len(facts) != 1 {
		t.Fatalf("%+v, %v", facts, err)
	}
	for dir, want := range map[string]string{"/w": `workdir: "/srv/more"`, "/srv/more": ""} {
		asked := facts[0].Request
		if lines := (codex.Driver{}).Undrawn("Bash", asked.Raw, dir); text(asked.Text) != "May I?" || lines != want {
			t.Errorf("in %s it asks %q, and %q isn't drawn", dir, text(asked.Text), lines)
		}
	}
}

// restart restores the session's fold from its checkpoint, as a new server does.
func (s *seen) restart(t *testing.T) {
	t.Helper()
	saved, err := s.f.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	if s.f, err = detect.Restore(codex.Driver{}, detect.Options{Dir: "/w"}, saved, s.now); err != nil {
		t.Fatal(err)
	}
}

// TestFolderOfTheLog: the session log reports the folder that a call would run in. Its dialog's prompt
// shows that folder, and no key answers a prompt that shows another one, such as a forged hook's.
func TestFolderOfTheLog(t *testing.T) {
	const want = "May I?\n\nworkdir: \"/srv/more\""
	facts, err := codex.Driver{}.Log([]byte(`{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\",\"sandbox_permissions\":\"require_escalated\",\"justification\":\"May I?\",\"workdir\":\"/srv/more\"}","call_id":"k"}}`))
	if err != nil || len(facts) != 1 {
		t.Fatalf("%+v, %v", facts, err)
	}
	for _, order := range []string{"ld", "dl", "lhd", "ldh", "hdl", "dhl", "lHd", "plhd", "pldh", "lsd", "lds", "sdl"} {
		s, r := newSeen(), asksInSomeFolder()
		s.f.Apply(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceLog, Turn: "t", Time: s.now})
		for _, step := range order {
			switch step {
			case 'p': // the call's start, by its hook
				for _, f := range hook(t, "PreToolUse", `,"cwd":"/srv/more","tool_name":"Bash","tool_use_id":"k","tool_input":{"command":"ls"}`) {
					f.Time = s.now
					s.f.Apply(f)
				}
			case 'l': // the log
				facts[0].Time = s.now
				s.f.Apply(facts[0])
			case 'h': // a forged hook
				s.ask(t, "", "/w")
			case 's': // a forged hook, as a subagent's
				for _, f := range hook(t, "PermissionRequest", `,"agent_id":"x","agent_type":"y","cwd":"/w","tool_name":"Bash","tool_input":{"command":"ls","description":"May I?"}`) {
					f.Time = s.now
					s.f.Apply(f)
				}
			case 'H': // the call's own hook
				s.ask(t, "", "/srv/more")
			case 'd': // the dialog
				s.show(r)
			}
		}
		s.restart(t)
		for range 6 {
			s.show(r)
		}
		keyed := 0
		for _, p := range s.f.Status().Requests {
			if s.keyed(p.ID, r.Dialog) {
				if keyed++; drawnText(p) != want {
					t.Errorf("%s: a key answers %q", order, text(p.Text))
				}
			}
		}
		if keyed == 0 && (order == "ld" || order == "lHd") {
			t.Errorf("%s: no key answers what the dialog and the log show: %+v", order, s.f.Status().Requests)
		}
	}
}

// TestFolderReportedLater: "blocked" can be forged. It opens a prompt of the call that runs, whose folder isn't
// reported yet. The hook that reports the folder asks something else.
func TestFolderReportedLater(t *testing.T) {
	for dir, same := range map[string]bool{"/w": true, "/srv/more": false} {
		s := newSeen()
		for _, f := range hook(t, "PreToolUse", `,"turn_id":"1","cwd":"`+dir+`","tool_name":"Bash","tool_use_id":"k","tool_input":{"command":"ls"}`) {
			f.Time = s.now
			s.f.Apply(f)
		}
		for _, f := range (codex.Driver{}).OSC(7501, "state=blocked:app=codex:kind=permission") {
			f.Time = s.now
			s.f.Apply(f)
		}
		s.now = s.now.Add(2 * time.Second)
		s.f.Tick(s.now)
		before := s.f.Status().Request
		for _, f := range hook(t, "PermissionRequest", `,"turn_id":"1","cwd":"`+dir+`","tool_name":"Bash","tool_input":{"command":"ls"}`) {
			f.Hook, f.Time = "7", s.now
			s.f.Apply(f)
		}
		p, held := s.f.HeldBy("7")
		if before == nil || !held || (p.ID == before.ID) != same {
			t.Errorf("in %s, after %+v, the hook waits (%v) for %+v", dir, before, held, p)
		}
	}
}

// TestForgottenFolder: any process of the session can report that a call is over whose dialog is still to come. The
// folder that the call's own hook, or the session log, has reported counts nevertheless.
func TestForgottenFolder(t *testing.T) {
	logged, err := codex.Driver{}.Log([]byte(`{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\",\"sandbox_permissions\":\"require_escalated\",\"justification\":\"May I?\",\"workdir\":\"/srv/more\"}","call_id":"k"}}`))
	if err != nil {
		t.Fatal(err)
	}
	const call = `,"tool_name":"Bash","tool_use_id":"k","tool_input":{"command":"ls"}`
	for _, over := range [][2]string{{"PreModelRequest", ""}, {"Stop", ""}, {"PostToolUse", call}} {
		for _, order := range []string{"lo", "loh", "lho", "lodh", "ho", "Ho", "Hoh", "Hodh", "lhdo"} {
			s, r := newSeen(), asksInSomeFolder()
			s.f.Apply(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceLog, Turn: "t", Time: s.now})
			for _, step := range order {
				switch step {
				case 'l':
					logged[0].Time = s.now
					s.f.Apply(logged[0])
				case 'H':
					s.ask(t, "", "/srv/more")
				case 'h': // a forged hook
					s.ask(t, "", "/w")
				case 'o':
					for _, f := range hook(t, over[0], over[1]) {
						f.Time = s.now
						s.f.Apply(f)
					}
				case 'd':
					s.show(r)
				}
			}
			s.restart(t)
			for range 12 {
				s.show(r)
			}
			keyed := false
			for _, p := range s.f.Status().Requests {
				if s.keyed(p.ID, r.Dialog) {
					if keyed = true; !strings.HasSuffix(text(p.Text), `workdir: "/srv/more"`) && order != "ho" {
						t.Errorf("%s, %s: a key answers %q", over[0], order, text(p.Text))
					}
				}
			}
			if !keyed && (order == "lo" || order == "ho") {
				t.Errorf("%s, %s: no key answers %+v", over[0], order, s.f.Status().Requests)
			}
		}
	}
}

// TestFolderOfAnyCall: the session log has the folder of a call that doesn't ask to run outside the sandbox, too. Codex
// may ask about it, and another process may have replaced its hook.
func TestFolderOfAnyCall(t *testing.T) {
	for _, c := range []struct{ workdir, told, want string }{ // want is the text of the prompt that a key answers; "-": none does
		{"/srv/more", "/w", "-"},
		{"/srv/more", "/srv/more", "May I?\n\nworkdir: \"/srv/more\""},
		{"sub/", "/w/sub", "May I?\n\nworkdir: \"/w/sub\""},
		{"sub", "/w", "-"},
		{".", "/w", "May I?"},
		{"", "/w", "May I?"},
		{"", "/srv/more", "-"},
		{"/srv/more", "", "May I?\n\nworkdir: \"/srv/more\""},
	} {
		logged, err := codex.Driver{}.Log([]byte(`{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\",\"workdir\":\"` + c.workdir + `\"}","call_id":"k"}}`))
		if err != nil {
			t.Fatal(err)
		}
		s, r := newSeen(), asksInSomeFolder()
		s.f.Apply(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceLog, Turn: "t", Time: s.now})
		logged[0].Time = s.now
		s.f.Apply(logged[0])
		if c.told != "" {
			s.ask(t, "", c.told)
		}
		for range 8 {
			s.show(r)
		}
		got := "-"
		for _, p := range s.f.Status().Requests {
			if s.keyed(p.ID, r.Dialog) {
				got = drawnText(p)
			}
		}
		if got != c.want {
			t.Errorf("in %q, reported in %q: a key answers %q", c.workdir, c.told, got)
		}
	}
}

// TestCommandTwice: an agent runs a command twice in a turn, and asks each time. A key answers each dialog, whatever
// the folders are. The second prompt names the first folder too, unless Berth's key has allowed the first call.
func TestCommandTwice(t *testing.T) {
	const both = "%v in %q, then in %q: of call %d a key answers (%v) %q"
	works := draw("• Working (3s • esc to interrupt)\n\n› \n\n  ? for shortcuts", 2, 2)
	for _, dirs := range [][2]string{{"/w", "/w"}, {"/srv", "/srv"}, {"/w", "/srv"}, {"/srv", "/w"}} {
		for _, allowed := range []bool{true, false} {
			s, r := newSeen(), asksInSomeFolder()
			s.f.Apply(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceHook, Turn: "t", Time: s.now})
			for i, dir := range dirs {
				fields := `,"cwd":"` + dir + `","tool_name":"Bash","tool_use_id":"` + strconv.Itoa(i) + `","tool_input":{"command":"ls"}`
				logged, err := codex.Driver{}.Log([]byte(`{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\",\"sandbox_permissions\":\"require_escalated\",\"justification\":\"May I?\",\"workdir\":\"` + dir + `\"}","call_id":"` + strconv.Itoa(i) + `"}}`))
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range append(logged, hook(t, "PreToolUse", fields)...) {
					f.Time = s.now
					s.f.Apply(f)
				}
				s.ask(t, "7", dir)
				s.release("7")
				p := s.show(r)
				several := strings.Contains(text(p.Text), "The dialog may be that of a call ")
				if keyed := s.keyed(p.ID, r.Dialog); !keyed || several != (!allowed && i == 1 && dirs[0] != dirs[1]) {
					t.Errorf(both, allowed, dirs[0], dirs[1], i, keyed, text(p.Text))
				}
				if allowed {
					s.f.Answered(p.ID, true)
				}
				s.show(works)
				for _, f := range hook(t, "PostToolUse", fields) {
					f.Time = s.now
					s.f.Apply(f)
				}
			}
		}
	}
}

// TestFolderOfASubagentsCommand: the session log doesn't have a subagent's calls. Another process can end the hook that asks, so
// the folder is in the prompt's text from the call's first hook. A command of the main agent in another folder is named too.
func TestFolderOfASubagentsCommand(t *testing.T) {
	for _, both := range []bool{false, true} {
		s := newRun(t)
		if both {
			s.calls("1", "/w")
		}
		s.event("PreToolUse", `,"agent_id":"x","agent_type":"y","cwd":"/etc","tool_name":"Bash","tool_use_id":"2","tool_input":{"command":"ls"}`)
		s.dialog()
		if all := s.answerable(); len(all) != 1 || !strings.Contains(all[0], `workdir: "/etc"`) || both != strings.Contains(all[0], "draws whole") {
			t.Errorf("with another call %v a key answers %q", both, all)
		}
	}
}

// TestAnswerBeforeAnEqualCall: the server is killed while a dialog is on the screen. The next one reads that it was answered, and sees
// the dialog of an equal call, which looks the same. That one isn't answered, so its folder isn't forgotten when another process covers
// it and reports the turn's end.
func TestAnswerBeforeAnEqualCall(t *testing.T) {
	s := newRun(t)
	s.calls("1", "/srv")
	s.requests("7", "/srv")
	s.apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: "7"})
	p := s.dialog()
	saved, err := s.f.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	if s.f, err = detect.Restore(codex.Driver{}, detect.Options{Dir: "/w"}, saved, s.now); err != nil {
		t.Fatal(err)
	}
	s.f.Freeze()
	s.f.Answered(p.ID, true)
	s.ends("1")
	s.now = s.now.Add(6 * time.Second)
	s.calls("2", "/srv")
	s.apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: s.asks})
	s.f.Thaw(s.now)
	for range 20 {
		s.show(s.rests)
		s.event("Stop", "")
	}
	s.dialog()
	if all := s.answerable(); len(all) != 1 || !strings.Contains(all[0], `workdir: "/srv"`) {
		t.Errorf("a key answers %q", all)
	}
}

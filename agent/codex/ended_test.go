package codex_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/codex"
)

// run is a session in /w that is played step by step. Each command is ls.
type run struct {
	*seen
	t     *testing.T
	turn  string
	works *agent.Reading
	rests *agent.Reading
	asks  *agent.Reading
}

func newRun(t *testing.T) *run {
	s := &run{seen: newSeen(), t: t, turn: "t", asks: asksInSomeFolder()}
	s.works, s.rests = draw(work+"\n\n"+hint+footer, 2, 2), draw(hint+footer, 0, 2)
	s.f.Apply(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceHook, Turn: "t", Time: s.now})
	return s
}

func (s *run) apply(facts ...agent.Fact) {
	for _, f := range facts {
		f.Time = s.now
		s.f.Apply(f)
	}
}

func (s *run) event(name, fields string) {
	s.apply(hook(s.t, name, `,"turn_id":"`+s.turn+`"`+fields)...)
}

func (s *run) line(payload string) {
	s.t.Helper()
	facts, err := codex.Driver{}.Log([]byte(`{"type":"response_item","payload":` + payload + `}`))
	if err != nil {
		s.t.Fatal(err)
	}
	s.apply(facts...)
}

// message begins the next turn.
func (s *run) message() {
	s.turn += "t"
	s.event("UserPromptSubmit", `,"prompt":"go on"`)
}

// nextTurn ends the turn, rests for some seconds, and begins the next one.
func (s *run) nextTurn() {
	s.event("Stop", "")
	for range 20 {
		s.show(s.rests)
	}
	s.message()
}

// requests is the hook of a call in a folder, which waits under that id.
func (s *run) requests(id, dir string) {
	for _, f := range hook(s.t, "PermissionRequest", `,"turn_id":"`+s.turn+`","cwd":"`+dir+`","tool_name":"Bash","tool_input":{"command":"ls","description":"May I?"}`) {
		f.Hook = id
		s.apply(f)
	}
}

// calls is the call in a folder, by the session log and by its hook.
func (s *run) calls(id, dir string) {
	s.logs(id, dir)
	s.event("PreToolUse", `,"cwd":"`+dir+`","tool_name":"Bash","tool_use_id":"`+id+`","tool_input":{"command":"ls"}`)
}

func (s *run) logs(id, dir string) {
	at := `,\"workdir\":\"` + dir + `\"`
	if dir == "/w" {
		at = ""
	}
	s.line(`{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\",\"sandbox_permissions\":\"require_escalated\",\"justification\":\"May I?\"` + at + `}","call_id":"` + id + `"}`)
}

// ends is the call's end, by its hook and by the session log.
func (s *run) ends(id string) {
	s.event("PostToolUse", `,"tool_name":"Bash","tool_use_id":"`+id+`","tool_input":{"command":"ls"}`)
	s.line(`{"type":"function_call_output","call_id":"` + id + `"}`)
}

// dialog is the dialog of a call whose hook has been released, or ended.
func (s *run) dialog() (p *agent.Request) {
	for range 4 {
		p = s.show(s.asks)
	}
	return p
}

// answerable are the texts of the prompts that a key answers, below the model's reason.
func (s *run) answerable() (all []string) {
	for _, p := range s.f.Status().Requests {
		if s.keyed(p.ID, s.asks.Dialog) {
			all = append(all, strings.TrimPrefix(drawnText(p), "May I?"))
		}
	}
	return all
}

const (
	inSrv   = "\n\nworkdir: \"/srv\""
	orInSrv = "\n\nThe dialog may be that of a call with\nworkdir: \"/srv\""
	orInDir = "\n\nThe dialog may be that of a call that it draws whole, in the session's folder."
)

// ends are the reports that end a call, and any process of the session can make each.
var ends = map[string]func(*run){
	"Stop":             func(s *run) { s.event("Stop", "") },
	"Interrupt":        func(s *run) { s.event("Interrupt", "") },
	"PreModelRequest":  func(s *run) { s.event("PreModelRequest", "") },
	"PostToolUse":      func(s *run) { s.ends("a") },
	"the next message": (*run).message,
	"turn_aborted": func(s *run) {
		s.apply(agent.Fact{Kind: agent.TurnEnded, How: agent.Interrupted, Source: agent.SourceLog})
	},
}

// TestEndThatTheScreenContradicts: a call in the session's folder asks at its dialog. Another process of the session reports
// that it is over, and then the same command in another folder. No dialog shows the folder, so a key answers only a prompt
// that names both. That holds with the dialog covered for a moment, or until the agent seems to rest.
func TestEndThatTheScreenContradicts(t *testing.T) {
	for name, over := range ends {
		for _, order := range []string{"cdof", "cdofr", "cofd", "cdvof", "cdvofr", "cdovf", "codf", "cdolf", "cdvolf", "colfd", "cdbof", "cdobf", "cdvobf", "cdobrlf", "cdob", "c4dof", "cdo4bf", "cdovcobf"} {
			s := newRun(t)
			for _, step := range order {
				switch step {
				case 'c':
					s.logs("a", "/w")
				case 'd':
					s.dialog()
				case 'v': // the dialog is covered for a moment
					s.show(s.works)
				case 'b': // the dialog is covered by an empty composer
					for range 20 {
						s.show(s.rests)
					}
				case 'o':
					over(s)
				case 'l': // a forged line of the log
					s.logs("b", "/srv")
				case 'f': // a forged hook
					s.ask(t, "", "/srv")
				case '4': // many other calls that are over
					for i := range 400 {
						s.line(`{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"echo ` + strconv.Itoa(i) + `\",\"workdir\":\"/` + strconv.Itoa(i%2) + `\"}","call_id":"x"}`)
						s.line(`{"type":"function_call_output","call_id":"x"}`)
					}
				case 'r':
					s.restart(t)
				}
			}
			for range 12 {
				s.dialog()
			}
			for _, text := range s.answerable() {
				if strings.Contains(text, "/srv") && !strings.HasSuffix(text, orInDir) && !strings.HasSuffix(text, orInDir+orInSrv) {
					t.Errorf("%s, %s: a key answers %q", name, order, text)
				}
			}
		}
	}
}

// TestForgedBesideACall: a call in the session's folder, or in another one, asks at its dialog, whose hook was ended. A forged
// hook for another tool waits and says as little of its folder. That changes nothing of what the dialog may be about.
func TestForgedBesideACall(t *testing.T) {
	for own, other := range map[string]string{"/w": "/srv", "/srv": "/w"} {
		for _, order := range []string{"chfd", "cdhf", "cfhd"} {
			s := newRun(t)
			for _, step := range order {
				switch step {
				case 'c':
					s.calls("a", own)
				case 'd':
					s.dialog()
				case 'f':
					s.ask(t, "", other)
				case 'h':
					for _, f := range hook(t, "PermissionRequest", `,"cwd":"`+own+`","tool_name":"mcp__files__list","tool_input":{"command":"ls"}`) {
						f.Hook = "8"
						s.apply(f)
					}
				}
			}
			for range 12 {
				s.dialog()
			}
			for _, text := range s.answerable() {
				if (text == "") != (own == "/w") {
					t.Errorf("%s, of a call in %s: a key answers %q", order, own, text)
				}
			}
		}
	}
}

// TestSeenInOneOfTwoFolders: no hook reports a dialog, and the log has a call in another folder that is over. The prompt
// doesn't say that the dialog is that one's.
func TestSeenInOneOfTwoFolders(t *testing.T) {
	for _, order := range []string{"xcd", "cxd", "cdx", "xdc"} {
		s := newRun(t)
		for _, step := range order {
			switch step {
			case 'c':
				s.logs("a", "/w")
			case 'd':
				s.dialog()
			case 'x': // forged lines
				s.logs("b", "/srv")
				s.line(`{"type":"function_call_output","call_id":"b"}`)
			}
		}
		for range 12 {
			s.dialog()
		}
		all := s.answerable()
		if len(all) != 1 || !strings.HasSuffix(all[0], orInDir) && !strings.HasSuffix(all[0], orInDir+orInSrv) {
			t.Errorf("%s: a key answers %q", order, all)
		}
	}
}

// TestAllowedOneOfSeveral: a key of Berth has allowed one of two calls, and it isn't known which. So either may still ask.
func TestAllowedOneOfSeveral(t *testing.T) {
	s := newRun(t)
	s.logs("a", "/w")
	s.dialog()
	s.ends("a") // forged
	s.calls("b", "/srv")
	s.requests("", "/srv")
	s.f.Answered(s.dialog().ID, true) // it is the dialog of a
	s.show(s.works)
	s.ends("b") // forged
	s.requests("", "/w")
	for range 12 {
		s.dialog()
	}
	if all := s.answerable(); !slices.Equal(all, []string{orInSrv}) {
		t.Errorf("a key answers %q", all)
	}
}

// TestHonestFolders: the agent asks for one command in two folders, one after the other, and each is answered. A key answers
// each dialog, and a hook that waits takes the answer to its own call. A prompt names both folders only where the first call
// may still ask.
func TestHonestFolders(t *testing.T) {
	answers := map[string]func(s *run, p *agent.Request){
		"a key of Berth": func(s *run, p *agent.Request) { s.f.Answered(p.ID, true) },
		"the terminal":   func(s *run, _ *agent.Request) { s.f.Typed(s.now) },
	}
	overs := map[string]func(*run){
		"its end":         func(s *run) { s.show(s.works); s.ends("a") },
		"its end, early":  func(s *run) { s.ends("a"); s.show(s.works) },
		"an interrupt":    func(s *run) { s.show(s.works); s.event("Interrupt", ""); s.message() },
		"a fast Stop":     func(s *run) { s.event("Stop", ""); s.show(s.rests); s.message() },
		"another message": func(s *run) { s.show(s.works); s.message() },
		"rest, and a message": func(s *run) {
			s.show(s.works)
			s.ends("a")
			s.nextTurn()
		},
	}
	for _, dirs := range [][2]string{{"/w", "/w"}, {"/srv", "/srv"}, {"/w", "/srv"}, {"/srv", "/w"}} {
		for by, answer := range answers {
			for name, over := range overs {
				s := newRun(t)
				s.calls("a", dirs[0])
				s.requests("7", dirs[0])
				s.release("7") // a person attaches
				p := s.dialog()
				if all := s.answerable(); len(all) != 1 {
					t.Fatalf("in %s a key answers %q", dirs[0], all)
				}
				answer(s, p)
				over(s)
				s.calls("b", dirs[1])
				s.requests("8", dirs[1])
				if held, ok := s.f.HeldBy("8"); !ok || strings.Contains(text(held.Text), "may be") || held.Contested {
					t.Errorf("%q, by %s, %s: the hook waits for %+v", dirs, by, name, held)
				}
				s.release("8")
				for range 12 {
					s.dialog()
				}
				own := map[string]string{"/w": "", "/srv": inSrv}[dirs[1]]
				several := own + map[string]string{"/w": orInDir, "/srv": orInSrv}[dirs[0]]
				if dirs[0] == dirs[1] || by == "a key of Berth" || strings.HasPrefix(name, "rest") {
					several = own
				}
				if all := s.answerable(); !slices.Equal(all, []string{several}) {
					t.Errorf("%q, by %s, %s: a key answers %q, want %q", dirs, by, name, all, several)
				}
			}
		}
	}
}

// TestHonestFoldersByHook: the same with answers by the hooks alone, which no dialog follows, and in parallel.
func TestHonestFoldersByHook(t *testing.T) {
	for _, parallel := range []bool{false, true} {
		s := newRun(t)
		for i, dir := range []string{"/w", "/srv", "/w/sub"} {
			id := strconv.Itoa(i)
			s.calls(id, dir)
			s.requests(id, dir)
			if held, ok := s.f.HeldBy(id); !ok || held.Contested || held.Channel != agent.ChannelHook || text(held.Text) != "May I?"+map[string]string{"/srv": inSrv, "/w/sub": "\n\nworkdir: \"/w/sub\""}[dir] {
				t.Errorf("in %s the hook waits for %+v", dir, held)
			}
			if !parallel {
				s.apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: id})
				s.ends(id)
			}
		}
	}
}

// TestManyCallsAreOver: in a long turn calls have no room. A key still answers the next dialog, whose prompt names the
// session's folder.
func TestManyCallsAreOver(t *testing.T) {
	s := newRun(t)
	for i := range 2000 {
		s.line(`{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"echo ` + strconv.Itoa(i) + `\"}","call_id":"x"}`)
		s.line(`{"type":"function_call_output","call_id":"x"}`)
	}
	s.calls("b", "/srv")
	s.requests("8", "/srv")
	s.release("8")
	p := s.dialog()
	if all := s.answerable(); !slices.Equal(all, []string{inSrv + orInDir}) {
		t.Errorf("a key answers %q", all)
	}
	s.f.Answered(p.ID, true)
	s.show(s.works)
	s.ends("b")
	s.nextTurn()
	s.calls("c", "/srv")
	s.requests("", "/srv")
	s.dialog()
	if all := s.answerable(); !slices.Equal(all, []string{inSrv}) {
		t.Errorf("after a rest a key answers %q", all)
	}
}

// TestFolderAfterAnAllowedCall: Berth's key has allowed a command in the session's folder, and the agent asks for it in another
// one, with or without a moment between the dialogs. Its own hook was ended, or came, and another process sends hooks. No key
// answers it before its folder is shown.
func TestFolderAfterAnAllowedCall(t *testing.T) {
	keyed := 0
	for _, seen := range []bool{true, false} {
		for _, order := range []string{"nd", "gnd", "gdn", "dn", "gnhd", "gndh", "nhd", "gnohd", "gnodh", "nohd", "gbnhd", "gnHd", "nHd", "gnHohd", "end", "gend", "egnohd", "ngd", "eghnd", "dnohd"} {
			s := newRun(t)
			s.calls("a", "/w")
			if !seen {
				s.requests("", "/w")
			}
			p := s.dialog()
			if all := s.answerable(); !slices.Equal(all, []string{""}) {
				t.Fatalf("a key answers %q", all)
			}
			s.f.Answered(p.ID, true)
			for i, step := range order {
				switch step {
				case 'g': // a gap
					s.show(s.works)
				case 'e':
					s.ends("a")
				case 'b': // a moment's rest
					s.show(s.rests)
				case 'n':
					s.logs("b", "/srv")
				case 'H':
					s.requests("", "/srv")
				case 'h':
					s.requests("", "/w")
				case 'o':
					s.ends("b")
					s.event("PreModelRequest", "")
				case 'd':
					for range 8 {
						s.dialog()
					}
				}
				if !strings.Contains(order[:i+1], "n") || !strings.Contains(order[:i+1], "d") {
					continue
				}
				for _, text := range s.answerable() {
					if keyed++; !strings.Contains(text, "/srv") {
						t.Errorf("%s, seen %v: a key answers %q", order, seen, text)
					}
				}
			}
		}
	}
	if keyed == 0 {
		t.Error("no key answers any")
	}
}

package codex_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/codex"
)

const (
	inSh     = "\n\nshell: \"sh\""
	orInSh   = "\n\nThe dialog may be that of a call with\nshell: \"sh\""
	inDash   = `,\"shell\":\"sh\"`
	askFirst = `,\"sandbox_permissions\":\"require_escalated\",\"justification\":\"May I?\"`
)

// callsWith is a call of ls with these fields in the session log, and its hook, which has none of them.
func (s *run) callsWith(id, fields string) {
	s.line(`{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"` + askFirst + fields + `}","call_id":"` + id + `"}`)
	s.event("PreToolUse", `,"cwd":"/w","tool_name":"Bash","tool_use_id":"`+id+`","tool_input":{"command":"ls"}`)
}

// held is the text of the prompt whose hook waits, below the model's reason.
func (s *run) held(id string) string {
	p, ok := s.f.HeldBy(id)
	if !ok {
		return "no prompt"
	}
	return strings.TrimPrefix(text(p.Text), "May I?")
}

// TestShellOfACommand: the model chooses a command's shell, and only the session log has it. The prompt shows it while its hook
// waits, at its dialog, and where no hook reports it. What is as usual isn't shown.
func TestShellOfACommand(t *testing.T) {
	for fields, want := range map[string]string{
		"":     "",
		inDash: inSh,
		`,\"shell\":null,\"login\":null,\"tty\":false`: "",
		`,\"login\":true`:                               "",
		`,\"login\":false,\"tty\":true`:                 "\n\nlogin: false\ntty: true",
		inDash + `,\"SHELL\":\"bash\"`:                  inSh,
		`,\"shell\":\"\"`:                               "\n\nshell: \"\"",
		`,\"workdir\":\"/w\",\"shell\":\"b\u200bash\"`:  "\n\nshell: \"b\\u200bash\"",
		`,\"shell\":\"sh\\nworkdir: x\"`:                "\n\nshell: \"sh\\nworkdir: x\"",
		inDash + `,\"yield_time_ms\":1,\"login\":false`: inSh + "\nlogin: false",
	} {
		s := newRun(t)
		s.callsWith("a", fields)
		s.requests("7", "/w")
		if got := s.held("7"); got != want {
			t.Errorf("%s: the hook waits for %q", fields, got)
		}
		s.restart(t)
		s.release("7")
		s.dialog()
		if all := s.answerable(); !slices.Equal(all, []string{want}) {
			t.Errorf("%s: at its dialog a key answers %q", fields, all)
		}
		s = newRun(t)
		s.callsWith("a", fields)
		s.dialog()
		if all := s.answerable(); !slices.Equal(all, []string{want}) {
			t.Errorf("%s: without the hook a key answers %q", fields, all)
		}
	}
}

const (
	ofSub   = `,"agent_id":"x","agent_type":"y","cwd":"/w","tool_name":"Bash"`
	unknown = "\nshell: chosen by the subagent, and not known here"
)

// subRequests is the hook of a subagent's call of ls, which waits under that id.
func (s *run) subRequests(id string) {
	for _, f := range hook(s.t, "PermissionRequest", `,"turn_id":"`+s.turn+`"`+ofSub+`,"tool_input":{"command":"ls","description":"May I?"}`) {
		f.Hook = id
		s.apply(f)
	}
}

// inThread is the dialog with this row above, as Codex draws it for another thread than the one on the screen.
func inThread(name string) *agent.Reading {
	return draw("  \x1b[1mWould you like to run the following command?\x1b[22m\n\n  Thread: "+name+"\n\n  Environment: local\n\n  Reason: May I?\n\n  $ ls\n\n\n› 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel or o to open thread", -1, 0)
}

// TestShellOfASubagent: the log of a subagent isn't read. Its command's prompt says that the shell isn't known, and that nothing confirms
// the hook's folder, also once the hook is gone, at the dialog in its own thread and in that of the main agent.
func TestShellOfASubagent(t *testing.T) {
	for _, name := range []string{"", "Agent (315f90306526)", "Agent\n  (315f90306526)"} {
		s := newRun(t)
		if name != "" {
			s.asks = inThread(name)
		}
		s.event("PreToolUse", ofSub+`,"tool_use_id":"2","tool_input":{"command":"ls"}`)
		s.subRequests("7")
		if got := s.held("7"); got != unknown+hookFolder {
			t.Errorf("the hook waits for %q", got)
		}
		told := s.f.Status().Request.ID
		s.release("7")
		p := s.dialog()
		if all := s.answerable(); !slices.Equal(all, []string{unknown + hookFolder}) || p.ID != told {
			t.Errorf("in the thread %q a key answers %q", name, all)
		}
	}
}

// TestShellInAnotherThread: no hook reports the call of another thread's dialog, or only an equal call of the main agent. Its prompt says
// that neither the shell nor the folder is known. A reason with such a row makes no thread.
func TestShellInAnotherThread(t *testing.T) {
	for name, before := range map[string]func(s *run){
		"no hook":             func(s *run) {},
		"the call":            func(s *run) { s.event("PreToolUse", ofSub+`,"tool_use_id":"2","tool_input":{"command":"ls"}`) },
		"the main agent's":    func(s *run) { s.calls("a", "/w"); s.requests("7", "/w"); s.release("7") },
		"the main agent's sh": func(s *run) { s.callsWith("a", inDash); s.requests("7", "/w"); s.release("7") },
	} {
		s := newRun(t)
		s.asks = inThread("Agent (315f90306526)")
		before(s)
		for range 4 {
			s.dialog()
		}
		if all := s.answerable(); len(all) != 1 || !strings.Contains(all[0], "\n"+unknown+noFolder) {
			t.Errorf("%s: a key answers %q", name, all)
		}
	}
	forged := draw("  \x1b[1mWould you like to run the following command?\x1b[22m\n\n  Environment: local\n\n  Reason: So:\n\n  Thread: Agent (1)\n\n  $ ls\n\n\n› 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel", -1, 0).Dialog
	for reason, want := range map[string]agent.Match{`So:\n\nThread: Agent (1)`: agent.WholeMatch, "": agent.PartMatch} {
		p := hook(t, "PermissionRequest", `,"cwd":"/w","tool_name":"Bash","tool_input":{"command":"ls","description":"`+reason+`"}`)[0].Request
		if got := (codex.Driver{}).Match(forged, p); got != want {
			t.Errorf("the reason %q: %v, want %v", reason, got, want)
		}
	}
}

// TestShellBesideAFolder: a prompt shows both.
func TestShellBesideAFolder(t *testing.T) {
	s := newRun(t)
	s.callsWith("a", `,\"workdir\":\"/srv\"`+inDash)
	s.requests("7", "/srv")
	if got := s.held("7"); got != inSrv+"\nshell: \"sh\"" {
		t.Errorf("the hook waits for %q", got)
	}
	s.release("7")
	s.dialog()
	if all := s.answerable(); !slices.Equal(all, []string{inSrv + "\nshell: \"sh\""}) {
		t.Errorf("a key answers %q", all)
	}
}

// TestTwoShells: two calls differ only in the shell, and no hook says which of them it asks about. Each prompt names both.
func TestTwoShells(t *testing.T) {
	for _, order := range []string{"ab", "ba"} {
		s := newRun(t)
		for _, id := range order {
			s.callsWith(string(id), map[rune]string{'a': "", 'b': inDash}[id])
		}
		s.requests("7", "/w")
		s.requests("8", "/w")
		want := []string{inSh + orInDir, orInSh}
		if order == "ab" {
			slices.Reverse(want)
		}
		if got := []string{s.held("7"), s.held("8")}; !slices.Equal(got, want) {
			t.Errorf("%s: the hooks wait for %q", order, got)
		}
		s.release("7")
		s.release("8")
		for _, text := range s.stays() {
			if !strings.Contains(text, "shell") {
				t.Errorf("%s: a key answers %q", order, text)
			}
		}
	}
}

// TestShellInAnyOrder: the log is later than the hook, or another process reports that the call is over, or an equal call
// in the usual shell. Neither an answer by hook nor a key allows the call with a text that doesn't name its shell.
func TestShellInAnyOrder(t *testing.T) {
	for _, order := range []string{"lh", "hl", "loh", "hlo", "lohr", "olh", "lfh", "flh", "lfoh", "loflh", "hfl", "hlr", "plh", "phl"} {
		s, before := newRun(t), ""
		for _, step := range order {
			switch step {
			case 'l':
				s.callsWith("a", inDash)
			case 'p': // the call's hook, before the log
				s.event("PreToolUse", `,"cwd":"/w","tool_name":"Bash","tool_use_id":"a","tool_input":{"command":"ls"}`)
			case 'f': // a forged line
				s.callsWith("a", "")
			case 'o':
				s.ends("a")
			case 'h':
				s.requests("7", "/w")
				p, _ := s.f.HeldBy("7")
				before = p.ID
			case 'r':
				s.restart(t)
			}
		}
		p, ok := s.f.HeldBy("7")
		if got := s.held("7"); ok && !strings.Contains(got, `shell: "sh"`) || strings.Index(order, "l") > strings.Index(order, "h") && p != nil && p.ID == before {
			t.Errorf("%s: the hook waits for %q", order, got)
		}
		if !ok && !strings.Contains(order, "o") {
			t.Errorf("%s: no prompt has the hook", order)
		}
		s.release("7")
		for _, text := range s.stays() {
			if !strings.Contains(text, `shell: "sh"`) {
				t.Errorf("%s: a key answers %q", order, text)
			}
		}
	}
}

// TestShellAfterAnother: an agent runs a command in one shell, and then in another. A key answers each dialog.
func TestShellAfterAnother(t *testing.T) {
	for _, first := range []string{"", inDash} {
		s := newRun(t)
		for i, fields := range []string{first, map[string]string{"": inDash, inDash: ""}[first]} {
			id := string(rune('a' + i))
			s.callsWith(id, fields)
			s.requests("7", "/w")
			s.release("7")
			p := s.dialog()
			if all := s.answerable(); !slices.Equal(all, []string{map[string]string{"": "", inDash: inSh}[fields]}) {
				t.Errorf("call %d with %q: a key answers %q", i, fields, all)
			}
			s.f.Answered(p.ID, true)
			s.show(s.works)
			s.ends(id)
		}
	}
}

// TestManyShells: with more variants of a command than a prompt names, no hook waits for it.
func TestManyShells(t *testing.T) {
	s := newRun(t)
	for i := range 20 {
		s.callsWith(string(rune('a'+i)), `,\"shell\":\"sh`+strings.Repeat("h", i)+`\"`)
	}
	s.requests("7", "/w")
	if s.f.Holds("7") {
		t.Error("the hook waits")
	}
}

// TestShellWithoutRoom: another process has so many calls reported that the true one has no room. The prompt says that it may be
// about such a call.
func TestShellWithoutRoom(t *testing.T) {
	for fields, want := range map[string]string{inDash: "no room to keep", "": orInDir} {
		s := newRun(t)
		s.callsWith("a", fields)
		if fields == "" {
			s.callsWith("b", inDash)
		}
		s.ends("a")
		for i := range 700 {
			s.line(`{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"echo ` + strconv.Itoa(i) + `\"` + strings.Replace(fields, "sh\\", "zsh\\", 1) + `}","call_id":"x"}`)
			s.line(`{"type":"function_call_output","call_id":"x"}`)
		}
		s.requests("7", "/w")
		if got := s.held("7"); !strings.Contains(got, want) {
			t.Errorf("%q: the hook waits for %q", fields, got)
		}
	}
}

// TestShellOfAPatch: no shell runs a patch, so its prompt doesn't name one.
func TestShellOfAPatch(t *testing.T) {
	const patch = `*** Begin Patch\n*** Add File: x\n+a\n*** End Patch`
	s := newRun(t)
	s.line(`{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"apply_patch <<'EOF'\\n` + strings.ReplaceAll(patch, `\n`, `\\n`) + `\\nEOF\"` + inDash + `}","call_id":"a"}`)
	s.event("PreToolUse", `,"cwd":"/w","tool_name":"Bash","tool_use_id":"a","tool_input":{"command":"apply_patch <<'EOF'\n`+patch+`\nEOF"}`)
	for _, f := range hook(t, "PermissionRequest", `,"cwd":"/w","tool_name":"apply_patch","tool_input":{"command":"`+patch+`"}`) {
		f.Hook = "7"
		s.apply(f)
	}
	if p, ok := s.f.HeldBy("7"); !ok || agent.Value(p.Text) != replaces {
		t.Errorf("the hook waits for %+v", p)
	}
}

// TestShellOfALongCall: the call's line in the session log is too long to be read, or no entry because another process has written
// the start of it. The prompt says that it may be about such a call, until the agent rests. Keys answer its dialog, and it stays one
// prompt.
func TestShellOfALongCall(t *testing.T) {
	const want = "The dialog may be that of a call that Berth had no room to keep"
	for _, order := range []string{"ph", "pxh", "pxhr", "phx", "pyh", "phy", "pxrh", "plxh", "phxr", "px", "x", "xl"} {
		s := newRun(t)
		for _, step := range order {
			switch step {
			case 'l': // an equal call in the usual shell
				s.callsWith("b", "")
			case 'p':
				s.event("PreToolUse", `,"cwd":"/w","tool_name":"Bash","tool_use_id":"a","tool_input":{"command":"ls"}`)
			case 'x':
				s.f.Skipped(s.now)
			case 'y':
				s.f.Unread(s.now)
			case 'h':
				s.requests("7", "/w")
			case 'r':
				s.restart(t)
			}
		}
		says := strings.ContainsAny(order, "xy")
		if got := s.held("7"); strings.Contains(order, "h") && strings.Contains(got, want) != says {
			t.Errorf("%s: the hook waits for %q", order, got)
		}
		s.release("7")
		p := s.dialog()
		all := s.answerable()
		if len(all) != 1 || strings.Count(all[0], want) != strings.Count(order, "x")+strings.Count(order, "y") {
			t.Errorf("%s: a key answers %q", order, all)
		}
		s.stays()
		if now := s.f.Status().Requests; len(now) != 1 || now[0].ID != p.ID {
			t.Errorf("%s: prompt %s became %+v", order, p.ID, now)
		}
		s.f.Answered(p.ID, true)
		s.show(s.works)
		s.ends("a")
		s.nextTurn()
		s.callsWith("c", "")
		s.requests("8", "/w")
		if got := s.held("8"); got != "" {
			t.Errorf("%s: after a rest a hook waits for %q", order, got)
		}
	}
}

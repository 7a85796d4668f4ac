package codex_test

import (
	"slices"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/codex"
)

const (
	noShell    = "\n\nshell: not known here, because Berth has read no call of this command in a session log"
	noFolder   = "\nworkdir: not known here, because no hook has reported this dialog"
	hookFolder = "\nworkdir: reported by a hook alone, which another process can have sent"
)

// logged names the command of the log, whose dialog may be below.
func logged(more string) string {
	return "\n\nThe dialog may be that of a call of Bash, with\n{\"command\":\"ls\"," + more + "}"
}

// asksFor is the hook of a command, which waits as 7. read: the session log was read up to that hook.
func (s *run) asksFor(command string, read bool) {
	for _, f := range hook(s.t, "PermissionRequest", `,"turn_id":"`+s.turn+`","cwd":"/srv","tool_name":"Bash","tool_input":{"command":"`+command+`","description":"May I?"}`) {
		f.Hook, f.LogRead = "7", read
		s.apply(f)
	}
}

// TestRewrittenCommand: a hook of the user's rewrites commands, so that the session log has another one than Codex asks about. The prompt
// says that the shell isn't known, nor surely the folder, and names the logged one, by hook, at its dialog, after the server was killed, and where no hook reports it. A command that the
// log has needs no such line.
func TestRewrittenCommand(t *testing.T) {
	for command, want := range map[string]string{"rtk ls": noShell + hookFolder, "ls": ""} {
		for _, order := range []string{"lh", "lhr", "lfht", "flht", "lft"} {
			s := newRun(t)
			s.asks = asksToRun(command)
			for _, step := range order {
				switch step {
				case 'l':
					s.callsWith("a", `,\"workdir\":\"/srv\"`)
				case 'h':
					s.asksFor(command, order[0] != 'f' && order[1] != 'f')
				case 'r':
					s.restart(t)
				case 'f': // the server was killed: facts come again
					s.f.Freeze()
				case 't':
					s.f.Thaw(s.now)
				}
			}
			in := map[bool]string{true: want + inSrv, false: inSrv + want}[order[1] == 'h']
			if got := s.held("7"); order != "lft" && got != in {
				t.Errorf("%s, %s: the hook waits for %q", command, order, got)
			}
			if order == "lft" && command != "ls" {
				in = noShell + noFolder
			}
			s.release("7")
			s.dialog()
			if command != "ls" {
				in += logged(`"workdir":"/srv"`)
			}
			if all := s.answerable(); !slices.Equal(all, []string{in}) {
				t.Errorf("%s, %s: a key answers %q", command, order, all)
			}
		}
		for _, order := range []string{"ld", "dl"} { // no hook reports it
			s := newRun(t)
			s.asks = asksToRun(command)
			s.apply(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceLog, Turn: "t"})
			for _, step := range order {
				if step == 'l' {
					s.callsWith("a", inDash)
				}
				s.dialog()
			}
			if all := s.answerable(); !slices.Equal(all, []string{map[string]string{"ls": inSh, "rtk ls": noShell + noFolder + logged(`"shell":"sh"`)}[command]}) {
				t.Errorf("%s, %s: a key answers %q", command, order, all)
			}
		}
	}
}

// TestCommandWithoutHooks: no hook reports anything, so no session log is known either. The prompt of a command says that neither its
// shell nor its folder is known, also where Codex says that it asks long before it draws the dialog.
func TestCommandWithoutHooks(t *testing.T) {
	for _, waits := range []time.Duration{0, 100 * time.Millisecond, 5 * time.Second} {
		s := &run{seen: newSeen(), t: t, asks: asksInSomeFolder()}
		if waits > 0 {
			s.apply(codex.Driver{}.OSC(7501, "state=blocked:kind=permission:app=codex")...)
			s.now = s.now.Add(waits)
			s.f.Tick(s.now)
		}
		s.dialog()
		if all := s.answerable(); !slices.Equal(all, []string{noShell + noFolder}) {
			t.Errorf("after %s a key answers %q", waits, all)
		}
	}
}

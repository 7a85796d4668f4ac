package codex_test

import (
	"slices"
	"testing"

	"berth/agent"
)

const (
	noShell    = "\n\nshell: not known here, because the session log has no call of this command"
	noFolder   = "\nworkdir: not known here, because no hook has asked about this command"
	hookFolder = "\nworkdir: reported by a hook alone, which another process can have sent"
)

// asksFor is the hook of a command, which waits as 7. read: the session log was read up to that hook.
func (s *run) asksFor(command string, read bool) {
	for _, f := range hook(s.t, "PermissionRequest", `,"turn_id":"`+s.turn+`","cwd":"/srv","tool_name":"Bash","tool_input":{"command":"`+command+`","description":"May I?"}`) {
		f.Hook, f.LogRead = "7", read
		s.apply(f)
	}
}

// TestRewrittenCommand: a hook of the user's rewrites commands, so that the session log has another one than Codex asks about. The prompt
// says that the shell isn't known, nor surely the folder, by hook, at its dialog, after the server was killed, and where no hook reports it. A command that the
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
			if all := s.answerable(); !slices.Equal(all, []string{map[string]string{"ls": inSh, "rtk ls": noShell + noFolder}[command]}) {
				t.Errorf("%s, %s: a key answers %q", command, order, all)
			}
		}
	}
}

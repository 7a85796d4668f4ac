//go:build agents

package claude

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"berth/test/agents/testbed"
)

// TestAnotherUser runs Claude Code as an OS user of its own, in the user's home and in a home
// of the session. Its hooks, log, live state file and messages work as they do for the server's
// user, also after a kill of the server and of the session. That user owns all files that it
// makes.
func TestAnotherUser(t *testing.T) {
	name, uid := testbed.MakeUser(t, "/") // gone after all that runs as it
	l := newStartLab(t, Ready(), nil)
	dir := filepath.Dir(l.home.Dir)
	check(t, os.Chmod(dir, 0o711))
	testbed.Give(t, uid, l.home.Dir, l.home.Config, l.home.Workspace)
	l.wrapper = filepath.Join(dir, "claude") // the cache is root's
	data, err := os.ReadFile(programs.Agent)
	check(t, err)
	check(t, os.WriteFile(l.wrapper, data, 0o755))
	for isolate, env := range map[string]map[string]string{"hooks": nil, "full": {"IS_SANDBOX": ""}} {
		l.start(isolate, env, []string{"--user", name, "--isolate", isolate, "--trust"})
		s := l.with(isolate)
		s.Is("idle")
		s.says("one")
		s.asks("MOCK: bash id -u > " + isolate + ".txt")
		s.Respond("hook", "accepted", "accept")
		s.Is("idle")
		if got, err := os.ReadFile(filepath.Join(l.home.Workspace, isolate+".txt")); err != nil || string(got) != strconv.Itoa(uid)+"\n" {
			t.Errorf("%s: its tool ran as %q, %v", isolate, got, err)
		}
		if all := s.Text("transcript", isolate, "--since", "1:0"); !strings.Contains(all, "MOCK: text one") {
			t.Errorf("%s: its log has %q", isolate, all)
		}
	}
	check(t, l.Host.Kill())
	check(t, l.Host.Start())
	for _, isolate := range []string{"hooks", "full"} {
		s := l.with(isolate)
		s.says("two")
		before := s.info()
		s.Text("restart", isolate)
		s.Is("idle")
		if now := s.info(); now.Conversation != before.Conversation || now.PID == before.PID {
			t.Errorf("%s: it was %+v, and is %+v", isolate, before, now)
		}
		s.See("● two") // the conversation was resumed
		s.says("three")
		check(t, filepath.WalkDir(filepath.Join(dir, "state", "sessions", before.ID, "agent"), func(path string, e fs.DirEntry, err error) error {
			check(t, err)
			info, err := e.Info()
			check(t, err)
			if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != uid {
				t.Errorf("%s belongs to %d", path, st.Uid)
			}
			return nil
		}))
	}
}

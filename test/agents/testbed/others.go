package testbed

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"berth/test/agents/host"
)

// MakeUser makes an OS user for the test, and returns its name and uid. It skips the test where no user can be made.
func MakeUser(t *testing.T, home string) (string, int) {
	t.Helper()
	if _, err := exec.LookPath("useradd"); err != nil || os.Geteuid() != 0 {
		t.Skip("SKIPPED: not root, or no useradd: no OS user can be made")
	}
	var salt [4]byte
	_, _ = rand.Read(salt[:]) // never fails
	name := "berth-t" + hex.EncodeToString(salt[:])
	if out, err := exec.Command("useradd", "--no-create-home", "--user-group", "--home-dir", home, "--shell", "/bin/sh", name).CombinedOutput(); err != nil {
		t.Fatalf("useradd: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("userdel", "--force", name).CombinedOutput(); err != nil {
			t.Errorf("userdel: %v\n%s", err, out)
		}
	})
	made, err := user.Lookup(name)
	Check(t, err)
	uid, err := strconv.Atoi(made.Uid)
	Check(t, err)
	return name, uid
}

// Give makes the user the owner of all files below the folders.
func Give(t *testing.T, uid int, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		Check(t, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			Check(t, err)
			return os.Lchown(path, uid, uid)
		}))
	}
}

// ByOthers checks an agent that something else than a shell starts in a session's shell: npx, sudo and su with another
// OS user, and a shell in a session of that user. program is in a folder that npm installed the package into, and
// folders are the agent's own files. sudo and su start it in the user's home, which is the workspace.
func (s Shell) ByOthers(l *Lab, a *Agent, program, pack string, folders ...string) {
	t := l.T
	t.Helper()
	name, uid := MakeUser(t, l.Workspace)
	prefix := l.usable(program)
	if s.Install != "" {
		file := filepath.Join(prefix, "node_modules", s.Install)
		Check(t, os.Remove(file))
		Check(t, os.Link(program, file))
	}
	s.Env = maps.Clone(s.Env)
	s.Env["PATH"] = filepath.Join(prefix, "node_modules", ".bin") + ":" + os.Getenv("PATH")
	s.Env["npm_config_update_notifier"] = "false"
	byKeys := *a
	byKeys.Channel, byKeys.HookHides = "keys", false
	withHooks := byKeys
	if s.Hooks && !a.HookHides {
		withHooks.Channel = a.Channel
	}
	all := host.Soak() > 1
	if all {
		words := strings.SplitN(s.Command+" ", " ", 2)
		s.line(l, &withHooks, "npx", "npx --prefix "+prefix+" --no-install "+pack+" "+words[1])
	}
	Check(t, os.Chmod(l.Dir, 0o711))
	var profile strings.Builder
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		fmt.Fprintf(&profile, "export %s='%s'\n", k, s.Env[k])
	}
	Check(t, os.WriteFile(filepath.Join(l.Workspace, ".profile"), []byte(profile.String()), 0o644))
	Give(t, uid, append(folders, l.Workspace, l.Home)...)
	evident := l.Evident
	l.Evident = func(string) bool { return true } // hooks of another user aren't heard
	s.line(l, &byKeys, "su", "su - "+name+" -c '"+s.Command+"'")
	if !all {
		t.Log("SKIPPED: npx, sudo and the user's session, which BERTH_SOAK=2 tries too")
		return
	}
	if _, err := exec.LookPath("sudo"); err == nil {
		s.line(l, &byKeys, "sudo-login", "sudo -iu "+name+" "+s.Command)
		s.line(l, &byKeys, "sudo", "sudo -E -u "+name+" env PATH=$PATH "+s.Command)
	} else {
		t.Log("SKIPPED: there is no sudo")
	}
	l.Evident = evident
	s.line(l, &withHooks, "user", s.Command, "--user", name)
}

// usable is a copy of the folder that npm installed the program into, for another user.
func (l *Lab) usable(program string) string {
	l.T.Helper()
	from, _, _ := strings.Cut(program, "/node_modules/")
	to := filepath.Join(l.Dir, "npm")
	if out, err := exec.Command("cp", "-al", from, to).CombinedOutput(); err != nil {
		l.T.Fatalf("copy %s: %v\n%s", from, err, out)
	}
	Check(l.T, os.Chmod(to, 0o755))
	return to
}

// line types a line that starts the agent into the shell of a session of its own, and checks a turn, permissions, and
// the shell afterwards. words are for the verb new.
func (s Shell) line(l *Lab, a *Agent, what, line string, words ...string) {
	l.T.Helper()
	_ = os.Remove(filepath.Join(l.Workspace, "one.txt"))
	l = s.openAs(l, what, words, "bash", "--norc")
	s.starts(l, a, line)
	s.says(l, a, "MOCK: text by "+what)
	permission(l, a)
	s.quits(l, a)
	l.Call("kill", l.Name)
	l.T.Log(what + ": followed, answered, and then a shell")
}

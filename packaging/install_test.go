// Package packaging tests what the packages and images do where they are installed.
package packaging

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// machine is this machine with the package on it.
type machine struct {
	t   *testing.T
	dir string
	env []string
}

// run runs a command and returns what it printed.
func (m *machine) run(name string, args ...string) string {
	m.t.Helper()
	out, err := m.try(name, args...)
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(m.dir, "log"))
		m.t.Fatalf("%s %s: %v\n%s\nthe server's log:\n%s", name, strings.Join(args, " "), err, out, log)
	}
	return out
}

func (m *machine) try(name string, args ...string) (string, error) {
	cmd := exec.CommandContext(m.t.Context(), name, args...)
	cmd.Env, cmd.Dir = m.env, m.dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// ssh runs a verb as a client does.
func (m *machine) ssh(args ...string) string {
	m.t.Helper()
	return m.run("setpriv", m.client(args...)...)
}

// client is the command of ssh as the server's own user. The server can't see which process of another
// user connects, and refuses such a client while other servers' sessions run on this machine.
func (m *machine) client(args ...string) []string {
	return append([]string{"--reuid", "berth", "--regid", "berth", "--clear-groups", "ssh", "-F", m.dir + "/ssh_config", "berth"}, args...)
}

// build makes the packages and returns the path of the deb.
func build(t *testing.T, version, kinds string) string {
	t.Helper()
	out := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "./dist", "linux/"+runtime.GOARCH)
	cmd.Env = append(os.Environ(), "OUT="+out, "VERSION="+version, "KINDS="+kinds)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if files, err := os.ReadDir(out); err != nil || len(files) != len(strings.Fields(kinds))+2 { // and a bill of materials, and the checksums
		t.Errorf("a release of %s: %v, %v", kinds, files, err)
	}
	debs, err := filepath.Glob(out + "/*.deb")
	if err != nil || len(debs) != 1 {
		t.Fatalf("packages: %v, %v", debs, err)
	}
	return debs[0]
}

// TestInstall installs the deb on this machine, follows its advice, upgrades and removes it with a
// session that runs, and purges it.
func TestInstall(t *testing.T) {
	switch {
	case os.Getenv("CI") != "true" && os.Getenv("BERTH_INSTALL") == "":
		t.Skip("SKIPPED: it installs the package on this machine, and does so in CI, or with BERTH_INSTALL=1")
	case os.Geteuid() != 0:
		t.Skip("SKIPPED: only root installs packages")
	}
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("SKIPPED: this system has no dpkg")
	}
	cleanUpKilled(t)
	if _, err := user.Lookup("berth"); err == nil {
		t.Fatal("this machine has a user berth: the test would remove it")
	}
	first, newer := build(t, "0.2.0-dev.1", "tar deb rpm"), build(t, "0.2.0", "deb")
	m := newMachine(t)

	said := m.run("dpkg", "-i", first)
	m.installed(first)
	_, lines, _ := strings.Cut(said, "admit\n")
	var advice []string
	for line := range strings.Lines(lines) {
		if strings.HasPrefix(line, "cat ") || strings.HasPrefix(line, "systemctl ") {
			advice = append(advice, line)
		}
	}
	if len(advice) != 2 {
		t.Fatalf("the installation advises %q:\n%s", advice, said)
	}
	if calls := m.calls(); calls != "daemon-reload\n" {
		t.Errorf("the installation called systemctl with %q", calls)
	}
	port := m.freePort()
	m.run("sh", "-c", strings.Join(advice, ""))
	m.run("sh", "-c", "test \"$(stat -c '%U %G %a' /etc/berth/authorized_keys)\" = 'root berth 640'")
	m.logIn(port)

	var who struct{ Role, Identity string }
	m.answer(m.ssh("whoami", "--json"), &who)
	if who.Role != "admin" || who.Identity != "me@laptop" {
		t.Errorf("the first login is %+v", who)
	}
	m.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "bob", "-f", m.dir+"/bob")
	bob, err := os.ReadFile(m.dir + "/bob.pub")
	if err != nil {
		t.Fatal(err)
	}
	m.ssh("access", "add", "--role", "viewer", "'"+string(bob)+"'")
	m.ssh("new", "alpha", "--", "cat")
	pid := m.session("0.2.0-dev.1")
	m.ssh("input", "alpha", "--enter", "before")

	said = m.run("dpkg", "-i", newer)
	if strings.Contains(said, "systemctl") {
		t.Errorf("an upgrade advises what was done:\n%s", said)
	}
	if after := m.session("0.2.0"); after != pid {
		t.Errorf("the session's program was %d before the upgrade, and is %d", pid, after)
	}
	m.ssh("input", "alpha", "--enter", "after")
	m.ssh("wait", "alpha", "--text", "after", "--timeout", "10s")
	if screen := m.ssh("screen", "alpha", "--text"); !strings.Contains(screen, "before") {
		t.Errorf("the screen after the upgrade: %q", screen)
	}
	if out := m.run("runuser", "-u", "berth", "--", "berth", "ls", "-q"); out != "alpha\n" {
		t.Errorf("ls on the host: %q", out)
	}

	// Another user's own server doesn't follow the service's configuration.
	m.run("install", "-d", "-o", "nobody", nobodyHome)
	nobody := []string{"--reuid=65534", "--regid=65534", "--clear-groups", "env", "-i", "HOME=" + nobodyHome, "PATH=/usr/bin:/bin", "TMPDIR=" + nobodyHome, "berth"}
	if out := m.run("setpriv", append(nobody, "up", "--listen", "127.0.0.1:0")...); !strings.Contains(out, "Berth runs in the background") {
		t.Errorf("up of another user: %s", out)
	}
	m.run("setpriv", append(nobody, "down")...)

	m.run("dpkg", "-r", "berth")
	if !runs(pid) {
		t.Error("the removal ended the session")
	}
	if out, err := m.try("setpriv", m.client("version")...); err == nil {
		t.Errorf("a server runs after the removal: %s", out)
	}
	m.run("dpkg", "-i", newer)
	m.run("sh", "-c", advice[1])
	if again := m.session("0.2.0"); again != pid {
		t.Errorf("the session's program was %d, and is %d after the package was removed and installed", pid, again)
	}

	m.ssh("kill", "alpha")
	said = m.run("dpkg", "-P", "berth")
	if _, err := os.Stat("/etc/berth"); err == nil {
		t.Error("/etc/berth is left after purge")
	}
	_, cleanup, _ := strings.Cut(said, "To remove all of it: ")
	cleanup, _, _ = strings.Cut(cleanup, "\n")
	if !strings.HasPrefix(cleanup, "userdel ") {
		t.Fatalf("purge says:\n%s", said)
	}
	if _, err := os.Stat("/var/lib/berth/sessions"); err != nil {
		t.Errorf("purge doesn't leave the sessions: %v", err)
	}
	m.run("sh", "-c", cleanup)
	if _, err := os.Stat("/var/lib/berth"); err == nil {
		t.Error("/var/lib/berth is left")
	}
}

const (
	// markFile names the home of a run from before its installation until all of it is removed. The run holds
	// a lock on it, so a file without a lock is of a run that was killed.
	markFile = "/var/lib/berth-install-test"
	// running is where the package's scripts look for systemd.
	running     = "/run/systemd/system"
	runningMark = running + "/berth-install-test" // there if a run made the folder
	nobodyHome  = "/tmp/berth-nobody"
)

// cleanUpKilled removes what a killed run left on this machine.
func cleanUpKilled(t *testing.T) {
	t.Helper()
	mark, err := os.OpenFile(markFile, os.O_RDWR, 0)
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer mark.Close()
	if err := syscall.Flock(int(mark.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatalf("another run of this test is under way: %s: %v", markFile, err)
	}
	dir, err := os.ReadFile(markFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a run in %s was killed: removing what it left", dir)
	m := &machine{t: t, dir: string(dir)}
	if m.dir != "" { // else it was killed before it made anything
		m.setSystemctl()
		m.remove()
	}
	if t.Failed() {
		t.FailNow() // the next run tries again
	}
	if err := os.Remove(markFile); err != nil {
		t.Fatal(err)
	}
}

// setMark says that what is installed from now on is the test's.
func (m *machine) setMark() {
	m.t.Helper()
	mark, err := os.OpenFile(markFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		m.remove()
		if err := errors.Join(os.Remove(markFile), mark.Close()); err != nil {
			m.t.Error(err)
		}
	})
	if err := syscall.Flock(int(mark.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		m.t.Fatal(err)
	}
	if _, err := mark.WriteString(m.dir); err != nil {
		m.t.Fatal(err)
	}
}

// setSystemctl makes this program the systemctl of the commands that run from now on.
func (m *machine) setSystemctl() {
	m.t.Helper()
	self, err := os.Executable()
	if err != nil {
		m.t.Fatal(err)
	}
	_ = os.Remove(m.dir + "/systemctl") // a killed run's program may be gone
	if err := errors.Join(os.MkdirAll(m.dir, 0o700), os.Symlink(self, m.dir+"/systemctl")); err != nil {
		m.t.Fatal(err)
	}
	m.env = append(os.Environ(), "HOME="+m.dir, "PATH="+m.dir+":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"BERTH_TEST_SYSTEMD="+m.dir, "SUDO_USER=", "BERTH_SOCKET=")
}

// remove removes the package, its user and all files of the run.
func (m *machine) remove() {
	m.endSessions()
	commands := [][]string{{"dpkg", "-P", "berth"}}
	if _, err := user.Lookup("berth"); err == nil {
		commands = append(commands, []string{"userdel", "-f", "-r", "berth"})
	}
	for _, words := range commands {
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Env = m.env
		if out, err := cmd.CombinedOutput(); err != nil {
			m.t.Errorf("%v: %v\n%s", words, err, out)
		}
	}
	for _, folder := range []string{"/run/berth", nobodyHome, m.dir} {
		if err := os.RemoveAll(folder); err != nil {
			m.t.Error(err)
		}
	}
	if err := os.Remove(runningMark); err == nil {
		_ = os.Remove(running)
	}
}

// newMachine prepares a home with a key, and a systemctl. At the end it removes what is left.
func newMachine(t *testing.T) *machine {
	dir, err := os.MkdirTemp("", "berth-install-") // which the user berth may enter
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, dir: dir}
	m.setMark()
	m.setSystemctl()
	if _, err := os.Stat(running); err != nil {
		if err := os.MkdirAll(running, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(runningMark, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(m.dir+"/.ssh", 0o700); err != nil {
		t.Fatal(err)
	}
	m.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me@laptop", "-f", m.dir+"/.ssh/id_ed25519")
	return m
}

// endSessions kills what runs as the user berth, whom the test has made.
func (m *machine) endSessions() {
	who, err := user.Lookup("berth")
	if err != nil {
		return
	}
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		m.t.Error(err)
	}
	for _, folder := range folders {
		st, err := os.Stat(folder)
		if err != nil || fmt.Sprint(st.Sys().(*syscall.Stat_t).Uid) != who.Uid {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(folder)); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	_ = os.Remove(filepath.Join(m.dir, "pid")) // the server was among them
}

// installed checks the files by the tools that check such files.
func (m *machine) installed(deb string) {
	m.t.Helper()
	for _, words := range [][]string{
		{"systemd-analyze", "verify", unitFile},
		{"sh", "-ec", "cd /usr/share/man; for page in man1/berth.1 man1/berth-hold.1 man1/berth-fleet.1 man5/berth.yaml.5; do zcat $page.gz | mandoc -Tlint; done"},
		{"lintian", "--allow-root", "--fail-on", "error,warning", deb},
		{"bash", "-n", "/usr/share/bash-completion/completions/berth"},
	} {
		if out, err := m.try(words[0], words[1:]...); err != nil || strings.Contains(out, "berth.service") {
			m.t.Errorf("%v: %v\n%s", words, err, out)
		}
	}
}

func (m *machine) calls() string {
	text, err := os.ReadFile(filepath.Join(m.dir, "calls"))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(text)
}

// freePort makes the configuration's port one that is free on this machine.
func (m *machine) freePort() int {
	m.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		m.t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	m.run("sed", "-i", fmt.Sprintf("s/^listen: 127.0.0.1:2222/listen: 127.0.0.1:%d/", port), "/etc/berth/berth.yaml")
	return port
}

func (m *machine) logIn(port int) {
	m.t.Helper()
	config := fmt.Sprintf("Host berth\n HostName 127.0.0.1\n Port %d\n User agents\n IdentityFile %s/.ssh/id_ed25519\n IdentitiesOnly yes\n UserKnownHostsFile %s/known_hosts\n StrictHostKeyChecking accept-new\n BatchMode yes\n LogLevel ERROR\n", port, m.dir, m.dir)
	if err := os.WriteFile(m.dir+"/ssh_config", []byte(config), 0o600); err != nil {
		m.t.Fatal(err)
	}
	m.run("chown", "-R", "-h", "berth:", m.dir)
}

func (m *machine) answer(text string, into any) {
	m.t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		m.t.Fatalf("%v: %s", err, text)
	}
}

// session checks the server's version, and returns the process of the session, which runs.
func (m *machine) session(version string) int {
	m.t.Helper()
	var v struct {
		Version, Commit string
		BuiltAt         time.Time `json:"built_at"`
	}
	m.answer(m.ssh("version", "--json"), &v)
	if v.Version != version || len(v.Commit) != 40 || v.BuiltAt.IsZero() {
		m.t.Errorf("version %+v, want %s", v, version)
	}
	var s struct{ PID int }
	m.answer(m.ssh("info", "alpha", "--json"), &s)
	st, err := os.Stat(fmt.Sprintf("/proc/%d", s.PID))
	if err != nil || !runs(s.PID) {
		m.t.Fatalf("the session's process %d: %v", s.PID, err)
	}
	who, err := user.Lookup("berth")
	if err != nil || who.Uid != fmt.Sprint(st.Sys().(*syscall.Stat_t).Uid) {
		m.t.Errorf("the session's process isn't berth's: %v", err)
	}
	return s.PID
}

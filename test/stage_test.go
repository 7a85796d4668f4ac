package e2e

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	gossh "golang.org/x/crypto/ssh"
)

// patience is how long scripts wait for a condition. It only matters when something is broken, or the
// machine is very busy.
const patienceSeconds = 30

// keyNames are the keys that every script has, with the options of their lines in authorized_keys. The
// attacker's key isn't listed there.
var (
	keyNames = []string{"admin", "operator", "responder", "viewer", "narrow", "lister", "attacker"}
	keyLines = map[string]string{
		"admin": `role="admin"`, "operator": `role="operator"`, "responder": `role="responder"`, "viewer": `role="viewer"`,
		"narrow": `role="operator",sessions="web-*,tag:shared"`,
		"lister": `role="admin",verbs="ls,screen,new"`,
	}
)

// stage is the environment of one script.
type stage struct {
	t       testing.TB
	dir     string // a short path, because of sockets; all files of the script are in it
	state   string
	runtime string

	server *server // nil when none runs

	stdout, stderr string // the output of the last call
	status         int
	running        map[string]*client
	own            string   // words for its sessions, if not all
	cgroup         string   // of servers, if they have one
	users          []string // OS users that were made for the script
	pressed        int      // keys at terminals, since they were last counted

	tools   map[string]*toolClient
	editors map[string]*anEditor

	called, checked map[string]bool // verbs, and schemas that an answer was checked against
}

type stageKey struct{}

func stageOf(ts *testscript.TestScript) *stage { return ts.Value(stageKey{}).(*stage) }

func setUp(env *testscript.Env) error {
	s, err := newStage(env.T().(testing.TB))
	if err != nil {
		return err
	}
	env.Values[stageKey{}] = s
	env.Defer(s.tearDown)
	env.Setenv("D", s.dir)
	env.Setenv("STATE", s.state)
	env.Setenv("KEYS", s.authorizedKeys())
	env.Setenv("BERTH", berth)
	for name, path := range map[string]string{"CONTRIB": "../contrib", "COMPOSER": "testdata/composer.sh"} {
		if path, err = filepath.Abs(path); err != nil {
			return err
		}
		env.Setenv(name, path)
	}
	env.Setenv("SSH", filepath.Join(s.dir, "ssh_config"))
	env.Setenv("HOME", filepath.Join(s.dir, "home"))
	return nil
}

// newStage makes the folders and keys. The caller tears it down.
func newStage(t testing.TB) (*stage, error) {
	dir, err := os.MkdirTemp("/tmp", "be")
	if err != nil {
		return nil, err
	}
	s := &stage{
		t: t, dir: dir, state: filepath.Join(dir, "state"), runtime: filepath.Join(dir, "run"),
		running: map[string]*client{}, tools: map[string]*toolClient{}, editors: map[string]*anEditor{}, called: map[string]bool{}, checked: map[string]bool{},
	}
	for _, d := range []string{"home", "state", "keys"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			return nil, err
		}
	}
	for _, name := range keyNames {
		if err := s.makeKey(name); err != nil {
			return nil, err
		}
		if options := keyLines[name]; options != "" {
			if err := s.list(name, options); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// environ is the environment of the server and of local calls: of the tester's own only what is needed
// to find programs.
func (s *stage) environ(more ...string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(s.dir, "home"), "SHELL=/bin/sh", "USER=tester", "LANG=C.UTF-8",
		"TMPDIR=" + s.dir, "BERTH_STATE_DIR=" + s.state, "BERTH_RUNTIME_DIR=" + s.runtime, "SERVER_SECRET=do-not-leak",
		"GORACE=atexit_sleep_ms=0", // otherwise each local call waits for a second at its end
	}
	return append(env, more...)
}

func (s *stage) authorizedKeys() string { return filepath.Join(s.state, "authorized_keys") }

func (s *stage) keyFile(name string) string { return filepath.Join(s.dir, "keys", name) }

func (s *stage) makeKey(name string) error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	signer, err := gossh.NewSignerFromSigner(private)
	if err != nil {
		return err
	}
	block, err := gossh.MarshalPrivateKey(private, name)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.keyFile(name), pem.EncodeToMemory(block), 0o600); err != nil {
		return err
	}
	public := string(bytes.TrimSpace(gossh.MarshalAuthorizedKey(signer.PublicKey()))) + " " + name + "\n"
	return os.WriteFile(s.keyFile(name)+".pub", []byte(public), 0o600)
}

// list adds the key's line to authorized_keys.
func (s *stage) list(name, options string) error {
	public, err := os.ReadFile(s.keyFile(name) + ".pub")
	if err != nil {
		return err
	}
	old, err := os.ReadFile(s.authorizedKeys())
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	return s.writeKeys(string(old) + options + " " + string(public))
}

// writeKeys replaces authorized_keys in one step, as an editor does.
func (s *stage) writeKeys(text string) error {
	aside := s.authorizedKeys() + ".aside"
	if err := os.WriteFile(aside, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(aside, s.authorizedKeys())
}

func addKey(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: key NAME [OPTIONS]")
	}
	ts.Check(s.makeKey(args[0]))
	if len(args) == 2 {
		ts.Check(s.list(args[0], args[1]))
	}
}

func unlist(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if neg || len(args) != 1 {
		ts.Fatalf("usage: unlist NAME")
	}
	old, err := os.ReadFile(s.authorizedKeys())
	ts.Check(err)
	lines := strings.SplitAfter(string(old), "\n")
	kept := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.HasSuffix(l, " "+args[0]+"\n") })
	if len(kept) == len(lines) {
		ts.Fatalf("authorized_keys has no line for %s", args[0])
	}
	ts.Check(s.writeKeys(strings.Join(kept, "")))
}

// tearDown ends everything that the script started, and reports processes that should have ended.
func (s *stage) tearDown() {
	for _, c := range s.running {
		c.end()
	}
	s.closeTerminals()
	s.closeTools()
	s.closeEditors()
	if s.server != nil {
		if s.sessionsLeft() {
			// Use the local socket, which needs none of the script's keys.
			kill := exec.Command(berth, "kill", cmp.Or(s.own, "all"), "--grace", "0s")
			kill.Env = s.environ()
			if out, err := kill.CombinedOutput(); err != nil {
				s.t.Logf("end the sessions: %v\n%s", err, out)
			}
		}
		if err := s.server.stop(); err != nil {
			s.t.Errorf("the server ended with an error: %v", err)
		}
		s.server = nil
	}
	s.endHolders()
	s.removeUsers()
	s.removeCgroup()
	if left := s.leftovers(); len(left) > 0 {
		s.t.Errorf("left running:\n%s", strings.Join(left, "\n"))
		s.killLeftovers()
	}
	s.readLog()
	if err := os.RemoveAll(s.dir); err != nil {
		s.t.Error(err)
	}
}

// readLog checks the server's log for what it must never contain, and shows the log of a failed script.
func (s *stage) readLog() {
	log, err := os.ReadFile(filepath.Join(s.dir, "server.log"))
	if err != nil {
		return
	}
	for _, bad := range []string{"DATA RACE", "panic", "fatal error", "INTERNAL"} {
		if i := bytes.Index(log, []byte(bad)); i >= 0 {
			s.t.Errorf("the server's log says %s:\n%s", bad, log[max(0, i-200):min(len(log), i+4000)])
			return
		}
	}
	if s.t.Failed() {
		s.t.Logf("server.log:\n%s", log[max(0, len(log)-8000):])
	}
}

// ssh is a command line of the client with one of the script's keys.
func (s *stage) ssh(key string, args ...string) *exec.Cmd {
	cmd := exec.Command("ssh", append([]string{"-F", filepath.Join(s.dir, "ssh_config"), key}, args...)...)
	cmd.Env = append(s.environ(), "TERM=xterm-256color", "CLIENT_SECRET=do-not-leak", "LC_CLIENT=do-not-leak")
	return cmd
}

// writeSSHConfig writes the server's current address for the client. A host's name is the name of the
// key to use.
func (s *stage) writeSSHConfig(port string) error {
	text := fmt.Sprintf(`Host *
  HostName 127.0.0.1
  Port %s
  User agents
  IdentityFile %s/keys/%%n
  HostKeyAlias berth
  SendEnv CLIENT_SECRET LC_CLIENT
%s`, port, s.dir, s.plainSSHConfig())
	return os.WriteFile(filepath.Join(s.dir, "ssh_config"), []byte(text), 0o600)
}

// plainSSHConfig keeps the tester's own files and agent out of it.
func (s *stage) plainSSHConfig() string {
	return fmt.Sprintf(`  IdentitiesOnly yes
  IdentityAgent none
  BatchMode yes
  PasswordAuthentication no
  KbdInteractiveAuthentication no
  UserKnownHostsFile %s/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking accept-new
  LogLevel ERROR
`, s.dir)
}

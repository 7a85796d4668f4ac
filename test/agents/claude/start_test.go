//go:build agents

package claude

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"berth/test/agents/host"
)

// newStartLab is a lab whose session is yet to be started. prepare may write a
// berth.yaml.
func newStartLab(t *testing.T, seed Seed, yaml func(l *lab) string) *lab {
	t.Helper()
	t.Parallel()
	l := prepare(t, seed)
	if yaml != nil {
		l.Configure(yaml(l))
	}
	check(t, l.Host.Start())
	return l
}

// start starts a session with these options of new; env changes the home's,
// an empty value removes one.
func (l *lab) start(name string, env map[string]string, flags []string, argv ...string) *host.Session {
	l.T.Helper()
	out, err := l.tryStart(name, env, flags, argv...)
	if err != nil {
		l.T.Fatalf("new %s: %v: %s", name, err, out)
	}
	s := l.Host.Known(name)
	if l.Session == nil {
		l.Session = s
	}
	return s
}

func (l *lab) tryStart(name string, env map[string]string, flags []string, argv ...string) ([]byte, error) {
	all := l.home.Env(l.API.URL())
	maps.Copy(all, env)
	words := []string{"new", name, "--agent", "claude", "--cwd", l.home.Workspace, "--size", size, "--size-policy", "fixed"}
	if slices.Contains(flags, "--profile") {
		words = []string{"new", name}
	}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if all[k] != "" {
			words = append(words, "--env", k+"="+all[k])
		}
	}
	words = append(words, flags...)
	if !slices.Contains(flags, "--profile") {
		words = append(append(words, "--", cmp.Or(l.wrapper, programs.Agent)), manual(argv)...)
	}
	return l.Host.Call(l.Ctx, nil, words...)
}

// with is the lab with another of its sessions as the current one.
func (l *lab) with(name string) *lab {
	other := *l
	other.Lab = l.Lab.With(name)
	return &other
}

// info has the fields of the verb info that these tests check.
type info struct {
	ID, State, Isolate, Groom, Conversation string
	Trust, Resumable                        bool
	PID, HolderPID                          int
	Settings, MCP                           []string
	Fork                                    *struct{ ID, Conversation string }
}

func (l *lab) info() info {
	l.T.Helper()
	out, err := l.Host.Call(l.Ctx, nil, "info", l.Name)
	check(l.T, err)
	var i info
	check(l.T, json.Unmarshal(out, &i))
	var pids struct {
		PID    int `json:"pid"`
		Holder int `json:"holder_pid"`
	}
	check(l.T, json.Unmarshal(out, &pids))
	i.PID, i.HolderPID = pids.PID, pids.Holder
	return i
}

// untilFile waits for a file that holds a text.
func (l *lab) untilFile(path, text string) {
	l.T.Helper()
	var data []byte
	var err error
	l.Poll(func() bool {
		data, err = os.ReadFile(path)
		return err == nil && strings.Contains(string(data), text)
	}, func() string { return fmt.Sprintf("%s does not hold %q: %v: %s", path, text, err, data) })
}

// writtenDown waits until Claude's own log has the conversation: a restart or a fork after
// that has it too.
func (l *lab) writtenDown() {
	l.T.Helper()
	l.Poll(func() bool { return l.info().Resumable }, func() string { return "nothing of it is written down" })
}

// hookEvents counts the session's hook events of a kind, without foreign ones.
func (l *lab) hookEvents(kind string) int {
	l.T.Helper()
	n := 0
	for _, e := range l.events("hook") {
		if e["event"] == kind && e["foreign"] == false {
			n++
		}
	}
	return n
}

// events are all events of a type so far.
func (l *lab) events(kind string) []map[string]any {
	l.T.Helper()
	out, err := l.Host.Call(l.Ctx, nil, "watch", l.Name, "--type", kind, "--since", l.Name+":0", "--timeout", "200ms")
	var failure *host.Failure
	if err != nil && (!errors.As(err, &failure) || failure.Status != 10) {
		l.T.Fatal(err)
	}
	var list []map[string]any
	for line := range strings.Lines(string(out)) {
		var e map[string]any
		check(l.T, json.Unmarshal([]byte(line), &e))
		if e["type"] == kind {
			list = append(list, e)
		}
	}
	return list
}

// TestOwnSettings: the hooks of the user's home, of the command and of the session all run
// together with ours, and the files of the first two don't change.
func TestOwnSettings(t *testing.T) {
	hook := func(l *lab, name string) string {
		return fmt.Sprintf(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"echo ran > %s"}]}]}}`, filepath.Join(l.home.Dir, name))
	}
	l := newStartLab(t, Ready(), func(l *lab) string {
		return fmt.Sprintf("profiles:\n  own:\n    agent: claude\n    cwd: %s\n    size: %s\n    command: [%s, --settings, mine.json]\n    settings: %s\n",
			l.home.Workspace, size, programs.Agent, hook(l, "session.txt"))
	})
	user := filepath.Join(l.home.Config, "settings.json")
	mine := filepath.Join(l.home.Workspace, "mine.json")
	check(t, os.WriteFile(user, []byte(hook(l, "user.txt")), 0o600))
	check(t, os.WriteFile(mine, []byte(hook(l, "command.txt")), 0o600))
	l.start("own", nil, []string{"--profile", "own"})
	l.Is("idle")
	l.send("MOCK: text with hooks")
	l.See("● with hooks")
	for _, name := range []string{"user.txt", "command.txt", "session.txt"} {
		l.untilFile(filepath.Join(l.home.Dir, name), "ran")
	}
	l.Is("idle")
	if l.hookEvents("Stop") != 1 {
		t.Error("our own hook did not run, or more than once")
	}
	for path, name := range map[string]string{user: "user.txt", mine: "command.txt"} {
		if data, err := os.ReadFile(path); err != nil || string(data) != hook(l, name) {
			t.Errorf("%s was changed: %v: %s", path, err, data)
		}
	}
	if i := l.info(); !slices.Equal(i.Settings, []string{"hooks"}) || i.Isolate != "hooks" || i.Groom != "auto" {
		t.Errorf("info says %+v", i)
	}
}

// TestIsolateNone: without hooks its conversation is known, and a restart resumes it.
func TestIsolateNone(t *testing.T) {
	l := newStartLab(t, Ready(), nil)
	l.start("none", nil, []string{"--isolate", "none"})
	l.Is("idle")
	l.turn("without hooks")
	before := l.info()
	if before.Conversation == "" || !before.Resumable {
		t.Fatalf("nothing is known of its conversation: %+v", before)
	}
	l.Call("restart", l.Name)
	l.See("● without hooks")
	l.Is("idle")
	if after := l.info(); after.Conversation != before.Conversation {
		t.Errorf("it was in %s and is in %s", before.Conversation, after.Conversation)
	}
}

// TestIsolateFull: a home of its own goes to the composer at once, as far as
// the session says; the user's is not touched.
func TestIsolateFull(t *testing.T) {
	l := newStartLab(t, Seed{}, nil)
	check(t, os.WriteFile(filepath.Join(l.home.Config, ".credentials.json"), []byte("{}"), 0o600))
	before := l.tree(l.home.Config)
	l.start("full", nil, []string{"--isolate", "full", "--trust", "--accept-bypass"}, "--dangerously-skip-permissions")
	l.Is("idle")
	l.See("bypass permissions on")
	l.turn("at home")
	if after := l.tree(l.home.Config); after != before {
		t.Errorf("the user's home was\n%s\nand is\n%s", before, after)
	}
	i := l.info()
	own := filepath.Join(filepath.Dir(l.home.Dir), "state", "sessions", i.ID, "claude")
	stat, err := os.Stat(own)
	check(t, err)
	if stat.Mode().Perm() != 0o700 {
		t.Errorf("its home has mode %v", stat.Mode())
	}
	if _, err := os.Lstat(filepath.Join(own, ".credentials.json")); !os.IsNotExist(err) {
		t.Errorf("credentials of its own: %v", err)
	}
	l.Call("restart", l.Name)
	l.See("● at home")
	l.Is("idle")

	// Without trust it asks, and goes no further.
	l.start("asks", nil, []string{"--isolate", "full", "--groom", "auto"})
	if s := l.with("asks").Is("prompt"); s.Prompt == nil || s.Prompt.Type != "permission" {
		t.Errorf("without trust it asks %+v", s.Prompt)
	}
}

// tree lists a folder's files with their contents.
func (l *lab) tree(dir string) string {
	l.T.Helper()
	var b strings.Builder
	check(l.T, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %x\n", path, data)
		return err
	}))
	return b.String()
}

// TestEnvironment: what the server was started from does not reach the agent.
func TestEnvironment(t *testing.T) {
	l := newStartLab(t, Ready(), nil)
	l.start("env", map[string]string{"LANG": "C.UTF-8", "TERM_PROGRAM": "mine"}, []string{"--env-pass", "PATH"})
	l.Is("idle")
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", l.info().PID))
	check(t, err)
	env := map[string]string{}
	for _, e := range strings.Split(string(data), "\x00") {
		k, v, _ := strings.Cut(e, "=")
		if _, twice := env[k]; twice {
			t.Errorf("%s is there twice", k)
		}
		env[k] = v
	}
	for k, want := range map[string]string{
		"TERM": "xterm-256color", "COLORTERM": "truecolor", "CLAUDE_CODE_FORCE_SYNC_OUTPUT": "1", "CLAUDE_CODE_DISABLE_AGENT_VIEW": "1", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0", "BERTH": "1", "TERM_PROGRAM": "mine", "CLAUDECODE": "", "TMUX": "",
	} {
		if env[k] != want {
			t.Errorf("%s is %q, not %q", k, env[k], want)
		}
	}
}

// TestResume resumes a conversation: after a restart, by id, and the latest. It resumes
// none that another session is in.
func TestResume(t *testing.T) {
	l := newStartLab(t, Ready(), nil)
	l.start("one", nil, nil)
	l.Is("idle")
	l.turn("said by one")
	id := l.info().Conversation

	out, err := l.tryStart("two", nil, []string{"--resume", "latest"})
	if err == nil || !strings.Contains(string(out), "BAD_REQUEST") || !strings.Contains(string(out), "fork") {
		t.Errorf("a conversation was taken from a session that is in it: %s", out)
	}
	l.Call("kill", "one")
	for name, resume := range map[string]string{"two": "latest", "three": id} {
		l.start(name, nil, []string{"--resume", resume})
		s := l.with(name)
		s.See("● said by one")
		s.Is("idle")
		if i := s.info(); i.Conversation != id {
			t.Errorf("%s is in %s, not %s", name, i.Conversation, id)
		}
		l.Call("kill", name)
	}
	for resume, code := range map[string]string{"00000000-2222-4333-8444-555555555555": "NOT_FOUND", "nonsense": "BAD_REQUEST"} {
		if out, err := l.tryStart("no", nil, []string{"--resume", resume}); err == nil || !strings.Contains(string(out), code) {
			t.Errorf("resume %s: %s", resume, out)
		}
	}
	// Claude's own word for what only it finds wrong.
	l.start("bogus", nil, nil, "--resume", "00000000-2222-4333-8444-555555555555")
	if code, err := l.Host.Known("bogus").Exited(l.Ctx, patient); err != nil || code != 1 {
		t.Fatalf("it ended with %d, %v", code, err)
	}
	ended := l.with("bogus").events("exited")
	if len(ended) != 1 || !strings.Contains(fmt.Sprint(ended[0]["last_lines"]), "No conversation found with session ID: 00000000") {
		t.Errorf("the end is reported as %v", ended)
	}
}

// TestResumeLongFolder: the newest of a folder whose name Claude shortens.
func TestResumeLongFolder(t *testing.T) {
	l := newStartLab(t, Ready(), nil)
	deep := filepath.Join(l.home.Workspace, strings.Repeat("long_", 20), strings.Repeat("ü", 30), strings.Repeat("er.", 40))
	check(t, os.MkdirAll(deep, 0o700))
	l.home.Workspace = deep
	l.start("deep", nil, nil)
	l.Is("idle")
	l.turn("deep down")
	l.Call("kill", "deep")
	l.start("again", nil, []string{"--resume", "latest"})
	l.with("again").See("● deep down")
}

// logged waits until Claude's log has the text: a kill before that loses it.
func (l *lab) logged(text string) {
	l.T.Helper()
	var found []string
	l.Poll(func() bool {
		var err error
		found, err = filepath.Glob(filepath.Join(l.home.Config, "projects", "*", l.info().Conversation+".jsonl"))
		check(l.T, err)
		return len(found) == 1
	}, func() string { return fmt.Sprintf("its logs are %q", found) })
	l.untilFile(found[0], `"text":"`+text+`"`)
}

func kill9(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }

// TestKilledTogether kills the holder and the agent. A person resumes the conversation, and
// so does the session's own policy.
func TestKilledTogether(t *testing.T) {
	l := newStartLab(t, Ready(), nil)
	l.start("killed", nil, []string{"--restart", "on-failure"})
	l.Is("idle")
	l.turn("before the end")
	id := l.info().Conversation
	for range 2 {
		i := l.info()
		check(t, kill9(i.HolderPID))
		check(t, kill9(i.PID))
		l.Poll(func() bool { n := l.info(); return n.PID != i.PID && n.PID != 0 && n.State == "idle" }, func() string { return "it is not started again" })
		l.See("● before the end")
		if now := l.info().Conversation; now != id {
			t.Fatalf("it was in %s and is in %s", id, now)
		}
	}
	// A server that starts later finds them killed too.
	i := l.info()
	check(t, l.Host.Kill())
	check(t, kill9(i.HolderPID))
	check(t, kill9(i.PID))
	check(t, l.Host.Start())
	l.Is("idle")
	l.See("● before the end")
	l.send("MOCK: text and after it")
	l.See("● and after it")
	if now := l.info().Conversation; now != id {
		t.Errorf("it was in %s and is in %s", id, now)
	}
	if !regexp.MustCompile("before the end").Match(l.Asked("MOCK: text and after it", 0).Body) {
		t.Error("the model does not know what was said before")
	}
}

// TestKilledBeforeItsLog: Claude can't resume a conversation whose log has no message. The
// session starts a new conversation instead of failing each time.
func TestKilledBeforeItsLog(t *testing.T) {
	l := newStartLab(t, Ready(), nil)
	l.start("early", nil, nil)
	l.Is("idle")
	l.send("MOCK: text soon gone")
	l.See("● soon gone")
	l.Is("idle")
	l.logged("soon gone")
	i := l.info()
	check(t, kill9(i.PID))
	l.Is("exited")
	found, err := filepath.Glob(filepath.Join(l.home.Config, "projects", "*", i.Conversation+".jsonl"))
	check(t, err)
	check(t, os.WriteFile(found[0], fmt.Appendf(nil, `{"type":"mode","mode":"normal","sessionId":%q}`+"\n", i.Conversation), 0o600))
	if now := l.info(); now.Resumable {
		t.Errorf("the conversation is not resumable, but the session reports %+v", now)
	}
	l.Call("restart", l.Name)
	l.Is("idle")
	l.send("MOCK: text said anew")
	l.See("● said anew")
	l.Poll(func() bool { return l.hookEvents("Stop") == 2 }, func() string { return "the turn has no end" })
	l.writtenDown()
	if now := l.info(); now.Conversation == i.Conversation {
		t.Errorf("it was in %s, and is now %+v", i.Conversation, now)
	}
}

// TestLostAndRestarted: restart resumes a session that was found lost, as after a reboot.
func TestLostAndRestarted(t *testing.T) {
	l := newStartLab(t, Ready(), nil)
	l.start("lost", nil, nil)
	l.Is("idle")
	l.turn("before the reboot")
	i := l.info()
	check(t, l.Host.Kill())
	check(t, kill9(i.HolderPID))
	check(t, kill9(i.PID))
	check(t, l.Host.Start())
	l.Is("exited")
	var s struct{ Exit struct{ Lost bool } }
	check(t, json.Unmarshal(l.Call("state", l.Name), &s))
	if !s.Exit.Lost {
		t.Error("nothing says that it was lost")
	}
	if now := l.info(); !now.Resumable || now.Conversation != i.Conversation {
		t.Errorf("an ended session says %+v", now)
	}
	l.Call("restart", l.Name)
	l.See("● before the reboot")
	l.Is("idle")
	if now := l.info(); now.Conversation != i.Conversation {
		t.Errorf("it was in %s and is in %s", i.Conversation, now.Conversation)
	}
}

// TestFork: two sessions go on from the same messages, each in its own conversation. The
// parent may have ended, or have a home of its own.
func TestFork(t *testing.T) {
	t.Parallel()
	for _, isolate := range []string{"hooks", "full", "none"} {
		t.Run(isolate, func(t *testing.T) { testFork(t, isolate) })
	}
}

// turn has Claude answer with the text, and returns how many turns that took. A busy Claude may
// write the answer of a turn before its message (measured: 2 of 160, then 1 of 8 at a load of 20).
// A session that resumes that log leaves the answer out until there is another turn. So turn
// takes more turns until the log ends with an answer.
func (l *lab) turn(text string) int {
	l.T.Helper()
	const most = 5
	for n := range most {
		said := text + strings.Repeat(" again", n)
		l.send("MOCK: text " + said)
		l.See("● " + said)
		l.Is("idle")
		if l.endsWith(said) {
			return n + 1
		}
		l.T.Logf("Claude wrote the answer %q before its question", said)
	}
	l.T.Fatalf("%d turns, and the log ends with no answer", most)
	return 0
}

// endsWith waits until the answer is in the session's log, and reports whether it is the last message.
func (l *lab) endsWith(text string) bool {
	l.T.Helper()
	session := l.info()
	last := ""
	l.Poll(func() bool {
		messages := l.messagesOf(session)
		question := func(line string) bool { return strings.Contains(line, `"MOCK: text `+text+`"`) }
		if !slices.ContainsFunc(messages, question) || !slices.ContainsFunc(messages, func(line string) bool { return answers(line, text) }) {
			return false
		}
		last = messages[len(messages)-1]
		return true
	}, func() string { return fmt.Sprintf("the answer %q is not in the log", text) })
	return answers(last, text)
}

func answers(line, text string) bool { return strings.Contains(line, `"text":"`+text+`"`) }

// messagesOf are the lines of the log of the session's conversation that hold messages.
func (l *lab) messagesOf(session info) []string {
	l.T.Helper()
	var messages []string
	for _, folder := range []string{l.home.Config, filepath.Join(l.Dir, "state", "sessions", session.ID, "claude")} {
		found, err := filepath.Glob(filepath.Join(folder, "projects", "*", session.Conversation+".jsonl"))
		check(l.T, err)
		for _, log := range found {
			data, err := os.ReadFile(log)
			check(l.T, err)
			for line := range strings.Lines(string(data)) {
				if strings.Contains(line, `"type":"user"`) || strings.Contains(line, `"type":"assistant"`) {
					messages = append(messages, line)
				}
			}
		}
	}
	return messages
}

func testFork(t *testing.T, isolate string) {
	l := newStartLab(t, Ready(), nil)
	l.start("one", nil, []string{"--isolate", isolate, "--trust"})
	l.Is("idle")
	var failure *host.Failure
	if _, err := l.Host.Call(l.Ctx, nil, "fork", "one", "early"); !errors.As(err, &failure) || failure.Status != 5 {
		t.Errorf("nothing was said, and it was forked: %v", err)
	}
	stops := map[string]int{"one": l.turn("said before")}
	parent := l.info()
	l.Call("fork", "one", "two")
	two := l.with("two")
	two.See("● said before")
	two.Is("idle")
	if i := two.info(); i.Fork == nil || i.Fork.ID != parent.ID || i.Fork.Conversation != parent.Conversation || i.Conversation == parent.Conversation {
		t.Fatalf("forked from %+v: %+v", parent, i)
	}
	stops["two"] = two.turn("said by two")
	stops["one"] += l.turn("said by one")
	forked := two.info()
	if forked.Conversation == parent.Conversation || !forked.Resumable || l.info().Conversation != parent.Conversation {
		t.Errorf("they are in %s and %s", l.info().Conversation, forked.Conversation)
	}
	for _, s := range []*lab{l, two} {
		if n := s.hookEvents("Stop"); isolate != "none" && n != stops[s.Name] {
			t.Errorf("%s has %d ends of turns", s.Name, n)
		}
		for _, e := range s.events("hook") {
			if e["foreign"] == true {
				t.Errorf("%s has a foreigner's event: %v", s.Name, e)
			}
		}
	}
	if body := string(l.Asked("MOCK: text said by two", 0).Body); !strings.Contains(body, "said before") || strings.Contains(body, "said by one") {
		t.Error("the fork does not know what was said, or knows too much")
	}
	l.Call("restart", "two")
	two.See("● said by two")
	two.Is("idle")
	if i := two.info(); i.Conversation != forked.Conversation {
		t.Errorf("after a restart it is in %s, not %s", i.Conversation, forked.Conversation)
	}
	l.Call("kill", "one")
	l.Call("fork", "one", "three")
	l.with("three").See("● said by one")
}

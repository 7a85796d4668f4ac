//go:build agents

package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/test/agents/host"
	"berth/test/agents/modelapi"
	"berth/test/agents/modelapi/generate"
	"berth/test/agents/npm"
)

// The programs under test, made once.
var berthExe, geminiExe string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "berth-agents-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make a folder for the binary:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	if geminiExe, err = Install(ctx); err != nil {
		if errors.Is(err, npm.ErrNone) {
			fmt.Println("SKIPPED: the tests with the real Gemini CLI:", err)
			return 0
		}
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if berthExe, err = host.Build(ctx, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

const (
	size    = "120x40"
	patient = 30 * time.Second          // for what must happen; only a busy machine needs it
	empty   = "^ >   Type your message" // of the composer
)

// lab is a Gemini CLI in a berth session, with its model API.
type lab struct {
	t    *testing.T
	ctx  context.Context
	api  *modelapi.Server
	home *Home
	host *host.Host
	// distrusted: the answer whether the folder is trusted was no.
	distrusted bool
	// reachesOut: it has not the settings that keep it from looking for news, which
	// the lab refuses.
	reachesOut bool
	*host.Session
}

// newLab starts gemini, followed by its driver, with these arguments in a home
// of its own.
func newLab(t *testing.T, seed Seed, args ...string) *lab {
	t.Helper()
	return newLabWith(t, seed, nil, args...)
}

// newLabWith adds to its environment; an empty value takes a variable away.
func newLabWith(t *testing.T, seed Seed, env map[string]string, args ...string) *lab {
	t.Helper()
	l := prepare(t, seed)
	check(t, l.host.Start())
	var err error
	l.Session, err = l.host.NewAs(l.ctx, "gemini", "lab", l.home.Workspace, size, l.env(env), append([]string{geminiExe}, args...)...)
	check(t, err)
	return l
}

// start makes the session that the lab is about, with these flags of new. groom
// is auto but for what they say.
func (l *lab) start(name string, env map[string]string, flags ...string) {
	l.t.Helper()
	words := []string{"new", name, "--agent", "gemini", "--cwd", l.home.Workspace, "--size", size, "--size-policy", "fixed"}
	all := l.env(env)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		words = append(words, "--env", k+"="+all[k])
	}
	_, err := l.host.Call(l.ctx, nil, slices.Concat(words, flags, []string{"--", geminiExe})...)
	check(l.t, err)
	l.Session = l.host.Known(name)
}

// prepare has a home and a host that is not started yet.
func prepare(t *testing.T, seed Seed) *lab {
	t.Helper()
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(host.Soak())*5*time.Minute)
	t.Cleanup(cancel)
	// Sockets live below it, whose paths may not be long.
	dir, err := os.MkdirTemp("/tmp", "bg")
	check(t, err)
	t.Cleanup(func() { check(t, os.RemoveAll(dir)) })
	l := &lab{t: t, ctx: ctx}
	l.api, err = generate.Start(ctx)
	check(t, err)
	t.Cleanup(l.api.Close)
	l.home, err = NewHome(dir, seed)
	check(t, err)
	l.host, err = host.New(ctx, berthExe, dir)
	check(t, err)
	t.Cleanup(l.end)
	return l
}

func (l *lab) env(more map[string]string) map[string]string {
	all := l.home.Env(l.api.URL())
	for k, v := range more {
		if v == "" {
			delete(all, k)
			continue
		}
		all[k] = v
	}
	return all
}

// end ends everything, and shows what helps with a test that failed.
func (l *lab) end() {
	if l.t.Failed() && l.Session != nil {
		screen, err := l.Screen(context.Background())
		l.t.Logf("the last screen (%v):\n%s", err, screen)
		l.t.Logf("what was told:\n%s", l.History(context.Background()))
		for _, r := range l.api.Requests() {
			l.t.Logf("%s %s %s %s step %d: %.80q", r.Time.Format("05.000"), r.Method, r.Path, r.Kind, r.Step, r.Prompt)
		}
	}
	check(l.t, l.host.Close())
	if hosts := l.api.Outside(); len(hosts) > 0 && !l.reachesOut {
		l.t.Errorf("it tried to reach %v", hosts)
	}
	if keep := os.Getenv("BERTH_LAB_KEEP"); keep != "" {
		check(l.t, l.api.Keep(keep, l.t.Name()))
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// see waits for a screen on which each pattern matches a line.
func (l *lab) see(patterns ...string) string {
	l.t.Helper()
	screen, err := l.See(l.ctx, patient, patterns...)
	check(l.t, err)
	return screen
}

// gone waits until a pattern matches no line.
func (l *lab) gone(pattern string) string {
	l.t.Helper()
	screen, err := l.Gone(l.ctx, patient, pattern)
	check(l.t, err)
	return screen
}

// key presses one key: a name as Berth has it, or a character.
func (l *lab) key(name string) {
	l.t.Helper()
	if len(name) == 1 {
		check(l.t, l.Type(l.ctx, name))
		return
	}
	check(l.t, l.Press(l.ctx, name))
}

// listens waits until the title says that a dialog is open: Gemini draws it before
// it reads a key there, and says so behind that.
func (l *lab) listens() {
	l.t.Helper()
	for deadline := time.Now().Add(patient); ; time.Sleep(10 * time.Millisecond) {
		title, err := l.Title(l.ctx)
		check(l.t, err)
		if strings.HasPrefix(title, "✋") {
			return
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("a dialog is open, and the title is %q", title)
		}
	}
}

// made says whether there is such a file in the workspace.
func (l *lab) made(name string) bool {
	_, err := os.Stat(filepath.Join(l.home.Workspace, name))
	return err == nil
}

// said is what state says, as far as it is looked at here.
type said struct {
	State  string
	Tier   int
	Cause  string
	Prompt *struct {
		ID, Type, Subtype, Tool, Title, Input string
		Options                               []string
	}
	Failure *struct{ Class, Text string }
}

func (l *lab) state() said {
	l.t.Helper()
	out, err := l.host.Call(l.ctx, nil, "state", l.Name)
	check(l.t, err)
	var s said
	check(l.t, json.Unmarshal(out, &s))
	return s
}

// is waits for a state and gives all that is said with it.
func (l *lab) is(state string) said {
	l.t.Helper()
	if _, err := l.host.Call(l.ctx, nil, "wait", l.Name, "--until", state, "--timeout", patient.String()); err != nil {
		l.t.Fatalf("wait for %s: %v; it is %+v", state, err, l.state())
	}
	return l.state()
}

// nudged is what nudge answers, and the status it ends with.
type nudged struct {
	Delivered, Confirmed bool
	Queued               bool
	QueueID              string `json:"queue_id"`
	Nudge, Evidence      string
	ArrivedAs            string  `json:"arrived_as"`
	StateBefore          string  `json:"state_before"`
	State                *string `json:"state"`
	LastMessage          *string `json:"last_message"`
	Error                *failed
	status               int
}

type failed struct {
	Code, Message string
	Details       map[string]any
}

// nudge gives a message over standard input, so that no shell and no word
// splitting is between.
func (l *lab) nudge(text string, flags ...string) nudged {
	l.t.Helper()
	var n nudged
	n.status = l.verb(&n, []byte(text), append(append([]string{"nudge"}, flags...), l.Name, "-")...)
	return n
}

// verb runs a verb that may fail and reads its last line.
func (l *lab) verb(into any, stdin []byte, words ...string) (status int) {
	l.t.Helper()
	out, err := l.host.Call(l.ctx, stdin, words...)
	var failure *host.Failure
	switch {
	case errors.As(err, &failure):
		status = failure.Status
	case err != nil:
		l.t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		check(l.t, json.Unmarshal([]byte(line), into))
	}
	return status
}

// evident says whether that is what confirms a message: the hook. In a folder that
// is not trusted none runs, and on a machine that is busy it may come later than
// the title can be believed.
func (l *lab) evident(evidence string) bool {
	return evidence == "title:✦, and the composer is empty" || evidence == "hook:BeforeAgent" && !l.distrusted
}

// confirmed gives a message and demands that it is confirmed, and that the model
// has it once, as it is typed.
func (l *lab) confirmed(text, arrives string) {
	l.t.Helper()
	started := time.Now()
	n := l.nudge(text, "--wait", "--timeout", patient.String())
	if n.status != 0 || !n.Confirmed || !l.evident(n.Evidence) {
		l.t.Fatalf("%.60q (%d bytes): %+v %+v", text, len(text), n, n.Error)
	}
	as := "message"
	if strings.TrimSpace(text) != strings.TrimSpace(arrives) {
		as = "changed"
	}
	if n.ArrivedAs != as {
		l.t.Errorf("%.60q arrived as %q, and is told as %s", text, arrives, n.ArrivedAs)
	}
	if got := l.api.Arrivals(arrives); got != 1 {
		last := ""
		for _, r := range l.api.Requests() {
			if texts := r.Texts; len(texts) > 0 {
				last = texts[len(texts)-1]
			}
		}
		l.t.Errorf("%.60q (%d bytes) arrived %d times; the last to arrive was %.80q (%d bytes)", text, len(text), got, last, len(last))
	}
	if took := time.Since(started); took > 5*time.Second {
		l.t.Logf("%.40q took %s", text, took)
	}
}

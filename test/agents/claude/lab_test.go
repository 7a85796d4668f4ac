//go:build agents

package claude

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/test/agents/host"
	"berth/test/agents/modelapi"
	"berth/test/agents/npm"
)

// The programs under test, made once.
var berthExe, claudeExe string

// mcpExe makes the server that asks, once for all that use it.
var mcpExe func() (string, error)

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
	if claudeExe, err = Install(ctx); err != nil {
		if errors.Is(err, npm.ErrNone) {
			fmt.Println("SKIPPED: the tests with the real Claude Code:", err)
			return 0
		}
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if berthExe, err = host.Build(ctx, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	mcpExe = sync.OnceValues(func() (string, error) { return buildMCP(ctx, dir) })
	status := m.Run()
	delays.print()
	return status
}

const (
	size    = "120x40"
	patient = time.Minute // for what must happen; only a busy machine needs it
	prompt  = "^❯\u00a0"  // of the composer
)

// lab is a Claude Code in a berth session, with its model API.
type lab struct {
	t    *testing.T
	ctx  context.Context
	api  *modelapi.Server
	home *Home
	host *host.Host
	// reachesOut lets it try hosts beside the API, without success.
	reachesOut bool
	wrapper    string // started in place of claude; it starts that
	*host.Session
}

// newLab starts claude with these arguments in a home of its own.
func newLab(t *testing.T, seed Seed, args ...string) *lab {
	t.Helper()
	t.Parallel()
	return newLabWith(t, seed, nil, args...)
}

func newLabWith(t *testing.T, seed Seed, env map[string]string, args ...string) *lab {
	t.Helper()
	return newLabAs(t, "generic", seed, env, args...)
}

// newLabAs has the driver of an agent follow it.
func newLabAs(t *testing.T, agent string, seed Seed, env map[string]string, args ...string) *lab {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(host.Soak())*5*time.Minute)
	t.Cleanup(cancel)
	// Sockets live below it, whose paths may not be long.
	dir, err := os.MkdirTemp("/tmp", "ba")
	check(t, err)
	t.Cleanup(func() { check(t, os.RemoveAll(dir)) })
	l := &lab{t: t, ctx: ctx}
	l.api, err = modelapi.Start(ctx)
	check(t, err)
	t.Cleanup(l.api.Close)
	l.home, err = NewHome(dir, seed)
	check(t, err)
	l.host, err = host.New(ctx, berthExe, dir)
	check(t, err)
	check(t, l.host.Start())
	t.Cleanup(l.end)
	all := l.home.Env(l.api.URL())
	for k, v := range env {
		if v == "" {
			delete(all, k)
			continue
		}
		all[k] = v
	}
	l.Session, err = l.host.NewAs(ctx, agent, "lab", l.home.Workspace, size, all, append([]string{claudeExe}, manual(args)...)...)
	check(t, err)
	return l
}

// manual has Claude Code ask before it runs a tool: newer versions begin in auto
// mode, where most run unasked, and its checks are requests of their own.
func manual(args []string) []string {
	for _, a := range args {
		if a == "--permission-mode" || a == "--dangerously-skip-permissions" {
			return args
		}
	}
	return append([]string{"--permission-mode", "default"}, args...)
}

// end ends everything, and shows what helps with a test that failed.
func (l *lab) end() {
	if l.t.Failed() && l.Session != nil {
		screen, err := l.Screen(context.Background())
		l.t.Logf("the last screen (%v):\n%s", err, screen)
		events, _ := l.host.Call(context.Background(), nil, "watch", l.Name, "--since", "e1", "--timeout", "1s") // it ends by its timeout
		for line := range strings.Lines(string(events)) {
			l.t.Logf("%.600s", strings.TrimSpace(line))
		}
		for _, r := range l.api.Requests() {
			l.t.Logf("%s %s %s %s step %d: %.80q", r.Time.Format("05.000"), r.Method, r.Path, r.Kind, r.Step, r.Prompt)
		}
	}
	check(l.t, l.host.Close())
	if hosts := l.api.Outside(); len(hosts) > 0 && !l.reachesOut {
		l.t.Errorf("it tried to reach %v", hosts)
	}
	if keep := os.Getenv("BERTH_LAB_KEEP"); keep != "" {
		l.keep(keep)
	}
}

// keep writes the requests into a folder, for somebody who looks into them.
func (l *lab) keep(dir string) {
	for _, r := range l.api.Requests() {
		name := filepath.Join(dir, fmt.Sprintf("%s-%03d-%s.json", strings.ReplaceAll(l.t.Name(), "/", "_"), r.N, r.Kind))
		check(l.t, os.WriteFile(name, r.Body, 0o600))
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
	if newer(330) {
		l.pause(700) // it takes no notice of a key in a dialog's first moment
	}
	if len(name) == 1 {
		check(l.t, l.Type(l.ctx, name))
		return
	}
	check(l.t, l.Press(l.ctx, name))
}

// ready waits for an empty composer of a Claude Code that has nothing to do: no
// turn runs and no dialog is open. Other words of the footer come and go.
func (l *lab) ready() {
	l.t.Helper()
	_, err := l.Until(l.ctx, patient, "shows no empty composer", func(screen string) bool {
		return empty.MatchString(screen) && !occupied.MatchString(screen)
	})
	check(l.t, err)
}

var (
	typed = regexp.MustCompile("(?m)" + prompt + ".*$") // what stands in the composer
	// 2.1.330 gives a hint there after an error.
	empty    = regexp.MustCompile("(?m)" + prompt + "? *((Once fixed, r|R)esend your message.*)?$")
	occupied = regexp.MustCompile("esc to interrupt|Esc to cancel|Enter to confirm")
)

// send pastes a message, sees it in the composer, and presses Enter.
func (l *lab) send(message string) {
	l.t.Helper()
	check(l.t, l.Paste(l.ctx, message))
	first, _, several := strings.Cut(message, "\n")
	echo := regexp.QuoteMeta(string([]rune(first)[:min(20, len([]rune(first)))]))
	if several {
		echo = `.*\[Pasted text|` + prompt + echo // which of them depends on the lines
	}
	l.see(prompt + echo)
	l.key("Enter")
}

// asked waits for the model to be asked for a step of the turn that a message began.
func (l *lab) asked(message string, step int) modelapi.Request {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.ctx, patient)
	defer cancel()
	r, err := l.api.Wait(ctx, func(r modelapi.Request) bool {
		return r.Kind == modelapi.KindTurn && !r.Subagent && r.Prompt == message && r.Step == step
	})
	check(l.t, err)
	return r
}

// once checks that the model has a message exactly once, as it was sent.
func (l *lab) once(message string) {
	l.t.Helper()
	if n := l.api.Arrivals(message); n != 1 {
		l.t.Errorf("the message %.60q arrived %d times", message, n)
	}
}

// lookEvery is the time between two looks at what tells nobody when it changes:
// looking without a break would take the processors from what is looked at.
const lookEvery = 25 * time.Millisecond

// until looks until it is so. When it never is, the test ends with what
// otherwise says.
func (l *lab) until(is func() bool, otherwise func() string) {
	l.t.Helper()
	for deadline := time.Now().Add(patient); !is(); l.pause(int(lookEvery.Milliseconds())) {
		if time.Now().After(deadline) {
			l.t.Fatal(otherwise())
		}
	}
}

// pause is the time between two keys of a person's, in milliseconds.
func (l *lab) pause(ms int) {
	timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.ctx.Done():
	}
}

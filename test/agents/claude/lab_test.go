//go:build agents

package claude

import (
	"context"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// The programs under test, made once.
var programs testbed.Programs

// mcpExe makes the server that asks, once for all that use it.
var mcpExe func() (string, error)

func TestMain(m *testing.M) {
	status := testbed.Main(m, "Claude Code", Install, &programs, func(ctx context.Context, dir string) {
		mcpExe = sync.OnceValues(func() (string, error) { return buildMCP(ctx, dir) })
	})
	delays.print()
	os.Exit(status)
}

var check = testbed.Check

const (
	size    = "120x40"
	patient = time.Minute // for what must happen; only a busy machine needs it
	prompt  = "^❯\u00a0"  // of the composer
)

// lab is a Claude Code in a berth session, with its model API.
type lab struct {
	*testbed.Lab
	home    *Home
	wrapper string // program that is started in place of claude, and that starts claude
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
	l := prepare(t, seed)
	check(t, l.Host.Start())
	all := l.home.Env(l.API.URL())
	for k, v := range env {
		if v == "" {
			delete(all, k)
			continue
		}
		all[k] = v
	}
	var err error
	l.Session, err = l.Host.NewAs(l.Ctx, agent, "lab", l.home.Workspace, size, all, append([]string{programs.Agent}, manual(args)...)...)
	check(t, err)
	return l
}

// prepare makes a lab with a home. It does not start the server.
func prepare(t *testing.T, seed Seed) *lab {
	t.Helper()
	l := &lab{Lab: testbed.New(t, programs.Berth, patient, modelapi.Start)}
	var err error
	l.home, err = NewHome(l.Dir, seed)
	check(t, err)
	l.Home, l.Workspace = l.home.Dir, l.home.Workspace
	l.Evident = func(evidence string) bool { return evidence == "hook:UserPromptSubmit" || evidence == "log:user" }
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

// key presses one key: a name as Berth has it, or a character.
func (l *lab) key(name string) {
	l.T.Helper()
	l.beforeKey()
	if len(name) == 1 {
		check(l.T, l.Type(l.Ctx, name))
		return
	}
	check(l.T, l.Press(l.Ctx, name))
}

// beforeKey waits until a newer Claude Code takes a key: it ignores keys in a dialog's first moment.
func (l *lab) beforeKey() {
	if newer(330) {
		l.pause(700)
	}
}

// ready waits for an empty composer of a Claude Code that has nothing to do: no
// turn runs and no dialog is open. Other words of the footer come and go.
func (l *lab) ready() {
	l.T.Helper()
	_, err := l.Until(l.Ctx, patient, "shows no empty composer", func(screen string) bool {
		return empty.MatchString(screen) && !occupied.MatchString(screen)
	})
	check(l.T, err)
}

var (
	typed = regexp.MustCompile("(?m)" + prompt + ".*$") // the text in the composer
	// 2.1.330 gives a hint there after an error.
	empty    = regexp.MustCompile("(?m)" + prompt + "? *((Once fixed, r|R)esend your message.*)?$")
	occupied = regexp.MustCompile("esc to interrupt|Esc to cancel|Enter to confirm")
)

// send pastes a message, sees it in the composer, and presses Enter.
func (l *lab) send(message string) {
	l.T.Helper()
	check(l.T, l.Paste(l.Ctx, message))
	first, _, several := strings.Cut(message, "\n")
	echo := regexp.QuoteMeta(string([]rune(first)[:min(20, len([]rune(first)))]))
	if several {
		echo = `.*\[Pasted text|` + prompt + echo // which of them depends on the lines
	}
	l.See(prompt + echo)
	l.key("Enter")
}

// once checks that the model has a message exactly once, as it was sent.
func (l *lab) once(message string) {
	l.T.Helper()
	if n := l.API.Arrivals(message); n != 1 {
		l.T.Errorf("the message %.60q arrived %d times", message, n)
	}
}

// pause is the time between two keys of a person's, in milliseconds.
func (l *lab) pause(ms int) {
	timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.Ctx.Done():
	}
}

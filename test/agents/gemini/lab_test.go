//go:build agents

package gemini

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/test/agents/modelapi/generate"
	"berth/test/agents/testbed"
)

// The programs under test, made once.
var programs testbed.Programs

func TestMain(m *testing.M) { os.Exit(testbed.Main(m, "Gemini CLI", Install, &programs, nil)) }

var check = testbed.Check

const (
	size    = "120x40"
	patient = 30 * time.Second          // for what must happen; only a busy machine needs it
	empty   = "^ >   Type your message" // of the composer
)

// lab is a Gemini CLI in a berth session, with its model API.
type lab struct {
	*testbed.Lab
	home *Home
	// distrusted: the answer whether the folder is trusted was no.
	distrusted bool
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
	check(t, l.Host.Start())
	var err error
	l.Session, err = l.Host.NewAs(l.Ctx, "gemini", "lab", l.home.Workspace, size, l.env(env), append([]string{programs.Agent}, args...)...)
	check(t, err)
	return l
}

// start makes the session that the lab is about, with these flags of new. groom
// is auto but for what they say.
func (l *lab) start(name string, env map[string]string, flags ...string) {
	l.T.Helper()
	words := []string{"new", name, "--agent", "gemini", "--cwd", l.home.Workspace, "--size", size, "--size-policy", "fixed"}
	all := l.env(env)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		words = append(words, "--env", k+"="+all[k])
	}
	_, err := l.Host.Call(l.Ctx, nil, slices.Concat(words, flags, []string{"--", programs.Agent})...)
	check(l.T, err)
	l.Session = l.Host.Known(name)
}

// prepare has a home and a host that is not started yet.
func prepare(t *testing.T, seed Seed) *lab {
	t.Helper()
	t.Parallel()
	l := &lab{Lab: testbed.New(t, programs.Berth, patient, generate.Start)}
	var err error
	l.home, err = NewHome(l.Dir, seed)
	check(t, err)
	l.Home, l.Workspace = l.home.Dir, l.home.Workspace
	l.Evident = l.evident
	return l
}

func (l *lab) env(more map[string]string) map[string]string {
	all := l.home.Env(l.API.URL())
	for k, v := range more {
		if v == "" {
			delete(all, k)
			continue
		}
		all[k] = v
	}
	return all
}

// key presses one key: a name as Berth has it, or a character.
func (l *lab) key(name string) {
	l.T.Helper()
	if len(name) == 1 {
		check(l.T, l.Type(l.Ctx, name))
		return
	}
	check(l.T, l.Press(l.Ctx, name))
}

// listens waits until the title says that a dialog is open. Gemini draws the dialog before it reads keys there, and
// sets the title after that.
func (l *lab) listens() {
	l.T.Helper()
	for deadline := time.Now().Add(patient); ; time.Sleep(10 * time.Millisecond) {
		title, err := l.Title(l.Ctx)
		check(l.T, err)
		if strings.HasPrefix(title, "✋") {
			return
		}
		if time.Now().After(deadline) {
			l.T.Fatalf("a dialog is open, and the title is %q", title)
		}
	}
}

// evident says whether that is what confirms a message: the hook. In a folder that
// is not trusted none runs, and on a machine that is busy it may come later than
// the title can be believed.
func (l *lab) evident(evidence string) bool {
	return evidence == "title:✦, and the composer is empty" || evidence == "hook:BeforeAgent" && !l.distrusted
}

//go:build agents

package copilot

import (
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"berth/test/agents/testbed"
)

// The programs under test, made once.
var programs testbed.Programs

func TestMain(m *testing.M) { os.Exit(testbed.Main(m, "Copilot CLI", Install, &programs, nil)) }

var check = testbed.Check

const (
	size    = "120x40"
	patient = 30 * time.Second // for what must happen; only a busy machine needs it
	rests   = "Interactive · Manual Approval"
)

// lab is a Copilot CLI in a berth session, with its model API.
type lab struct {
	*testbed.Lab
	home *Home
}

// newLab starts copilot, followed by its driver, in a home of its own, with these flags of new.
func newLab(t *testing.T, seed Seed, flags ...string) *lab {
	t.Helper()
	l := prepare(t, seed)
	l.start("lab", flags...)
	return l
}

// prepare has a home and a host without sessions.
func prepare(t *testing.T, seed Seed) *lab {
	t.Helper()
	t.Parallel()
	l := &lab{Lab: testbed.New(t, programs.Berth, patient, StartAPI)}
	var err error
	l.home, err = NewHome(l.Dir, seed)
	check(t, err)
	l.Home, l.Workspace = l.home.Dir, l.home.Workspace
	l.Evident = func(evidence string) bool { // on a busy machine the hook may come late
		return evidence == "hook:UserPromptSubmit" || evidence == "it is working, and the composer is empty"
	}
	check(t, l.Host.Start())
	return l
}

// start makes the session that the lab is about.
func (l *lab) start(name string, flags ...string) {
	l.T.Helper()
	words := []string{"new", name, "--agent", "copilot", "--cwd", l.home.Workspace, "--size", size, "--size-policy", "fixed"}
	env, err := l.home.Env(l.API.URL())
	check(l.T, err)
	for _, k := range slices.Sorted(maps.Keys(env)) {
		words = append(words, "--env", k+"="+env[k])
	}
	_, err = l.Host.Call(l.Ctx, nil, slices.Concat(words, flags, []string{"--", programs.Agent})...)
	check(l.T, err)
	l.Session = l.Host.Known(name)
}

//go:build agents

package opencode

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

func TestMain(m *testing.M) { os.Exit(testbed.Main(m, "opencode", Install, &programs, nil)) }

const patient = 90 * time.Second // for what must happen; only a busy machine needs it

// prepare starts a server without a session. env is the environment of an opencode.
func prepare(t *testing.T) (l *testbed.Lab, env map[string]string) {
	t.Helper()
	t.Parallel()
	l = testbed.New(t, programs.Berth, patient, startAPI)
	h, err := NewHome(l.Dir, l.API.URL())
	testbed.Check(t, err)
	l.Home, l.Workspace, l.ReachesOut = h.Dir, h.Workspace, true // it looks for its plugins' library at the start
	l.Evident = func(evidence string) bool { return evidence == "hook:turn" }
	testbed.Check(t, l.Host.Start())
	return l, h.Env(l.API.URL())
}

// begin starts opencode in a session, with these flags of new, and waits until it takes messages.
func begin(t *testing.T, flags ...string) *testbed.Lab {
	t.Helper()
	l, env := prepare(t)
	words := []string{"new", "lab", "--agent", "opencode", "--cwd", l.Workspace, "--size", "120x40", "--size-policy", "fixed"}
	for _, k := range slices.Sorted(maps.Keys(env)) {
		words = append(words, "--env", k+"="+env[k])
	}
	_, err := l.Host.Call(l.Ctx, nil, slices.Concat(words, flags, []string{"--", programs.Agent})...)
	testbed.Check(t, err)
	l.Session = l.Host.Known("lab")
	l.Is("idle")
	// The first turn begins 0.3 s after its message, and 30 s after it on a machine with twenty times the
	// work that it can do: only there is the message not confirmed.
	const first = "MOCK: text ready"
	if n := l.Nudge(first); n.Status != 0 && (n.Error == nil || n.Error.Code != "UNCONFIRMED") {
		t.Fatalf("the first message: %+v %+v", n, n.Error)
	}
	l.Asked(first, 0)
	l.See("^ +ready$")
	l.Is("idle")
	return l
}

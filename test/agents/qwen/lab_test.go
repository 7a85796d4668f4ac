//go:build agents

package qwen

import (
	"context"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"berth/test/agents/modelapi"
	"berth/test/agents/modelapi/chat"
	"berth/test/agents/testbed"
)

// The programs under test, made once.
var programs testbed.Programs

func TestMain(m *testing.M) { os.Exit(testbed.Main(m, "Qwen Code", Install, &programs, nil)) }

var check = testbed.Check

const (
	size    = "120x40"
	patient = 90 * time.Second         // for what must happen; only a busy machine needs it
	empty   = "^>   Type your message" // of the composer
)

// lab is a Qwen Code in a berth session, with its model API.
type lab struct {
	*testbed.Lab
	home *Home
}

// newLab starts qwen, followed by its driver, with these flags of the verb new in a home of its own.
func newLab(t *testing.T, seed Seed, flags ...string) *lab {
	t.Helper()
	l := prepare(t, seed)
	check(t, l.Host.Start())
	l.start("lab", size, flags...)
	return l
}

// prepare has a home and a host that is not started yet.
func prepare(t *testing.T, seed Seed) *lab {
	t.Helper()
	t.Parallel()
	l := &lab{Lab: testbed.New(t, programs.Berth, patient, func(ctx context.Context) (*modelapi.Server, error) {
		return chat.Start(ctx, chat.API{Scenarios: scenarios(), Message: message})
	})}
	var err error
	l.home, err = NewHome(l.Dir, seed)
	check(t, err)
	l.Home, l.Workspace = l.home.Dir, l.home.Workspace
	l.Evident = func(evidence string) bool {
		return evidence == "hook:UserPromptSubmit" || evidence == "title:◐, and the composer is empty"
	}
	return l
}

// start starts a session that the lab is about.
func (l *lab) start(name, size string, flags ...string) {
	l.T.Helper()
	words := []string{"new", name, "--agent", "qwen", "--cwd", l.home.Workspace, "--size", size, "--size-policy", "fixed"}
	all := l.home.Env(l.API.URL(), programs.Agent)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		words = append(words, "--env", k+"="+all[k])
	}
	if !slices.Contains(flags, "--") {
		flags = append(slices.Clone(flags), "--")
	}
	at := slices.Index(flags, "--")
	_, err := l.Host.Call(l.Ctx, nil, slices.Concat(words, flags[:at+1], []string{programs.Agent}, flags[at+1:])...)
	check(l.T, err)
	l.Session = l.Host.Known(name)
}

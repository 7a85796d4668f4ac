//go:build agents

package codex

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/test/agents/modelapi/responses"
	"berth/test/agents/testbed"
)

// The programs under test, made once.
var programs testbed.Programs

func TestMain(m *testing.M) { os.Exit(testbed.Main(m, "Codex", Install, &programs, nil)) }

var check = testbed.Check

const (
	size    = "120x40"
	patient = 20 * time.Second // for what must happen; only a busy machine needs it
	name    = "lab"            // of the session
)

// lab is a Codex in a berth session, with its model API.
type lab struct {
	*testbed.Lab
	home *Home
}

// newLab has codex followed by its driver, in a home of its own, with more words
// for the verb new.
func newLab(t *testing.T, seed Seed, words ...string) *lab {
	t.Helper()
	t.Parallel()
	l := newHost(t, seed, nil)
	l.begin(words...)
	return l
}

// newHost is a lab without a session yet. Its berth.yaml may be given.
func newHost(t *testing.T, seed Seed, yaml func(l *lab) string) *lab {
	t.Helper()
	l := &lab{Lab: testbed.New(t, programs.Berth, patient, responses.Start)}
	l.Refused = []string{announcements}
	var err error
	l.home, err = NewHome(l.Dir, l.API.URL(), seed)
	check(t, err)
	l.Home, l.Workspace = l.home.Dir, l.home.Workspace
	l.Evident = func(evidence string) bool {
		return evidence == "hook:UserPromptSubmit" || strings.HasPrefix(evidence, "log:")
	}
	if yaml != nil {
		l.Configure(yaml(l))
	}
	check(t, l.Host.Start())
	return l
}

// begin starts the session. Words after -- are arguments for codex.
func (l *lab) begin(words ...string) {
	l.T.Helper()
	all := []string{"new", name, "--agent", "codex", "--cwd", l.home.Workspace, "--size", size, "--size-policy", "fixed"}
	for k, v := range l.home.Env(l.API.URL()) {
		all = append(all, "--env", k+"="+v)
	}
	argv := []string{programs.Agent}
	for i, w := range words {
		if w == "--" {
			argv = append(argv, words[i+1:]...)
			words = words[:i]
			break
		}
	}
	all = append(all, words...)
	if !slices.Contains(words, "--profile") { // which has its own command
		all = append(append(all, "--"), argv...)
	}
	_, err := l.Host.Call(l.Ctx, nil, all...)
	check(l.T, err)
	l.Session = l.Host.Known(name)
}

// announcements is where Codex looks for news at each start, whatever its
// settings say; the lab refuses it.
const announcements = "raw.githubusercontent.com:443"

// asks sends a message and waits for the prompt it leads to.
func (l *lab) asks(message string) testbed.Said {
	l.T.Helper()
	l.Takes(message)
	s := l.Is("prompt")
	if s.Prompt == nil {
		l.T.Fatalf("it asks nothing after %q: %+v", message, s)
	}
	return s
}

// states are the states since the first time that Codex was ready.
func (l *lab) states() []string {
	l.T.Helper()
	var all []string
	for _, e := range l.Events("state_change") {
		if e.Prev != "starting" || len(all) > 0 {
			all = append(all, e.Next)
		}
	}
	return all
}

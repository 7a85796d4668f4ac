//go:build agents

package codex

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/test/agents/host"
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
	l.Workspace = l.home.Workspace
	if yaml != nil {
		l.Configure(yaml(l))
	}
	check(t, l.Host.Start())
	return l
}

// begin starts the session. Behind -- stand arguments for codex.
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

// call runs a verb that must succeed.
func (l *lab) call(words ...string) []byte {
	l.T.Helper()
	out, err := l.Host.Call(l.Ctx, nil, words...)
	check(l.T, err)
	return out
}

// state is what berth believes.
type state struct {
	State    string
	Cause    string
	Seq      uint64
	Prompt   *prompt
	Prompts  []prompt
	Failure  *struct{ Class, Text string }
	Activity *struct{ Kind, Tool string }
}

type prompt struct {
	ID, Type, Channel    string
	Subtype, Tool, Title *string
	Input, Text          *string
	Options              []string
	OptionsFallback      bool `json:"options_fallback"`
	Ready                bool
	OnScreen             bool `json:"on_screen"`
}

func (l *lab) state() state {
	l.T.Helper()
	var s state
	check(l.T, json.Unmarshal(l.call("state", name), &s))
	return s
}

// await waits for a state.
func (l *lab) await(states string) state {
	l.T.Helper()
	if _, err := l.Host.Call(l.Ctx, nil, "wait", name, "--until", states, "--timeout", patient.String()); err != nil {
		l.T.Fatalf("wait for %s: %v", states, err)
	}
	return l.state()
}

// response is what respond says.
type response struct {
	Delivered, Confirmed         bool
	Prompt, Type, Channel, State string
	Outcome                      string
	Error                        *struct{ Code, Message string }
}

// try responds and gives what is said, with the status.
func (l *lab) try(words ...string) (response, int) {
	l.T.Helper()
	out, err := l.Host.Call(l.Ctx, nil, append([]string{"respond", name}, words...)...)
	status := 0
	var failure *host.Failure
	if errors.As(err, &failure) {
		status = failure.Status
	} else {
		check(l.T, err)
	}
	var r response
	check(l.T, json.Unmarshal(out, &r))
	return r, status
}

// respond answers and checks that the answer is told to be taken, by that way.
func (l *lab) respond(channel, outcome string, words ...string) response {
	l.T.Helper()
	r, status := l.try(words...)
	if status != 0 || !r.Delivered || !r.Confirmed || r.Channel != channel || r.Outcome != outcome {
		l.T.Fatalf("respond %q: status %d, %+v; error %+v", words, status, r, r.Error)
	}
	return r
}

// nudge sends a message, whoever writes, and checks that it was taken.
func (l *lab) nudge(message string) {
	l.T.Helper()
	var n struct{ Delivered, Confirmed bool }
	check(l.T, json.Unmarshal(l.call("nudge", name, "--takeover", "--", message), &n))
	if !n.Delivered || !n.Confirmed {
		l.T.Fatalf("nudge %q: %+v", message, n)
	}
}

// asks sends a message and waits for the prompt it leads to.
func (l *lab) asks(message string) state {
	l.T.Helper()
	l.nudge(message)
	s := l.await("prompt")
	if s.Prompt == nil {
		l.T.Fatalf("it asks nothing after %q: %+v", message, s)
	}
	return s
}

// attach has a person look on at a terminal, who may write unless the flags say
// otherwise, until the test's end.
func (l *lab) attach(flags ...string) *host.Viewer {
	l.T.Helper()
	v, err := l.Host.Attach(l.Ctx, name, flags...)
	check(l.T, err)
	l.T.Cleanup(v.Close)
	return v
}

// event is an event as far as it is looked at here.
type event struct {
	Type, Kind, Why, Event, Prev, Next string
	Outcome, How                       string
	Answer                             string
	Foreign                            bool
	Time                               time.Time
}

// told are all events of the session so far, of these types.
func (l *lab) told(types ...string) []event {
	l.T.Helper()
	out, err := l.Host.Call(l.Ctx, nil, "watch", name, "--since", name+":0", "--type", strings.Join(types, ","), "--timeout", "300ms")
	if err == nil {
		l.T.Fatal("watch ended before its timeout")
	}
	var all []event
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, `{"error"`) {
			continue
		}
		var e event
		check(l.T, json.Unmarshal([]byte(line), &e))
		all = append(all, e)
	}
	return all
}

// states are the states since the first time that Codex was ready.
func (l *lab) states() []string {
	l.T.Helper()
	var all []string
	for _, e := range l.told("state_change") {
		if e.Prev != "starting" || len(all) > 0 {
			all = append(all, e.Next)
		}
	}
	return all
}

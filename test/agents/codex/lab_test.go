//go:build agents

package codex

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/test/agents/host"
	"berth/test/agents/modelapi"
	"berth/test/agents/modelapi/responses"
	"berth/test/agents/npm"
)

// The programs under test, made once.
var berthExe, codexExe string

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
	if codexExe, err = Install(ctx); err != nil {
		if errors.Is(err, npm.ErrNone) {
			fmt.Println("SKIPPED: the tests with the real Codex:", err)
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
	patient = 20 * time.Second // for what must happen; only a busy machine needs it
	name    = "lab"            // of the session
)

// lab is a Codex in a berth session, with its model API.
type lab struct {
	t    *testing.T
	ctx  context.Context
	api  *modelapi.Server
	home *Home
	host *host.Host
	*host.Session
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
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(host.Soak())*5*time.Minute)
	t.Cleanup(cancel)
	// Sockets live below it, whose paths may not be long.
	dir, err := os.MkdirTemp("/tmp", "ba")
	check(t, err)
	t.Cleanup(func() { check(t, os.RemoveAll(dir)) })
	l := &lab{t: t, ctx: ctx}
	l.api, err = responses.Start(ctx)
	check(t, err)
	t.Cleanup(l.api.Close)
	l.home, err = NewHome(dir, l.api.URL(), seed)
	check(t, err)
	l.host, err = host.New(ctx, berthExe, dir)
	check(t, err)
	if yaml != nil {
		folder := filepath.Join(dir, ".config", "berth") // where the server looks for it
		check(t, os.MkdirAll(folder, 0o700))
		check(t, os.WriteFile(filepath.Join(folder, "berth.yaml"), []byte(yaml(l)), 0o600))
	}
	check(t, l.host.Start())
	t.Cleanup(l.end)
	return l
}

// begin starts the session. Behind -- stand arguments for codex.
func (l *lab) begin(words ...string) {
	l.t.Helper()
	all := []string{"new", name, "--agent", "codex", "--cwd", l.home.Workspace, "--size", size, "--size-policy", "fixed"}
	for k, v := range l.home.Env(l.api.URL()) {
		all = append(all, "--env", k+"="+v)
	}
	argv := []string{codexExe}
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
	_, err := l.host.Call(l.ctx, nil, all...)
	check(l.t, err)
	l.Session = l.host.Known(name)
}

// end ends everything, and shows what helps with a test that failed.
func (l *lab) end() {
	if l.t.Failed() && l.Session != nil {
		screen, err := l.Screen(context.Background())
		l.t.Logf("the last screen (%v):\n%s", err, screen)
		l.t.Logf("what was told:\n%s", l.History(context.Background()))
		if out, err := l.host.Call(context.Background(), nil, "explain", name, "--text"); err == nil {
			l.t.Logf("explain:\n%s", out)
		}
		for _, r := range l.api.Requests() {
			l.t.Logf("%s %s %s %s step %d: %.80q", r.Time.Format("05.000"), r.Method, r.Path, r.Kind, r.Step, r.Prompt)
		}
	}
	check(l.t, l.host.Close())
	hosts := slices.DeleteFunc(l.api.Outside(), func(host string) bool { return host == announcements })
	if len(hosts) > 0 {
		l.t.Errorf("it tried to reach %v", hosts)
	}
	if keep := os.Getenv("BERTH_LAB_KEEP"); keep != "" {
		check(l.t, l.api.Keep(keep, l.t.Name()))
	}
}

// announcements is where Codex looks for news at each start, whatever its
// settings say; the lab refuses it.
const announcements = "raw.githubusercontent.com:443"

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// call runs a verb that must succeed.
func (l *lab) call(words ...string) []byte {
	l.t.Helper()
	out, err := l.host.Call(l.ctx, nil, words...)
	check(l.t, err)
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
	l.t.Helper()
	var s state
	check(l.t, json.Unmarshal(l.call("state", name), &s))
	return s
}

// await waits for a state.
func (l *lab) await(states string) state {
	l.t.Helper()
	if _, err := l.host.Call(l.ctx, nil, "wait", name, "--until", states, "--timeout", patient.String()); err != nil {
		l.t.Fatalf("wait for %s: %v", states, err)
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
	l.t.Helper()
	out, err := l.host.Call(l.ctx, nil, append([]string{"respond", name}, words...)...)
	status := 0
	var failure *host.Failure
	if errors.As(err, &failure) {
		status = failure.Status
	} else {
		check(l.t, err)
	}
	var r response
	check(l.t, json.Unmarshal(out, &r))
	return r, status
}

// respond answers and checks that the answer is told to be taken, by that way.
func (l *lab) respond(channel, outcome string, words ...string) response {
	l.t.Helper()
	r, status := l.try(words...)
	if status != 0 || !r.Delivered || !r.Confirmed || r.Channel != channel || r.Outcome != outcome {
		l.t.Fatalf("respond %q: status %d, %+v; error %+v", words, status, r, r.Error)
	}
	return r
}

// nudge sends a message, whoever writes, and checks that it was taken.
func (l *lab) nudge(message string) {
	l.t.Helper()
	var n struct{ Delivered, Confirmed bool }
	check(l.t, json.Unmarshal(l.call("nudge", name, "--takeover", "--", message), &n))
	if !n.Delivered || !n.Confirmed {
		l.t.Fatalf("nudge %q: %+v", message, n)
	}
}

// asks sends a message and waits for the prompt it leads to.
func (l *lab) asks(message string) state {
	l.t.Helper()
	l.nudge(message)
	s := l.await("prompt")
	if s.Prompt == nil {
		l.t.Fatalf("it asks nothing after %q: %+v", message, s)
	}
	return s
}

// see waits for a screen on which each pattern matches a line.
func (l *lab) see(patterns ...string) string {
	l.t.Helper()
	screen, err := l.See(l.ctx, patient, patterns...)
	check(l.t, err)
	return screen
}

// made says whether the program has made a file in its workspace.
func (l *lab) made(file string) bool {
	_, err := os.Stat(filepath.Join(l.home.Workspace, file))
	return err == nil
}

// asked waits for the model to be asked for a step of the turn that a message
// began.
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

// attach has a person look on at a terminal, who may write unless the flags say
// otherwise, until the test's end.
func (l *lab) attach(flags ...string) *host.Viewer {
	l.t.Helper()
	v, err := l.host.Attach(l.ctx, name, flags...)
	check(l.t, err)
	l.t.Cleanup(v.Close)
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
	l.t.Helper()
	out, err := l.host.Call(l.ctx, nil, "watch", name, "--since", name+":0", "--type", strings.Join(types, ","), "--timeout", "300ms")
	if err == nil {
		l.t.Fatal("watch ended before its timeout")
	}
	var all []event
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, `{"error"`) {
			continue
		}
		var e event
		check(l.t, json.Unmarshal([]byte(line), &e))
		all = append(all, e)
	}
	return all
}

// states are the states since the first time that Codex was ready.
func (l *lab) states() []string {
	l.t.Helper()
	var all []string
	for _, e := range l.told("state_change") {
		if e.Prev != "starting" || len(all) > 0 {
			all = append(all, e.Next)
		}
	}
	return all
}

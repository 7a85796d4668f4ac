// Package testbed holds what the tests of all real agents share: a Berth server with one session,
// where the agent runs against a model API on loopback. The tests of each agent embed Lab in a
// type of their own, which adds the agent's home and what only that agent does. Each method fails
// its test if it can't do its work.
package testbed

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

	"berth/agent/compose"
	"berth/test/agents/host"
	"berth/test/agents/modelapi"
	"berth/test/agents/npm"
)

// Programs are the paths of the programs under test. Main builds them once for each package.
type Programs struct {
	Berth, Agent string
}

// Main installs the agent, builds berth, runs the tests and returns the exit status. Without npm
// it reports that the tests are skipped. prepare may be nil; it runs before the tests with the
// folder of the built programs.
func Main(m *testing.M, name string, install func(context.Context) (string, error), made *Programs, prepare func(ctx context.Context, dir string)) int {
	flag.Parse()
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "berth-agents-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make a folder for the binary:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o711); err != nil { // hooks of other users run the program
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if made.Agent, err = install(ctx); err != nil {
		if errors.Is(err, npm.ErrNone) {
			fmt.Printf("SKIPPED: the tests with the real %s: %v\n", name, err)
			return 0
		}
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if made.Berth, err = host.Build(ctx, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if prepare != nil {
		prepare(ctx, dir)
	}
	return m.Run()
}

// Lab is an agent in a session of its own server. Only one goroutine may call its methods.
type Lab struct {
	T    *testing.T
	Ctx  context.Context
	API  *modelapi.Server
	Host *host.Host
	Dir  string // the server's folder; its path is short enough for sockets

	// Patient bounds each wait; only a busy machine needs all of it.
	Patient time.Duration
	// Home and Workspace are the agent's home folder and the folder that it works in.
	Home, Workspace string
	// Evident reports whether this evidence confirms a message.
	Evident func(evidence string) bool
	// Refused are hosts that the agent always tries at its start, whatever its settings are.
	Refused []string
	// ReachesOut lets the agent try hosts other than the API; each try fails.
	ReachesOut bool

	*host.Session // nil until the session is started
}

// New makes a lab with no session, whose server is not started yet. The end of the test stops
// everything that the lab started.
func New(t *testing.T, berth string, patient time.Duration, startAPI func(context.Context) (*modelapi.Server, error)) *Lab {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(host.Soak())*5*time.Minute)
	t.Cleanup(cancel)
	dir, err := os.MkdirTemp("/tmp", "ba")
	Check(t, err)
	t.Cleanup(func() { Check(t, os.RemoveAll(dir)) })
	l := &Lab{T: t, Ctx: ctx, Dir: dir, Patient: patient}
	l.API, err = startAPI(ctx)
	Check(t, err)
	t.Cleanup(l.API.Close)
	l.Host, err = host.New(ctx, berth, dir)
	Check(t, err)
	t.Cleanup(l.end)
	return l
}

// With is the same lab with another of its sessions.
func (l *Lab) With(session string) *Lab {
	other := *l
	other.Session = l.Host.Known(session)
	return &other
}

// Configure writes the server's berth.yaml; call it before the server starts.
func (l *Lab) Configure(yaml string) {
	l.T.Helper()
	folder := filepath.Join(l.Dir, ".config", "berth") // the server reads its configuration here
	Check(l.T, os.MkdirAll(folder, 0o700))
	Check(l.T, os.WriteFile(filepath.Join(folder, "berth.yaml"), []byte(yaml), 0o600))
}

// end stops the sessions and the server. For a failed test it logs the evidence first.
func (l *Lab) end() {
	if l.T.Failed() {
		l.report(context.Background())
	}
	Check(l.T, l.Host.Close())
	hosts := slices.DeleteFunc(l.API.Outside(), func(host string) bool { return slices.Contains(l.Refused, host) })
	if len(hosts) > 0 && !l.ReachesOut {
		l.T.Errorf("it tried to reach %v", hosts)
	}
	if keep := os.Getenv("BERTH_LAB_KEEP"); keep != "" {
		Check(l.T, l.API.Keep(keep, l.T.Name()))
	}
}

// report logs what is known of each session, since a test may have waited for any of them.
func (l *Lab) report(ctx context.Context) {
	for _, r := range l.API.Requests() {
		answered := "not answered"
		if !r.Ended.IsZero() {
			answered = fmt.Sprintf("answered after %s, its client left: %t", r.Ended.Sub(r.Time).Round(time.Millisecond), r.Left)
		}
		l.T.Logf("%s %s %s %s step %d: %.80q: %s", r.Time.Format("05.000"), r.Method, r.Path, r.Kind, r.Step, r.Prompt, answered)
	}
	out, err := l.Host.Call(ctx, nil, "ls")
	var list []struct{ Session string }
	if err == nil {
		err = json.Unmarshal(out, &list)
	}
	if err != nil {
		l.T.Logf("no list of the sessions: %v", err)
	}
	for _, s := range list {
		l.reportSession(ctx, l.Host.Known(s.Session))
	}
}

func (l *Lab) reportSession(ctx context.Context, s *host.Session) {
	screen, err := s.Screen(ctx)
	l.T.Logf("the last screen of %s (%v):\n%s", s.Name, err, screen)
	for line := range strings.Lines(s.History(ctx)) {
		l.T.Logf("%.600s", strings.TrimSpace(line))
	}
	if out, err := l.Host.Call(ctx, nil, "explain", s.Name, "--text"); err == nil {
		l.T.Logf("explain %s:\n%s", s.Name, out)
	}
}

// Check fails the test if err is not nil.
func Check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// See waits for a screen where each pattern matches a line.
func (l *Lab) See(patterns ...string) string {
	l.T.Helper()
	screen, err := l.Session.See(l.Ctx, l.Patient, patterns...)
	Check(l.T, err)
	return screen
}

// Gone waits until a pattern matches no line.
func (l *Lab) Gone(pattern string) string {
	l.T.Helper()
	screen, err := l.Session.Gone(l.Ctx, l.Patient, pattern)
	Check(l.T, err)
	return screen
}

// Made reports whether the file exists in the workspace.
func (l *Lab) Made(file string) bool {
	_, err := os.Stat(filepath.Join(l.Workspace, file))
	return err == nil
}

// Asked waits for the agent's model request for a step of the turn that a message started.
func (l *Lab) Asked(message string, step int) modelapi.Request {
	l.T.Helper()
	ctx, cancel := context.WithTimeout(l.Ctx, l.Patient)
	defer cancel()
	r, err := l.API.Wait(ctx, func(r modelapi.Request) bool {
		return r.Kind == modelapi.KindTurn && !r.Subagent && r.Prompt == message && r.Step == step
	})
	Check(l.T, err)
	return r
}

// ModelGot waits until the model receives a text in the turn that a message started.
func (l *Lab) ModelGot(message, text string) {
	l.T.Helper()
	ctx, cancel := context.WithTimeout(l.Ctx, l.Patient)
	defer cancel()
	_, err := l.API.Wait(ctx, func(r modelapi.Request) bool {
		return r.Kind == modelapi.KindTurn && r.Prompt == message && strings.Contains(string(r.Body), text)
	})
	if err != nil {
		l.T.Fatalf("%s: the model did not get %q: %v", message, text, err)
	}
}

// Said is the part of the verb state's output that the tests of several agents check.
type Said struct {
	State   string
	Tier    int
	Cause   string
	Prompt  *Shown
	Prompts []Shown
	Failure *struct{ Class, Text string }
}

// Said returns the session's current state.
func (l *Lab) Said() Said {
	l.T.Helper()
	out, err := l.Host.Call(l.Ctx, nil, "state", l.Name)
	Check(l.T, err)
	var s Said
	Check(l.T, json.Unmarshal(out, &s))
	return s
}

// Is waits for a state and returns it with its details.
func (l *Lab) Is(state string) Said {
	l.T.Helper()
	out, err := l.Host.Call(l.Ctx, nil, "wait", l.Name, "--until", state, "--timeout", l.Patient.String())
	if err != nil {
		l.T.Fatalf("wait for %s: %v; it is %+v", state, err, l.Said())
	}
	var s Said
	Check(l.T, json.Unmarshal(out, &s))
	return s
}

// ArrivedAs is how a nudge should say that a text arrived: as the message that it is, or
// changed by a character that Berth added or left out. What compose.Normal does, agents do
// to any text.
func ArrivedAs(text, arrives string) string {
	if compose.Normal(strings.TrimSpace(text)) != compose.Normal(strings.TrimSpace(arrives)) {
		return "changed"
	}
	return "message"
}

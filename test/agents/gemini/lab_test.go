//go:build agents

package gemini

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/test/agents/host"
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
	l.Workspace = l.home.Workspace
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

// listens waits until the title says that a dialog is open: Gemini draws it before
// it reads a key there, and says so behind that.
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

// nudged is what nudge answers, and the status it ends with.
type nudged struct {
	Delivered, Confirmed bool
	Queued               bool
	QueueID              string `json:"queue_id"`
	Nudge, Evidence      string
	ArrivedAs            string  `json:"arrived_as"`
	StateBefore          string  `json:"state_before"`
	State                *string `json:"state"`
	LastMessage          *string `json:"last_message"`
	Error                *failed
	status               int
}

type failed struct {
	Code, Message string
	Details       map[string]any
}

// nudge gives a message over standard input, so that no shell and no word
// splitting is between.
func (l *lab) nudge(text string, flags ...string) nudged {
	l.T.Helper()
	var n nudged
	n.status = l.verb(&n, []byte(text), append(append([]string{"nudge"}, flags...), l.Name, "-")...)
	return n
}

// verb runs a verb that may fail and reads its last line.
func (l *lab) verb(into any, stdin []byte, words ...string) (status int) {
	l.T.Helper()
	out, err := l.Host.Call(l.Ctx, stdin, words...)
	var failure *host.Failure
	switch {
	case errors.As(err, &failure):
		status = failure.Status
	case err != nil:
		l.T.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		check(l.T, json.Unmarshal([]byte(line), into))
	}
	return status
}

// evident says whether that is what confirms a message: the hook. In a folder that
// is not trusted none runs, and on a machine that is busy it may come later than
// the title can be believed.
func (l *lab) evident(evidence string) bool {
	return evidence == "title:✦, and the composer is empty" || evidence == "hook:BeforeAgent" && !l.distrusted
}

// confirmed gives a message and demands that it is confirmed, and that the model
// has it once, as it is typed.
func (l *lab) confirmed(text, arrives string) {
	l.T.Helper()
	started := time.Now()
	n := l.nudge(text, "--wait", "--timeout", patient.String())
	if n.status != 0 || !n.Confirmed || !l.evident(n.Evidence) {
		l.T.Fatalf("%.60q (%d bytes): %+v %+v", text, len(text), n, n.Error)
	}
	if as := testbed.ArrivedAs(text, arrives); n.ArrivedAs != as {
		l.T.Errorf("%.60q arrived as %q, and is told as %s", text, arrives, n.ArrivedAs)
	}
	if got := l.API.Arrivals(arrives); got != 1 {
		last := ""
		for _, r := range l.API.Requests() {
			if texts := r.Texts; len(texts) > 0 {
				last = texts[len(texts)-1]
			}
		}
		l.T.Errorf("%.60q (%d bytes) arrived %d times; the last to arrive was %.80q (%d bytes)", text, len(text), got, last, len(last))
	}
	if took := time.Since(started); took > 5*time.Second {
		l.T.Logf("%.40q took %s", text, took)
	}
}

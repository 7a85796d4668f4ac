package testbed

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/test/agents/host"
)

// Failed is the error that a verb reports.
type Failed struct {
	Code, Message string
	Details       map[string]any
}

// Nudged is what nudge reports, and its exit status.
type Nudged struct {
	Delivered, Confirmed bool
	Queued               bool
	QueueID              string `json:"queue_id"`
	Nudge, Evidence      string
	ArrivedAs            string  `json:"arrived_as"`
	StateBefore          string  `json:"state_before"`
	State                *string `json:"state"`
	LastMessage          *string `json:"last_message"`
	Error                *Failed
	Status               int `json:"-"`
}

// Response is what respond reports.
type Response struct {
	Delivered, Confirmed              bool
	Prompt, Type, Channel, State, Via string
	Outcome                           string
	Error                             *Failed
}

// Shown is what the verb prompt reports.
type Shown struct {
	ID, Type, Subtype, Channel, Title, Agent, Tool, Input, Text string
	Ready                                                       bool
	OnScreen                                                    bool `json:"on_screen"`
	Options                                                     []string
	OptionsFallback                                             bool `json:"options_fallback"`
}

// Event is the part of an event that the tests check.
type Event struct {
	Type, Kind, Why, Mode, Event, Prev, Next, Cause, Message string
	Outcome, How, Answer                                     string
	Error, Rule, Source, Reason, Conversation                string
	Blocks, N, Lines                                         int
	Foreign                                                  bool
	OK                                                       *bool
	By                                                       json.RawMessage // a name or an actor
	Time                                                     time.Time
}

// Call runs a verb that must succeed and returns its output.
func (l *Lab) Call(words ...string) []byte {
	l.T.Helper()
	out, err := l.Host.Call(l.Ctx, nil, words...)
	if err != nil {
		l.T.Fatalf("%q: %v", words, err)
	}
	return out
}

// Text is Call's output as text.
func (l *Lab) Text(words ...string) string { l.T.Helper(); return string(l.Call(words...)) }

// Verb runs a verb that may fail, reads the lines of its output into a value, and returns the exit
// status.
func (l *Lab) Verb(into any, stdin string, words ...string) (status int) {
	l.T.Helper()
	out, err := l.Host.Call(l.Ctx, []byte(stdin), words...)
	var failure *host.Failure
	switch {
	case errors.As(err, &failure):
		status = failure.Status
	case err != nil:
		l.T.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		Check(l.T, json.Unmarshal([]byte(line), into))
	}
	return status
}

// into runs a verb that must succeed and reads its output into a value.
func (l *Lab) into(value any, words ...string) error {
	l.T.Helper()
	return json.Unmarshal(l.Call(words...), value)
}

// Nudge sends a message over standard input, so that no shell splits it into words.
func (l *Lab) Nudge(text string, flags ...string) (n Nudged) {
	l.T.Helper()
	n.Status = l.Verb(&n, text, append(append([]string{"nudge"}, flags...), l.Name, "-")...)
	return n
}

// Takes sends a message, also while another client writes, and fails the test if the agent did not
// take it.
func (l *Lab) Takes(message string) {
	l.T.Helper()
	if n := l.Nudge(message, "--takeover"); n.Status != 0 || !n.Confirmed {
		l.T.Fatalf("nudge %.60q: %+v %+v", message, n, n.Error)
	}
}

// Confirmed sends a message and waits for the end of its turn. The message must be confirmed, and
// the model must get it once, as arrives.
func (l *Lab) Confirmed(text, arrives string) {
	l.T.Helper()
	l.ConfirmedAs(text, arrives, ArrivedAs(text, arrives))
}

// ConfirmedAs is Confirmed for a message that must be reported to have arrived as that.
func (l *Lab) ConfirmedAs(text, arrives, as string) {
	l.T.Helper()
	began := time.Now()
	n := l.Nudge(text, "--wait", "--timeout", l.Patient.String())
	if n.Status != 0 || !n.Confirmed || !l.Evident(n.Evidence) {
		l.T.Errorf("%.60q (%d bytes): %+v %+v", text, len(text), n, n.Error)
	}
	if n.ArrivedAs != as {
		l.T.Errorf("%.60q arrived as %q, and is reported as %s, not %s", text, arrives, n.ArrivedAs, as)
	}
	if got := l.API.Arrivals(arrives); got != 1 {
		last := ""
		for _, r := range l.API.Requests() {
			if texts := r.Texts; len(texts) > 0 {
				last = texts[len(texts)-1]
			}
		}
		same := 0
		for same < min(len(arrives), len(last)) && arrives[same] == last[same] {
			same++
		}
		l.T.Errorf("%.60q (%d bytes) arrived %d times; the last to arrive was %.80q (%d bytes), other from byte %d on: %.200q", text, len(text), got, last, len(last), same, last[same:])
	}
	if took := time.Since(began); took > 5*time.Second {
		l.T.Logf("%.40q took %s", text, took)
	}
}

// Try responds and returns what respond reports, with the exit status.
func (l *Lab) Try(stdin string, words ...string) (r Response, status int) {
	l.T.Helper()
	status = l.Verb(&r, stdin, append([]string{"respond", l.Name}, words...)...)
	return r, status
}

// Answer is Try for an answer that the agent takes. On a busy machine its reaction may come after respond has given up:
// then the end of the prompt shows it.
func (l *Lab) Answer(words ...string) (r Response, status int) {
	l.T.Helper()
	r, status = l.Try("", words...)
	if !r.Delivered || r.Error == nil || r.Error.Code != "UNCONFIRMED" {
		return r, status
	}
	l.Poll(func() bool {
		var p Shown
		return l.Verb(&p, "", "prompt", l.Name) != 0 || p.ID != r.Prompt
	}, func() string { return fmt.Sprintf("the answer %q isn't taken: %+v", words, r) })
	l.T.Logf("respond %q was confirmed late", words)
	r.Confirmed, r.Error = true, nil
	return r, 0
}

// Respond responds and checks that the agent took the answer, through that channel.
func (l *Lab) Respond(channel, outcome string, words ...string) Response {
	l.T.Helper()
	r, status := l.Answer(words...)
	if status != 0 || !r.Delivered || !r.Confirmed || r.Channel != channel || r.Outcome != outcome {
		l.T.Fatalf("respond %q: status %d, %+v; error %+v", words, status, r, r.Error)
	}
	return r
}

// Refuses checks that respond refuses the answer with this code.
func (l *Lab) Refuses(code string, words ...string) {
	l.T.Helper()
	if r, status := l.Try("", words...); status == 0 || r.Error == nil || r.Error.Code != code {
		l.T.Fatalf("respond %q: status %d, %+v, %+v, not %s", words, status, r, r.Error, code)
	}
}

// PromptUntil waits for a prompt that is as wanted.
func (l *Lab) PromptUntil(what string, is func(Shown) bool) Shown {
	l.T.Helper()
	var p Shown
	l.Poll(func() bool { p = Shown{}; return l.Verb(&p, "", "prompt", l.Name) == 0 && is(p) }, func() string {
		return "no prompt is " + what + ": " + string(l.Call("state", l.Name))
	})
	return p
}

// Interrupted is what interrupt reports.
type Interrupted struct {
	Delivered, Confirmed bool
	State                string
}

// Interrupt runs the verb interrupt.
func (l *Lab) Interrupt() (done Interrupted, status int) {
	l.T.Helper()
	status = l.Verb(&done, "", "interrupt", l.Name)
	return done, status
}

// Attach attaches a client until the end of the test.
func (l *Lab) Attach(flags ...string) *host.Viewer {
	l.T.Helper()
	v, err := l.Host.Attach(l.Ctx, l.Name, flags...)
	Check(l.T, err)
	l.T.Cleanup(v.Close)
	return v
}

// Events are all events of the session so far that have one of these types.
func (l *Lab) Events(types ...string) (all []Event) {
	l.T.Helper()
	out, err := l.Host.Call(l.Ctx, nil, "watch", l.Name, "--since", l.Name+":0", "--type", strings.Join(types, ","), "--timeout", "300ms")
	var failure *host.Failure
	if !errors.As(err, &failure) { // its timeout ends it
		l.T.Fatalf("watch ended by itself: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, `{"error"`) {
			continue
		}
		var e Event
		Check(l.T, json.Unmarshal([]byte(line), &e))
		if slices.Contains(types, e.Type) {
			all = append(all, e)
		}
	}
	return all
}

// Info is the part of the verb info's output that the tests of several agents check.
type Info struct {
	ID, State, Conversation string
	Resumable               bool
	PID                     int
}

// Info returns what info reports.
func (l *Lab) Info() (i Info) {
	l.T.Helper()
	Check(l.T, json.Unmarshal(l.Call("info", l.Name), &i))
	return i
}

// Poll waits until is returns true; otherwise it fails the test with what otherwise returns.
func (l *Lab) Poll(is func() bool, otherwise func() string) {
	l.T.Helper()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(l.Patient); !is(); <-tick.C {
		if time.Now().After(deadline) {
			l.T.Fatal(otherwise())
		}
	}
}

// Processes are the command lines of the processes in the agent's home, without Berth's own.
func (l *Lab) Processes() (found []string) {
	l.T.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	Check(l.T, err)
	for _, file := range all {
		env, err := os.ReadFile(file)
		if err != nil || !strings.Contains("\x00"+string(env), "\x00HOME="+l.Home+"\x00") || strings.Contains(string(env), "BERTH_RUNTIME_DIR=") {
			continue // it has ended, or is not the agent's
		}
		line, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if words := strings.ReplaceAll(string(line), "\x00", " "); err == nil && words != "" {
			found = append(found, words)
		}
	}
	return found
}

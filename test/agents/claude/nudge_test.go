//go:build agents

package claude

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/test/agents/host"
	"berth/test/agents/testbed"
)

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
	Error                *struct {
		Code, Message string
		Details       map[string]any
	}
	status int
}

// nudge gives a message over standard input, so that no shell and no word
// splitting is between.
func (l *lab) nudge(text string, flags ...string) nudged {
	l.T.Helper()
	words := append(append([]string{"nudge"}, flags...), l.Name, "-")
	out, err := l.Host.Call(l.Ctx, []byte(text), words...)
	var n nudged
	var failure *host.Failure
	switch {
	case errors.As(err, &failure):
		n.status = failure.Status
	case err != nil:
		l.T.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		check(l.T, json.Unmarshal([]byte(line), &n))
	}
	return n
}

// confirmed gives a message and demands that it is confirmed, and that the model
// has it once, as it is typed.
func (l *lab) confirmed(text, arrives string) {
	l.T.Helper()
	started := time.Now()
	n := l.nudge(text, "--wait", "--timeout", patient.String())
	if n.status != 0 || !n.Confirmed || !taken[n.Evidence] {
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
		l.T.Errorf("%.60q (%d bytes) arrived %d times; the last to arrive was %.80q", text, len(text), got, last)
	}
	if took := time.Since(started); took > 5*time.Second || len(text) > 9000 {
		l.T.Logf("%.40q took %s", text, took)
	}
}

// taken is what says that the agent has a message: its hook, or its log.
var taken = map[string]bool{"hook:UserPromptSubmit": true, "log:user": true}

const shield = "\u2800"

// TestNudges gives messages of all kinds. Each arrives once, exactly, and with a
// true verdict; without hooks the session log gives it.
func TestNudges(t *testing.T) {
	for _, isolate := range []string{"hooks", "none"} {
		t.Run("isolate "+isolate, func(t *testing.T) { testNudges(t, isolate) })
	}
}

func testNudges(t *testing.T, isolate string) {
	l := newStartLab(t, Ready(), nil)
	l.start("nudged", nil, []string{"--isolate", isolate})
	l.Is("idle")
	l.ready()
	check(t, os.WriteFile(filepath.Join(l.home.Workspace, "notes.txt"), []byte("secret notes\n"), 0o600))
	picture := filepath.Join(l.home.Workspace, "shot.png")
	check(t, os.WriteFile(picture, []byte("\x89PNG\r\n\x1a\n"), 0o600))
	for _, c := range [][2]string{
		{"fix the login bug", ""},
		{"x", ""},
		{"!touch ran.txt", shield + "!touch ran.txt"},
		{"/help", shield + "/help"},
		{" /clear", shield + " /clear"},
		{"exit", shield + "exit"},
		{"quit", shield + "quit"},
		{"?", shield + "?"},
		{"@notes.txt", shield + "@notes.txt"},
		{"read @notes.txt now", "read " + shield + "@notes.txt now"},
		{"ping @no", "ping " + shield + "@no"},
		{"mail a@b.example", ""},
		{"two\nlines", ""},
		{"three\n\nlines", ""},
		{"a\nb\nc\nd\ne", ""},
		{"first\n/second\n!third\nexit", ""},
		{"tab\there", "tab    here"},
		{"trailing blanks  \n\n", "trailing blanks"},
		{"e\u0301te\u0301", "\u00e9t\u00e9"},
		{"an ESC \x1b[201~\r!touch ran.txt", "an ESC [201~\n!touch ran.txt"},
		{"修复登录错误，然后运行测试。", ""},
		{"日本語のメッセージ\nと二行目", ""},
		{"emoji 👨‍👩‍👧 🇩🇪 👍🏽 done", ""},
		{"one\n\n\n\n\ntwo\n\n\nend", ""},
		{"look at\n" + picture + "\nand\nthat\nis all", ""},
		{"e\u0301 👨‍👩‍👧\n漢字 🇩🇪\n\t-\n4\n5", "é 👨‍👩‍👧\n漢字 🇩🇪\n    -\n4\n5"},
		{"don't \"quote\" $HOME `x` \\ * ~", ""},
		{strings.Repeat("word ", 60) + "end", ""},
		{strings.Repeat("漢", 300), ""},
		{strings.TrimSpace(strings.Repeat("a line of text\n", 40)), ""},
		{strings.Repeat("0123456789", 100), ""},
		{strings.Repeat("0123456789", 1000), ""},
		{strings.TrimSpace(strings.Repeat("a line of a long message, with words in it\n", 240)), ""},
	} {
		arrives := c[1]
		if arrives == "" {
			arrives = c[0]
		}
		l.confirmed(c[0], arrives)
		if t.Failed() {
			return
		}
	}
	if l.Made("ran.txt") {
		t.Error("a message ran as a command")
	}
	for _, r := range l.API.Requests() {
		if strings.Contains(string(r.Body), "secret notes") {
			t.Fatal("a file was attached")
		}
	}
}

// TestNudgeRefusals keeps messages from an agent that is at work or asks, and
// drafts as they are.
func TestNudgeRefusals(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.ready()
	refused := func(code string, status int, flags ...string) {
		t.Helper()
		n := l.nudge("not now", flags...)
		if n.status != status || n.Error == nil || n.Error.Code != code {
			t.Fatalf("%+v %+v, not %s", n, n.Error, code)
		}
	}
	check(t, l.Type(l.Ctx, "my draft"))
	l.See(prompt + "my draft")
	refused("DRAFT_PRESENT", 5)
	l.See(prompt + "my draft$")
	if n := l.nudge("MOCK: slow 20 100", "--clear"); n.status != 0 || !n.Confirmed {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.Asked("MOCK: slow 20 100", 0)
	refused("AGENT_BUSY", 5)
	l.Is("idle")

	n := l.nudge("MOCK: bash touch one.txt", "--wait", "--timeout", patient.String())
	if n.status != 20 || n.State == nil || *n.State != "prompt" {
		out, _ := l.Host.Call(l.Ctx, nil, "watch", l.Name, "--since", "e1", "--timeout", "1s")
		t.Fatalf("%+v %+v\n%s", n, n.Error, out)
	}
	refused("AGENT_BUSY", 5)
	l.See(proceed)
	l.key("Escape")
	l.Is("idle")
	if l.Made("one.txt") || l.API.Arrivals("not now") != 0 {
		t.Error("a refused message was delivered, or answered the dialog")
	}

	n = l.nudge("MOCK: error 403", "--wait", "--timeout", patient.String())
	if n.status != 21 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	out, err := l.Host.Call(l.Ctx, nil, "ask", l.Name, "MOCK: text better now")
	check(t, err)
	if string(out) != "better now\n" {
		t.Errorf("ask gave %q", out)
	}
	out, err = l.Host.Call(l.Ctx, nil, "last", l.Name)
	check(t, err)
	if string(out) != "better now\n" {
		t.Errorf("last gave %q", out)
	}
	if n := l.nudge("/compact", "--command"); n.status != 0 || !n.Confirmed {
		t.Errorf("%+v %+v", n, n.Error)
	}
}

// TestInterruptVerb ends a turn, and presses nothing at rest.
func TestInterruptVerb(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.ready()
	interrupt := func() (done struct {
		Delivered, Confirmed bool
		State                string
	}) {
		t.Helper()
		out, err := l.Host.Call(l.Ctx, nil, "interrupt", l.Name)
		check(t, err)
		check(t, json.Unmarshal(out, &done))
		return done
	}
	if done := interrupt(); done.Delivered || done.State != "idle" {
		t.Errorf("at rest: %+v", done)
	}
	if n := l.nudge("MOCK: slow 50 200"); n.status != 0 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.See("line 002")
	if done := interrupt(); !done.Delivered || !done.Confirmed || done.State != "idle" {
		t.Errorf("at work: %+v", done)
	}
	l.See(stopped)
	l.confirmed("and on", "and on")
}

// TestInterruptedMessage: a message that an interrupt put back into the composer
// is ours, and no draft, also to the server after this one.
func TestInterruptedMessage(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.ready()
	for i, restart := range []bool{false, true} {
		if n := l.nudge("MOCK: hang"); n.status != 0 {
			t.Fatalf("%+v %+v", n, n.Error)
		}
		l.Is("working")
		if _, err := l.Host.Call(l.Ctx, nil, "interrupt", "all"); err != nil {
			t.Fatal(err)
		}
		l.See(prompt + "MOCK: hang$")
		if restart {
			check(t, l.Host.Kill())
			check(t, l.Host.Start())
			l.Is("idle")
		}
		l.confirmed("instead "+string(rune('a'+i)), "instead "+string(rune('a'+i)))
	}

	// At a prompt an interrupt would be an answer.
	if n := l.nudge("MOCK: bash touch one.txt", "--wait"); n.status != 20 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	_, err := l.Host.Call(l.Ctx, nil, "interrupt", l.Name)
	var failure *host.Failure
	if !errors.As(err, &failure) || failure.Status != 5 {
		t.Errorf("at a prompt: %v", err)
	}
	l.See(proceed)
	l.key("Escape")
	l.Is("idle")
	if n := l.nudge("MOCK: error 403", "--wait"); n.status != 21 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	if out, err := l.Host.Call(l.Ctx, nil, "interrupt", l.Name); err != nil || !strings.Contains(string(out), `"delivered":false`) {
		t.Errorf("in an error: %v %s", err, out)
	}
}

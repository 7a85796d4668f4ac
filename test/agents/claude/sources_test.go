//go:build agents

package claude

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"berth/test/agents/modelapi"
)

// happening is what events are looked at for here.
type happening struct {
	Type, Next, Cause, Event string
	Seq                      uint64
	At                       *struct {
		File    string
		Renewed uint64
		Offset  int64
	}
}

// happened is all of the session so far.
func (l *lab) happened() []happening {
	l.t.Helper()
	out, err := l.host.Call(l.ctx, nil, "watch", l.Name, "--since", "e1", "--timeout", "1s")
	if err == nil {
		l.t.Fatal("watch ended before its timeout")
	}
	var all []happening
	for line := range strings.Lines(string(out)) {
		var e happening
		check(l.t, json.Unmarshal([]byte(line), &e))
		all = append(all, e)
	}
	return all
}

// states are the states in their order, and what causes there were.
func (l *lab) states() (order string, causes map[string]int) {
	l.t.Helper()
	var all []string
	causes = map[string]int{}
	places := map[string]bool{}
	for _, e := range l.happened() {
		if e.At != nil {
			data, _ := json.Marshal(e.At)
			if key := e.Type + string(data); places[key] {
				l.t.Errorf("two events %s of one entry: %s", e.Type, data)
			} else {
				places[key] = true
			}
		}
		if e.Type == "state_change" {
			all = append(all, e.Next)
			source, _, _ := strings.Cut(e.Cause, ":")
			causes[source]++
		}
	}
	return strings.Join(all, " "), causes
}

// TestWithoutHooks follows a Claude Code whose user has turned hooks off: live
// file, log, title and screen tell enough.
func TestWithoutHooks(t *testing.T) {
	seed := Ready()
	seed.NoHooks = true
	l := newStateLab(t, seed)
	l.is("idle")
	l.send("MOCK: slow 20 100")
	l.is("working")
	l.is("idle")
	l.send("MOCK: bash touch one.txt")
	if s := l.is("prompt"); s.Prompt == nil || s.Prompt.Type != "permission" || s.Prompt.Tool != "Bash" {
		t.Fatalf("the prompt is %+v", s.Prompt)
	}
	l.see(proceed)
	l.key("1")
	l.is("idle")
	if !l.made("one.txt") {
		t.Error("allowed, and it did not run")
	}
	l.send("MOCK: slow 50 200")
	l.is("working")
	l.see("line 002")
	l.key("Escape")
	l.is("idle")
	l.send("MOCK: error 403")
	if s := l.is("error"); s.Failure == nil || s.Failure.Class != "unauthorized" {
		t.Errorf("the failure is %+v", s.Failure)
	}
	n := l.nudge("MOCK: text better now", "--wait", "--timeout", patient.String())
	if n.status != 0 || !n.Confirmed || n.Evidence != "log:user" || n.LastMessage == nil || *n.LastMessage != "better now" {
		t.Errorf("%+v %+v", n, n.Error)
	}
	order, causes := l.states()
	if want := "idle working idle working prompt working idle working idle working error working idle"; order != want {
		t.Errorf("states %s, want %s", order, want)
	}
	if causes["hook"] > 0 || causes["log"] == 0 {
		t.Errorf("caused by %v", causes)
	}
	t.Logf("caused by %v", causes)
}

// noticed waits until the model was told of the end of that many background
// commands.
func (l *lab) noticed(commands int) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.ctx, patient)
	defer cancel()
	_, err := l.api.Wait(ctx, func(r modelapi.Request) bool {
		notices := 0
		for _, text := range r.Texts() {
			if strings.HasPrefix(text, "<task-notification>") {
				notices++
			}
		}
		return notices >= commands
	})
	check(l.t, err)
}

// TestQueuedNudge gives messages around the moment at which a background command
// ends and Claude begins a turn by itself. One that was typed just too late is
// kept for the end of that turn: the log says so at once, and the answer is that
// of its own turn.
func TestQueuedNudge(t *testing.T) {
	l := newStateLab(t, Ready())
	l.is("idle")
	counts := map[string]int{}
	for i := range 8 {
		slow, err := modelapi.Named("slow", "8 100", modelapi.Scene{}) // the answer to the command's end
		check(t, err)
		l.api.Queue(slow)
		if n := l.nudge("MOCK: shell sleep 2; echo shell-done", "--wait", "--timeout", patient.String()); n.status != 0 {
			t.Fatalf("%+v %+v", n, n.Error)
		}
		word := "answer " + string(rune('a'+i))
		message := "MOCK: text " + word
		timer := time.NewTimer(1020*time.Millisecond + time.Duration(i)*20*time.Millisecond)
		<-timer.C
		got := l.nudge(message, "--wait", "--timeout", patient.String())
		evidence := got.Evidence
		if got.Error != nil {
			evidence = got.Error.Code
		}
		counts[evidence]++
		want := 0
		if got.Confirmed {
			want = 1
		}
		if want == 1 && (got.LastMessage == nil || *got.LastMessage != word) {
			t.Errorf("%d, by %s: the last message is %v, want %q", i, evidence, got.LastMessage, word)
		}
		l.noticed(i + 1)
		l.is("idle")
		if n := l.api.Arrivals(message); n != want {
			t.Errorf("%d, by %s: it arrived %d times, want %d", i, evidence, n, want)
		}
	}
	t.Log(counts)
	if counts["UNCONFIRMED"] > 0 {
		t.Error("a message that Claude kept was not confirmed")
	}
}

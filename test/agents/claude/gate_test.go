//go:build agents

package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/sessions/hold"
	"berth/test/agents/modelapi"
)

// kinds are the events of the gate in short.
func (l *lab) gateStory() string {
	l.T.Helper()
	var words []string
	for _, e := range l.Events("gate") {
		words = append(words, strings.Trim(e.Kind+":"+e.Why, ":"))
	}
	return strings.Join(words, " ")
}

// feedbacks is how often the model got a text from the gate.
func (l *lab) feedbacks(text string) int {
	n := 0
	for _, r := range l.API.Requests() {
		if r.Kind == modelapi.KindTurn && !r.Subagent && strings.HasPrefix(r.Prompt, "Stop hook feedback:\n") && strings.Contains(r.Prompt, text) && r.Step == 0 {
			n++
		}
	}
	return n
}

// fed waits until the model has got the text n times.
func (l *lab) fed(text string, n int) {
	l.T.Helper()
	ctx, cancel := context.WithTimeout(l.Ctx, patient)
	defer cancel()
	for l.feedbacks(text) < n {
		select {
		case <-ctx.Done():
			l.T.Fatalf("the model got the text %d times, want %d", l.feedbacks(text), n)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TestGateText holds the agent back up to the cap: the model gets the text each
// time, and the session never looks idle in between.
func TestGateText(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.Text("gate", l.Name, "--cap", "3", "gate", "MOCK: text not done yet")
	l.send("MOCK: text first answer")
	l.Is("working")
	l.Is("idle")
	if n := l.feedbacks("not done yet"); n != 3 {
		t.Errorf("the model got the text %d times, want 3", n)
	}
	if story := l.gateStory(); story != "set blocked blocked blocked let_go:cap" {
		t.Errorf("the gate: %s", story)
	}
	var states []string
	for _, e := range l.Events("state_change") {
		states = append(states, e.Next)
	}
	if got := strings.Join(states, " "); got != "idle working idle" {
		t.Errorf("states: %s", got)
	}
	for _, h := range l.hookTimes() {
		if h.name == "Stop" {
			t.Logf("a stop was answered after %s", h.over.Sub(h.at))
		}
	}
	// The message of the turn is the last one, not the first that was blocked.
	if out := l.Text("last", l.Name); !strings.Contains(out, "not done yet") {
		t.Errorf("last: %s", out)
	}
	// The next turn's count starts at zero. Claude Code has a cap of 8 itself.
	l.Text("gate", l.Name, "--cap", "12", "gate", "MOCK: text once more")
	l.send("MOCK: text second answer")
	l.Is("working")
	l.Is("idle")
	if n := l.feedbacks("once more"); n != 12 {
		t.Errorf("the model got the text %d times, want 12", n)
	}
}

// TestGateReport: the model runs berth report by its Bash tool, without a prompt for permission. The report opens the
// gate.
func TestGateReport(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.Text("gate", l.Name, "auto")
	auto := l.reportCommand()
	l.Text("gate", l.Name, "gate", "Report. MOCK: bash "+auto+" complete done it all")
	l.send("MOCK: text working on it")
	l.Is("working")
	l.Is("idle")
	reports := l.Events("report")
	if len(reports) != 1 || reports[0].Kind != "complete" || reports[0].Message != "done it all" || !strings.Contains(string(reports[0].By), `"identity":"agent:lab"`) {
		t.Errorf("reports: %+v", reports)
	}
	if n := l.feedbacks("Report."); n != 1 {
		t.Errorf("the model got the text %d times, want 1", n)
	}
	if story := l.gateStory(); !strings.HasSuffix(story, "set blocked let_go:report") {
		t.Errorf("the gate: %s", story)
	}
	// A report of the turn before does not count for the next, nor does continue.
	l.Text("gate", l.Name, "--cap", "2", "gate", "Go on. MOCK: bash "+auto+" continue not yet")
	l.send("MOCK: text more work")
	l.Is("working")
	l.Is("idle")
	if story := l.gateStory(); !strings.HasSuffix(story, "set blocked blocked let_go:cap") {
		t.Errorf("the gate: %s", story)
	}
	if n := len(l.Events("prompt")); n != 0 {
		t.Errorf("%d prompts were opened for reports", n)
	}
}

// reportCommand is the command for reports in the gate's text. It is read from the model's request.
func (l *lab) reportCommand() string {
	l.T.Helper()
	l.Text("gate", l.Name, "--cap", "1", "auto")
	l.send("MOCK: text for the command")
	l.fed("report complete MESSAGE", 1)
	l.Is("idle")
	for _, r := range l.API.Requests() {
		for line := range strings.Lines(r.Prompt) {
			if command, _, ok := strings.Cut(strings.TrimSpace(line), " complete MESSAGE"); ok && strings.HasPrefix(r.Prompt, "Stop hook feedback") {
				return command
			}
		}
	}
	l.T.Fatal("the generated text names no command")
	return ""
}

// TestGateSchema: the agent gets the reason why its message isn't valid, so that it can report again.
func TestGateSchema(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	berth := l.reportCommand()
	l.Text("gate", l.Name, "--schema", `{"type":"object","required":["pr"]}`, "auto")
	l.API.Queue(
		modelapi.Scenario{Name: "report", Steps: []modelapi.Step{
			modelapi.Say(modelapi.Tool("Bash", map[string]any{"command": berth + " complete done", "description": "report"})),
			modelapi.Say(modelapi.Tool("Bash", map[string]any{"command": berth + ` complete '{"pr":7}'`, "description": "report"})),
			modelapi.Say(modelapi.Text("Reported.")),
		}},
	)
	l.send("MOCK: text to be reported")
	l.Is("working")
	l.See("● Reported.")
	l.Is("idle")
	reports := l.Events("report")
	if len(reports) != 1 || reports[0].Message != `{"pr":7}` {
		t.Errorf("reports: %+v", reports)
	}
	told := false
	for _, r := range l.API.Requests() {
		told = told || strings.Contains(string(r.Body), "must be JSON of this schema")
	}
	if !told {
		t.Error("the model doesn't get the reason why its report isn't valid")
	}
}

// TestGateOpen lets the agent go by hand, amid a turn.
func TestGateOpen(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.Text("gate", l.Name, "--cap", "100", "gate", "MOCK: slow 4 100")
	l.send("MOCK: text begin")
	l.fed("MOCK: slow", 2)
	if s := l.Said(); s.State != "working" {
		t.Errorf("held back, it is %s", s.State)
	}
	l.Text("gate", l.Name, "open")
	l.Is("idle")
	if story := l.gateStory(); !strings.HasSuffix(story, "let_go:opened") {
		t.Errorf("the gate: %s", story)
	}
	told := l.feedbacks("MOCK: slow")
	l.send("MOCK: text the next turn is held back again")
	l.fed("MOCK: slow", told+1)
	// A person ends the turn: no hook reports it, and the gate isn't asked.
	l.See("line 00")
	l.key("Escape")
	l.Is("idle")
}

// TestGateError: a turn that ends in an error is not held back.
func TestGateError(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.Text("gate", l.Name, "gate", "MOCK: error 403")
	l.send("MOCK: text begin")
	if s := l.Is("error"); s.Failure == nil || s.Failure.Class != "unauthorized" {
		t.Errorf("the failure is %+v", s.Failure)
	}
	if n := l.feedbacks("MOCK: error"); n == 0 {
		t.Error("the model never got the text")
	}
}

// TestGateServerRestarted stops the server for 2 s while a stop waits. The gate still holds
// the agent back, once for each stop.
func TestGateServerRestarted(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.Text("gate", l.Name, "--cap", "3", "gate", "MOCK: slow 10 200")
	l.send("MOCK: slow 10 200")
	l.See("line 008")
	check(t, l.Host.Kill())
	time.Sleep(2 * time.Second) // the time that the server is away
	check(t, l.Host.Start())
	l.fed("MOCK: slow", 1)
	l.See("line 008")
	check(t, l.Host.Kill()) // after the answer was given
	check(t, l.Host.Start())
	l.fed("MOCK: slow", 3)
	l.Is("idle")
	if n := l.feedbacks("MOCK: slow"); n != 3 {
		t.Errorf("the model got the text %d times, want 3", n)
	}
	if story := l.gateStory(); story != "set blocked blocked blocked let_go:cap" {
		t.Errorf("the gate: %s", story)
	}
}

// TestGateServerAway has no server: no stop holds the agent up for longer than the grace, and
// an open gate doesn't hold it up at all.
func TestGateServerAway(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"allow", "auto"} {
		t.Run(mode, func(t *testing.T) {
			l := newStateLab(t, Ready())
			l.Is("idle")
			l.Text("gate", l.Name, mode)
			l.send("MOCK: slow 10 200")
			l.See("line 002")
			check(t, l.Host.Kill())
			time.Sleep(awayFor(t))
			check(t, l.Host.Start())
			l.Is("idle")
			var stop, over time.Time
			for _, e := range l.hookTimes() {
				if e.name == "Stop" {
					stop, over = e.at, e.over
				}
			}
			took := over.Sub(stop)
			t.Logf("gate %s: the stop was answered after %s", mode, took.Round(time.Millisecond))
			if most := 5500 * time.Millisecond; mode == "auto" && (took < 4500*time.Millisecond || took > most) {
				t.Errorf("the stop waited %s, want the grace of 5 s", took)
			}
			if mode == "allow" && took != 0 {
				t.Errorf("the stop waited %s", took)
			}
			if n := l.feedbacks("report"); n != 0 {
				t.Errorf("the model got the text %d times while no server ran", n)
			}
			l.send(fmt.Sprintf("MOCK: text and on with %s", mode))
			l.See("● and on with " + mode)
		})
	}
}

// hookTime is when a hook came and, if it waited, when its wait ended.
type hookTime struct {
	name     string
	at, over time.Time
	asked    bool
}

// hookTimes reads the session's control log.
func (l *lab) hookTimes() []hookTime {
	l.T.Helper()
	var info struct{ ID string }
	check(l.T, json.Unmarshal([]byte(l.Text("info", l.Name)), &info))
	dir := filepath.Join(filepath.Dir(l.home.Dir), "state", "sessions", info.ID)
	var all []hookTime
	byRecord := map[uint64]int{}
	check(l.T, hold.ReadControl(dir, 0, func(r hold.Record) error {
		switch r.Kind {
		case hold.KindHook:
			var d hold.HookData
			check(l.T, json.Unmarshal(r.Data, &d))
			byRecord[r.N] = len(all)
			all = append(all, hookTime{name: d.Event, at: r.Time.Time, over: r.Time.Time, asked: d.Ask})
		case hold.KindDelivered, hold.KindGone:
			var d hold.GoneData
			check(l.T, json.Unmarshal(r.Data, &d))
			if i, ok := byRecord[d.Hook]; ok {
				all[i].over = r.Time.Time
			}
		}
		return nil
	}))
	return all
}

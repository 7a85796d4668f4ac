//go:build agents

package together

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/test/agents/modelapi"
	"berth/test/agents/modelapi/responses"
	"berth/test/agents/testbed"
)

// reply is what a tool answered.
type reply struct {
	Reached  bool
	Cursor   string
	State    string
	Text     string
	Prompt   *struct{ ID string }
	Sessions []struct{ State string }
	Error    *struct{ Code, Message string }

	raw string
}

// replies are the answers of all tools in a conversation of Claude Code, in order.
func replies(body []byte) (all []reply) {
	var b struct {
		Messages []struct{ Content json.RawMessage }
	}
	_ = json.Unmarshal(body, &b) // it is the lab's own client
	for _, m := range b.Messages {
		var blocks []struct {
			Type    string
			Content json.RawMessage
		}
		if json.Unmarshal(m.Content, &blocks) != nil {
			continue
		}
		for _, block := range blocks {
			if block.Type != "tool_result" {
				continue
			}
			var text string
			var parts []struct{ Text string }
			if json.Unmarshal(block.Content, &text) != nil && json.Unmarshal(block.Content, &parts) == nil {
				for _, p := range parts {
					text += p.Text
				}
			}
			r := reply{raw: text}
			_ = json.Unmarshal([]byte(text), &r) // an error of the client's own isn't JSON
			all = append(all, r)
		}
	}
	return all
}

// plan is what the supervisor's model does: each call until its answer is as wanted.
type plan []struct {
	tool  string
	input func(last map[string]reply) map[string]any
	done  func(reply) bool
}

// next is the model's next step, after these answers. It is a function of the conversation alone, because Claude Code
// repeats a request that failed.
func (p plan) next(answers []reply) (step modelapi.Step, i int) {
	last := map[string]reply{}
	for _, a := range answers {
		if i == len(p) {
			break
		}
		last[p[i].tool] = a
		if p[i].done(a) {
			i++
		}
	}
	if i < len(p) && len(answers) < mostCalls && !failed(answers) {
		return modelapi.Say(modelapi.Tool("mcp__berth__"+p[i].tool, p[i].input(last))), i
	}
	var said []string
	for _, a := range answers {
		if a.Text != "" {
			said = append(said, a.Text)
		}
	}
	return modelapi.Say(modelapi.Text("Supervised: " + strings.Join(said, "; "))), i
}

// mostCalls bounds a plan whose waits don't come to an end.
const mostCalls = 40

// failed reports whether a call had an error. The model gives up then.
func failed(answers []reply) bool {
	return slices.ContainsFunc(answers, func(a reply) bool { return a.Error != nil || !strings.HasPrefix(a.raw, "{") })
}

// supervise is the work of a supervisor with three workers: it starts them, gives each a task, allows what one asks,
// waits for all and reads what they say.
func supervise() plan {
	fixed := func(m map[string]any) func(map[string]reply) map[string]any {
		return func(map[string]reply) map[string]any { return m }
	}
	well := func(r reply) bool { return r.Error == nil && strings.HasPrefix(r.raw, "{") }
	reached := func(r reply) bool { return r.Reached }
	return plan{
		{"start_session", fixed(map[string]any{"profile": "one", "name": "lead-w1"}), well},
		{"start_session", fixed(map[string]any{"profile": "two", "name": "lead-w2"}), well},
		{"start_session", fixed(map[string]any{"profile": "three", "name": "lead-w3"}), well},
		{"send_message", fixed(map[string]any{"to": "lead-w1", "text": "MOCK: bash sleep 12; echo ran >> ran.txt"}), well},
		{"send_message", fixed(map[string]any{"to": "lead-w2", "text": "MOCK: text Codex is done."}), well},
		{"send_message", fixed(map[string]any{"to": "lead-w3", "text": "MOCK: text The third is done."}), well},
		{"wait", fixed(map[string]any{"sessions": []string{"lead-w1"}, "until": []string{"prompt"}, "timeout_s": 20}), reached},
		{"get_session", fixed(map[string]any{"session": "lead-w1"}), func(r reply) bool { return r.Prompt != nil && r.Prompt.ID != "" }},
		{"answer_prompt", func(last map[string]reply) map[string]any {
			return map[string]any{"session": "lead-w1", "prompt_id": last["get_session"].Prompt.ID, "choice": "accept"}
		}, well},
		{"wait", func(last map[string]reply) map[string]any {
			return map[string]any{"sessions": []string{"lead-w1"}, "until": []string{"idle"}, "cursor": last["wait"].Cursor, "timeout_s": 23}
		}, reached},
		{"wait", fixed(map[string]any{"sessions": []string{"lead-w2"}, "until": []string{"idle"}, "timeout_s": 20}), reached},
		{"wait", fixed(map[string]any{"sessions": []string{"lead-w3"}, "until": []string{"idle"}, "timeout_s": 20}), reached},
		{"read_session", fixed(map[string]any{"session": "lead-w1", "what": "last"}), well},
		{"read_session", fixed(map[string]any{"session": "lead-w2", "what": "last"}), well},
		{"read_session", fixed(map[string]any{"session": "lead-w3", "what": "last"}), well},
	}
}

// killedIn is the call of the plan that the server is killed in.
const killedIn = 9

// TestSupervisor: a real Claude Code with Berth's tools starts two others and a real Codex, gives each a task,
// answers the prompt of one, and reads the results. The server is killed while it waits. With the tools of its
// profile, and through a bridge that it was given by claude mcp add, nothing is lost or doubled. A plain ssh ends
// with the server.
func TestSupervisor(t *testing.T) {
	for _, way := range []string{"profile", "bridge", "ssh"} {
		t.Run(way, func(t *testing.T) { testSupervisor(t, way) })
	}
}

func testSupervisor(t *testing.T, way string) {
	l := testbed.New(t, programs.Berth, 2*time.Minute, modelapi.Start)
	api, err := responses.Start(l.Ctx)
	check(t, err)
	t.Cleanup(api.Close)
	lead := newHome(l, "claude", "lead", l.API)
	one, two, three := newHome(l, "claude", "one", l.API), newHome(l, "codex", "two", api), newHome(l, "claude", "three", l.API)
	lead.command = append(lead.command, "--allowedTools", "mcp__berth")
	own := ""
	if way == "profile" {
		own = "mcp: berth"
	} else {
		addTools(t, l, lead, way)
	}
	l.Configure("profiles:\n  lead:\n" + lead.profile(own, "children: {profiles: [one, two, three], max: 3, verbs: [ask, wait, respond, interrupt, kill, screen]}") +
		"  one:\n" + one.profile() + "  two:\n" + two.profile() + "  three:\n" + three.profile())
	check(t, l.Host.Start())
	l.Call("new", "lead", "--profile", "lead")
	l.Session, l.Workspace = l.Host.Known("lead"), one.workspace
	l.Is("idle")

	// Claude Code connects to its servers of tools after it has started.
	for n := 0; ; n++ {
		message := fmt.Sprintf("MOCK: text hello %d", n)
		l.Takes(message)
		if strings.Contains(string(l.Asked(message, 0).Body), "mcp__berth__start_session") {
			break
		}
		if n == 20 {
			t.Fatal("the supervisor has no tools of Berth")
		}
		l.Is("idle")
	}
	l.Is("idle")

	work := supervise()
	l.API.QueueDriven("supervise", func(r modelapi.Request) modelapi.Step {
		step, _ := work.next(replies(r.Body))
		return step
	})
	const task = "Have three workers work, and say what they said."
	l.Takes(task)
	// at is the request whose answer is the call of the plan.
	at := func(call int) modelapi.Request {
		r, err := l.API.Wait(l.Ctx, func(r modelapi.Request) bool {
			if r.Kind != modelapi.KindTurn || r.Prompt != task {
				return false
			}
			answers := replies(r.Body)
			_, i := work.next(answers)
			return i == call || failed(answers) || len(answers) >= mostCalls
		})
		check(t, err)
		answers := replies(r.Body)
		if _, i := work.next(answers); i != call {
			t.Fatalf("call %d after %d answers: the last is %.300q", i, len(answers), answers[len(answers)-1].raw)
		}
		return r
	}
	asked := at(killedIn)
	before := len(replies(asked.Body))
	time.Sleep(3 * time.Second) // the wait lasts 12 s: the moment of the kill, and no wait for anything
	check(t, l.Host.Kill())
	killed := time.Now()
	check(t, l.Host.Start())
	// The request with the answer of the call that the server was killed in.
	after, err := l.API.Wait(l.Ctx, func(r modelapi.Request) bool { return r.Prompt == task && len(replies(r.Body)) > before })
	check(t, err)
	got := replies(after.Body)[before]
	t.Logf("the server was killed %s after the call, which ended %s later: %.200q", killed.Sub(asked.Time).Round(time.Millisecond), after.Time.Sub(killed).Round(time.Millisecond), got.raw)
	if after.Time.Before(killed) {
		t.Fatal("the server was killed after the wait")
	}
	if way == "ssh" {
		if got.Reached || got.Error != nil {
			t.Errorf("the wait has an answer: %.300q", got.raw)
		}
		l.Is("idle")
		l.API.QueueDriven("again", func(r modelapi.Request) modelapi.Step {
			if r.Step == 0 {
				return modelapi.Say(modelapi.Tool("mcp__berth__list_sessions", map[string]any{}))
			}
			return modelapi.Say(modelapi.Text("Looked."))
		})
		l.Takes("Look again.")
		all := replies(l.Asked("Look again.", 1).Body)
		t.Logf("the next call: %.200q", all[len(all)-1].raw)
		if strings.Contains(all[len(all)-1].raw, `"sessions"`) {
			t.Error("Claude Code has started the server of tools again: docs/mcp.md says that it doesn't")
		}
		l.Is("idle")
		return
	}
	done := at(len(work))
	all := replies(done.Body)
	t.Logf("%d calls", len(all))
	l.Is("idle")
	if last := l.Text("last", "lead"); last != "Supervised: The command finished.; Codex is done.; The third is done.\n" {
		t.Errorf("the supervisor says %q", last)
	}
	if ran := file(filepath.Join(one.workspace, "ran.txt")); ran != "ran" {
		t.Errorf("the command ran as %q", ran)
	}
	var sessions []struct{ Session string }
	l.Verb(&sessions, "", "ls")
	if len(sessions) != 4 {
		t.Errorf("sessions: %+v", sessions)
	}
	arrived := map[string]int{}
	for _, server := range []*modelapi.Server{l.API, api} {
		for _, r := range server.Requests() {
			if r.Kind == modelapi.KindTurn && r.Step == 0 && strings.HasPrefix(r.Prompt, "[message ") {
				arrived[r.Prompt]++
			}
		}
	}
	if len(arrived) != 3 {
		t.Errorf("the workers got %v", arrived)
	}
	for message, times := range arrived {
		if times != 1 {
			t.Errorf("%d times: %q", times, message)
		}
	}
	for _, worker := range []string{"lead-w1", "lead-w2", "lead-w3"} {
		var box struct {
			Messages []struct{ Status string }
		}
		l.Verb(&box, "", "inbox", worker, "--json")
		if len(box.Messages) != 1 || box.Messages[0].Status != "taken" {
			t.Errorf("the inbox of %s: %+v", worker, box)
		}
	}
	if given := l.With("lead-w1").Events("respond"); len(given) != 1 || given[0].Outcome != "accepted" {
		t.Errorf("answers: %+v", given)
	}
}

// addTools has Claude Code itself add Berth's tools, as a user would.
func addTools(t *testing.T, l *testbed.Lab, lead home, way string) {
	t.Helper()
	// ssh of this lab reads the lab's configuration.
	bin := filepath.Join(l.Dir, "bin")
	check(t, os.Mkdir(bin, 0o700))
	real, err := exec.LookPath("ssh")
	check(t, err)
	script := fmt.Sprintf("#!/bin/sh\nexec %s -F %s -Snone \"$@\"\n", real, filepath.Join(l.Dir, "ssh_config"))
	check(t, os.WriteFile(filepath.Join(bin, "ssh"), []byte(script), 0o700))
	lead.env["PATH"] = bin + ":" + os.Getenv("PATH")
	words := []string{"mcp", "add", "--scope", "user", "berth", "--", programs.Berth, "mcp", "--host", "berth"}
	if way == "ssh" {
		words = []string{"mcp", "add", "--scope", "user", "berth", "--", "ssh", "berth", "mcp"}
	}
	cmd := exec.CommandContext(l.Ctx, lead.command[0], words...)
	cmd.Dir = lead.workspace
	for k, v := range lead.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("claude mcp add: %v\n%s", err, out)
	}
}

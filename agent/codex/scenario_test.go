package codex_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/codex"
	"berth/detect"
)

// story feeds a fold with what the sources say, on a clock of its own: what no
// recording shows.
type story struct {
	t    *testing.T
	fold *detect.Fold
	now  time.Time
	told []string
}

func tell(t *testing.T) *story {
	start := time.Unix(1_000_000, 0)
	s := &story{t: t, now: start, fold: detect.New(codex.Driver{}, detect.Options{Start: start})}
	s.osc("idle").after(1000)
	s.told = nil
	return s
}

func (s *story) after(ms int) *story {
	end := s.now.Add(time.Duration(ms) * time.Millisecond)
	for {
		d := s.fold.Deadline()
		if d.IsZero() || d.After(end) {
			break
		}
		if d.After(s.now) {
			s.now = d
		}
		s.keep(s.fold.Tick(s.now))
	}
	s.now = end
	return s
}

func (s *story) keep(r detect.Result) {
	for _, t := range r.Transitions {
		line := string(t.Next)
		if t.Request != nil {
			line += " " + text(t.Request.Agent) + text(t.Request.Input)
		}
		if t.Failure != nil {
			line += " " + string(t.Failure.Class)
		}
		s.told = append(s.told, line)
	}
}

func (s *story) facts(facts []agent.Fact, err error) *story {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range facts {
		f.Time = s.now
		s.keep(s.fold.Apply(f))
	}
	return s
}

func (s *story) osc(state string) *story {
	return s.facts(codex.Driver{}.OSC(7501, "state="+state+":app=codex"), nil)
}

func (s *story) title(title string) *story { return s.facts(codex.Driver{}.Title(title), nil) }

// hook is an event of the turn t of the conversation c.
func (s *story) hook(event, fields string) *story {
	return s.facts(codex.Driver{}.Hook([]byte(`{"session_id":"c","turn_id":"t","hook_event_name":"` + event + `"` + fields + `}`)))
}

func (s *story) log(line string) *story { return s.facts(codex.Driver{}.Log([]byte(line))) }

// asks begins a turn.
func (s *story) asks() *story {
	return s.osc("working").hook("UserPromptSubmit", `,"prompt":"do it"`).hook("PreModelRequest", "").after(50)
}

func (s *story) want(lines ...string) {
	s.t.Helper()
	if got := strings.Join(s.told, ", "); got != strings.Join(lines, ", ") {
		s.t.Errorf("emitted %q, want %q", s.told, lines)
	}
}

func failed(message string) string { return fmt.Sprintf(`,"status":"failed","error":%q`, message) }

// TestErrors: an error that ends a turn is the state until the next turn, whichever source
// reports it, and whatever is typed meanwhile.
func TestErrors(t *testing.T) {
	const quota, busy = "Quota exceeded. Check your plan and billing details.", "exceeded retry limit, last status: 429 Too Many Requests"
	ended := `{"timestamp":"1970-01-12T13:46:45Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"t","error":{"message":"` + quota + `"}}}`
	t.Run("with hooks", func(t *testing.T) {
		s := tell(t).asks().hook("PostModelRequest", failed(busy)).after(500).hook("PreModelRequest", "").hook("PostModelRequest", failed(quota)).after(20)
		s.osc("error").after(3000).osc("idle").after(60_000)
		s.want("working", "error out_of_credits")
		if f := s.fold.Status().Failure; f.Text != quota {
			t.Errorf("the failure is %+v", f)
		}
		s.hook("UserPromptSubmit", `,"prompt":"more","turn_id":"u"`)
		s.want("working", "error out_of_credits", "working")
	})
	t.Run("without hooks", func(t *testing.T) {
		s := tell(t).osc("working").after(400).osc("error").after(100).log(ended).after(3000)
		s.want("working", "error other")
		if f := s.fold.Status().Failure; f.Class != agent.OutOfCredits || f.Text != quota {
			t.Errorf("the failure is %+v", f)
		}
	})
	t.Run("at once", func(t *testing.T) {
		tell(t).osc("working").after(40).osc("error").after(3000).want("error other")
	})
	t.Run("overcome", func(t *testing.T) {
		s := tell(t).asks().hook("PostModelRequest", failed(busy)).after(500).hook("PreModelRequest", "").hook("PostModelRequest", `,"status":"completed"`)
		s.hook("Stop", "").osc("done").after(3000)
		s.want("working", "idle")
	})
	t.Run("interrupted before the next attempt", func(t *testing.T) {
		s := tell(t).asks().hook("PostModelRequest", failed(busy)).after(500).hook("Interrupt", "").osc("idle").after(3000)
		s.want("working", "idle")
	})
}

// TestStartUp: before the first turn, a spinner in the title doesn't mean work while the state
// sequence says "idle". After that turn, or without a state sequence, it does.
func TestStartUp(t *testing.T) {
	spins := func(s *story) *story {
		s.title("⠋ work").after(100)
		if s.fold.Stirs() {
			s.t.Error("a message waits for the spinner")
		}
		return s.title("⠙ work").after(500).title("work").after(300)
	}
	spins(tell(t)).want()
	s := spins(tell(t)).osc("working").title("⠹ work").after(1000).osc("done").title("work").after(1000).osc("idle").after(1000)
	s.want("working", "idle")
	s.title("⠋ work").after(600).title("work").after(1000)
	s.want("working", "idle", "working")
	start := time.Unix(1_000_000, 0)
	s = &story{t: t, now: start, fold: detect.New(codex.Driver{}, detect.Options{Start: start})}
	s.title("work").after(1000).title("⠋ work").after(600)
	s.want("idle", "working")
}

// TestSubagent: what a subagent asks is asked, and its end is not the turn's.
func TestSubagent(t *testing.T) {
	const sub = `,"agent_id":"a1","agent_type":"reviewer"`
	const call = `,"tool_name":"Bash","tool_input":{"command":"ls"}`
	s := tell(t).asks().hook("PreToolUse", `,"tool_name":"spawn_agent","tool_use_id":"k"`).hook("SubagentStart", sub)
	s.hook("UserPromptSubmit", sub+`,"prompt":"child"`).hook("PreModelRequest", sub).hook("PreToolUse", sub+call+`,"tool_use_id":"k2"`)
	s.hook("PermissionRequest", sub+`,"tool_name":"Bash","tool_input":{"command":"ls","description":"why"}`).osc("blocked").after(2000)
	s.osc("working").hook("PostToolUse", sub+call+`,"tool_use_id":"k2"`).after(200)
	s.hook("PostModelRequest", sub+failed("exceeded retry limit")).hook("SubagentStop", sub).after(2000)
	s.hook("Stop", "").osc("done").after(2000)
	s.want("working", "prompt reviewerls", "working", "idle")
}

// TestRefusedByHook: no source reports the end of the call. The next request to the model
// shows that it is over.
func TestRefusedByHook(t *testing.T) {
	s := tell(t).asks().hook("PreToolUse", `,"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"k"`)
	s.hook("PermissionRequest", `,"tool_name":"Bash","tool_input":{"command":"ls","description":"why"}`).after(3000)
	s.hook("PreModelRequest", "").after(300).hook("Stop", "").osc("done").after(2000)
	s.want("working", "prompt ls", "working", "idle")
}

// TestParallel: two calls are asked about at once, the last one first; the state
// sequence says it once for both.
func TestParallel(t *testing.T) {
	screen := func(s *story, r *agent.Reading) *story {
		return s.facts([]agent.Fact{{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r}}, nil)
	}
	ask := func(s *story, command string) *story {
		return s.hook("PermissionRequest", `,"tool_name":"Bash","tool_input":{"command":"`+command+`","description":"Second of two?"}`)
	}
	s := ask(ask(tell(t).asks(), "touch /tmp/par_b"), "touch /tmp/par_a").osc("blocked").after(700)
	screen(s, draw(runs, -1, 0)).after(1000)
	screen(s, draw(strings.ReplaceAll(runs, "par_b", "par_a"), -1, 0)).after(1000)
	if p, ok := s.fold.Pending(""); !ok || *p.Request.Input != "touch /tmp/par_a" || p.Dialog == nil {
		t.Errorf("pending is %+v", p.Request)
	}
	s.osc("working")
	screen(s, draw(work+"\n\n"+hint+footer, 2, 2)).after(1000)
	s.hook("Stop", "").osc("done")
	screen(s, draw(hint+footer, 0, 2)).after(1000)
	s.want("working", "prompt touch /tmp/par_b", "prompt touch /tmp/par_a", "working", "idle")
}

// TestPlanWithoutItsAnswer: Esc leaves the dialog of a plan; nothing works then.
func TestPlanWithoutItsAnswer(t *testing.T) {
	plan := draw("• Proposed Plan\n\n  1. Do it.\n\n• Here it is.\n\n  Implement this plan?\n\n› 1. Yes, implement this plan  Switch\n  2. No, stay in Plan mode  Continue\n\n  enter select · esc back", -1, 0)
	s := tell(t).asks().hook("Stop", "").osc("done").after(20)
	for _, r := range []*agent.Reading{plan, draw(hint+footer, 0, 2)} {
		s.facts([]agent.Fact{{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r}}, nil).after(5000)
	}
	s.want("working", "prompt ", "idle")
}

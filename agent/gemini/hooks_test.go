package gemini_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/gemini"
)

// kinds is what each event of the measured version is read as.
var kinds = map[string]agent.Kind{
	"SessionStart": agent.ConversationStarted, "SessionEnd": agent.ConversationEnded,
	"BeforeAgent": agent.TurnStarted, "AfterAgent": agent.TurnEnded, "BeforeTool": agent.ToolStarted, "AfterTool": agent.ToolEnded,
	"Notification": agent.Asked, "PreCompress": agent.StepEnded,
	"BeforeModel": agent.Noted, "AfterModel": agent.Noted, "BeforeToolSelection": agent.Noted,
}

func payload(t testing.TB, name string) agent.Fact {
	t.Helper()
	data, err := fs.ReadFile(reference(t), "hooks_payloads/"+name+".json")
	if err != nil {
		t.Fatal(err)
	}
	var kept struct{ Payload json.RawMessage }
	if err := json.Unmarshal(data, &kept); err != nil {
		t.Fatal(err)
	}
	facts, err := gemini.Driver{}.Hook(kept.Payload)
	if err != nil || len(facts) != 1 {
		t.Fatalf("%s: %d facts, %v", name, len(facts), err)
	}
	return facts[0]
}

// TestHookPayloads reads a real payload of every event.
func TestHookPayloads(t *testing.T) {
	files, err := fs.Glob(reference(t), "hooks_payloads/*.json")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".json")
		event, _, _ := strings.Cut(name, "__")
		f := payload(t, name)
		if f.Cause != "hook:"+event || f.Conversation == "" || f.Source != agent.SourceHook || f.Source.Tier() != 1 || f.At.IsZero() || f.Turn != "" || f.Call != "" {
			t.Errorf("%s: %+v", name, f)
		}
		if want, known := kinds[event]; !known || f.Kind != want {
			t.Errorf("%s: read as %s, want %s", name, f.Kind, want)
		}
		if f.Kind == agent.Asked && f.Request == nil {
			t.Errorf("%s: asks nothing", name)
		}
		seen[event] = true
	}
	for event := range kinds {
		if !seen[event] {
			t.Errorf("no payload of %s", event)
		}
	}
}

// TestNames puts each notification together with the call that it is about, and
// with no other.
func TestNames(t *testing.T) {
	command := payload(t, "BeforeTool__run_shell_command")
	calls := map[string]agent.Fact{
		"run_shell_command": command,
		"write_file":        {Tool: "write_file", Input: []byte(`{"file_path":"w0.txt","content":"line one"}`)},
		"ask_user":          payload(t, "BeforeTool__ask_user"),
		"enter_plan_mode":   payload(t, "BeforeTool__enter_plan_mode"),
		"exit_plan_mode":    payload(t, "BeforeTool__exit_plan_mode"),
	}
	for kind, c := range map[string]struct {
		tool, input string
		typ         agent.PromptType
	}{
		"exec":           {"run_shell_command", "touch k0; echo key0", agent.PromptPermission},
		"edit":           {"write_file", "/home/agents/project/homes/edit/work/w0.txt", agent.PromptPermission},
		"ask_user":       {"ask_user", "", agent.PromptQuestion},
		"exit_plan_mode": {"exit_plan_mode", "/plans/mock-plan.md", agent.PromptPlan},
		"info":           {"enter_plan_mode", "This will restrict the agent to read-only tools to allow for safe planning.", agent.PromptPermission},
	} {
		fact := payload(t, "Notification__"+kind)
		for tool, call := range calls {
			r := gemini.Driver{}.Names(&fact, &call)
			if (r != nil) != (tool == c.tool) {
				t.Errorf("%s: about %s: %+v", kind, tool, r)
			}
			if r == nil {
				continue
			}
			if r.Type != c.typ || text(r.Tool) != tool || !strings.HasSuffix(text(r.Input), c.input) || !r.OptionsFallback {
				t.Errorf("%s: %+v", kind, r)
			}
		}
		if fact.Request.Type != c.typ {
			t.Errorf("%s by itself: %+v", kind, fact.Request)
		}
	}
	edit := payload(t, "Notification__edit").Request
	if !edit.InputTruncated || !strings.Contains(edit.FullInput, "+line two 中文") || edit.InputBytes != len(edit.FullInput) || len(edit.Options) != 4 {
		t.Errorf("a change: %+v", edit)
	}
	ask, call := payload(t, "Notification__ask_user"), calls["ask_user"]
	q := gemini.Driver{}.Names(&ask, &call)
	if len(q.Questions) != 1 || q.Questions[0].Header != "" || strings.Join(q.Questions[0].Options, " ") != "Red Green Blue" ||
		q.Questions[0].Descriptions[2] != "A cold colour." || text(q.Text) != "Which colour should the mock use?" {
		t.Errorf("a question: %+v", q)
	}
	other := agent.Fact{Tool: "run_shell_command", Input: []byte(`{"command":"rm -rf x"}`)}
	exec := payload(t, "Notification__exec")
	if r := (gemini.Driver{}).Names(&exec, &other); r != nil {
		t.Errorf("another command: %+v", r)
	}
}

func TestWaiting(t *testing.T) {
	call := payload(t, "BeforeTool__ask_user")
	if r := (gemini.Driver{}).Waiting(&call); r.Type != agent.PromptQuestion || len(r.Questions) != 1 {
		t.Errorf("a question: %+v", r)
	}
	call = payload(t, "BeforeTool__run_shell_command")
	if r := (gemini.Driver{}).Waiting(&call); r.Type != agent.PromptPermission || text(r.Input) != "touch k0; echo key0" {
		t.Errorf("a command: %+v", r)
	}
	if r := (gemini.Driver{}).Waiting(&agent.Fact{}); r.Type != agent.PromptPermission || r.Tool != nil || !r.OptionsFallback {
		t.Errorf("of what is not known: %+v", r)
	}
}

func TestTitles(t *testing.T) {
	for title, want := range map[string]agent.Level{
		"◇  Ready (work)                         ": agent.LevelIdle,
		"✦  Working… (work)":                       agent.LevelBusy,
		"✦  Reading the code (work)":               agent.LevelBusy,
		"⏲  Working… (work)":                       agent.LevelBusy,
		"✋  Action Required (work)":                agent.LevelWaiting,
		"":                                         "",
		"bash":                                     "",
		"Ready (work)":                             "",
	} {
		f := gemini.Driver{}.Title(title)[0]
		if f.Level != want || (f.Kind == agent.LevelIs) != (want != "") || f.Source != agent.SourceTitle {
			t.Errorf("%q: %+v", title, f)
		}
	}
}

func TestNoHookEvent(t *testing.T) {
	for _, payload := range []string{"", "{", "[]", "null", "{}", `{"hook_event_name":"AfterAgent"}`, `{"session_id":"s"}`} {
		if facts, err := (gemini.Driver{}).Hook([]byte(payload)); !errors.Is(err, gemini.ErrEvent) || facts != nil {
			t.Errorf("%q gives %v, %v", payload, facts, err)
		}
	}
	for _, payload := range []string{
		`{"hook_event_name":"OfALaterVersion","session_id":"s"}`,
		`{"hook_event_name":"Notification","session_id":"s","notification_type":"Other","message":"hi"}`,
	} {
		facts, err := gemini.Driver{}.Hook([]byte(payload))
		if err != nil || facts[0].Kind != agent.Noted {
			t.Errorf("%s gives %v, %v", payload, facts, err)
		}
	}
}

func FuzzHook(f *testing.F) {
	files, _ := fs.Glob(reference(f), "hooks_payloads/*.json")
	for _, file := range files {
		data, _ := fs.ReadFile(reference(f), file)
		var kept struct{ Payload json.RawMessage }
		if json.Unmarshal(data, &kept) == nil {
			f.Add([]byte(kept.Payload))
		}
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		facts, err := gemini.Driver{}.Hook(payload)
		if (err == nil) != (len(facts) == 1) {
			t.Fatalf("%v with %d facts", err, len(facts))
		}
		for _, fact := range facts {
			if fact.Request == nil {
				continue
			}
			call := agent.Fact{Tool: "run_shell_command", Input: fact.Input}
			for _, r := range []*agent.Request{fact.Request, gemini.Driver{}.Names(&fact, &call)} {
				if _, err := json.Marshal(r); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestCutCall: the report of a call was longer than Berth takes. Any dialog may be that call's, so no key answers one until the agent rests.
func TestCutCall(t *testing.T) {
	long := strings.Repeat("x", 100)
	for head, want := range map[string]bool{
		`{"session_id":"c","cwd":"/\"hook_event_name\":\"AfterTool\"","hook_event_name":"BeforeTool","tool_input":{"x":"` + long: true,
		`{"session_id":"c","hook_event_name":"AfterTool","tool_response":{"hook_event_name":"BeforeTool","x":"` + long:           false,
		`{"session_id":"` + long: true,
	} {
		if (gemini.Driver{}).CutsCall(head) != want {
			t.Errorf("%s: not %v", head, want)
		}
	}
	s := tell(t)
	s.begin(1000).at(1100).call("ls").at(1110)
	s.keep(s.fold.LosesCall(s.moment()))
	s.at(1200).asks("ls").screen(confirm("ls")...).at(4500).unanswerable("a call was cut")
	s.fold.Typed(s.moment()) // a person answers
	s.screen(work...).at(6000).ran("ls").hook("AfterAgent", `"prompt":"go"`).title("◇  Ready (work)").screen(rest...).at(60000)
	s.begin(61000).at(61100).call("ls").at(61200).asks("ls").screen(confirm("ls")...).at(64000)
	if p := s.fold.Status().Request; p == nil || !s.keyed(p.ID) {
		t.Errorf("after a rest it asks %+v", p)
	}
}

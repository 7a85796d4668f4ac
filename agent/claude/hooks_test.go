package claude_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/claude"
)

// kinds is what each event of the measured version is read as.
var kinds = map[string]agent.Kind{
	"SessionStart": agent.ConversationStarted, "SessionEnd": agent.ConversationEnded,
	"UserPromptSubmit": agent.TurnStarted, "Stop": agent.TurnEnded, "StopFailure": agent.TurnEnded,
	"PreToolUse": agent.ToolStarted, "PostToolUse": agent.ToolEnded, "PostToolUseFailure": agent.ToolEnded,
	"PermissionDenied": agent.ToolEnded, "PostToolBatch": agent.StepEnded, "PermissionRequest": agent.Asked,
	"Elicitation": agent.Asked, "ElicitationResult": agent.Answered,
	"SubagentStart": agent.SubagentStarted, "SubagentStop": agent.SubagentEnded,
	"PreCompact": agent.TurnStarted, "PostCompact": agent.TurnEnded, // asked for by a person
	"MessageDisplay": agent.Acting,
	"Notification":   agent.Noted, "UserPromptExpansion": agent.Noted, "Setup": agent.Noted, "TaskCreated": agent.Noted,
	"TaskCompleted": agent.Noted, "ConfigChange": agent.Noted, "InstructionsLoaded": agent.Noted, "CwdChanged": agent.Noted,
	"FileChanged": agent.Noted, "WorktreeCreate": agent.Noted, "WorktreeRemove": agent.Noted,
}

// TestHookPayloads reads a real payload of every event.
func TestHookPayloads(t *testing.T) {
	ref := reference(t)
	files, err := fs.Glob(ref, "hooks_payloads/*.json")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		event, _, _ := strings.Cut(path.Base(file), ".")
		data, err := fs.ReadFile(ref, file)
		if err != nil {
			t.Fatal(err)
		}
		for n, payload := range payloads(t, data) {
			facts, err := claude.Driver{}.Hook(payload)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			f := facts[0]
			if len(facts) != 1 || f.Cause != "hook:"+event || f.Conversation == "" || f.Source != agent.SourceHook || f.Source.Tier() != 1 {
				t.Errorf("%s %d: %+v", file, n, f)
			}
			want, known := kinds[event]
			if event == "Notification" && bytes.Contains(payload, []byte(`"elicitation_response"`)) {
				want = agent.Answered
			}
			if !known || f.Kind != want {
				t.Errorf("%s: read as %s, want %s", file, f.Kind, want)
			}
			if f.Kind == agent.Asked && f.Request == nil || f.How == agent.Failed && f.Failure == nil {
				t.Errorf("%s: %s without what it is about", file, f.Kind)
			}
		}
		seen[event] = true
	}
	for event := range kinds {
		if !seen[event] {
			t.Errorf("no payload of %s", event)
		}
	}
}

// payloads are the objects of a file, which holds one or a list.
func payloads(t *testing.T, data []byte) []json.RawMessage {
	t.Helper()
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		var all []json.RawMessage
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	var all []json.RawMessage
	d := json.NewDecoder(bytes.NewReader(data))
	for d.More() {
		var one json.RawMessage
		if err := d.Decode(&one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

func payload(t *testing.T, name string) agent.Fact {
	t.Helper()
	data, err := fs.ReadFile(reference(t), "hooks_payloads/"+name+".json")
	if err != nil {
		t.Fatal(err)
	}
	facts, err := claude.Driver{}.Hook(payloads(t, data)[0])
	if err != nil {
		t.Fatal(err)
	}
	return facts[0]
}

func TestFailureClasses(t *testing.T) {
	for name, want := range map[string]agent.Class{
		"StopFailure.authentication_failed": agent.Unauthorized,
		"StopFailure.billing_error":         agent.OutOfCredits,
		"StopFailure.rate_limit":            agent.RateLimited,
		"StopFailure.server_error":          agent.Overloaded,
		"StopFailure.invalid_request":       agent.ContextFull,
		"StopFailure.unknown":               agent.Invalid,
		"StopFailure":                       agent.Invalid, // a refusal
	} {
		if f := payload(t, name); f.Failure.Class != want || f.Failure.Text == "" {
			t.Errorf("%s is %s (%q), want %s", name, f.Failure.Class, f.Failure.Text, want)
		}
	}
	for text, want := range map[string]agent.Class{
		"API Error: Connection closed mid-response. The response above may be incomplete.": agent.Network,
		"API Error: Repeated 529 Overloaded errors":                                        agent.Overloaded,
		"Unable to connect to API (ECONNREFUSED)":                                          agent.Network,
	} {
		line, _ := json.Marshal(map[string]string{
			"hook_event_name": "StopFailure", "session_id": "s", "error": "server_error", "last_assistant_message": text})
		facts, err := claude.Driver{}.Hook(line)
		if err != nil || facts[0].Failure.Class != want {
			t.Errorf("%q is %v, want %s (%v)", text, facts, want, err)
		}
	}
}

func TestWhatHooksAsk(t *testing.T) {
	bash := payload(t, "PermissionRequest.Bash.subagent")
	if r := bash.Request; text(r.Agent) != "general-purpose" || text(r.Input) != "touch made-by-bash.txt && echo ran-bash" ||
		r.InputBytes != 39 || r.InputTruncated || !r.OptionsFallback || r.Ready || bash.Agent == "" {
		t.Errorf("a subagent's command: %+v", r)
	}
	plan := payload(t, "PermissionRequest.ExitPlanMode").Request
	if plan.Type != agent.PromptPlan || !strings.HasPrefix(text(plan.Text), "# Plan: add a greeting\n\n## Steps") {
		t.Errorf("a plan: %+v", plan)
	}
	question := payload(t, "PermissionRequest.AskUserQuestion").Request
	if q := question.Questions; question.Type != agent.PromptQuestion || len(q) != 1 || !q[0].MultiSelect || q[0].Header != "Features" ||
		strings.Join(q[0].Options, " ") != "Logging Metrics Tracing Caching" || q[0].Descriptions[3] != "Choose Caching" {
		t.Errorf("a question: %+v", question)
	}
	form := payload(t, "Elicitation").Request
	var schema struct{ Required []string }
	if err := json.Unmarshal(form.Schema, &schema); err != nil || form.Type != agent.PromptForm || len(schema.Required) != 1 {
		t.Errorf("a form: %+v (%v)", form, err)
	}
	edit := payload(t, "PermissionRequest.Edit").Request
	if !edit.InputTruncated || !strings.Contains(edit.FullInput, `"new_string":"omega"`) || edit.InputBytes != len(edit.FullInput) {
		t.Errorf("an edit: %+v, full %q", edit, edit.FullInput)
	}
	if stop := payload(t, "Stop.background_tasks"); len(stop.Background) != 0 {
		t.Errorf("a background shell keeps the agent busy: %v", stop.Background)
	}
}

// TestLongInput: the shown part of a long input ends with a whole character.
func TestLongInput(t *testing.T) {
	command := strings.Repeat("日本", 150)
	line, _ := json.Marshal(map[string]any{"hook_event_name": "PermissionRequest", "session_id": "s", "tool_name": "Bash",
		"tool_input": map[string]string{"command": command}})
	facts, err := claude.Driver{}.Hook(line)
	if err != nil {
		t.Fatal(err)
	}
	r := facts[0].Request
	if text(r.Input) != strings.Repeat("日本", 100) || !r.InputTruncated || r.InputBytes != len(command) || r.FullInput != command {
		t.Errorf("%d characters shown, truncated %v, %d bytes", len([]rune(text(r.Input))), r.InputTruncated, r.InputBytes)
	}
}

func TestNoHookEvent(t *testing.T) {
	for _, payload := range []string{"", "{", "[]", "null", "{}", `{"hook_event_name":"Stop"}`, `{"session_id":"s"}`} {
		if facts, err := (claude.Driver{}).Hook([]byte(payload)); !errors.Is(err, claude.ErrEvent) || facts != nil {
			t.Errorf("%q gives %v, %v", payload, facts, err)
		}
	}
	facts, err := claude.Driver{}.Hook([]byte(`{"hook_event_name":"OfALaterVersion","session_id":"s"}`))
	if err != nil || facts[0].Kind != agent.Noted {
		t.Errorf("an event not known gives %v, %v", facts, err)
	}
}

func FuzzHook(f *testing.F) {
	files, _ := fs.Glob(reference(f), "hooks_payloads/*.json")
	for _, file := range files {
		data, _ := fs.ReadFile(reference(f), file)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		facts, err := claude.Driver{}.Hook(payload)
		if (err == nil) != (len(facts) == 1) {
			t.Fatalf("%v with %d facts", err, len(facts))
		}
		for _, fact := range facts {
			if fact.Request != nil {
				if _, err := json.Marshal(fact.Request); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestNamesInOtherLetters: a person reads plans and questions from the same fields as the
// agent. Claude Code also passes on any other field that a model adds.
func TestNamesInOtherLetters(t *testing.T) {
	for tool, inputs := range map[string][]string{
		"ExitPlanMode": {
			`{"plan":"Delete it.","Plan":"Read it."}`, `{"Plan":"Read it.","plan":"Delete it."}`, `{"plan":"Delete it.","plan":"Read it."}`,
			`{"PLAN":"Read it.","planFilePath":"/w/p.md"}`,
		},
		"AskUserQuestion": {
			`{"questions":[{"question":"Delete it?","options":[{"label":"Yes"}]}],"Questions":[{"question":"Read it?"}]}`,
			`{"questions":[{"question":"Delete it?","Question":"Read it?","options":[{"label":"Yes"}]}]}`,
			`{"questions":[{"question":"Go on?","options":[{"label":"Delete it","Label":"Read it"}]}]}`,
		},
	} {
		for _, input := range inputs {
			s := newForgery(t)
			s.asks(tool, input, "1")
			r := s.f.Status().Request
			if r == nil || r.FullInput != input || text(r.Text) != agent.Unreadable || len(r.Questions) > 0 {
				t.Errorf("%s is shown as %+v", input, r)
			}
		}
	}
}

// TestFieldsBesideTheMain: a person reads every field of the tool's input.
func TestFieldsBesideTheMain(t *testing.T) {
	for input, want := range map[string]string{
		`{"command":"ls","description":"List"}`:                                                   "",
		`{"command":"ls","description":"List","dangerouslyDisableSandbox":true,"timeout":600000}`: "dangerouslyDisableSandbox: true\ntimeout: 600000",
	} {
		s := newForgery(t)
		s.asks("Bash", input, "1")
		if r := s.f.Status().Request; r == nil || text(r.Input) != "ls" || text(r.Text) != want {
			t.Errorf("%s is shown as %+v", input, r)
		}
	}
	s := newForgery(t)
	s.asks("WebFetch", `{"url":"https://example.com/a","prompt":"Send it the keys"}`, "1")
	if r := s.f.Status().Request; r == nil || text(r.Text) != `prompt: "Send it the keys"` {
		t.Errorf("a page that is asked something: %+v", r)
	}
}

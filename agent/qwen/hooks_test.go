package qwen_test

import (
	"errors"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/qwen"
)

// hook reads one event of a conversation.
func hook(t *testing.T, fields string) agent.Fact {
	t.Helper()
	facts, err := qwen.Driver{}.Hook([]byte(`{"session_id":"s","transcript_path":"/h/chats/s.jsonl","prompt_id":"s########1","permission_mode":"auto",` + fields + `}`))
	if err != nil || len(facts) != 1 {
		t.Fatalf("%s: %d facts, %v", fields, len(facts), err)
	}
	return facts[0]
}

func TestHook(t *testing.T) {
	for fields, want := range map[string]agent.Fact{
		`"hook_event_name":"SessionStart","source":"startup"`:                      {Kind: agent.ConversationStarted, Text: "startup"},
		`"hook_event_name":"UserPromptSubmit","prompt":"go"`:                       {Kind: agent.TurnStarted, Text: "go"},
		`"hook_event_name":"UserPromptSubmit","prompt":""`:                         {Kind: agent.StepEnded},
		`"hook_event_name":"PreToolUse","tool_name":"edit","tool_call_id":"c"`:     {Kind: agent.ToolStarted, Tool: "edit", Call: "c"},
		`"hook_event_name":"PostToolUse","tool_name":"edit","tool_call_id":"c"`:    {Kind: agent.ToolEnded, Tool: "edit", Call: "c"},
		`"hook_event_name":"PostToolUseFailure","tool_name":"edit"`:                {Kind: agent.ToolEnded, Tool: "edit"},
		`"hook_event_name":"PostToolBatch"`:                                        {Kind: agent.StepEnded},
		`"hook_event_name":"Stop","last_assistant_message":"done"`:                 {Kind: agent.TurnEnded, How: agent.Completed, Text: "done"},
		`"hook_event_name":"StopFailure","error":"rate_limit","error_details":"x"`: {Kind: agent.TurnEnded, How: agent.Failed, Failure: &agent.Failure{Class: agent.RateLimited, Text: "x"}},
		`"hook_event_name":"Notification","notification_type":"idle_prompt"`:       {Kind: agent.Noted},
		`"hook_event_name":"SomethingNew"`:                                         {Kind: agent.Noted},
	} {
		got := hook(t, fields)
		if got.Kind != want.Kind || got.Text != want.Text || got.How != want.How || got.Tool != want.Tool || got.Call != want.Call {
			t.Errorf("%s: %+v", fields, got)
		}
		if (got.Failure == nil) != (want.Failure == nil) || want.Failure != nil && *got.Failure != *want.Failure {
			t.Errorf("%s: the failure is %+v", fields, got.Failure)
		}
		if got.Conversation != "s" || got.Turn != "s########1" || got.Log != "/h/chats/s.jsonl" || got.Source != agent.SourceHook || got.Mode != "auto" {
			t.Errorf("%s: %+v", fields, got)
		}
	}
	for _, payload := range []string{``, `[]`, `{}`, `{"session_id":"s"}`, `{"hook_event_name":"Stop"}`} {
		if _, err := (qwen.Driver{}).Hook([]byte(payload)); !errors.Is(err, qwen.ErrEvent) {
			t.Errorf("%s: %v", payload, err)
		}
	}
	// A forged hook names no other file.
	facts, err := qwen.Driver{}.Hook([]byte(`{"session_id":"s","transcript_path":"/etc/passwd","hook_event_name":"Stop"}`))
	if err != nil || facts[0].Log != "" {
		t.Errorf("%+v %v", facts, err)
	}
}

func TestAsked(t *testing.T) {
	ask := func(tool, input string) *agent.Request {
		return hook(t, `"hook_event_name":"PermissionRequest","tool_name":"`+tool+`","tool_input":`+input).Request
	}
	for _, c := range []struct {
		tool, input string
		want        agent.PromptType
		shows       string // Input
		text        string
	}{
		{"run_shell_command", `{"command":"ls -la","description":"d"}`, agent.PromptPermission, "ls -la", ""},
		{"write_file", `{"file_path":"/a/b.txt","content":"x"}`, agent.PromptPermission, "/a/b.txt", ""},
		{"edit", `{"file_path":"/a/b.txt","old_string":"x","new_string":"y"}`, agent.PromptPermission, "/a/b.txt", ""},
		{"mcp__lab__ask", `{"message": "hello"}`, agent.PromptPermission, `{"message":"hello"}`, ""},
		{"exit_plan_mode", `{"plan":"# Plan"}`, agent.PromptPlan, "", "# Plan"},
		{"ask_user_question", `{"questions":[{"question":"Which?","header":"H","options":[{"label":"A","description":"a"}],"multiSelect":false}]}`, agent.PromptQuestion, "", "Which?"},
		{"run_shell_command", `{"command":"ls","command":"rm"}`, agent.PromptPermission, `{"command":"ls","command":"rm"}`, agent.Unreadable},
	} {
		r := ask(c.tool, c.input)
		if r == nil || r.Type != c.want || agent.Value(r.Tool) != c.tool || agent.Value(r.Input) != c.shows || agent.Value(r.Text) != c.text {
			t.Errorf("%s %s: %+v", c.tool, c.input, r)
		}
	}
	if r := ask("edit", `{"file_path":"/a","old_string":"x","new_string":"y"}`); !strings.Contains(r.FullInput, `"new_string":"y"`) {
		t.Errorf("the digest doesn't cover the change: %q", r.FullInput)
	}
}

func TestTitle(t *testing.T) {
	for title, want := range map[string]agent.Level{
		"Qwen - ws            ": agent.LevelIdle, "◐︎ Qwen - ws": agent.LevelBusy, "✳︎ Qwen - ws": agent.LevelWaiting, "✳ Qwen - ws": agent.LevelWaiting, "": "",
		"Qwen -   ": agent.LevelIdle, "x": "", "vim": "", "Qwen": "", // of a tool that sets the title
	} {
		if f := (qwen.Driver{}).Title(title)[0]; f.Level != want {
			t.Errorf("%q: %+v", title, f)
		}
	}
}

func TestLog(t *testing.T) {
	const head = `{"uuid":"u","sessionId":"s","timestamp":"2026-11-23T21:28:47.359Z",`
	for line, want := range map[string]agent.Fact{
		`"type":"user","provenance":"real_user","message":{"parts":[{"text":"hello"}]}}`: {Kind: agent.Noted},
		`"type":"system","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_response","response_id":"r","model":"m","input_token_count":25,"output_token_count":5,"prompt_id":"s########0"}}}`: {
			Kind: agent.Noted, Turn: "s########0", Usage: &agent.Usage{Answer: "r", Model: "m", Tokens: agent.Tokens{Input: 25, Output: 5}},
		},
		`"type":"system","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_response","response_id":"r","prompt_id":"s#managed-auto-memory#0"}}}`: {Kind: agent.Noted},
		`"type":"assistant","message":{"parts":[{"text":"I run it."},{"functionCall":{"id":"c","name":"edit"}}]}}`:                                     {Kind: agent.Acting, Text: "I run it."},
		`"type":"assistant","message":{"parts":[{"text":"Over."}]}}`:                                                                                   {Kind: agent.TurnEnded, Text: "Over."},
	} {
		facts, err := qwen.Driver{}.Log([]byte(head + line))
		if err != nil || facts[0].Kind != want.Kind || facts[0].Turn != want.Turn || facts[0].Text != want.Text || (facts[0].Usage == nil) != (want.Usage == nil) {
			t.Errorf("%s: %+v %v", line, facts, err)
		} else if want.Usage != nil && *facts[0].Usage != *want.Usage {
			t.Errorf("%s: %+v", line, facts[0].Usage)
		}
	}
	var kinds []string
	for _, line := range []string{
		`"type":"user","provenance":"real_user","message":{"parts":[{"text":"hello"}]}}`,
		`"type":"system","subtype":"ui_telemetry"}`,
		`"type":"assistant","message":{"parts":[{"text":"hm","thought":true},{"text":"I run it."},{"functionCall":{"id":"c","name":"run_shell_command","args":{"command":"ls"}}}]}}`,
		`"type":"tool_result","message":{"parts":[{"functionResponse":{"id":"c","response":{"output":"a file"}}}]},"toolCallResult":{"status":"success"}}`,
	} {
		for _, e := range (qwen.Driver{}).Entries([]byte(head + line)) {
			kinds = append(kinds, string(e.Kind)+" "+e.Text+e.Tool)
		}
	}
	if got, want := strings.Join(kinds, "; "), "message hello; thought hm; reply I run it.; call run_shell_command; result a file"; got != want {
		t.Errorf("the transcript has %s", got)
	}
}

// FuzzHook: any payload gives a fact or an error.
func FuzzHook(f *testing.F) {
	f.Add([]byte(`{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"ask_user_question","tool_input":{"questions":[{}]}}`))
	f.Add([]byte(`{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"run_shell_command","tool_input":{"command":1}}`))
	f.Add([]byte(`{"session_id":"s","hook_event_name":"StopFailure","error_details":"503 x"}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		facts, err := qwen.Driver{}.Hook(payload)
		if (err == nil) != (len(facts) > 0) {
			t.Fatalf("%v with %d facts", err, len(facts))
		}
		for _, fact := range facts {
			if fact.Kind == agent.Asked && fact.Request == nil {
				t.Fatalf("%q asks nothing", payload)
			}
		}
	})
}

// FuzzLines reads any bytes as a line of the chat file.
func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"type":"assistant","message":{"parts":[{"functionCall":{"args":[]}}]}}`))
	f.Add([]byte(`{"type":"tool_result","message":{"parts":[{"functionResponse":{"response":{"output":1}}}]}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		facts, err := qwen.Driver{}.Log(line)
		if (err == nil) != (len(facts) > 0) {
			t.Fatalf("%v with %d facts", err, len(facts))
		}
		for _, e := range (qwen.Driver{}).Entries(line) {
			if e.Kind == "" {
				t.Fatalf("%q has an entry of no kind", line)
			}
		}
	})
}

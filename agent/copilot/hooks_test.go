package copilot_test

import (
	"errors"
	"testing"

	"berth/agent"
	"berth/agent/copilot"
)

// TestHook reads events as Copilot sent them.
func TestHook(t *testing.T) {
	const head = `"session_id":"813570ae-ca43-4dcf-a09a-1e3d2ef887d4","timestamp":"2026-11-23T21:07:07.305Z","cwd":"/srv/ws"`
	for payload, want := range map[string]agent.Fact{
		`{"hook_event_name":"SessionStart",` + head + `,"source":"new","initial_prompt":"hello"}`:                                                                                            {Kind: agent.ConversationStarted, Text: "new", Cause: "hook:SessionStart"},
		`{"hook_event_name":"UserPromptSubmit",` + head + `,"prompt":"hello\nyou"}`:                                                                                                          {Kind: agent.TurnStarted, Text: "hello\nyou", Cause: "hook:UserPromptSubmit"},
		`{"hook_event_name":"Stop",` + head + `,"transcript_path":"/srv/session-state/813570ae-ca43-4dcf-a09a-1e3d2ef887d4/events.jsonl","stop_reason":"end_turn","stop_hook_active":false}`: {Kind: agent.TurnEnded, How: agent.Completed, Log: "/srv/session-state/813570ae-ca43-4dcf-a09a-1e3d2ef887d4/events.jsonl", Cause: "hook:Stop"},
		`{"hook_event_name":"ErrorOccurred",` + head + `,"error":{"message":"no","name":"Error"},"error_context":"model_call","recoverable":true}`:                                           {Kind: agent.Acting, Cause: "hook:ErrorOccurred"},
		`{"sessionId":"813570ae","timestamp":1795468293510,"message":"Run command: ls","hook_event_name":"Notification","notification_type":"permission_prompt"}`:                            {Kind: agent.Noted, Cause: "hook:Notification"},
		`{"hook_event_name":"SomethingNew",` + head + `}`:                                                                                                                                    {Kind: agent.Noted, Cause: "hook:SomethingNew"},
		`{"hook_event_name":"SessionEnd",` + head + `,"reason":"user_exit"}`:                                                                                                                 {Kind: agent.ConversationEnded, Text: "user_exit", Cause: "hook:SessionEnd"},
	} {
		facts, err := copilot.Driver{}.Hook([]byte(payload))
		if err != nil || len(facts) != 1 {
			t.Errorf("%s: %v %v", payload, facts, err)
			continue
		}
		f := facts[0]
		if f.Kind != want.Kind || f.Text != want.Text || f.How != want.How || f.Log != want.Log || f.Cause != want.Cause || f.Conversation == "" {
			t.Errorf("%s: %+v", payload, f)
		}
		if f.At.IsZero() != (f.Cause == "hook:Notification") {
			t.Errorf("%s: its time is %v", payload, f.At)
		}
	}
	for _, bad := range []string{"", "{", "[]", `{"hook_event_name":"Stop"}`, `{"session_id":"x"}`} {
		if _, err := (copilot.Driver{}).Hook([]byte(bad)); !errors.Is(err, copilot.ErrEvent) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestForgedLog: a hook names no log but its conversation's.
func TestForgedLog(t *testing.T) {
	for _, file := range []string{
		"/etc/passwd", "/srv/events.jsonl", "session-state/c/events.jsonl", "/srv/session-state/d/events.jsonl", "/srv/session-state/c/other.jsonl",
		"/srv/state/c/events.jsonl", "/srv/session-state/c/../events.jsonl", "/srv/session-state/d/c/events.jsonl",
	} {
		facts, err := copilot.Driver{}.Hook([]byte(`{"hook_event_name":"Stop","session_id":"c","transcript_path":"` + file + `"}`))
		if err != nil || len(facts) != 1 || facts[0].Log != "" {
			t.Errorf("%s: %+v %v", file, facts, err)
		}
	}
}

// TestLog reads lines of the session log as Copilot wrote them.
func TestLog(t *testing.T) {
	line := func(kind, data string) string {
		return `{"type":"` + kind + `","data":` + data + `,"id":"7f6585e7","timestamp":"2026-11-23T21:11:33.509Z","parentId":"2e30f85e"}`
	}
	for text, want := range map[string]agent.Fact{
		line("session.start", `{"sessionId":"c","copilotVersion":"1.0.102"}`):                                                                       {Kind: agent.Noted, Conversation: "c", Version: "1.0.102"},
		line("assistant.message", `{"content":"I do it.","toolRequests":[]}`):                                                                       {Kind: agent.Acting, Text: "I do it."},
		line("assistant.turn_end", `{"turnId":"0"}`):                                                                                                {Kind: agent.Noted},
		line("tool.execution_start", `{"toolCallId":"c1_0","toolName":"bash","arguments":{"command":"touch x"}}`):                                   {Kind: agent.ToolStarted, Tool: "bash", Call: "c1_0"},
		line("permission.completed", `{"requestId":"r","toolCallId":"c1_0","result":{"kind":"approved"}}`):                                          {Kind: agent.ToolEnded, Call: "c1_0"},
		line("hook.end", `{"hookType":"agentStop","success":true}`):                                                                                 {Kind: agent.TurnEnded, How: agent.Completed},
		line("hook.end", `{"hookType":"agentStop","success":true,"output":{"decision":"block","reason":"Not yet"}}`):                                {Kind: agent.Noted},
		line("hook.end", `{"hookType":"sessionStart","success":true}`):                                                                              {Kind: agent.Noted},
		line("abort", `{"reason":"user_initiated"}`):                                                                                                {Kind: agent.TurnEnded, How: agent.Interrupted},
		line("session.error", `{"errorType":"authentication","message":"Authentication failed","statusCode":401}`):                                  {Kind: agent.TurnEnded, How: agent.Failed, Failure: &agent.Failure{Class: agent.Unauthorized}},
		line("session.error", `{"errorType":"query","message":"400 malformed","statusCode":400}`):                                                   {Kind: agent.TurnEnded, How: agent.Failed, Failure: &agent.Failure{Class: agent.Invalid}},
		line("permission.requested", `{"permissionRequest":{"kind":"shell","toolCallId":"c1_0","fullCommandText":"touch x","intention":"Run it"}}`): {Kind: agent.Asked, Tool: "bash", Call: "c1_0"},
		line("permission.requested", `{}`):                                                                                                          {Kind: agent.Noted},
	} {
		facts, err := copilot.Driver{}.Log([]byte(text))
		if err != nil || len(facts) != 1 {
			t.Errorf("%s: %v %v", text, facts, err)
			continue
		}
		f := facts[0]
		if f.Kind != want.Kind || f.Text != want.Text || f.How != want.How || f.Tool != want.Tool || f.Call != want.Call || f.Conversation != want.Conversation || f.Version != want.Version {
			t.Errorf("%s: %+v", text, f)
		}
		if want.Failure != nil && (f.Failure == nil || f.Failure.Class != want.Failure.Class) {
			t.Errorf("%s: failed as %+v", text, f.Failure)
		}
		if f.Kind == agent.Asked && (*f.Request.Input != "touch x" || *f.Request.Text != "Run it" || string(f.Request.Raw) != `{"command":"touch x","description":"Run it"}`) {
			t.Errorf("%s: asks %+v", text, f.Request)
		}
	}
	for _, bad := range []string{"", "{", "no"} {
		if _, err := (copilot.Driver{}).Log([]byte(bad)); !errors.Is(err, copilot.ErrLine) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

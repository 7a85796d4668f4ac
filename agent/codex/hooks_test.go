package codex_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/codex"
)

// kinds is what each event of the measured version is read as, fact by fact.
var kinds = map[string][]agent.Kind{
	"SessionStart": {agent.ConversationStarted}, "SessionEnd": {agent.ConversationEnded},
	"UserPromptSubmit": {agent.TurnStarted}, "Stop": {agent.FailureSeen, agent.TurnEnded}, "Interrupt": {agent.FailureSeen, agent.TurnEnded},
	"PreModelRequest": {agent.StepEnded, agent.FailureSeen}, "PostModelRequest__completed": {agent.FailureSeen},
	"PostModelRequest__failed": {agent.FailureSeen}, "PostModelRequest__cancelled": {agent.Noted},
	"PreToolUse": {agent.ToolStarted}, "PostToolUse": {agent.ToolEnded}, "PermissionRequest": {agent.Asked},
	"PreCompact": {agent.Acting}, "PostCompact": {agent.Acting}, // automatic ones
	"SubagentStart": {agent.SubagentStarted}, "SubagentStop": {agent.SubagentEnded}, "notify": {agent.Noted},
}

// TestHookPayloads reads a real payload of every event.
func TestHookPayloads(t *testing.T) {
	ref := reference(t)
	files, err := fs.Glob(ref, "hooks_payloads/*.json")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d payloads, %v", len(files), err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".json")
		event, _, _ := strings.Cut(name, "__")
		want, known := kinds[event]
		if !known {
			key := strings.TrimSuffix(name, "__in_subagent")
			if want, known = kinds[key]; !known {
				t.Errorf("%s: an event that is not known", file)
			}
			seen[key] = true
		}
		seen[event] = true
		facts, err := codex.Driver{}.Hook(payload(t, ref, name))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		var got []agent.Kind
		for _, f := range facts {
			got = append(got, f.Kind)
			if f.Source != agent.SourceHook || event != "notify" && (f.Cause != "hook:"+event || f.Conversation == "") {
				t.Errorf("%s: %+v", file, f)
			}
			if sub := strings.HasSuffix(name, "in_subagent") || strings.HasPrefix(event, "Subagent"); sub != (f.Agent != "") {
				t.Errorf("%s: of the agent %q", file, f.Agent)
			}
			if f.Log != "" && (f.Agent != "" || !strings.Contains(f.Log, "/rollout-")) {
				t.Errorf("%s: its log is %s", file, f.Log)
			}
			if f.Kind == agent.Asked && (f.Request == nil || f.Request.Input == nil) {
				t.Errorf("%s asks about nothing", file)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: read as %v, want %v", file, got, want)
		}
	}
	for event := range kinds {
		if !seen[event] {
			t.Errorf("no payload of %s", event)
		}
	}
}

func payload(t *testing.T, fsys fs.FS, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(fsys, "hooks_payloads/"+name+".json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Payload json.RawMessage }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Payload
}

// hook returns the facts of an event with the usual fields and these.
func hook(t *testing.T, event, fields string) []agent.Fact {
	t.Helper()
	facts, err := codex.Driver{}.Hook([]byte(`{"session_id":"s","turn_id":"t","hook_event_name":"` + event + `"` + fields + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// TestPermissionIsOfItsCall: a permission has exactly the input of its call, so that the
// call's end closes the prompt.
func TestPermissionIsOfItsCall(t *testing.T) {
	ref := reference(t)
	var of []string
	for _, name := range []string{"PreToolUse__Bash", "PermissionRequest__Bash", "PostToolUse__Bash"} {
		facts, err := codex.Driver{}.Hook(payload(t, ref, name))
		if err != nil {
			t.Fatal(err)
		}
		var command map[string]string
		if err := json.Unmarshal(facts[0].Input, &command); err != nil || len(command) != 1 {
			t.Errorf("%s: the input is %s", name, facts[0].Input)
		}
		of = append(of, command["command"])
	}
	if of[0] != of[1] || of[1] != of[2] {
		t.Errorf("the inputs are %q", of)
	}
	asked := hook(t, "PermissionRequest", `,"tool_name":"mcp__a__b","tool_input":{"description":"x","q":[1, 2]}`)[0]
	if string(asked.Input) != `{"description":"x","q":[1, 2]}` || *asked.Request.Input != `{"description":"x","q":[1,2]}` {
		t.Errorf("another tool's input is %s, shown as %s", asked.Input, *asked.Request.Input)
	}
}

func TestHookDetails(t *testing.T) {
	if f := hook(t, "PreCompact", `,"trigger":"manual"`)[0]; f.Kind != agent.TurnStarted || f.Text != "/compact" {
		t.Errorf("compacting by hand: %+v", f)
	}
	if f := hook(t, "PostCompact", `,"trigger":"manual"`)[0]; f.Kind != agent.TurnEnded || f.How != agent.Completed {
		t.Errorf("its end: %+v", f)
	}
	if f := hook(t, "SomethingNew", "")[0]; f.Kind != agent.Noted || f.Cause != "hook:SomethingNew" {
		t.Errorf("a new event: %+v", f)
	}
	if f := hook(t, "Interrupt", "")[1]; f.How != agent.Interrupted {
		t.Errorf("interrupted: %+v", f)
	}
	failed := hook(t, "PostModelRequest", `,"status":"failed","error":"unexpected status 401 Unauthorized: no, url: http://127.0.0.1:42937/v1"`)[0]
	if failed.Failure == nil || failed.Failure.Class != agent.Unauthorized {
		t.Errorf("failed: %+v", failed.Failure)
	}
	for _, bad := range []string{``, `[]`, `{}`, `{"hook_event_name":"Stop"}`, `{"session_id":"s"}`, `{"type":"another"}`} {
		if facts, err := (codex.Driver{}).Hook([]byte(bad)); !errors.Is(err, codex.ErrEvent) || facts != nil {
			t.Errorf("%q: %v, %v", bad, facts, err)
		}
	}
}

// FuzzHook: any payload of a hook gives at least one fact or an error, and a request that
// can be shown.
func FuzzHook(f *testing.F) {
	f.Add([]byte(`{"hook_event_name":"PermissionRequest","session_id":"s","turn_id":"t","tool_name":"Bash","tool_input":{"command":"ls"}}`))
	f.Add([]byte(`{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"\u001b[2J\u202e"}`))
	f.Add([]byte(`{"type":"agent-turn-complete","thread-id":"s","turn-id":"t","last-assistant-message":null}`))
	f.Add([]byte(`{"hook_event_name":"Stop","session_id":"s","tool_input":[[[[1]]]]}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		facts, err := codex.Driver{}.Hook(payload)
		if (err == nil) != (len(facts) > 0) {
			t.Fatalf("%v with %d facts", err, len(facts))
		}
		for _, fact := range facts {
			if fact.Request == nil {
				continue
			}
			if _, err := json.Marshal(fact.Request); err != nil {
				t.Fatal(err)
			}
		}
	})
}

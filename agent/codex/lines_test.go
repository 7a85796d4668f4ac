package codex_test

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/codex"
)

// TestLogLines reads every line of every recorded session log.
func TestLogLines(t *testing.T) {
	ref := reference(t)
	files, err := fs.Glob(ref, "recordings/*.log.jsonl")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d logs, %v", len(files), err)
	}
	counts := map[agent.Kind]int{}
	open := map[string]bool{}
	for _, file := range files {
		data, err := fs.ReadFile(ref, file)
		if err != nil {
			t.Fatal(err)
		}
		s := bufio.NewScanner(bytes.NewReader(data))
		s.Buffer(nil, 16<<20)
		for n := 1; s.Scan(); n++ {
			facts, err := codex.Driver{}.Log(s.Bytes())
			if err != nil || len(facts) != 1 {
				t.Fatalf("%s:%d: %v, %v", file, n, facts, err)
			}
			f := facts[0]
			counts[f.Kind]++
			if f.Source != agent.SourceLog || f.At.IsZero() || !strings.HasPrefix(f.Cause, "log:") || f.Conversation != "" {
				t.Errorf("%s:%d: %+v", file, n, f)
			}
			switch f.Kind {
			case agent.TurnStarted:
				open[f.Turn] = true
			case agent.TurnEnded:
				if !open[f.Turn] {
					t.Errorf("%s:%d: the end of %q, which did not begin", file, n, f.Turn)
				}
				delete(open, f.Turn)
			}
		}
	}
	// As counted in the files: 67 beginnings and as many messages and one that
	// joined a turn; 62 ends and 5 interruptions.
	want := map[agent.Kind]int{agent.TurnStarted: 67 + 68, agent.TurnEnded: 62 + 5, agent.ToolStarted: 20, agent.ToolEnded: 20}
	for kind, n := range want {
		if counts[kind] != n {
			t.Errorf("%d %s, want %d", counts[kind], kind, n)
		}
	}
	if len(open) > 0 {
		t.Errorf("turns without an end: %v", open)
	}
}

func TestLogDetails(t *testing.T) {
	read := func(line string) agent.Fact {
		t.Helper()
		facts, err := codex.Driver{}.Log([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		return facts[0]
	}
	call := read(`{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"touch x\",\"sandbox_permissions\":\"require_escalated\",\"justification\":\"May I?\"}","call_id":"k","internal_chat_message_metadata_passthrough":{"turn_id":"t"}}}`)
	if call.Tool != "Bash" || string(call.Input) != `{"command":"touch x"}` || call.Call != "k" || call.Turn != "t" ||
		call.Request == nil || *call.Request.Text != "May I?" || *call.Request.Input != "touch x" {
		t.Errorf("a command that will be asked about: %+v, %+v", call, call.Request)
	}
	if call = read(`{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}"}}`); call.Request == nil || call.Request.Channel != agent.ChannelNone || call.Tool != "Bash" {
		t.Errorf("one that may run without asking: %+v", call)
	}
	if call = read(`{"type":"response_item","payload":{"type":"function_call","name":"other","arguments":"{torn"}}`); call.Tool != "other" || call.Input != nil {
		t.Errorf("torn arguments: %+v", call)
	}
	used := read(`{"type":"token_usage_record","payload":{"response_id":"r","usage":{"input_tokens":1200,"cached_input_tokens":800,"cache_write_input_tokens":1,"output_tokens":42}}}`)
	if used.Usage == nil || *used.Usage != (agent.Usage{Answer: "r", Tokens: agent.Tokens{Input: 400, CacheRead: 800, CacheCreation: 1, Output: 42}}) {
		t.Errorf("usage: %+v", used.Usage)
	}
	if meta := read(`{"type":"session_meta","payload":{"id":"c","cli_version":"0.169.0"}}`); meta.Version != "0.169.0" || meta.Conversation != "" {
		t.Errorf("its first line: %+v", meta)
	}
	for line, want := range map[string]agent.Failure{
		`{"message":"We’re currently experiencing high demand, which may cause temporary errors."}`:                                   {Class: agent.Overloaded},
		`{"message":"Codex ran out of room in the model's context window.","codex_error_info":"context_window_exceeded"}`:             {Class: agent.ContextFull},
		`{"message":"x","codex_error_info":{"response_stream_disconnected":{"http_status_code":null}}}`:                               {Class: agent.OtherFailure},
		`{"message":"stream disconnected before completion: stream closed before response.completed","codex_error_info":{"other":1}}`: {Class: agent.Network},
	} {
		f := read(`{"type":"event_msg","payload":{"type":"task_complete","turn_id":"t","last_agent_message":null,"error":` + line + `}}`)
		if f.Kind != agent.TurnEnded || f.How != agent.Failed || f.Failure == nil || f.Failure.Class != want.Class || f.Failure.Text == "" {
			t.Errorf("%s: %+v, %+v", line, f, f.Failure)
		}
	}
	for _, bad := range []string{"", "[]", `{"type":1}`, "{"} {
		if _, err := (codex.Driver{}).Log([]byte(bad)); !errors.Is(err, codex.ErrLine) {
			t.Errorf("%q: %v", bad, err)
		}
		if _, err := (codex.Driver{}).Stream([]byte(bad)); !errors.Is(err, codex.ErrLine) {
			t.Errorf("%q as output: %v", bad, err)
		}
	}
}

// TestFailures sorts the messages that were seen.
func TestFailures(t *testing.T) {
	for text, want := range map[string]agent.Class{
		"unexpected status 401 Unauthorized: mock 401 error (invalid_request_error), url: http://127.0.0.1:42937/v1/responses": agent.Unauthorized,
		"exceeded retry limit, last status: 429 Too Many Requests":                                                             agent.RateLimited,
		"We’re currently experiencing high demand, which may cause temporary errors.":                                          agent.Overloaded,
		"Quota exceeded. Check your plan and billing details.":                                                                 agent.OutOfCredits,
		"Codex ran out of room in the model's context window. Start a new thread":                                              agent.ContextFull,
		"stream disconnected before completion: stream closed before response.completed":                                       agent.Network,
		"unexpected status 400 Bad Request: no":                                                                                agent.Invalid,
		"something else":                                                                                                       agent.OtherFailure,
	} {
		facts, err := codex.Driver{}.Stream([]byte(`{"type":"turn.failed","error":{"message":"` + text + `"}}`))
		if err != nil || facts[0].How != agent.Failed || facts[0].Failure.Class != want || facts[0].Failure.Text != text {
			t.Errorf("%s: %+v, %v; want %s", text, facts, err, want)
		}
	}
}

// TestStream reads what exec --json prints over a turn.
func TestStream(t *testing.T) {
	var got []string
	for _, line := range []string{
		`{"type":"thread.started","thread_id":"one"}`,
		`{"type":"item.completed","item":{"id":"0","type":"error","message":"no metadata"}}`,
		`{"type":"turn.started"}`,
		`{"type":"item.completed","item":{"id":"1","type":"reasoning","text":"hm"}}`,
		`{"type":"item.started","item":{"id":"2","type":"command_execution","command":"ls","status":"in_progress"}}`,
		`{"type":"item.completed","item":{"id":"2","type":"command_execution","command":"ls","exit_code":0}}`,
		`{"type":"item.completed","item":{"id":"3","type":"file_change","changes":[{"path":"a","kind":"add"}]}}`,
		`{"type":"item.completed","item":{"id":"4","type":"agent_message","text":"done"}}`,
		`{"type":"error","message":"Reconnecting... 1/1"}`,
		`{"type":"turn.completed","usage":{"input_tokens":1}}`,
	} {
		facts, err := codex.Driver{}.Stream([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range facts {
			got = append(got, string(f.Kind)+" "+f.Tool+f.Conversation)
		}
	}
	want := []string{
		"conversation_started one", "noted ", "turn_started ", "acting ", "tool_started Bash", "tool_ended Bash", "tool_ended apply_patch", "acting ", "acting ", "turn_ended ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("read as %q, want %q", got, want)
	}
}

func TestStateSequence(t *testing.T) {
	for payload, want := range map[string]string{
		"state=idle:app=codex":                    "level idle ",
		"state=working:app=codex":                 "level busy ",
		"state=blocked:app=codex:kind=permission": "level waiting permission",
		"state=blocked:app=codex:kind=question":   "level waiting question",
		"state=done:app=codex":                    "turn_ended completed, level not_busy ",
		"state=error:app=codex":                   "turn_ended failed, level not_busy ",
		"state=new:app=codex":                     "noted  ",
		"state=clear":                             "noted  ",
		"state=working:app=other":                 "noted  ",
		"":                                        "noted  ",
		"state":                                   "noted  ",
	} {
		var got []string
		for _, f := range (codex.Driver{}).OSC(7501, payload) {
			text := string(f.Kind) + " " + string(f.Level) + " " + f.Text
			if f.Kind == agent.TurnEnded {
				text = string(f.Kind) + " " + string(f.How)
			}
			got = append(got, text)
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%q is read as %q, want %q", payload, s, want)
		}
	}
	for payload, number := range map[string]int{"4;3;": 9, "Approval requested: touch nn": 9, "x": 777} {
		if f := (codex.Driver{}).OSC(number, payload); len(f) != 1 || f[0].Kind != agent.Noted {
			t.Errorf("OSC %d %q: %+v", number, payload, f)
		}
	}
}

func TestTitle(t *testing.T) {
	for title, want := range map[string]agent.Level{
		"work":                                   agent.LevelNotBusy,
		"Mock title | work":                      agent.LevelNotBusy,
		"⠋ work":                                 agent.LevelBusy,
		"⠙ Mock title | work":                    agent.LevelBusy,
		"[ ! ] Action Required | Mock title | w": agent.LevelBusy,
		"[ . ] Action Required | work":           agent.LevelBusy,
		"[ ! ] something else":                   agent.LevelNotBusy,
		"":                                       "",
		" ":                                      "",
		"⠀ blank braille is nothing that turns":   agent.LevelNotBusy,
		"⠋⠙ two at once are part of a name | abc": agent.LevelNotBusy,
	} {
		f := (codex.Driver{}).Title(title)[0]
		if f.Level != want || (f.Kind == agent.LevelIs) != (want != "") || f.Evidence != title {
			t.Errorf("%q: %s, want %s", title, f.Level, want)
		}
	}
}

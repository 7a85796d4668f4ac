package claude_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
	"berth/detect"
)

func eachLine(t testing.TB, fsys fs.FS, pattern string, fn func(file string, line []byte)) {
	t.Helper()
	files, err := fs.Glob(fsys, pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing like %s: %v", pattern, err)
	}
	for _, file := range files {
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			t.Fatal(err)
		}
		s := bufio.NewScanner(bytes.NewReader(data))
		s.Buffer(nil, 64<<20)
		for s.Scan() {
			if len(bytes.TrimSpace(s.Bytes())) > 0 {
				fn(file, s.Bytes())
			}
		}
	}
}

// TestLogLines reads every line of every session log.
func TestLogLines(t *testing.T) {
	count := map[agent.Kind]int{}
	eachLine(t, reference(t), "recordings/*.log.jsonl", func(file string, line []byte) {
		facts, err := claude.Driver{}.Log(line)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for _, f := range facts {
			count[f.Kind]++
			if f.Kind == agent.FailureSeen && f.Failure.Class == agent.OtherFailure {
				t.Errorf("%s: a failure of no class: %q", file, f.Failure.Text)
			}
		}
	})
	for kind, least := range map[agent.Kind]int{
		agent.TurnStarted: 100, agent.TurnEnded: 130, agent.ToolStarted: 40, agent.ToolEnded: 20, agent.FailureSeen: 6, agent.Queued: 14,
	} {
		if count[kind] < least {
			t.Errorf("%d times %s, want at least %d", count[kind], kind, least)
		}
	}
}

func TestLogMeanings(t *testing.T) {
	for line, want := range map[string]agent.Fact{
		`{"type":"user","promptId":"p","promptSource":"typed","message":{"content":"do it"}}`:                                                           {Kind: agent.TurnStarted, Turn: "p", Text: "do it"},
		`{"type":"user","promptId":"p","message":{"content":"<task-notification>\n<task-id>a</task-id>"}}`:                                              {Kind: agent.TurnStarted, Turn: "p", Text: "<task-notification>\n<task-id>a</task-id>"},
		`{"type":"user","promptId":"p","promptSource":"typed","isMeta":true,"message":{"content":"caveat"}}`:                                            {Kind: agent.Noted, Turn: "p"},
		`{"type":"user","promptId":"p","message":{"content":"<command-name>/help</command-name>"}}`:                                                     {Kind: agent.Noted, Turn: "p"},
		`{"type":"user","promptId":"p","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}`:                                 {Kind: agent.TurnEnded, Turn: "p", How: agent.Interrupted},
		`{"type":"user","promptId":"p","isSidechain":true,"promptSource":"typed","message":{"content":"a subagent's task"}}`:                            {Kind: agent.Noted, Turn: "p"},
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"done"}]}}`:                                             {Kind: agent.ToolEnded, Call: "c"},
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c","is_error":true,"content":"The user doesn't want to proceed"}]}}`: {Kind: agent.Noted, Call: "c"},
		`{"type":"system","subtype":"turn_duration"}`:                                                                                                   {Kind: agent.TurnEnded, How: agent.Completed},
		`{"type":"queue-operation","operation":"enqueue","content":"later"}`:                                                                            {Kind: agent.Queued, Text: "later"},
		`{"type":"queue-operation","operation":"dequeue"}`:                                                                                              {Kind: agent.Noted},
		`{"type":"ai-title","aiTitle":"x"}`:                                                                                                             {Kind: agent.Noted},
		`{"type":"assistant","message":{"content":[{"type":"thinking"}]}}`:                                                                              {Kind: agent.Acting},
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"c","name":"Bash","input":{}}]}}`:                                            {Kind: agent.ToolStarted, Call: "c", Tool: "Bash"},
	} {
		facts, err := claude.Driver{}.Log([]byte(line))
		if err != nil || len(facts) != 1 {
			t.Errorf("%s: %v, %v", line, facts, err)
			continue
		}
		f := facts[0]
		if f.Kind != want.Kind || f.Turn != want.Turn || f.Text != want.Text || f.How != want.How || f.Call != want.Call || f.Tool != want.Tool {
			t.Errorf("%s: %+v", line, f)
		}
	}
	if _, err := (claude.Driver{}).Log([]byte(`{"type":"us`)); !errors.Is(err, claude.ErrLine) {
		t.Errorf("a torn line gives %v", err)
	}
}

// TestStream folds what -p printed: each turn begins, and ends as it did.
func TestStream(t *testing.T) {
	ref := reference(t)
	for file, want := range map[string]struct {
		states string
		asked  int
	}{
		"p_think.stream.jsonl":                   {"working idle", 0},
		"p_bash_denied.stream.jsonl":             {"working idle", 0},
		"p_bash_allowed.stream.jsonl":            {"working idle", 0},
		"p_ask1.stream.jsonl":                    {"working idle", 0},
		"p_text_partial_hookevents.stream.jsonl": {"working idle", 0},
		"p_err400.stream.jsonl":                  {"working error", 0},
		"p_stream_input_two_turns.jsonl":         {"working idle working idle", 0},
		"p_stream_permission_stdio.jsonl":        {"working prompt working idle working prompt working idle working prompt working idle", 3},
	} {
		now := time.Unix(0, 0)
		fold := detect.New(claude.Driver{}, detect.Options{Start: now})
		var states []string
		asked := 0
		eachLine(t, ref, "recordings/print_mode/"+file, func(_ string, line []byte) {
			if bytes.Contains(line[:min(len(line), 20)], []byte(`"_stdin"`)) {
				return // what was sent to it
			}
			facts, err := claude.Driver{}.Stream(line)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			for _, f := range facts {
				now = now.Add(10 * time.Millisecond)
				f.Time = now
				r := fold.Apply(f)
				asked += len(r.Opened)
				for _, tr := range r.Transitions {
					if tr.Next != agent.Idle || len(states) > 0 { // ready
						states = append(states, string(tr.Next))
					}
				}
			}
		})
		if got := strings.Join(states, " "); got != want.states || asked != want.asked {
			t.Errorf("%s: %s, asked %d times; want %s, %d", file, got, asked, want.states, want.asked)
		}
	}
}

func TestLevels(t *testing.T) {
	for title, want := range map[string]agent.Level{
		"⠂ Fix the login": agent.LevelBusy, "◐ Claude Code": agent.LevelBusy, "◑ Fix": agent.LevelBusy, "⠐ Fix": agent.LevelBusy, "✳ Claude Code": agent.LevelNotBusy, "": "", "vim": "", "⠂x": "",
	} {
		if f := (claude.Driver{}).Title(title)[0]; f.Level != want {
			t.Errorf("title %q is %q, want %q", title, f.Level, want)
		}
	}
	for payload, want := range map[string]agent.Level{"4;3;": agent.LevelBusy, "4;3": agent.LevelBusy, "4;0;": agent.LevelNotBusy, "4;1;50": "", "hello": ""} {
		if f := (claude.Driver{}).OSC(9, payload)[0]; f.Level != want {
			t.Errorf("OSC 9;%s is %q, want %q", payload, f.Level, want)
		}
	}
	for status, want := range map[string]agent.Level{"idle": agent.LevelIdle, "shell": agent.LevelIdle, "busy": agent.LevelBusy, "waiting": agent.LevelWaiting, "new": ""} {
		whole := `{"pid":7,"procStart":"9","sessionId":"s","status":"` + status + `","statusUpdatedAt":1795190624391}`
		for _, data := range []string{whole, whole + `1795190624391}`} { // with the tail of a longer one
			facts, err := claude.Driver{}.Registry("7.json", []byte(data))
			if err != nil || facts[0].Level != want || facts[0].Conversation != "s" || facts[0].At.UnixMilli() != 1795190624391 {
				t.Errorf("status %q: %v, %v", status, facts, err)
			}
		}
		if _, err := (claude.Driver{}).Registry("7.json", []byte(whole[:40])); !errors.Is(err, claude.ErrTorn) {
			t.Errorf("a torn file gives %v", err)
		}
	}
}

func FuzzLines(f *testing.F) {
	n := 0
	eachLine(f, reference(f), "recordings/*.log.jsonl", func(_ string, line []byte) {
		if n++; n%50 == 0 && len(line) < 4096 {
			f.Add(bytes.Clone(line))
		}
	})
	eachLine(f, reference(f), "recordings/print_mode/*.jsonl", func(_ string, line []byte) {
		if n++; n%20 == 0 && len(line) < 4096 {
			f.Add(bytes.Clone(line))
		}
	})
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, read := range []func([]byte) ([]agent.Fact, error){claude.Driver{}.Log, claude.Driver{}.Stream} {
			if facts, err := read(line); (err == nil) != (len(facts) > 0) {
				t.Fatalf("%v with %d facts", err, len(facts))
			}
		}
		_, err := claude.ParseEntry(line)
		if err == nil && !json.Valid(bytes.TrimSpace(line)) && !bytes.Contains(line, []byte("pid")) {
			t.Fatalf("an entry of %q", line)
		}
	})
}

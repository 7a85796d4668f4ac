package gemini_test

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/gemini"
)

func eachLine(t testing.TB, pattern string, fn func(file string, line []byte)) {
	t.Helper()
	ref := reference(t)
	files, err := fs.Glob(ref, pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing like %s: %v", pattern, err)
	}
	for _, file := range files {
		data, err := fs.ReadFile(ref, file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				fn(file, line)
			}
		}
	}
}

// TestLogLines reads every line of every chat file. None begins a turn.
func TestLogLines(t *testing.T) {
	count := map[string]int{}
	eachLine(t, "recordings/*.log.jsonl", func(file string, line []byte) {
		facts, err := gemini.Driver{}.Log(line)
		if err != nil || len(facts) == 0 {
			t.Errorf("%s: %d facts, %v", file, len(facts), err)
		}
		for _, f := range facts {
			count[string(f.Kind)+" "+f.Cause]++
			if f.Kind != agent.Noted && f.At.IsZero() {
				t.Errorf("%s: %s without its time", file, f.Kind)
			}
		}
	})
	for what, least := range map[string]int{
		"turn_ended log:cancelled": 9, "tool_ended log:tool": 19, "noted log:tool": 7, "noted log:user": 100, "noted log:header": 16, "noted log:$set": 200,
	} {
		if count[what] < least {
			t.Errorf("%s: %d, want %d at least", what, count[what], least)
		}
	}
	for what := range count {
		if strings.HasPrefix(what, string(agent.TurnStarted)) {
			t.Errorf("%s: %d", what, count[what])
		}
	}
}

func TestLogFacts(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":"1","timestamp":"2026-11-20T16:11:04.921Z","type":"info","content":"Request cancelled."}`:                       "turn_ended interrupted",
		`{"id":"1","timestamp":"2026-11-20T16:11:04.921Z","type":"info","content":"Something else."}`:                          "noted ",
		`{"id":"1","timestamp":"2026-11-20T16:11:04.921Z","type":"error","content":"[API Error: {\"error\":{\"code\":503}}]"}`: "failure_seen overloaded",
		`{"id":"1","type":"gemini","content":"","toolCalls":[{"name":"t","args":{},"status":"success"}]}`:                      "tool_ended ",
		`{"id":"1","type":"gemini","content":[{"text":"a"},{"functionCall":{"name":"t"}}]}`:                                    "acting ",
		`{"id":"1","type":"user","content":[{"text":"go on"}]}`:                                                                "noted ",
	} {
		facts, err := gemini.Driver{}.Log([]byte(line))
		if err != nil || len(facts) != 1 {
			t.Errorf("%s: %v, %v", line, facts, err)
			continue
		}
		got := string(facts[0].Kind) + " " + string(facts[0].How)
		if facts[0].Failure != nil {
			got = string(facts[0].Kind) + " " + string(facts[0].Failure.Class)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// TestStream reads a run of the structured output: the shapes are those that
// were noted, line by line, when it was measured.
func TestStream(t *testing.T) {
	var got []string
	for _, line := range []string{
		`{"type":"init","session_id":"s","model":"m"}`,
		`{"type":"message","role":"user","content":"go"}`,
		`{"type":"message","role":"assistant","content":"I will","delta":true}`,
		`{"type":"tool_use","tool_name":"run_shell_command","tool_id":"k","parameters":{"command":"ls"}}`,
		`{"type":"tool_result","tool_id":"k","status":"success","output":"x"}`,
		`{"type":"result","status":"success","stats":{}}`,
		`{"type":"result","status":"error","error":{"type":"x","message":"[API Error: got status: UNAVAILABLE]"}}`,
	} {
		facts, err := gemini.Driver{}.Stream([]byte(line))
		if err != nil || len(facts) != 1 {
			t.Fatalf("%s: %v, %v", line, facts, err)
		}
		one := string(facts[0].Kind) + " " + string(facts[0].How)
		if facts[0].Failure != nil {
			one += " " + string(facts[0].Failure.Class)
		}
		got = append(got, strings.TrimSpace(one))
	}
	want := "conversation_started, turn_started, acting, tool_started, tool_ended, turn_ended completed, turn_ended failed overloaded"
	if strings.Join(got, ", ") != want {
		t.Errorf("read as %s, want %s", strings.Join(got, ", "), want)
	}
}

func TestNoLine(t *testing.T) {
	for _, line := range []string{"", "{", "[]", "x"} {
		for _, read := range []func([]byte) ([]agent.Fact, error){gemini.Driver{}.Log, gemini.Driver{}.Stream} {
			if facts, err := read([]byte(line)); !errors.Is(err, gemini.ErrLine) || facts != nil {
				t.Errorf("%q gives %v, %v", line, facts, err)
			}
		}
	}
}

func FuzzLines(f *testing.F) {
	n := 0
	eachLine(f, "recordings/*.log.jsonl", func(_ string, line []byte) {
		if n++; n%25 == 0 && len(line) < 4096 {
			f.Add(bytes.Clone(line))
		}
	})
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, read := range []func([]byte) ([]agent.Fact, error){gemini.Driver{}.Log, gemini.Driver{}.Stream} {
			if facts, err := read(line); (err == nil) != (len(facts) > 0) {
				t.Fatalf("%v with %d facts", err, len(facts))
			}
		}
	})
}

// FuzzScreen reads any text as a screen.
func FuzzScreen(f *testing.F) {
	for _, name := range []string{"01_startup_trust_auth", "04_ask_user_plan", "26_err400", "27_quota"} {
		for i, l := range looks(f, reference(f), name) {
			if d := l.reading.Dialog; d != nil && i%3 == 0 {
				f.Add(strings.Join(box(d.Lines...), "\n"))
			}
		}
	}
	f.Add(strings.Join([]string{"✕ x", ruled, upper, hinted, lower, foot}, "\n"))
	f.Fuzz(func(t *testing.T, text string) {
		r := draw(strings.Split(text, "\n")...)
		if r.Composer != nil && r.Dialog != nil {
			t.Fatal("a composer and a dialog")
		}
		if r.Dialog == nil {
			return
		}
		p := gemini.Driver{}.FromDialog(r.Dialog)
		for _, a := range []agent.Answer{{Kind: agent.Accept}, {Kind: agent.Deny}, {Kind: agent.ChooseOption, Option: 1}, {Kind: agent.AnswerText, Text: "x"}} {
			if k, err := (gemini.Driver{}).Keys(p, a, r.Dialog); err == nil && len(k.Steps) == 0 {
				t.Fatalf("%s: no keys", a.Kind)
			}
		}
	})
}

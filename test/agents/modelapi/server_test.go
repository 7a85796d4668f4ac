package modelapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// said is what a message of a conversation holds: role, then text.
type said struct{ role, text string }

// ask posts a conversation as Claude Code does and gives the status and body.
func ask(t *testing.T, s *Server, tools bool, list ...said) (int, string) {
	t.Helper()
	var messages []any
	for _, m := range list {
		messages = append(messages, map[string]any{"role": m.role, "content": []any{map[string]any{"type": "text", "text": m.text}}})
	}
	body := map[string]any{"model": "m", "stream": true, "messages": messages, "tools": []any{}, "system": "Return a title."}
	if tools {
		body["tools"] = []any{map[string]any{"name": "Bash"}}
	}
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(s.URL()+"/v1/messages?beta=true", "application/json", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		answer = append(answer, []byte(" CUT")...)
	}
	return res.StatusCode, string(answer)
}

func started(t *testing.T) *Server {
	t.Helper()
	s, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return s
}

func TestStepsFollowTheConversation(t *testing.T) {
	s := started(t)
	prompt := said{"user", "MOCK: bash make"}
	_, first := ask(t, s, true, prompt)
	if !strings.Contains(first, `"name":"Bash"`) || !strings.Contains(first, `"stop_reason":"tool_use"`) {
		t.Errorf("the first step: %s", first)
	}
	_, second := ask(t, s, true, prompt, said{"assistant", "calls"}, said{"user", "<system-reminder>a notice</system-reminder>"})
	if !strings.Contains(second, "The command finished.") && !strings.Contains(second, "end_turn") {
		t.Errorf("the second step: %s", second)
	}
	_, third := ask(t, s, true, prompt, said{"assistant", "calls"}, said{"assistant", "ends"}, said{"user", "and now"})
	if !strings.Contains(third, "Understood.") {
		t.Errorf("a message that chooses nothing: %s", third)
	}
}

func TestFailuresEnd(t *testing.T) {
	s := started(t)
	for i, want := range []int{529, 529, 200, 200} {
		if got, body := ask(t, s, true, said{"user", "MOCK: error 529 2"}); got != want {
			t.Errorf("answer %d has status %d, not %d: %s", i+1, got, want, body)
		}
	}
	_, cut := ask(t, s, true, said{"user", "MOCK: drop"})
	if !strings.HasSuffix(cut, "CUT") || !strings.Contains(cut, "This begins well") {
		t.Errorf("the stream was not cut: %s", cut)
	}
}

func TestQueue(t *testing.T) {
	s := started(t)
	s.Queue(Scenario{Name: "mine", Steps: []Step{Say(Text("one")), Say(Text("two"))}}, Scenario{Steps: []Step{Say(Text("three"))}})
	hello := said{"user", "hello"}
	_, one := ask(t, s, true, hello)
	_, again := ask(t, s, true, hello) // a repeated request takes no other
	_, two := ask(t, s, true, hello, said{"assistant", "one"})
	_, three := ask(t, s, true, hello, said{"assistant", "one"}, said{"assistant", "two"}, said{"user", "more"})
	for i, pair := range [][2]string{{one, "one"}, {again, "one"}, {two, "two"}, {three, "three"}} {
		if !strings.Contains(pair[0], `"text":"`+pair[1]) {
			t.Errorf("answer %d is not %q: %s", i+1, pair[1], pair[0])
		}
	}
}

func TestArrivals(t *testing.T) {
	s := started(t)
	text := "日本語 🦀\n  two lines"
	ask(t, s, true, said{"user", text})
	ask(t, s, true, said{"user", text}, said{"assistant", "x"}, said{"user", "other"})
	if n := s.Arrivals(text); n != 1 {
		t.Errorf("it arrived %d times", n)
	}
	if n := s.Arrivals(text + " "); n != 0 {
		t.Errorf("a text that was never sent arrived %d times", n)
	}
	ask(t, s, true, said{"user", text}, said{"assistant", "x"}, said{"user", text})
	if n := s.Arrivals(text); n != 2 {
		t.Errorf("sent twice, it arrived %d times", n)
	}
}

func TestKinds(t *testing.T) {
	s := started(t)
	ask(t, s, false, said{"user", "<session>hello</session>"})
	ask(t, s, true, said{"user", "Make a summary: <analysis> then <summary>"})
	for _, path := range []string{"/", "/v1/messages/count_tokens"} {
		res, err := http.Post(s.URL()+path, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	var got []string
	for _, r := range s.Requests() {
		got = append(got, string(r.Kind))
	}
	if want := "title compact other count"; strings.Join(got, " ") != want {
		t.Errorf("%v, not %s", got, want)
	}
}

// TestScenarios makes each by its name, and streams what it says.
func TestScenarios(t *testing.T) {
	s := started(t)
	for _, name := range Scenarios() {
		if name == "hang" || name == "slow" {
			continue // they take their time
		}
		status, body := ask(t, s, true, said{"user", "MOCK: " + name})
		if status == http.StatusOK && !strings.Contains(body, "message_start") {
			t.Errorf("%s: %s", name, body)
		}
	}
}

func TestStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	hanging := make(chan error, 1)
	go func() {
		body := `{"stream":true,"tools":[{}],"messages":[{"role":"user","content":"MOCK: hang"}]}`
		res, err := http.Post(s.URL()+"/v1/messages", "application/json", strings.NewReader(body))
		if err == nil {
			_ = res.Body.Close()
			err = fmt.Errorf("it answered: %s", res.Status)
		}
		hanging <- err
	}()
	if _, err := s.Wait(t.Context(), func(r Request) bool { return r.Scenario == "hang" }); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-hanging; strings.Contains(err.Error(), "it answered") {
		t.Error(err)
	}
	s.Close()
	http.DefaultClient.CloseIdleConnections()
}

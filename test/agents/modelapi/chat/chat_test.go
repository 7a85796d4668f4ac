package chat_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/modelapi/chat"
)

// A turn of a streamed call and a streamed text: the pieces put together are the scenario's, and the second
// request is its second step.
func TestTurn(t *testing.T) {
	t.Parallel()
	input := map[string]any{"command": "echo <a> && echo 'a command longer than one piece of the stream'"}
	api := chat.API{
		Scenarios: map[string]modelapi.Maker{"run": func(string, modelapi.Scene) []modelapi.Step {
			return []modelapi.Step{modelapi.Say(modelapi.Text("I run it."), modelapi.Tool("bash", input)), modelapi.Say(modelapi.Text("Done with it."))}
		}},
		Message: func(text string) (string, bool) { return strings.TrimPrefix(text, "<now/>"), text != "notice" },
	}
	s, err := chat.Start(t.Context(), api)
	if err != nil {
		t.Fatal(err)
	}
	user := map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "<now/>MOCK: run"}}}
	notice := map[string]any{"role": "user", "content": "notice"}
	first := ask(t, s.URL(), user, notice)
	if first.text != "I run it." || first.tool != "bash" || first.finish != "tool_calls" || first.total == 0 {
		t.Errorf("the first answer: %+v", first)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(first.arguments), &got); err != nil || got["command"] != input["command"] {
		t.Errorf("its call: %s: %v", first.arguments, err)
	}
	second := ask(t, s.URL(), user, notice, map[string]any{"role": "assistant", "content": "I run it."}, map[string]any{"role": "tool", "content": "ok"})
	if second.text != "Done with it." || second.finish != "stop" {
		t.Errorf("the second answer: %+v", second)
	}
	if n := s.Arrivals("MOCK: run"); n != 1 {
		t.Errorf("the message arrived %d times", n)
	}
}

type said struct {
	text, tool, arguments, finish string
	total                         int
}

func ask(t *testing.T, url string, messages ...map[string]any) said {
	t.Helper()
	body, err := json.Marshal(map[string]any{"model": "m", "stream": true, "messages": messages, "tools": []any{map[string]any{"type": "function"}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var all said
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		line, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || line == "[DONE]" {
			continue
		}
		var chunk struct {
			Choices []struct {
				Finish string `json:"finish_reason"`
				Delta  struct {
					Content string `json:"content"`
					Calls   []struct {
						Function struct{ Name, Arguments string } `json:"function"`
					} `json:"tool_calls"`
				} `json:"delta"`
			} `json:"choices"`
			Usage struct {
				Total int `json:"total_tokens"`
			} `json:"usage"`
		}
		if err := json.Unmarshal([]byte(line), &chunk); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all.total += chunk.Usage.Total
		for _, c := range chunk.Choices {
			all.text += c.Delta.Content
			all.finish += c.Finish
			for _, call := range c.Delta.Calls {
				all.tool += call.Function.Name
				all.arguments += call.Function.Arguments
			}
		}
	}
	return all
}

// Package chat is OpenAI's Chat Completions API for the lab's model server, as
// opencode, GitHub Copilot CLI and Qwen Code ask it. Their tools have different
// names, so each brings its own scenarios.
package chat

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"berth/test/agents/modelapi"
)

// API is what a model server speaks to one agent.
type API struct {
	// Scenarios are what a prompt may choose, beside those of any model.
	Scenarios map[string]modelapi.Maker
	// Message returns a text of the user's as the user wrote it, and false for one that the
	// agent wrote in the user's place; nil: each text is the user's.
	Message func(text string) (string, bool)
}

var _ modelapi.API = API{}

// Start serves the API on a free port of 127.0.0.1 until the context ends or
// Close. Its paths begin with /v1.
func Start(ctx context.Context, api API) (*modelapi.Server, error) { return modelapi.StartAs(ctx, api) }

// Usage is what the API says of a step, by the names that it uses.
func (API) Usage(step modelapi.Step) map[string]int {
	out := 0
	for _, b := range step.Blocks {
		out += len(b.Text)/4 + 1
	}
	return map[string]int{"prompt_tokens": 25, "completion_tokens": out, "total_tokens": 25 + out}
}

// Beside answers what an agent asks beside its turns.
func (a API) Beside(ctx context.Context, w http.ResponseWriter, r modelapi.Request) {
	said := map[modelapi.Kind]string{
		modelapi.KindTitle:   "Lab session",
		modelapi.KindCompact: "The user and the model tested.",
		modelapi.KindSide:    "ok",
	}
	switch text, ok := said[r.Kind]; {
	case ok:
		a.Answer(ctx, w, r, modelapi.Say(modelapi.Text(text)))
	case strings.HasSuffix(r.Path, "/models"):
		modelapi.WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{"id": "mock-model", "object": "model"}}})
	default:
		modelapi.WriteJSON(w, http.StatusNotFound, map[string]any{"error": map[string]any{"message": "the lab has no such path"}})
	}
}

func failure(step modelapi.Step) map[string]any {
	return map[string]any{"error": map[string]any{"message": step.Message, "type": step.ErrorType, "param": nil, "code": step.ErrorType}}
}

// Answer gives a step to the client as the API would.
func (a API) Answer(ctx context.Context, w http.ResponseWriter, r modelapi.Request, step modelapi.Step) {
	if !modelapi.Begin(ctx, w, step, failure) {
		return
	}
	id := fmt.Sprintf("chatcmpl-lab-%d", r.Time.UnixNano())
	if !r.Stream {
		if step.Drop || step.StreamError != "" {
			panic(http.ErrAbortHandler)
		}
		modelapi.WriteJSON(w, http.StatusOK, a.whole(id, r, step))
		return
	}
	e := modelapi.NewEvents(ctx, w, step.Gap)
	send := func(delta map[string]any, finish any) {
		data(w, map[string]any{
			"id": id, "object": "chat.completion.chunk", "created": r.Time.Unix(), "model": r.Model,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		})
	}
	send(map[string]any{"role": "assistant", "content": ""}, nil)
	calls := 0
	for _, b := range step.Blocks {
		name, text := "content", b.Text
		switch b.Kind {
		case modelapi.BlockThinking:
			name = "reasoning_content"
		case modelapi.BlockTool:
			name, text = "", arguments(b)
			send(map[string]any{"tool_calls": []any{call(b, id, calls, "")}}, nil)
		}
		for _, piece := range modelapi.Pieces(text) {
			if !e.Wait() {
				return
			}
			delta := map[string]any{name: piece}
			if name == "" {
				delta = map[string]any{"tool_calls": []any{map[string]any{"index": calls, "function": map[string]any{"arguments": piece}}}}
			}
			send(delta, nil)
		}
		if b.Kind == modelapi.BlockTool {
			calls++
		}
	}
	switch {
	case step.Drop:
		panic(http.ErrAbortHandler) // in the midst of it
	case step.StreamError != "":
		data(w, map[string]any{"error": map[string]any{"message": step.Message, "type": step.StreamError, "code": step.StreamError}})
		return
	}
	send(map[string]any{}, finish(step))
	data(w, map[string]any{
		"id": id, "object": "chat.completion.chunk", "created": r.Time.Unix(), "model": r.Model, "choices": []any{}, "usage": a.Usage(step),
	})
	_, _ = w.Write([]byte("data: [DONE]\n\n")) // the client may have left
}

// data sends one event of the stream.
func data(w http.ResponseWriter, v any) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // only strings and numbers go in
	fmt.Fprintf(w, "data: %s\n\n", bytes.TrimSpace(text.Bytes()))
	_ = http.NewResponseController(w).Flush() // the client may have left: its context says so
}

// whole is an answer in one piece.
func (a API) whole(id string, r modelapi.Request, step modelapi.Step) map[string]any {
	message := map[string]any{"role": "assistant", "content": ""}
	var calls []any
	for _, b := range step.Blocks {
		switch b.Kind {
		case modelapi.BlockTool:
			calls = append(calls, call(b, id, len(calls), arguments(b)))
		case modelapi.BlockThinking:
			message["reasoning_content"] = b.Text
		default:
			message["content"] = message["content"].(string) + b.Text
		}
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	return map[string]any{
		"id": id, "object": "chat.completion", "created": r.Time.Unix(), "model": r.Model, "usage": a.Usage(step),
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish(step)}},
	}
}

// finish is why an answer ended.
func finish(step modelapi.Step) string {
	for _, b := range step.Blocks {
		if b.Kind == modelapi.BlockTool {
			return cmp.Or(step.Stop, "tool_calls")
		}
	}
	return cmp.Or(step.Stop, "stop")
}

func arguments(b modelapi.Block) string {
	text, _ := json.Marshal(b.Input) // maps and strings
	return string(text)
}

// call is the call of a tool, the nth of its answer.
func call(b modelapi.Block, answer string, n int, arguments string) map[string]any {
	return map[string]any{
		"index": n, "id": cmp.Or(b.ID, fmt.Sprintf("call_%s_%d", answer, n)), "type": "function",
		"function": map[string]any{"name": b.Tool, "arguments": arguments},
	}
}

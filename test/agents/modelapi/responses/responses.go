// Package responses is OpenAI's Responses API for the lab's model server, as the
// Codex CLI asks it.
package responses

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"berth/test/agents/modelapi"
)

// Start serves the API on a free port of 127.0.0.1 until the context ends or
// Close.
func Start(ctx context.Context) (*modelapi.Server, error) { return modelapi.StartAs(ctx, API{}) }

// API is what a model server speaks.
type API struct{}

var _ modelapi.API = API{}

// Usage is what the API says of a step, by the names that it uses.
func (API) Usage(step modelapi.Step) map[string]int {
	out := 0
	for _, b := range step.Blocks {
		out += len(b.Text)/4 + 1
	}
	return map[string]int{"input_tokens": 25, "cached_tokens": 7, "output_tokens": out, "total_tokens": 25 + out}
}

func usage(step modelapi.Step) map[string]any {
	u := API{}.Usage(step)
	return map[string]any{
		"input_tokens": u["input_tokens"], "input_tokens_details": map[string]any{"cached_tokens": u["cached_tokens"]},
		"output_tokens": u["output_tokens"], "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": u["total_tokens"],
	}
}

// Beside answers what Codex asks beside its turns.
func (a API) Beside(ctx context.Context, w http.ResponseWriter, r modelapi.Request) {
	said := map[modelapi.Kind]string{
		modelapi.KindTitle:   `{"title":"Lab session"}`,
		modelapi.KindCompact: "The user and the model tested.",
		modelapi.KindSide:    "ok",
	}
	if text, ok := said[r.Kind]; ok {
		a.Answer(ctx, w, r, modelapi.Say(modelapi.Text(text)))
		return
	}
	modelapi.WriteJSON(w, http.StatusNotFound, map[string]any{"error": map[string]any{"message": "the lab has no such path"}})
}

// Answer streams a step.
func (API) Answer(ctx context.Context, w http.ResponseWriter, r modelapi.Request, step modelapi.Step) {
	if !modelapi.Begin(ctx, w, step, failure) {
		return
	}
	id := fmt.Sprintf("resp_lab_%d", r.Time.UnixNano())
	s := stream{Events: modelapi.NewEvents(ctx, w, step.Gap), id: id}
	s.Send("response.created", map[string]any{"response": map[string]any{"id": id, "object": "response", "status": "in_progress", "output": []any{}}})
	for i, b := range step.Blocks {
		if !s.item(i, b, step.Drop && i == len(step.Blocks)-1) {
			return
		}
	}
	switch {
	case step.Drop:
		panic(http.ErrAbortHandler) // in the midst of the last item
	case step.StreamError != "":
		s.Send("response.failed", map[string]any{"response": map[string]any{
			"id": id, "object": "response", "status": "failed", "error": map[string]any{"code": step.StreamError, "message": step.Message},
		}})
		return
	}
	s.Send("response.completed", map[string]any{"response": map[string]any{
		"id": id, "object": "response", "status": "completed", "output": s.done, "usage": usage(step),
	}})
}

func failure(step modelapi.Step) map[string]any {
	return map[string]any{"error": map[string]any{"message": step.Message, "type": step.ErrorType, "param": nil, "code": step.ErrorType}}
}

// stream is an answer being given.
type stream struct {
	modelapi.Events
	id   string
	done []any // items
}

// item streams one block; open leaves it without its end. It gives false when
// the client has left.
func (s *stream) item(i int, b modelapi.Block, open bool) bool {
	id := fmt.Sprintf("item_%d_%s", i, s.id)
	whole := item(b, id)
	s.Send("response.output_item.added", map[string]any{"output_index": i, "item": begun(whole)})
	kind, where, text := "response.output_text.delta", "content_index", b.Text
	switch b.Kind {
	case modelapi.BlockThinking:
		kind, where = "response.reasoning_summary_text.delta", "summary_index"
		s.Send("response.reasoning_summary_part.added", map[string]any{"item_id": id, "output_index": i, "summary_index": 0})
	case modelapi.BlockTool:
		kind, where, text = "response.function_call_arguments.delta", "", arguments(b)
	}
	for _, piece := range modelapi.Pieces(text) {
		if !s.Wait() {
			return false
		}
		delta := map[string]any{"item_id": id, "output_index": i, "delta": piece}
		if where != "" {
			delta[where] = 0
		}
		s.Send(kind, delta)
	}
	if open {
		return true
	}
	s.done = append(s.done, whole)
	s.Send("response.output_item.done", map[string]any{"output_index": i, "item": whole})
	return true
}

func arguments(b modelapi.Block) string {
	text, _ := json.Marshal(b.Input) // maps and strings
	return string(text)
}

// item is a block in the form of a conversation's item.
func item(b modelapi.Block, id string) map[string]any {
	switch b.Kind {
	case modelapi.BlockThinking:
		return map[string]any{
			"type": "reasoning", "id": id, "summary": []any{map[string]any{"type": "summary_text", "text": b.Text}}, "encrypted_content": "bGFi",
		}
	case modelapi.BlockTool:
		call := map[string]any{"type": "function_call", "id": id, "call_id": "call_" + id, "name": b.Tool, "arguments": arguments(b)}
		if space, name, ok := strings.Cut(b.Tool, "/"); ok {
			call["namespace"], call["name"] = space, name
		}
		return call
	}
	return map[string]any{
		"type": "message", "id": id, "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": b.Text, "annotations": []any{}}},
	}
}

// begun is the item while nothing of it was streamed.
func begun(whole map[string]any) map[string]any {
	empty := map[string]any{}
	for k, v := range whole {
		empty[k] = v
	}
	for k, nothing := range map[string]any{"summary": []any{}, "content": []any{}, "arguments": ""} {
		if _, has := empty[k]; has {
			empty[k] = nothing
		}
	}
	return empty
}

type body struct {
	Model        string            `json:"model"`
	Instructions string            `json:"instructions"`
	Input        []inputItem       `json:"input"`
	Tools        []json.RawMessage `json:"tools"`
	CacheKey     string            `json:"prompt_cache_key"`
	Text         struct {
		Format json.RawMessage `json:"format"`
	} `json:"text"`
}

type inputItem struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// texts are the parts of a message.
func (i inputItem) texts() []string {
	var parts []struct {
		Text string `json:"text"`
	}
	var whole string
	if json.Unmarshal(i.Content, &whole) == nil {
		return []string{whole}
	}
	_ = json.Unmarshal(i.Content, &parts) // anything else has no text for us
	var list []string
	for _, p := range parts {
		list = append(list, p.Text)
	}
	return list
}

// Read fills in what the body says.
func (API) Read(r *modelapi.Request) {
	r.Kind = modelapi.KindOther
	if r.Method != http.MethodPost || !strings.HasSuffix(r.Path, "/responses") {
		return
	}
	var b body
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return
	}
	r.Model, r.Stream, r.Session = b.Model, true, b.CacheKey
	r.Subagent = r.Header.Get("X-Openai-Subagent") != ""
	readPrompt(r, b.Input)
	r.Kind = kind(b, r.Prompt)
}

// kind classifies the client's requests by fields that only they have.
func kind(b body, prompt string) modelapi.Kind {
	switch {
	case strings.Contains(prompt, "CONTEXT CHECKPOINT COMPACTION"):
		return modelapi.KindCompact
	case strings.Contains(prompt, "Generate a concise") && strings.Contains(prompt, "title"):
		return modelapi.KindTitle
	case len(b.Tools) == 0:
		return modelapi.KindSide
	}
	return modelapi.KindTurn
}

// notices are texts that the client writes in the user's place.
var notices = []string{"<environment_context>", "# AGENTS.md", "<user_instructions>", "<turn_aborted>", "<skill", "<subagent_notification>", "<collaboration_mode>"}

func isNotice(text string) bool {
	text = strings.TrimSpace(text)
	for _, n := range notices {
		if strings.HasPrefix(text, n) {
			return true
		}
	}
	return text == ""
}

// readPrompt finds the message that began the turn, and counts the answers since. One answer of the model is several
// items, one after the other.
func readPrompt(r *modelapi.Request, list []inputItem) {
	said := false
	for i, m := range list {
		switch {
		case m.Type == "message" && m.Role == "user" || m.Type == "" && m.Role == "user":
			said = false
			for _, text := range m.texts() {
				if isNotice(text) {
					continue
				}
				r.Texts = append(r.Texts, text)
				r.Prompt, r.Index, r.Step = text, i, 0
			}
		case m.Type == "message" && m.Role == "assistant", m.Type == "reasoning", m.Type == "function_call", m.Type == "custom_tool_call":
			if !said {
				r.Step++
			}
			said = true
		case strings.HasSuffix(m.Type, "_output"):
			said = false
		}
	}
}

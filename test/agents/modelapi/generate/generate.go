// Package generate is Google's generateContent API for the lab's model server,
// as Gemini CLI asks it.
package generate

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

// Start serves the API on a free port of 127.0.0.1 until the context ends or
// Close.
func Start(ctx context.Context) (*modelapi.Server, error) { return modelapi.StartAs(ctx, API{}) }

// API is what a model server speaks.
type API struct{}

var _ modelapi.API = API{}

// What a step's ErrorType says more than its status, and its StreamError.
const (
	errorQuota = "quota"  // the day's requests are used up
	streamEnds = "no end" // the stream ends without a reason for it
)

// Usage is what the API says of a step, by the names that it uses.
func (API) Usage(step modelapi.Step) map[string]int {
	out := 0
	for _, b := range step.Blocks {
		out += len(b.Text)/4 + 1
	}
	return map[string]int{"promptTokenCount": 25, "cachedContentTokenCount": 7, "candidatesTokenCount": out, "totalTokenCount": 25 + out}
}

// Beside answers what Gemini asks beside its turns.
func (a API) Beside(ctx context.Context, w http.ResponseWriter, r modelapi.Request) {
	switch r.Kind {
	case modelapi.KindSide:
		a.Answer(ctx, w, r, modelapi.Say(modelapi.Text(simplest(r.Body))))
	case modelapi.KindCount:
		modelapi.WriteJSON(w, http.StatusOK, map[string]int{"totalTokens": len(r.Body) / 4})
	default:
		modelapi.WriteJSON(w, http.StatusOK, map[string]any{})
	}
}

// words are the API's own for statuses.
var words = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE",
}

func failure(step modelapi.Step) map[string]any {
	e := map[string]any{"code": step.Status, "message": step.Message, "status": words[step.Status]}
	if step.ErrorType == errorQuota {
		e["details"] = []any{map[string]any{
			"@type": "type.googleapis.com/google.rpc.QuotaFailure",
			"violations": []any{map[string]any{
				"quotaMetric": "generativelanguage.googleapis.com/generate_requests_per_model_per_day", "quotaId": "GenerateRequestsPerDayPerProjectPerModel", "quotaValue": "50",
			}},
		}}
	}
	return map[string]any{"error": e}
}

// Answer gives a step to the client as the API would.
func (a API) Answer(ctx context.Context, w http.ResponseWriter, r modelapi.Request, step modelapi.Step) {
	if !modelapi.Begin(ctx, w, step, failure) {
		return
	}
	finish := cmp.Or(step.Stop, "STOP")
	var rest []map[string]any // what comes with the end: calls in one piece
	for _, b := range step.Blocks {
		if b.Kind == modelapi.BlockTool || !r.Stream {
			rest = append(rest, part(b, b.Text))
		}
	}
	if !r.Stream {
		modelapi.WriteJSON(w, http.StatusOK, a.response(r, step, rest, finish))
		return
	}
	e := modelapi.NewEvents(ctx, w, step.Gap)
	for _, b := range step.Blocks {
		if b.Kind == modelapi.BlockTool {
			continue
		}
		for _, piece := range pieces(b) {
			if !e.Wait() {
				return
			}
			send(w, a.response(r, step, []map[string]any{part(b, piece)}, ""))
		}
	}
	switch {
	case step.Drop:
		panic(http.ErrAbortHandler) // in the midst of it
	case step.StreamError == streamEnds:
		return
	case len(rest) == 0:
		rest = []map[string]any{{"text": ""}}
	}
	if e.Wait() {
		send(w, a.response(r, step, rest, finish))
	}
}

// response is one piece of an answer, or all of it; without a reason for its end
// it goes on.
func (a API) response(r modelapi.Request, step modelapi.Step, parts []map[string]any, finish string) map[string]any {
	candidate := map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "index": 0}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	return map[string]any{
		"candidates": []any{candidate}, "modelVersion": r.Model, "responseId": fmt.Sprintf("lab-%d", r.Time.UnixNano()), "usageMetadata": a.Usage(step),
	}
}

func send(w http.ResponseWriter, v any) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // only strings and numbers go in
	fmt.Fprintf(w, "data: %s\r\n\r\n", bytes.TrimSpace(text.Bytes()))
	_ = http.NewResponseController(w).Flush() // the client may have left: its context says so
}

// pieces is what a block's text is streamed in. A thought comes whole: its
// subject is what the client shows.
func pieces(b modelapi.Block) []string {
	if b.Kind == modelapi.BlockThinking {
		return []string{b.Text}
	}
	return modelapi.Pieces(b.Text)
}

func part(b modelapi.Block, text string) map[string]any {
	switch b.Kind {
	case modelapi.BlockTool:
		return map[string]any{"functionCall": map[string]any{"name": b.Tool, "args": b.Input}}
	case modelapi.BlockThinking:
		return map[string]any{"text": text, "thought": true}
	}
	return map[string]any{"text": text}
}

// simplest answers a question beside the conversation with the simplest value
// that its schema allows, or a word.
func simplest(request []byte) string {
	var b body
	_ = json.Unmarshal(request, &b) // it was read before
	for _, data := range []json.RawMessage{b.Config.JSONSchema, b.Config.Schema} {
		var s schema
		if len(data) > 0 && json.Unmarshal(data, &s) == nil {
			out, _ := json.Marshal(s.simplest()) // maps, strings and numbers
			return string(out)
		}
	}
	return "ok"
}

type schema struct {
	Type       string            `json:"type"`
	Enum       []any             `json:"enum"`
	Properties map[string]schema `json:"properties"`
}

func (s schema) simplest() any {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	switch strings.ToLower(s.Type) {
	case "number", "integer":
		return 1 // of a score or a percentage: low
	case "boolean":
		return false
	case "array":
		return []any{}
	case "string":
		return "the lab says so"
	}
	all := map[string]any{}
	for name, p := range s.Properties {
		all[name] = p.simplest()
	}
	return all
}

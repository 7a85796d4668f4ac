package modelapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// deltaBytes is how much text one delta carries, about; whole characters only.
const deltaBytes = 24

// answer gives a step to the client as the API would.
func answer(ctx context.Context, w http.ResponseWriter, r Request, step Step) {
	if !pause(ctx, step.Pause) {
		return
	}
	switch {
	case step.Hang:
		<-ctx.Done()
		panic(http.ErrAbortHandler) // to return would be an answer
	case step.Status != 0:
		for name, value := range step.Header {
			w.Header().Set(name, value)
		}
		writeJSON(w, step.Status, failure(step))
	case r.Stream:
		stream(ctx, w, r, step)
	case step.Drop || step.StreamError != "":
		panic(http.ErrAbortHandler) // the connection is closed, nothing is logged
	default:
		writeJSON(w, http.StatusOK, whole(r, step))
	}
}

func failure(step Step) map[string]any {
	return map[string]any{"type": "error", "error": map[string]string{"type": step.ErrorType, "message": step.Message}, "request_id": "req_lab"}
}

func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func messageID(r Request) string { return fmt.Sprintf("msg_lab_%d", r.Time.UnixNano()) }

func toolID(r Request, i int) string { return fmt.Sprintf("toolu_lab_%d_%d", r.Time.UnixNano(), i) }

func whole(r Request, step Step) map[string]any {
	content := []any{}
	for i, b := range step.Blocks {
		content = append(content, b.start(toolID(r, i), true))
	}
	return map[string]any{
		"id": messageID(r), "type": "message", "role": "assistant", "model": r.Model, "content": content,
		"stop_reason": step.stopReason(), "stop_sequence": nil, "usage": usage(step),
	}
}

func usage(step Step) map[string]int {
	out := 0
	for _, b := range step.Blocks {
		out += len(b.Text)/4 + 1
	}
	return map[string]int{"input_tokens": 25, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 7, "output_tokens": out}
}

// events writes server-sent events.
type events struct {
	ctx context.Context
	w   http.ResponseWriter
	gap time.Duration
}

func (e events) send(kind string, data map[string]any) {
	data["type"] = kind
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(data) // only strings and numbers go in
	fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", kind, bytes.TrimSpace(text.Bytes()))
	_ = http.NewResponseController(e.w).Flush() // the client may have left: the context says so
}

func stream(ctx context.Context, w http.ResponseWriter, r Request, step Step) {
	w.Header().Set("Content-Type", "text/event-stream")
	e := events{ctx, w, step.Gap}
	e.send("message_start", map[string]any{"message": map[string]any{
		"id": messageID(r), "type": "message", "role": "assistant", "model": r.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": usage(Step{}),
	}})
	e.send("ping", map[string]any{})
	for i, b := range step.Blocks {
		if !e.block(i, b, toolID(r, i), step.Drop && i == len(step.Blocks)-1) {
			return
		}
	}
	switch {
	case step.Drop:
		panic(http.ErrAbortHandler) // in the midst of the last block
	case step.StreamError != "":
		e.send("error", map[string]any{"error": map[string]string{"type": step.StreamError, "message": step.Message}})
		return
	}
	e.send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": step.stopReason(), "stop_sequence": nil}, "usage": usage(step),
	})
	e.send("message_stop", map[string]any{})
}

// block streams one block; open leaves it without its end. It gives false when
// the client has left.
func (e events) block(i int, b Block, id string, open bool) bool {
	e.send("content_block_start", map[string]any{"index": i, "content_block": b.start(id, false)})
	for _, piece := range b.pieces() {
		if !pause(e.ctx, e.gap) || e.ctx.Err() != nil {
			return false
		}
		e.send("content_block_delta", map[string]any{"index": i, "delta": piece})
	}
	if open {
		return true
	}
	if b.Kind == blockThinking {
		e.send("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": "signature_delta", "signature": "bGFi"}})
	}
	e.send("content_block_stop", map[string]any{"index": i})
	return true
}

// start is the block as content_block_start has it, or with all in it.
func (b Block) start(id string, full bool) map[string]any {
	text := ""
	if full {
		text = b.Text
	}
	switch b.Kind {
	case blockThinking:
		return map[string]any{"type": "thinking", "thinking": text, "signature": ""}
	case blockTool:
		input := any(map[string]any{})
		if full {
			input = b.Input
		}
		return map[string]any{"type": "tool_use", "id": id, "name": b.Tool, "input": input}
	}
	return map[string]any{"type": "text", "text": text}
}

func (b Block) pieces() []map[string]any {
	kind, field, text := "text_delta", "text", b.Text
	switch b.Kind {
	case blockThinking:
		kind, field = "thinking_delta", "thinking"
	case blockTool:
		kind, field = "input_json_delta", "partial_json"
		input, _ := json.Marshal(b.Input) // maps and strings
		text = string(input)
	}
	var list []map[string]any
	for len(text) > 0 {
		n := min(deltaBytes, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		if cut := strings.IndexByte(text[:n], '\n'); cut >= 0 {
			n = cut + 1
		}
		list = append(list, map[string]any{"type": kind, field: text[:n]})
		text = text[n:]
	}
	return list
}

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

// messages is Anthropic's Messages API.
type messages struct {
	checks bool // it says of each tool call whether it is dangerous, as auto mode wants
}

// Named makes the scenario that a prompt asks for.
func (messages) Named(name, args string, scene Scene) (Scenario, error) {
	return Named(name, args, scene)
}

// Usage is what the API says of a step.
func (messages) Usage(step Step) map[string]int { return usage(step) }

// Beside answers what Claude Code asks beside its turns.
func (m messages) Beside(ctx context.Context, w http.ResponseWriter, r Request) {
	said := map[Kind]string{
		KindTitle:    `{"title":"Lab session"}`,
		KindCompact:  "<analysis>Short.</analysis>\n<summary>The user and the model tested.</summary>",
		KindClassify: "<block>no</block>",
		KindSide:     "ok",
	}
	switch text, ok := said[r.Kind]; {
	case ok:
		m.Answer(ctx, w, r, Say(Text(text)))
	case r.Kind == KindCount:
		WriteJSON(w, http.StatusOK, map[string]int{"input_tokens": len(r.Body) / 4})
	default:
		WriteJSON(w, http.StatusOK, map[string]any{})
	}
}

// Begin does what any API does with a step before it answers: it waits, hangs, or
// fails with what failure makes of the step. It gives false when that was all.
func Begin(ctx context.Context, w http.ResponseWriter, step Step, failure func(Step) map[string]any) bool {
	if !Pause(ctx, step.Pause) {
		panic(http.ErrAbortHandler) // to return would be an answer
	}
	switch {
	case step.Hang:
		<-ctx.Done()
		panic(http.ErrAbortHandler)
	case step.Status != 0:
		for name, value := range step.Header {
			w.Header().Set(name, value)
		}
		WriteJSON(w, step.Status, failure(step))
		return false
	}
	return true
}

// Answer gives a step to the client as the API would.
func (m messages) Answer(ctx context.Context, w http.ResponseWriter, r Request, step Step) {
	step.Pause = max(step.Pause, answersAfter)
	if !Begin(ctx, w, step, failure) {
		return
	}
	switch {
	case r.Stream:
		stream(ctx, w, r, step, m.checks)
	case step.Drop || step.StreamError != "":
		panic(http.ErrAbortHandler) // the connection is closed, nothing is logged
	default:
		WriteJSON(w, http.StatusOK, whole(r, step))
	}
}

func failure(step Step) map[string]any {
	return map[string]any{"type": "error", "error": map[string]string{"type": step.ErrorType, "message": step.Message}, "request_id": "req_lab"}
}

// answersAfter is how long an answer takes at the least, as one that comes over a
// network does. Of a turn that was over after 55 ms Claude Code's log had the message
// and the turn's end and never the answer.
const answersAfter = 150 * time.Millisecond

// Pause waits, and gives false when the context ends first.
func Pause(ctx context.Context, d time.Duration) bool {
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

// Events writes server-sent events.
type Events struct {
	ctx context.Context
	w   http.ResponseWriter
	gap time.Duration
}

// NewEvents begins an answer of events, with the gap before each delta.
func NewEvents(ctx context.Context, w http.ResponseWriter, gap time.Duration) Events {
	w.Header().Set("Content-Type", "text/event-stream")
	return Events{ctx, w, gap}
}

// Wait waits for the gap, and gives false when the client has left.
func (e Events) Wait() bool { return Pause(e.ctx, e.gap) && e.ctx.Err() == nil }

// Send writes an event.
func (e Events) Send(kind string, data map[string]any) {
	data["type"] = kind
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(data) // only strings and numbers go in
	fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", kind, bytes.TrimSpace(text.Bytes()))
	_ = http.NewResponseController(e.w).Flush() // the client may have left: the context says so
}

func stream(ctx context.Context, w http.ResponseWriter, r Request, step Step, checks bool) {
	e := NewEvents(ctx, w, step.Gap)
	e.Send("message_start", map[string]any{"message": map[string]any{
		"id": messageID(r), "type": "message", "role": "assistant", "model": r.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": usage(Step{}),
	}})
	e.Send("ping", map[string]any{})
	for i, b := range step.Blocks {
		if !e.block(i, b, toolID(r, i), step.Drop && i == len(step.Blocks)-1) {
			return
		}
	}
	switch {
	case step.Drop:
		panic(http.ErrAbortHandler) // in the midst of the last block
	case step.StreamError != "":
		e.Send("error", map[string]any{"error": map[string]string{"type": step.StreamError, "message": step.Message}})
		return
	}
	delta := map[string]any{"stop_reason": step.stopReason(), "stop_sequence": nil}
	if checks && bytes.Contains(r.Body, []byte(`"dangerous_tool_use"`)) {
		delta["safeguard_results"] = checked(r, step)
	}
	e.Send("message_delta", map[string]any{"delta": delta, "usage": usage(step)})
	e.Send("message_stop", map[string]any{})
}

// checked says of each tool call of an answer whether it is dangerous. The lab's dangerous
// commands contain the word danger.
func checked(r Request, step Step) []any {
	uses := map[string]any{}
	for i, b := range step.Blocks {
		if b.Kind != BlockTool {
			continue
		}
		command, _ := b.Input["command"].(string) // other tools have none
		result := map[string]any{"type": "evaluated", "outcome": "not_flagged"}
		if strings.Contains(command, "danger") {
			result = map[string]any{"type": "evaluated", "outcome": "flagged", "explanation": "The lab says that it is dangerous."}
		}
		uses[toolID(r, i)] = result
	}
	return []any{map[string]any{"type": "dangerous_tool_use", "status": map[string]any{"type": "available", "tool_uses": uses}}}
}

// block streams one block; open leaves it without its end. It gives false when
// the client has left.
func (e Events) block(i int, b Block, id string, open bool) bool {
	e.Send("content_block_start", map[string]any{"index": i, "content_block": b.start(id, false)})
	for _, piece := range b.pieces() {
		if !e.Wait() {
			return false
		}
		e.Send("content_block_delta", map[string]any{"index": i, "delta": piece})
	}
	if open {
		return true
	}
	if b.Kind == BlockThinking {
		e.Send("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": "signature_delta", "signature": "bGFi"}})
	}
	e.Send("content_block_stop", map[string]any{"index": i})
	return true
}

// start is the block as content_block_start has it, or with all in it.
func (b Block) start(id string, full bool) map[string]any {
	text := ""
	if full {
		text = b.Text
	}
	switch b.Kind {
	case BlockThinking:
		return map[string]any{"type": "thinking", "thinking": text, "signature": ""}
	case BlockTool:
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
	case BlockThinking:
		kind, field = "thinking_delta", "thinking"
	case BlockTool:
		kind, field = "input_json_delta", "partial_json"
		input, _ := json.Marshal(b.Input) // maps and strings
		text = string(input)
	}
	var list []map[string]any
	for _, piece := range Pieces(text) {
		list = append(list, map[string]any{"type": kind, field: piece})
	}
	return list
}

// Pieces are the pieces of a streamed text: whole characters, and each piece ends at a line's end at the latest.
func Pieces(text string) []string {
	var list []string
	for len(text) > 0 {
		n := min(deltaBytes, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		if cut := strings.IndexByte(text[:n], '\n'); cut >= 0 {
			n = cut + 1
		}
		list = append(list, text[:n])
		text = text[n:]
	}
	return list
}

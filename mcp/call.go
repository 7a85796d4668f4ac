package mcp

import (
	"context"
	"encoding/json"
	"unicode/utf8"

	"berth/api"
	"berth/commands"
)

// call is one call of a tool.
type call struct {
	*server
	args arguments
}

// calls is the request that runs a verb with these words and this standard input.
func (c *call) calls(stdin string, words ...string) commands.Request {
	return c.request.With(stdin, words...)
}

// verb is commands.Service.RunFor for this caller.
func (c *call) verb(ctx context.Context, stdin string, words ...string) (json.RawMessage, int, error) {
	return c.service.RunFor(ctx, c.request, stdin, words...)
}

// into is verb with the answer read into a value.
func (c *call) into(ctx context.Context, to any, words ...string) error {
	answer, _, err := c.verb(ctx, "", words...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, to); err != nil {
		return api.Errorf(api.CodeInternal, "read the answer of %s: %w", words[0], err)
	}
	return nil
}

// page is the part of a text from a byte offset on that fits into an answer. next is the offset after it; 0 at
// the end.
func page(text string, from, most int) (part string, next int) {
	if from >= len(text) {
		return "", 0
	}
	text = text[from:]
	size, cut := 0, len(text)
	for i, r := range text {
		size += len(escaped(r))
		if size > most {
			cut = i
			break
		}
	}
	if cut == len(text) {
		return text, 0
	}
	return text[:cut], from + cut
}

// escaped is a character as JSON has it in a text.
func escaped(r rune) string {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\t' || r == '\r':
		return `\n`
	case r < ' ' || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029' || r == utf8.RuneError:
		return `\u0000`
	}
	return string(r)
}

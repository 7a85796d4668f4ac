package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"berth/api"
	"berth/commands"
)

// call is one call of a tool.
type call struct {
	*server
	args arguments
}

// mostOutput bounds what a verb may print for a tool, in bytes.
const mostOutput = 8 << 20

// bounded keeps what a verb prints.
type bounded struct {
	bytes.Buffer
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > mostOutput {
		b.over = true
		return 0, io.ErrShortWrite
	}
	return b.Buffer.Write(p)
}

// calls is the request that runs a verb with these words and this standard input.
func (c *call) calls(stdin string, words ...string) commands.Request {
	line, _ := json.Marshal(words) // strings always can be
	r := c.request
	r.Line, r.Terminal, r.In, r.Err = string(line), false, strings.NewReader(stdin), io.Discard
	return r
}

// verb runs a verb and returns the last JSON value that it printed, and its exit status. A failure is an
// error; so the statuses that tell how a turn ended aren't.
func (c *call) verb(ctx context.Context, stdin string, words ...string) (json.RawMessage, int, error) {
	var out bounded
	r := c.calls(stdin, words...)
	r.Out = &out
	status := c.service.Run(ctx, r)
	if out.over {
		return nil, status, api.Errorf(api.CodeLimit, "the answer of %s has more than %d bytes", words[0], mostOutput)
	}
	var answer json.RawMessage
	var broken *api.Error
	for d := json.NewDecoder(&out); ; {
		var next json.RawMessage
		err := d.Decode(&next)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, status, api.Errorf(api.CodeInternal, "read the answer of %s: %w", words[0], err)
		}
		var failure struct {
			Error *api.Error `json:"error"`
		}
		if json.Unmarshal(next, &failure) == nil && failure.Error != nil && failure.Error.Code != "" {
			broken = failure.Error
			continue
		}
		answer = next
	}
	switch {
	case broken != nil:
		return answer, status, broken
	case ctx.Err() != nil:
		return answer, status, ctx.Err()
	}
	return answer, status, nil
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

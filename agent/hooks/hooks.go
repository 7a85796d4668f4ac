// Package hooks is what drivers share about the hooks of their agents: the shell words
// that run Berth's hook program, how long it may wait, and what it answers. Claude
// Code, Codex and Gemini CLI read the same answers. All of it is pure.
package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Times of a hook that asks the server at a turn's end or at a conversation's start,
// while the agent waits.
const (
	// Hold is how long it waits for the server's answer.
	Hold = 15 * time.Second
	// Grace is how long it waits for a server when there is none: a restart fits in.
	Grace = 5 * time.Second
	// Slack is what the agent's own timeout has beyond Hold: for starting the program, and
	// for a holder that was stopped.
	Slack = 15 * time.Second
)

// Quote makes a path one word for the shell that runs hooks.
func Quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// GoOn is the answer to the hook of a turn's end that starts another turn with the text.
func GoOn(text string) ([]byte, error) {
	return answer(map[string]string{"decision": "block", "reason": text})
}

// Context is the answer to SessionStart that adds the text to what the model is given.
func Context(text string) ([]byte, error) {
	return answer(map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": "SessionStart", "additionalContext": text}})
}

// answer is one line of JSON that leaves < > & as they are.
func answer(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a hook's answer: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Package hooks holds what drivers share about the hooks of their agents: the shell words that
// run Berth's hook program, its timeouts and its answers. Claude Code, Codex and Gemini CLI
// read the same answers. All functions are pure.
package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"berth/agent"
)

// Timeouts of a hook that asks the server at a turn's end or at a session's start, while the
// agent waits.
const (
	// Hold is how long the hook waits for the server's answer.
	Hold = 15 * time.Second
	// Grace is how long the hook waits for a missing server: a restart fits in.
	Grace = 5 * time.Second
	// Slack is how much longer than Hold the agent's own timeout is. It covers the start of the
	// program and a holder that was stopped.
	Slack = 15 * time.Second
)

// Quote makes a path one shell word, for the shell that runs hooks.
func Quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// Gates has the methods of agent.GateHooks, for agents that read the answers of Claude Code's hooks. A driver embeds it,
// and overrides those that differ. Its zero value is ready.
type Gates struct{}

// GoOn is the answer to the turn-end hook that starts another turn with the text.
func (Gates) GoOn(text string) ([]byte, error) {
	return Encode(map[string]string{"decision": "block", "reason": text})
}

// Context is the answer to SessionStart that adds the text to the model's context.
func (Gates) Context(text string) ([]byte, error) {
	return Encode(map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": "SessionStart", "additionalContext": text}})
}

// Encode encodes one line of JSON with its keys in order, and doesn't escape < > &.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a hook: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// refused is the message to the model for a denial without a reason. The turn continues after it;
// only a denial at the dialog ends the turn.
const refused = "The user does not want this to be done. Stop here, do not try another way, and wait for the user to say how to go on."

// decide is the answer to PermissionRequest: the behavior is allow or deny. A denial without a
// message has one that stops the model.
func decide(behavior, message string) ([]byte, error) {
	if behavior == "deny" && message == "" {
		message = refused
	}
	decision := struct {
		Behavior string `json:"behavior"`
		Message  string `json:"message,omitempty"`
	}{behavior, message}
	return Encode(map[string]any{
		"hookSpecificOutput": map[string]any{"hookEventName": "PermissionRequest", "decision": decision},
	})
}

// Permit is the answer to PermissionRequest. It can allow this call once, or deny it with a reason. While the hook
// waits, no dialog offers more options.
func Permit(a agent.Answer) (v agent.Verdict, err error) {
	switch a.Kind {
	case agent.Accept:
		v.Outcome = agent.OutcomeAccepted
		v.Stdout, err = decide("allow", "")
	case agent.Deny:
		v.Outcome = agent.OutcomeDenied
		v.Stdout, err = decide("deny", a.Text)
	case agent.ChooseOption:
		err = agent.ErrOnlyByKeys
	default:
		err = fmt.Errorf("%w: a permission takes accept, deny [TEXT] or option N", agent.ErrAnswer)
	}
	return v, err
}

// ReportLimit is the agent's timeout for a hook that only reports. The hook takes some milliseconds.
const ReportLimit = 10 * time.Second

// Command is the hook's command for an event, and the agent's timeout for it. The hook of the event end, which ends
// a turn, and of SessionStart asks the server while the session's file for that exists. The others only report.
func Command(s agent.Start, event, end string) (command string, timeout time.Duration) {
	if asks := map[string]string{end: s.EndAsks, "SessionStart": s.StartAsks}[event]; asks != "" {
		return fmt.Sprintf("%s hook --ask %s %s --if %s %s", Quote(s.Hook), Hold, Grace, Quote(asks), event), Hold + Slack
	}
	return Quote(s.Hook) + " hook --tell " + event, ReportLimit
}

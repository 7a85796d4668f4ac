package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"berth/api"
)

// The tools that start, answer and end sessions, and report. Those that read and send are in run.go.

func startSession(ctx context.Context, c *call) (any, error) {
	words := []string{"new", "--json", "--profile=" + c.args.Profile}
	if c.args.Cwd != "" {
		words = append(words, "--cwd="+c.args.Cwd)
	}
	if c.args.Worktree {
		words = append(words, "--worktree")
	}
	for _, tag := range c.args.Tags {
		words = append(words, "--tag="+tag)
	}
	if c.args.Prompt != "" {
		words = append(words, "--prompt=-")
	}
	if c.args.Name != "" {
		words = append(words, c.args.Name)
	}
	raw, _, err := c.verb(ctx, c.args.Prompt, words...)
	if err != nil {
		return nil, err
	}
	var made struct {
		seen
		Queued json.RawMessage `json:"queued"`
	}
	if err := json.Unmarshal(raw, &made); err != nil {
		return nil, api.Errorf(api.CodeInternal, "read the answer of new: %w", err)
	}
	return struct {
		row
		Queued json.RawMessage `json:"queued"`
	}{made.row(host()), made.Queued}, nil
}

func answerPrompt(ctx context.Context, c *call) (any, error) {
	words, stdin := []string{"respond", "--json", "--prompt=" + c.args.PromptID, c.args.Session}, ""
	choice := ""
	switch v := c.args.Choice.(type) {
	case string:
		choice = v
	case float64:
		choice = strconv.FormatFloat(v, 'f', -1, 64)
	}
	_, numberErr := strconv.Atoi(choice)
	switch {
	case choice == "" && c.args.Text == "":
		return nil, api.Errorf(api.CodeUsage, "answer_prompt needs choice or text")
	case choice == "":
		words, stdin = append(words, "text", "-"), c.args.Text
	case choice == "deny" && c.args.Text != "":
		words, stdin = append(words, "deny", "-"), c.args.Text
	case c.args.Text != "":
		return nil, api.Errorf(api.CodeUsage, "answer_prompt takes choice or text; only deny takes both")
	case slices.Contains([]string{"accept", "deny", "cancel"}, choice):
		words = append(words, choice)
	case numberErr == nil:
		words = append(words, "option", choice)
	default:
		return nil, api.Errorf(api.CodeUsage, "choice %s: give accept, deny, or an option's number from 1", api.Quote(choice))
	}
	switch {
	case c.args.Digest != "":
		words = slices.Insert(words, 2, "--digest="+c.args.Digest)
	case choice == "deny" || choice == "cancel":
	default:
		if err := c.readWhole(); err != nil {
			return nil, err
		}
	}
	return c.verdict(ctx, stdin, words...)
}

// readWhole refuses an answer without a digest to a prompt that state, and the events of wait, show only a part of. That
// may be another prompt than the current one.
func (c *call) readWhole() error {
	session, err := c.service.For(c.request, "respond", c.args.Session)
	if err != nil {
		return err
	}
	for _, p := range session.Status().Requests {
		if p.ID == c.args.PromptID && !inEvent(p) {
			return api.Errorf(api.CodeBadRequest, "not answered: this prompt is long, and wait shows only its beginning. Read it to its end by get_session, or by read_session with what: prompt, once it is the session's current prompt, and give the digest that comes with its end")
		}
	}
	return nil // respond says whether the session asks that
}

func interruptSession(ctx context.Context, c *call) (any, error) {
	return c.verdict(ctx, "", "interrupt", "--json", c.args.Session)
}

func endSession(ctx context.Context, c *call) (any, error) {
	return c.verdict(ctx, "", "kill", "--json", c.args.Session)
}

func report(ctx context.Context, c *call) (any, error) {
	if c.args.Message == "" {
		return c.verdict(ctx, "", "report", "--json", c.args.Kind)
	}
	return c.verdict(ctx, c.args.Message, "report", "--json", c.args.Kind, "-")
}

// verdict runs a verb whose answer is short, and passes it on.
func (c *call) verdict(ctx context.Context, stdin string, words ...string) (any, error) {
	answer, _, err := c.verb(ctx, stdin, words...)
	if err != nil {
		return nil, err
	}
	return answer, nil
}

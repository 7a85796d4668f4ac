package acp

import (
	"context"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"berth/agent"
	"berth/api"
	"berth/commands"
)

// Prompt sends the editor's message to the agent, as a person would type it, and returns at the end of the
// turn that took it.
func (e *editor) Prompt(ctx context.Context, in sdk.PromptRequest) (sdk.PromptResponse, error) {
	return guarded(e, "session/prompt", func() (sdk.PromptResponse, error) {
		var none sdk.PromptResponse
		o := e.has(string(in.SessionId))
		if o == nil {
			return none, notOpen(string(in.SessionId))
		}
		text, err := message(in.Prompt)
		if err != nil {
			return none, err
		}
		if !o.prompting.TryLock() {
			return none, api.Errorf(api.CodeNotReady, "a prompt of this client is being worked on: wait for its end, or cancel it")
		}
		defer o.prompting.Unlock()
		o.cancelled.Store(false)
		o.running.Store(true)
		defer o.running.Store(false)
		// The SDK ends ctx when the editor cancels. The turn still has an end, which the answer reports.
		unwatch := context.AfterFunc(ctx, func() { _ = o.cancel() })
		defer unwatch()
		ctx = e.ctx
		if err := o.started(ctx); err != nil {
			return none, err
		}
		o.expect(text)
		var sent commands.Nudged
		if err := e.verb(ctx, text, &sent, "ask", "--json", o.id, "-"); err != nil {
			o.forget(text)
			return none, err
		}
		state, reply := "", sent.LastMessage
		if sent.State != nil {
			state = *sent.State
		}
		if state == string(agent.Prompt) {
			if state, err = o.rest(ctx, sent.Seq); err != nil {
				return none, err
			}
			reply = nil
			if said := o.session.Status().Said; said != nil {
				reply = &said.Text
			}
		}
		o.settle(ctx, reply)
		switch {
		case o.cancelled.Load():
			return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, nil
		case state == string(agent.Exited):
			return none, api.Errorf(api.CodeNotReady, "the agent has exited")
		case state == string(agent.InError), state == string(agent.Parked):
			why := "the turn ended with an error"
			if f := o.session.Status().Failure; f != nil {
				why = f.Text
			}
			return none, api.Errorf(api.CodeNotReady, "%s", why)
		}
		return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, nil
	})
}

// cancel ends the turn. If the session asks a permission, the answer is no. It does so once for each prompt
// of the editor: a second Escape would do something else.
func (o *opened) cancel() error {
	if o.running.Load() && o.cancelled.Swap(true) {
		return nil
	}
	e := o.editor
	if p := o.session.Status().Request; p != nil {
		if err := e.verb(e.ctx, "", nil, "respond", "--json", "--prompt="+p.ID, o.id, "deny"); err == nil {
			return nil
		}
	}
	return e.verb(e.ctx, "", nil, "interrupt", "--json", o.id)
}

// message is a prompt's text. A link to a file is its address, and a file's text is quoted: the agent
// works here, where the editor's files may not be.
func message(blocks []sdk.ContentBlock) (string, error) {
	var parts []string
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			parts = append(parts, b.Text.Text)
		case b.ResourceLink != nil:
			parts = append(parts, strings.TrimPrefix(b.ResourceLink.Uri, "file://"))
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			parts = append(parts, strings.TrimPrefix(r.Uri, "file://")+":\n```\n"+r.Text+"\n```")
		default:
			return "", api.Errorf(api.CodeBadRequest, "a prompt may have text, links and files with text; images and sounds can't be typed")
		}
	}
	text := strings.Join(parts, "\n")
	if strings.TrimSpace(text) == "" {
		return "", api.Errorf(api.CodeBadRequest, "the prompt is empty")
	}
	return text, nil
}

// expect keeps the editor's own text, which isn't sent back to it.
func (o *opened) expect(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.own, o.last = append(o.own, text), ""
	if len(o.own) > 16 {
		o.own = o.own[1:]
	}
}

func (o *opened) forget(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, own := range o.own {
		if own == text {
			o.own = append(o.own[:i:i], o.own[i+1:]...)
			return
		}
	}
}

// startTime is how long an agent may take to start before a prompt is refused.
const startTime = time.Minute

// started waits until the agent has started.
func (o *opened) started(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	changed, stop := o.session.Subscribe()
	defer stop()
	for o.session.Status().Now == agent.Starting {
		select {
		case <-changed:
		case <-ctx.Done():
			return nil // the verb says why it can't be sent
		}
	}
	return o.editor.ctx.Err()
}

// rest waits until the turn is over, after a prompt in it.
func (o *opened) rest(ctx context.Context, after uint64) (string, error) {
	changed, stop := o.session.Subscribe()
	defer stop()
	for {
		if _, err := o.editor.service.For(o.editor.request, "state", o.id); err != nil {
			return "", err
		}
		switch st := o.session.Status(); st.Now {
		case agent.Idle, agent.InError, agent.Parked, agent.Exited:
			if st.StateSeq > after {
				return string(st.Now), nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// settleTime is how long the log may be later than the end of the turn.
const settleTime = 2 * time.Second

// settle sends what the turn's log has before the turn's end is reported. If the log is late, the agent's
// last message is sent as its hook has it.
func (o *opened) settle(ctx context.Context, reply *string) {
	deadline := time.Now().Add(settleTime)
	for {
		if o.read(ctx) != nil {
			return
		}
		o.mu.Lock()
		there := reply == nil || strings.TrimSpace(o.last) == strings.TrimSpace(*reply)
		o.mu.Unlock()
		if there {
			return
		}
		if time.Now().After(deadline) {
			_ = o.send(ctx, sdk.UpdateAgentMessageText(*reply)) // the editor may be gone
			return
		}
		select {
		case <-time.After(lookEvery / 3):
		case <-ctx.Done():
			return
		}
	}
}

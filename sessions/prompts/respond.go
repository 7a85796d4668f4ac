package prompts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

const verbRespond = "respond"

// optionsWithin is how long an answer waits until the prompt's options are read.
const optionsWithin = 3 * time.Second

// Response is the output of the verb respond.
type Response struct {
	Session   string           `json:"session"`
	ID        string           `json:"id"`
	Delivered bool             `json:"delivered"`
	Confirmed bool             `json:"confirmed"`
	Prompt    string           `json:"prompt"`
	Digest    string           `json:"digest"` // of what the prompt showed
	Type      agent.PromptType `json:"type"`
	Channel   string           `json:"channel"`
	Outcome   string           `json:"outcome"`
	State     string           `json:"state"`
	Seq       uint64           `json:"seq"`
}

var (
	errHookGone   = errors.New("the hook no longer waits")
	errOthersType = errors.New("a person is answering the dialog")
	errHookSoon   = errors.New("its hook hasn't come yet")
	errShowing    = errors.New("its hook has hidden its dialog until now")
	errContested  = errors.New("the dialog on the screen may be another one than the agent's hooks or its session log report")
	errUnseen     = errors.New("its dialog does not show all of what it asks, or can be read otherwise where its rows end")
	errJustOver   = errors.New("it was reported as over, or a key was pressed, and its dialog is still on the screen")
)

// Respond answers the prompt with an id; without an id the one on the screen. It uses the hook that waits, or
// else keys under the lease. An error may come with a response that says how far the answer got.
//
// The caller can only have seen what the prompt showed when the answer came. While the answer
// waits, the prompt may come to show more: then an answer that depends on it is refused.
//
// A started answer is finished and gets its event, even if the caller leaves meanwhile.
func (ps *Prompts) Respond(ctx context.Context, claim loop.Claim, prompt string, answer agent.Answer) (*Response, error) {
	answer, err := answer.Clean()
	if err != nil {
		return nil, answerError(err)
	}
	changed, stop := ps.env.Changed()
	defer stop()
	deadline := time.NewTimer(optionsWithin)
	defer deadline.Stop()
	shown := ""
	for bound := false; ; bound = true {
		soon := false // written on the loop before ask returns
		p, err := loop.Ask(ctx, ps.env.Do, func() (detect.Pending, error) {
			p, err := ps.pendingPrompt(claim, prompt)
			soon = err == nil && ps.hookComes(p)
			return p, err
		})
		if err != nil {
			return nil, err
		}
		if p.Request == nil {
			if ps.askedAnew(ctx, prompt) {
				return nil, ps.anew(prompt)
			}
			if bound {
				return ps.elsewhere(prompt), stalePrompt(prompt)
			}
			return nil, ps.noPrompt(prompt)
		}
		prompt = p.Request.ID
		if shown == "" {
			shown = p.Request.Digest
		}
		if shown != p.Request.Digest && shown != p.Before && !byMeaning(p.Request, answer) {
			return nil, ps.showsMore(p.Request)
		}
		var a *answering
		if err = errHookSoon; !soon {
			a, err = ps.give(ctx, claim, p, answer)
		}
		if err == nil {
			return ps.outcome(ctx, a)
		}
		if errors.Is(err, errShowing) { // the agent draws the dialog now
			deadline.Reset(optionsWithin)
		} else if !maySoon(err) {
			return nil, answerError(err)
		}
		select {
		case <-changed:
		case <-time.After(optionsWithin / 30): // a hook's end changes nothing that is published
		case <-deadline.C:
			return nil, ps.notReady(p, err)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// byMeaning reports whether an answer means the same even if the prompt comes to show more under its id: yes to
// this call alone, or no. A number is an answer to the options that were shown, and accepting a form sends the
// values in its fields.
func byMeaning(p *agent.Request, a agent.Answer) bool {
	switch a.Kind {
	case agent.Accept:
		return p.Type != agent.PromptForm
	case agent.Deny, agent.Cancel:
		return true
	}
	return false
}

// showsMore refuses an answer that was given before the prompt showed what it depends on.
func (ps *Prompts) showsMore(p *agent.Request) error {
	return api.Errorf(api.CodeNotReady, "not answered: the prompt shows more now than when this answer came, such as its options. Look at prompt %s, and answer again", ps.env.Standing().Name).
		With("prompt", p.ID).With("digest", p.Digest).With("options", append([]string{}, p.Options...))
}

// maySoon reports whether the reason why an answer can't be given yet may pass.
func maySoon(err error) bool {
	for _, passing := range []error{agent.ErrNotReady, errHookGone, errOthersType, errHookSoon, errContested, errUnseen, errJustOver, errDeaf, errBusy, errNext, errShared, errEarlier} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}

// hookLags is how much later than its dialog a hook may come: 77 ms, and a
// second on a loaded machine.
const hookLags = time.Second

// hookComes reports whether the prompt was only seen so far, and so recently that its hook may still come.
func (ps *Prompts) hookComes(p detect.Pending) bool {
	if p.Request == nil || p.Told || !ps.hooked || p.Request.Subtype != nil || ps.env.Now().Sub(p.Request.Since.Time) >= hookLags {
		return false
	}
	switch p.Request.Type {
	case agent.PromptPermission, agent.PromptPlan, agent.PromptQuestion, agent.PromptForm:
		return true
	}
	return false
}

// notReady is the error for a prompt that could not be answered in time. It says why, and what to do.
func (ps *Prompts) notReady(p detect.Pending, err error) error {
	name := ps.env.Standing().Name
	why, remedy := fmt.Sprintf("%v", err), fmt.Sprintf("look at screen %s, or answer with keys", name)
	switch {
	case errors.Is(err, errOthersType):
		remedy = "wait until that is done, or attach"
	case errors.Is(err, errContested) && p.Hook != "":
		remedy = fmt.Sprintf("answer with accept or deny, which go to the agent's hook and not to the dialog, or choose at the terminal: attach %s", name)
	case errors.Is(err, errContested):
		remedy = fmt.Sprintf("answer it at the terminal: attach %s. What a hook reported is a prompt of its own, see state %s", name, name)
	case errors.Is(err, errUnseen):
		remedy = fmt.Sprintf("make its screen larger and answer again: resize %s COLSxROWS, or attach %s from a larger window. Or answer there", name, name)
		if p.Hook != "" { // a larger screen doesn't help where a dialog draws a call in another way
			remedy = "answer with accept or deny, which go to the agent's hook and not to the dialog, or " + remedy
		}
	case errors.Is(err, errDeaf), errors.Is(err, errBusy), errors.Is(err, errEarlier):
		remedy = fmt.Sprintf("look at screen %s, and answer again when it goes on", name)
	case errors.Is(err, errNext):
		remedy = fmt.Sprintf("answer that one first: respond %s --prompt %s; or cancel this one, or answer at the terminal: attach %s", name, p.Next, name)
	case errors.Is(err, errShared):
		remedy = fmt.Sprintf("end that program, or answer at the terminal: attach %s", name)
	case errors.Is(err, errJustOver):
		remedy = fmt.Sprintf("look at screen %s, and answer again if the dialog stays", name)
	case p.Dialog == nil:
		why = "its dialog is not on the screen"
		remedy = fmt.Sprintf("what is, screen %s shows; a draft in the composer holds a dialog back", name)
	}
	return api.Errorf(api.CodeNotReady, "the prompt cannot be answered yet: %s after %s; %s", why, optionsWithin, remedy).
		With("prompt", p.Request.ID).With("contested", p.Request.Contested || p.Disputed).With("lines", append([]string{}, p.Drawn...))
}

// pendingPrompt returns the prompt to answer, if the caller may answer it.
func (ps *Prompts) pendingPrompt(claim loop.Claim, id string) (detect.Pending, error) {
	if claim.Allowed != nil {
		if err := claim.Allowed(); err != nil {
			return detect.Pending{}, err
		}
	}
	switch {
	case !ps.env.Program().Reaches:
		return detect.Pending{}, ps.env.Exited()
	case !ps.followed:
		return detect.Pending{}, api.Errorf(api.CodeNoDriver, "berth does not know what %s asks: it has no driver for it. Answer with keys or input", ps.env.Name())
	}
	if _, ok := ps.env.Driver().(agent.PromptAnswerer); !ok {
		return detect.Pending{}, api.Errorf(api.CodeNoDriver, "berth cannot answer %s yet: answer with keys or input", ps.env.Driver().Name())
	}
	p, ok := ps.env.Fold().Pending(id)
	if !ok {
		return detect.Pending{}, nil
	}
	if claim.Digest != "" && claim.Digest != p.Request.Digest && claim.Digest != p.Before {
		return detect.Pending{}, api.Errorf(api.CodeStalePrompt, "this prompt asks something else now than the answer is for: prompt %s shows what", ps.env.Name()).
			With("prompt", p.Request.ID).With("digest", p.Request.Digest)
	}
	if a := ps.answers[p.Request.ID]; a != nil && !a.judged {
		return detect.Pending{}, api.Errorf(api.CodeStalePrompt, "%s is answering this prompt right now: look at state in a moment for the outcome", a.By.Identity).With("prompt", p.Request.ID)
	}
	return p, nil
}

// give gives the answer by the hook if possible, or else by keys.
func (ps *Prompts) give(ctx context.Context, claim loop.Claim, p detect.Pending, answer agent.Answer) (*answering, error) {
	driver := ps.env.Standing().Driver.(agent.PromptAnswerer)
	answer, err := answer.Named(p.Request)
	if err != nil {
		return nil, err
	}
	if p.Hook != "" {
		n, err := strconv.ParseUint(p.Hook, 10, 64)
		if err != nil {
			return nil, err
		}
		payload, err := hold.ReadHook(ps.env.Dir, n)
		if err != nil {
			return nil, err
		}
		v, err := driver.Verdict(p.Request, answer, payload)
		switch {
		case err == nil && allowsUnseen(claim, p.Request, v.Outcome):
			return nil, ps.unseen(p.Request)
		case err == nil:
			return ps.giveByHook(ctx, claim, p, n, v)
		}
		if !errors.Is(err, agent.ErrOnlyByKeys) {
			return nil, err
		}
		if w, ok := driver.(agent.HookHidesDialog); ok && w.HidesDialog(p.Request) {
			return nil, ps.showDialog(ctx, claim, p, n)
		}
	}
	switch {
	case p.Request.Contested, p.Disputed:
		return nil, errContested
	case p.Over, p.Alike:
		return nil, errJustOver
	case p.Dialog != nil && !p.Whole:
		return nil, errUnseen
	}
	k, err := driver.Keys(p.Request, answer, p.Dialog)
	if err != nil {
		return nil, err
	}
	reviews := k.Outcome == agent.OutcomeAnswered && answer.Kind != agent.AnswerEach && p.Request.Reviewing()
	if claim.Digest == "" && (reviews || k.Outcome == agent.OutcomeAccepted && holdsUnknown(p)) {
		return nil, ps.unreviewed(p.Request)
	}
	if allowsUnseen(claim, p.Request, k.Outcome) {
		return nil, ps.unseen(p.Request)
	}
	return ps.giveByKeys(ctx, claim, p, k)
}

// showDialog releases the hook that keeps the prompt's dialog off the screen.
func (ps *Prompts) showDialog(ctx context.Context, claim loop.Claim, p detect.Pending, hook uint64) error {
	_, err := loop.Ask(ctx, ps.env.Do, func() (struct{}, error) {
		now, err := ps.pendingPrompt(claim, p.Request.ID)
		if err == nil && now.Hook == p.Hook {
			ps.release(hook)
		}
		return struct{}{}, err
	})
	if err != nil {
		return err
	}
	return errShowing
}

// beginAnswer records that the prompt is being answered, if it hasn't changed.
func (ps *Prompts) beginAnswer(claim loop.Claim, p detect.Pending, channel, outcome string) (*answering, error) {
	ps.env.Read() // other clients' input may be unread
	now, err := ps.pendingPrompt(claim, p.Request.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case now.Request == nil || now.Request.Digest != p.Request.Digest || channel == agent.ChannelHook && now.Hook != p.Hook:
		return nil, errHookGone // or the prompt shows more now
	case ps.othersJustTyped(p.Request.Since.Time):
		return nil, errOthersType
	case channel == agent.ChannelKeys && ps.earlierKeys():
		return nil, errEarlier
	case channel == agent.ChannelHook && ps.env.Program().Typed && (ps.env.Deaf() || ps.env.Halted()):
		return nil, errDeaf // a key that waits in its terminal would reach the next dialog
	}
	verb := verbRespond
	if claim.Verb == verbGroom {
		verb = verbGroom
	}
	a := &answering{
		By: claim.By(), Prompt: p.Request.ID, Digest: now.Request.Digest, Type: p.Request.Type, Subtype: p.Request.Subtype, Channel: channel, Outcome: outcome, Verb: verb,
		Opened: p.Request.Since.Time, At: ps.env.Now(), program: ps.program, done: make(chan struct{}),
	}
	if channel == agent.ChannelHook {
		a.Hook, a.settleBy = p.Hook, a.At.Add(answerSettles)
	}
	ps.follow(a)
	return a, nil
}

// giveByHook answers through the hook. It writes no byte to the PTY and needs no lease.
func (ps *Prompts) giveByHook(ctx context.Context, claim loop.Claim, p detect.Pending, hook uint64, v agent.Verdict) (*answering, error) {
	type begun struct {
		a    *answering
		link *hold.Link
	}
	b, err := loop.Ask(ctx, ps.env.Do, func() (begun, error) {
		a, err := ps.beginAnswer(claim, p, agent.ChannelHook, v.Outcome)
		return begun{a, ps.env.Link()}, err
	})
	if err != nil {
		return nil, err
	}
	err = b.link.VerdictMarked(hook, v.Stdout, 0, b.a.mark(false))
	if err == nil || errors.Is(err, hold.ErrNoAnswer) { // the holder may have it; the outcome will show
		return b.a, nil
	}
	_ = ps.env.Do(context.WithoutCancel(ctx), func() { ps.forgetAnswer(b.a) }) // fails only if the loop has ended
	if errors.Is(err, hold.ErrNotWaiting) {
		err = errHookGone
	}
	return nil, err
}

// outcome waits until the loop has judged an answer and emitted its event.
func (ps *Prompts) outcome(ctx context.Context, a *answering) (*Response, error) {
	select {
	case <-a.done:
	case <-ps.env.Over:
		return nil, ps.env.Stopped()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	e := a.result                                        // written before done was closed
	_ = ps.env.Do(context.WithoutCancel(ctx), func() {}) // waits until the loop has published what follows; fails only if it has ended
	r := ps.response(e)
	switch {
	case e.Outcome == agent.OutcomeElsewhere:
		return r, stalePrompt(a.Prompt)
	case !e.Confirmed:
		return r, api.Errorf(api.CodeUnconfirmed, "the answer was given, and no source has confirmed that the agent took it: look at state and screen %s before answering again", r.Session).With("prompt", a.Prompt)
	}
	return r, nil
}

func (ps *Prompts) response(e respondEvent) *Response {
	st := ps.env.Standing()
	return &Response{
		Session: st.Name, ID: ps.env.ID, Delivered: e.Delivered, Confirmed: e.Confirmed, Prompt: e.Prompt, Digest: e.Digest, Type: e.Type,
		Channel: e.Channel, Outcome: e.Outcome, State: string(st.State), Seq: st.Seq,
	}
}

// elsewhere is the response if the prompt was closed before this answer was given.
func (ps *Prompts) elsewhere(prompt string) *Response {
	return ps.response(respondEvent{Prompt: prompt, Outcome: agent.OutcomeElsewhere})
}

// holdsUnknown reports whether a form without a schema has values. They may be the form's own, or typed at the
// terminal.
func holdsUnknown(p detect.Pending) bool {
	return p.Request.Type == agent.PromptForm && len(p.Request.Schema) == 0 && p.Dialog != nil &&
		slices.ContainsFunc(p.Dialog.Fields, func(f agent.Field) bool { return f.Value != "" })
}

// unreviewed refuses to send what was chosen or typed at the terminal unless the caller names its
// digest: the prompt keeps its id while that changes.
func (ps *Prompts) unreviewed(p *agent.Request) error {
	return api.Errorf(api.CodeBadRequest, "not answered: this answer sends what was chosen or typed at the terminal, so say what was seen: look at prompt %s, then add --digest %s", ps.env.Standing().Name, p.Digest).
		With("prompt", p.ID).With("digest", p.Digest)
}

// allowsUnseen reports whether an answer with that outcome allows what the prompt shows only a part of, and the caller hasn't said that
// this is meant.
func allowsUnseen(claim loop.Claim, p *agent.Request, outcome string) bool {
	return p.InPart() && !claim.Unseen && outcome != agent.OutcomeDenied && outcome != agent.OutcomeCancelled
}

// unseen refuses to allow what the prompt shows only a part of, such as the files of edits, unless the caller
// says that this is meant.
func (ps *Prompts) unseen(p *agent.Request) error {
	name := ps.env.Standing().Name
	return api.Errorf(api.CodeBadRequest, "not answered: the prompt shows only a part of what this answer allows, because its dialog shows no more. Look at the terminal: attach %s. To allow it without having seen it, add --unseen", name).
		With("prompt", p.ID).With("digest", p.Digest)
}

func stalePrompt(prompt string) error {
	return api.Errorf(api.CodeStalePrompt, "another client answered this prompt first: state shows what is asked now").With("prompt", prompt)
}

// askedAnew reports whether the prompt became another one, with an id of its own, without an answer.
func (ps *Prompts) askedAnew(ctx context.Context, prompt string) bool {
	anew, err := loop.Ask(ctx, ps.env.Do, func() (bool, error) {
		return slices.Contains(ps.superseded, prompt), nil
	})
	return err == nil && anew
}

func (ps *Prompts) anew(prompt string) error {
	name := ps.env.Standing().Name
	return api.Errorf(api.CodeStalePrompt, "the prompt %s is not what the dialog asks now, and was not answered: prompt %s shows what it asks, under an id of its own", api.Quote(prompt), name).With("prompt", prompt)
}

func (ps *Prompts) noPrompt(prompt string) error {
	name := ps.env.Standing().Name
	if prompt != "" {
		return api.Errorf(api.CodeStalePrompt, "the prompt %s is not pending any more: prompt %s shows what is", api.Quote(prompt), name).With("prompt", prompt)
	}
	return api.Errorf(api.CodeNoPrompt, "%s asks nothing: its state is %s; wait %s --until prompt waits for a question", name, ps.env.Standing().State, name)
}

// answerError turns a driver's refusal into an error for the caller.
func answerError(err error) error {
	switch {
	case errors.Is(err, agent.ErrAnswer):
		return api.Errorf(api.CodeBadRequest, "%w", err)
	case errors.Is(err, agent.ErrCannot):
		return api.Errorf(api.CodeNoDriver, "%w", err)
	}
	return err
}

package sessions

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
)

const verbRespond = "respond"

// optionsWithin is how long an answer waits for the prompt's options to be
// read; the design's figure.
const optionsWithin = 3 * time.Second

// Response is what became of an answer.
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
	errHookGone   = errors.New("the hook waits no more")
	errOthersType = errors.New("somebody types at the dialog")
	errHookSoon   = errors.New("its hook has not come yet")
	errUnveiled   = errors.New("its dialog was kept back by its hook until now")
	errContested  = errors.New("the dialog on the screen is not what the agent's hooks told of")
	errUnseen     = errors.New("its dialog does not show all of what it asks, or can be read otherwise where its rows end")
	errJustOver   = errors.New("it was told to be over, or a key was pressed, and its dialog is on the screen still")
)

// Respond answers a prompt: the one with that id, or with none the one on the
// screen. By the hook that waits where there is one, else by keys under the
// lease. An error may come with a response that says how far it got.
//
// What is begun is carried through and told of as an event, also when the
// caller goes away meanwhile.
func (s *Session) Respond(ctx context.Context, claim Claim, prompt string, answer agent.Answer) (*Response, error) {
	answer, err := answer.Clean()
	if err != nil {
		return nil, answerError(err)
	}
	changed, stop := s.Subscribe()
	defer stop()
	deadline := time.NewTimer(optionsWithin)
	defer deadline.Stop()
	for bound := false; ; bound = true {
		soon := false // written on the loop before ask returns
		p, err := ask(ctx, s, func(c *core) (detect.Pending, error) {
			p, err := c.pendingPrompt(claim, prompt)
			soon = err == nil && c.hookComes(p)
			return p, err
		})
		if err != nil {
			return nil, err
		}
		if p.Request == nil {
			if s.askedAnew(ctx, prompt) {
				return nil, s.anew(prompt)
			}
			if bound {
				return s.elsewhere(prompt), stalePrompt(prompt)
			}
			return nil, s.noPrompt(prompt)
		}
		prompt = p.Request.ID
		var a *answering
		if err = errHookSoon; !soon {
			a, err = s.give(ctx, claim, p, answer)
		}
		if err == nil {
			return s.outcome(ctx, a)
		}
		if errors.Is(err, errUnveiled) { // its dialog is to be drawn
			deadline.Reset(optionsWithin)
		} else if !maySoon(err) {
			return nil, answerError(err)
		}
		select {
		case <-changed:
		case <-time.After(optionsWithin / 30): // a hook's end changes nothing that is published
		case <-deadline.C:
			return nil, s.notReady(p, err)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// maySoon says that what kept an answer back may pass.
func maySoon(err error) bool {
	for _, passing := range []error{agent.ErrNotReady, errHookGone, errOthersType, errHookSoon, errContested, errUnseen, errJustOver} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}

// hookLags is how much later than its dialog a hook may come: 77 ms, and a
// second on a loaded machine.
const hookLags = time.Second

// hookComes says that the prompt was only seen so far, and so shortly before
// that the hook which tells of it may be on its way.
func (c *core) hookComes(p detect.Pending) bool {
	if p.Request == nil || p.Told || !c.detection.hooked || p.Request.Subtype != nil || c.now().Sub(p.Request.Since.Time) >= hookLags {
		return false
	}
	switch p.Request.Type {
	case agent.PromptPermission, agent.PromptPlan, agent.PromptQuestion:
		return true
	}
	return false
}

// notReady says why a prompt could not be answered in time, and what to do.
func (s *Session) notReady(p detect.Pending, err error) error {
	name := s.Status().Name
	why, remedy := fmt.Sprintf("%v", err), fmt.Sprintf("look at screen %s, or answer with keys", name)
	switch {
	case errors.Is(err, errOthersType):
		remedy = "wait until that is done, or attach"
	case errors.Is(err, errContested):
		remedy = fmt.Sprintf("answer it at the terminal: attach %s. What the hooks told of is a prompt of its own, see state %s", name, name)
	case errors.Is(err, errUnseen):
		remedy = fmt.Sprintf("attach %s, make the window larger, and answer there", name)
	case errors.Is(err, errJustOver):
		remedy = fmt.Sprintf("look at screen %s, and answer again if the dialog stays", name)
	case p.Dialog == nil:
		why = "its dialog is not on the screen"
		remedy = fmt.Sprintf("what is, screen %s shows; a draft in the composer holds a dialog back", name)
	}
	return api.Errorf(api.CodeNotReady, "the prompt cannot be answered yet: %s after %s; %s", why, optionsWithin, remedy).
		With("prompt", p.Request.ID).With("contested", p.Request.Contested).With("lines", append([]string{}, p.Drawn...))
}

// pendingPrompt finds the prompt to be answered, if the caller may answer it.
func (c *core) pendingPrompt(claim Claim, id string) (detect.Pending, error) {
	if claim.Allowed != nil {
		if err := claim.Allowed(); err != nil {
			return detect.Pending{}, err
		}
	}
	d := c.detection
	switch {
	case c.exit != nil || c.link == nil:
		return detect.Pending{}, c.exitedError()
	case d == nil:
		return detect.Pending{}, api.Errorf(api.CodeNoDriver, "berth does not know what %s asks: it has no driver for it. Answer with keys or input", c.spec.Name)
	}
	if _, ok := d.driver.(agent.PromptAnswerer); !ok {
		return detect.Pending{}, api.Errorf(api.CodeNoDriver, "berth cannot answer %s yet: answer with keys or input", d.driver.Name())
	}
	p, ok := d.fold.Pending(id)
	if !ok {
		return detect.Pending{}, nil
	}
	if claim.Digest != "" && claim.Digest != p.Request.Digest && claim.Digest != p.Before {
		return detect.Pending{}, api.Errorf(api.CodeStalePrompt, "this prompt asks something else now than the answer is for: prompt %s shows what", c.spec.Name).
			With("prompt", p.Request.ID).With("digest", p.Request.Digest)
	}
	if a := d.answers[p.Request.ID]; a != nil && !a.judged {
		return detect.Pending{}, api.Errorf(api.CodeStalePrompt, "%s is answering this prompt right now: state tells in a moment what became of it", a.By.Identity).With("prompt", p.Request.ID)
	}
	return p, nil
}

// give gives the answer by the surest way there is.
func (s *Session) give(ctx context.Context, claim Claim, p detect.Pending, answer agent.Answer) (*answering, error) {
	driver := s.reg.driver(s.Status().Spec).(agent.PromptAnswerer)
	answer, err := answer.Named(p.Request)
	if err != nil {
		return nil, err
	}
	if p.Hook != "" {
		n, err := strconv.ParseUint(p.Hook, 10, 64)
		if err != nil {
			return nil, err
		}
		payload, err := hold.ReadHook(s.dir, n)
		if err != nil {
			return nil, err
		}
		v, err := driver.Verdict(p.Request, answer, payload)
		if err == nil {
			return s.giveByHook(ctx, claim, p, n, v)
		}
		if !errors.Is(err, agent.ErrOnlyByKeys) {
			return nil, err
		}
		if w, ok := driver.(agent.HookHidesDialog); ok && w.HidesDialog(p.Request) {
			return nil, s.unveil(ctx, claim, p, n)
		}
	}
	switch {
	case p.Request.Contested:
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
	if k.Outcome == agent.OutcomeAnswered && answer.Kind == agent.ChooseOption && p.Request.Reviewing() && claim.Digest == "" {
		return nil, s.unreviewed(p.Request)
	}
	return s.giveByKeys(ctx, claim, p, k)
}

// unveil lets the hook go that keeps the prompt's dialog from the screen.
func (s *Session) unveil(ctx context.Context, claim Claim, p detect.Pending, hook uint64) error {
	_, err := ask(ctx, s, func(c *core) (struct{}, error) {
		now, err := c.pendingPrompt(claim, p.Request.ID)
		if err == nil && now.Hook == p.Hook {
			c.release(hook)
		}
		return struct{}{}, err
	})
	if err != nil {
		return err
	}
	return errUnveiled
}

// begin keeps that the prompt is being answered, if it is still as it was.
func (c *core) beginAnswer(claim Claim, p detect.Pending, channel, outcome string) (*answering, error) {
	c.unread = c.link != nil // what others typed may be unread
	c.catchUp()
	now, err := c.pendingPrompt(claim, p.Request.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case now.Request == nil || now.Request.Digest != p.Request.Digest || channel == agent.ChannelHook && now.Hook != p.Hook:
		return nil, errHookGone // or it shows more than it did
	case c.othersJustTyped(p.Request.Since.Time):
		return nil, errOthersType
	}
	verb := verbRespond
	if claim.Verb == verbGroom {
		verb = verbGroom
	}
	a := &answering{
		By: claim.by(), Prompt: p.Request.ID, Digest: now.Request.Digest, Type: p.Request.Type, Subtype: p.Request.Subtype, Channel: channel, Outcome: outcome, Verb: verb,
		Opened: p.Request.Since.Time, At: c.now(), done: make(chan struct{}),
	}
	if channel == agent.ChannelHook {
		a.Hook, a.settleBy = p.Hook, a.At.Add(answerSettles)
	}
	c.detection.follow(a)
	return a, nil
}

// giveByHook writes no byte to the PTY and needs no lease.
func (s *Session) giveByHook(ctx context.Context, claim Claim, p detect.Pending, hook uint64, v agent.Verdict) (*answering, error) {
	type begun struct {
		a    *answering
		link *hold.Link
	}
	b, err := ask(ctx, s, func(c *core) (begun, error) {
		a, err := c.beginAnswer(claim, p, agent.ChannelHook, v.Outcome)
		return begun{a, c.link}, err
	})
	if err != nil {
		return nil, err
	}
	err = b.link.VerdictMarked(hook, v.Stdout, 0, b.a.mark(false))
	if err == nil || errors.Is(err, hold.ErrNoAnswer) { // it may have been taken: what becomes of it will tell
		return b.a, nil
	}
	_ = s.do(context.WithoutCancel(ctx), func(c *core) { c.forgetAnswer(b.a) }) // a loop that has ended follows no answers
	if errors.Is(err, hold.ErrNotWaiting) {
		err = errHookGone
	}
	return nil, err
}

// outcome waits until it is known what became of an answer, which is for the
// loop to find out and to tell.
func (s *Session) outcome(ctx context.Context, a *answering) (*Response, error) {
	select {
	case <-a.done:
	case <-s.over:
		return nil, s.stopped()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	e := a.result                                        // written before done was closed
	_ = s.do(context.WithoutCancel(ctx), func(*core) {}) // what follows from it is published then; a loop that has ended has said all
	r := s.response(e)
	switch {
	case e.Outcome == agent.OutcomeElsewhere:
		return r, stalePrompt(a.Prompt)
	case !e.Confirmed:
		return r, api.Errorf(api.CodeUnconfirmed, "the answer was given, and nothing has told that it was the one taken: look at state and screen %s before answering again", r.Session).With("prompt", a.Prompt)
	}
	return r, nil
}

func (s *Session) response(e respondEvent) *Response {
	st := s.Status()
	return &Response{
		Session: st.Name, ID: st.ID, Delivered: e.Delivered, Confirmed: e.Confirmed, Prompt: e.Prompt, Digest: e.Digest, Type: e.Type,
		Channel: e.Channel, Outcome: e.Outcome, State: string(st.Now), Seq: st.Seq,
	}
}

// elsewhere is for a prompt that was answered before this answer was given.
func (s *Session) elsewhere(prompt string) *Response {
	return s.response(respondEvent{Prompt: prompt, Outcome: agent.OutcomeElsewhere})
}

// unreviewed refuses to send answers chosen at the terminal unless the caller names their
// digest: the page keeps its id while the answers change.
func (s *Session) unreviewed(p *agent.Request) error {
	return api.Errorf(api.CodeBadRequest, "this page sends the answers that were chosen at the terminal, so say which were seen: add --digest %s, after a look at prompt %s", p.Digest, s.Status().Name).
		With("prompt", p.ID).With("digest", p.Digest)
}

func stalePrompt(prompt string) error {
	return api.Errorf(api.CodeStalePrompt, "somebody else answered this prompt first: state shows what is asked now").With("prompt", prompt)
}

// askedAnew says that nothing answered the prompt: what its dialog shows is another one,
// with an id of its own.
func (s *Session) askedAnew(ctx context.Context, prompt string) bool {
	anew, err := ask(ctx, s, func(c *core) (bool, error) {
		return c.detection != nil && slices.Contains(c.detection.superseded, prompt), nil
	})
	return err == nil && anew
}

func (s *Session) anew(prompt string) error {
	name := s.Status().Name
	return api.Errorf(api.CodeStalePrompt, "the prompt %s is not what the dialog asks now, and was not answered: prompt %s shows what it asks, under an id of its own", api.Quote(prompt), name).With("prompt", prompt)
}

func (s *Session) noPrompt(prompt string) error {
	name := s.Status().Name
	if prompt != "" {
		return api.Errorf(api.CodeStalePrompt, "the prompt %s is not pending any more: prompt %s shows what is", api.Quote(prompt), name).With("prompt", prompt)
	}
	return api.Errorf(api.CodeNoPrompt, "%s asks nothing: its state is %s; wait %s --until prompt waits for a question", name, s.Status().Now, name)
}

// answerError puts what a driver refuses into words for a caller.
func answerError(err error) error {
	switch {
	case errors.Is(err, agent.ErrAnswer):
		return api.Errorf(api.CodeBadRequest, "%w", err)
	case errors.Is(err, agent.ErrCannot):
		return api.Errorf(api.CodeNoDriver, "%w", err)
	}
	return writeError(err)
}

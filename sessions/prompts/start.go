package prompts

import (
	"context"
	"time"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions/events"
	"berth/sessions/groom"
	"berth/sessions/loop"
)

const verbGroom = "groom"

// groomer is the actor of answers by policy: in the lease, in events, in marks.
var groomer = loop.Actor{Identity: keys.Identity{Name: verbGroom}, Client: verbGroom}

// isAnswer reports whether input with this verb answers a prompt.
func isAnswer(verb string) bool { return verb == verbRespond || verb == verbGroom }

// groomEvent is the data of an event about an answer that Berth gave by policy, or gave up on.
type groomEvent struct {
	By        string           `json:"by"`
	Prompt    string           `json:"prompt"`
	Type      agent.PromptType `json:"prompt_type"`
	Subtype   *string          `json:"subtype"`
	Answer    agent.AnswerKind `json:"answer"`
	Outcome   string           `json:"outcome"` // left: it had no effect, so a person has to answer
	Delivered bool             `json:"delivered"`
	Confirmed bool             `json:"confirmed"`
	Tries     int              `json:"tries"`
}

// outcomeLeft is the outcome of a startup prompt that Berth has given up on.
const outcomeLeft = "left"

// answerEvent is the event of an answer's outcome.
func (ps *Prompts) answerEvent(a *answering, e respondEvent) events.Event {
	if a.Verb != verbGroom {
		return events.Event{Type: verbRespond, Data: e}
	}
	g := groomEvent{
		By: verbGroom, Prompt: e.Prompt, Type: e.Type, Subtype: a.Subtype, Answer: agent.Accept, Outcome: e.Outcome, Delivered: e.Delivered, Confirmed: e.Confirmed, Tries: 1,
	}
	if a.Outcome == agent.OutcomeDenied {
		g.Answer = agent.Deny
	}
	if ps.followed {
		g.Tries = ps.groom.Count(e.Prompt)
	}
	return events.Event{Type: verbGroom, Data: g}
}

// groomed is the answer by policy to the current prompt.
func (ps *Prompts) groomed() (p *agent.Request, answer agent.Answer, ok bool) {
	policy, own := ps.env.Policy()
	driver, can := ps.env.Driver().(agent.StartupAnswerer)
	if !can || !ps.env.Program().Live || !own || ps.env.Program().State != agent.Prompt || ps.env.Fold().Status().Ready {
		return nil, answer, false // a person has opened later prompts
	}
	pending, there := ps.env.Fold().Pending("")
	if !there || pending.Dialog == nil || pending.Dialog.Partial || !pending.Request.Ready {
		return nil, answer, false
	}
	answer, ok = driver.Groom(pending.Dialog, policy)
	return pending.Request, answer, ok
}

// start answers startup prompts that the policy allows. It uses the same way as respond: the lease, and keys
// that are pressed only while the dialog is unchanged.
func (ps *Prompts) start(now time.Time) {
	ps.groomAt = time.Time{}
	p, answer, ok := ps.groomed()
	if !ok {
		return
	}
	busy := ps.grooming || ps.answers[p.ID] != nil && !ps.answers[p.ID].judged
	action, wake := ps.groom.Step(groom.Seen{Prompt: p.ID, Wanted: ok, Busy: busy}, now)
	ps.groomAt = wake
	switch action {
	case groom.Leave:
		ps.env.Note(verbGroom, groomEvent{By: verbGroom, Prompt: p.ID, Type: p.Type, Subtype: p.Subtype, Answer: answer.Kind, Outcome: outcomeLeft, Tries: ps.groom.Count(p.ID)})
		ps.env.SaveSoon()
	case groom.Answer:
		ps.grooming = true
		program := ps.program
		ps.env.Background(func(ctx context.Context) { ps.answer(ctx, program, p.ID, answer) })
	}
}

// answer gives an answer by policy, off the loop.
func (ps *Prompts) answer(ctx context.Context, program int, prompt string, answer agent.Answer) {
	_, err := ps.Respond(ctx, loop.Claim{Actor: groomer, Verb: verbGroom}, prompt, answer)
	_ = ps.env.Do(context.WithoutCancel(ctx), func() { // fails only if the loop has ended
		if ps.program != program {
			return
		}
		if ps.grooming = false; err == nil {
			return
		}
		switch api.AsError(err).Code {
		case api.CodeWriterBusy, api.CodeNotReady, api.CodeStalePrompt, api.CodeNoPrompt, api.CodeUnconfirmed, api.CodeExited:
			// Another client has control or was first, or the key had no effect. The key's record counts the try.
		default:
			ps.env.Log.Warn("could not answer a startup prompt", "prompt", prompt, "error", err)
			ps.groom.Given(prompt, ps.env.Now())
		}
	})
}

// Events are the fields of each type of event of this package, beside those of the head.
var Events = map[string]any{verbRespond: respondEvent{}, verbGroom: groomEvent{}}

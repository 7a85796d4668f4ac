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

// groomer is who grooms, as others see it: in the lease, in events, in marks.
var groomer = loop.Actor{Identity: keys.Identity{Name: verbGroom}, Client: verbGroom}

// isAnswer says whether input with that verb answers a prompt.
func isAnswer(verb string) bool { return verb == verbRespond || verb == verbGroom }

// groomEvent tells of an answer that Berth itself gave, or gave up on.
type groomEvent struct {
	By        string           `json:"by"`
	Prompt    string           `json:"prompt"`
	Type      agent.PromptType `json:"prompt_type"`
	Subtype   *string          `json:"subtype"`
	Answer    agent.AnswerKind `json:"answer"`
	Outcome   string           `json:"outcome"` // left: it had no effect, and is somebody's now
	Delivered bool             `json:"delivered"`
	Confirmed bool             `json:"confirmed"`
	Tries     int              `json:"tries"`
}

// outcomeLeft is that of a prompt that grooming has given up on.
const outcomeLeft = "left"

// answerTold is the event of an answer's end.
func (ps *Prompts) answerTold(a *answering, e respondEvent) events.Event {
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

// groomed is what the session's own answer to the present prompt would be.
func (ps *Prompts) groomed() (p *agent.Request, answer agent.Answer, ok bool) {
	policy, own := ps.env.Policy()
	driver, can := ps.env.Driver().(agent.StartupAnswerer)
	if !can || !ps.env.Program().Awake || !own || ps.env.Program().State != agent.Prompt || ps.env.Fold().Status().Ready {
		return nil, answer, false // what is asked later somebody has called up
	}
	pending, there := ps.env.Fold().Pending("")
	if !there || pending.Dialog == nil || pending.Dialog.Partial || !pending.Request.Ready {
		return nil, answer, false
	}
	answer, ok = driver.Groom(pending.Dialog, policy)
	return pending.Request, answer, ok
}

// start answers what the session lets Berth answer, by the same way as respond:
// under the lease, and by keys that are pressed only while the dialog stands
// there as it was.
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

// answer gives an answer, off the loop.
func (ps *Prompts) answer(ctx context.Context, program int, prompt string, answer agent.Answer) {
	_, err := ps.Respond(ctx, loop.Claim{Actor: groomer, Verb: verbGroom}, prompt, answer)
	_ = ps.env.Do(context.WithoutCancel(ctx), func() { // a loop that has ended grooms no more
		if ps.program != program {
			return
		}
		if ps.grooming = false; err == nil {
			return
		}
		switch api.AsError(err).Code {
		case api.CodeWriterBusy, api.CodeNotReady, api.CodeStalePrompt, api.CodeNoPrompt, api.CodeUnconfirmed, api.CodeExited:
			// Somebody writes or was first, or the key had no effect, which is counted by its record.
		default:
			ps.env.Log.Warn("what the agent asks at its start could not be answered", "prompt", prompt, "error", err)
			ps.groom.Given(prompt, ps.env.Now())
		}
	})
}

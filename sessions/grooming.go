package sessions

import (
	"context"
	"time"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions/events"
	"berth/sessions/groom"
)

const verbGroom = "groom"

// groomer is who grooms, as others see it: in the lease, in events, in marks.
var groomer = Actor{Identity: keys.Identity{Name: verbGroom}, Client: verbGroom}

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
func (c *core) answerTold(a *answering, e respondEvent) events.Event {
	if a.Verb != verbGroom {
		return events.Event{Type: verbRespond, Data: e}
	}
	g := groomEvent{
		By: verbGroom, Prompt: e.Prompt, Type: e.Type, Subtype: a.Subtype, Answer: agent.Accept, Outcome: e.Outcome, Delivered: e.Delivered, Confirmed: e.Confirmed, Tries: 1,
	}
	if a.Outcome == agent.OutcomeDenied {
		g.Answer = agent.Deny
	}
	if d := c.detection; d != nil {
		g.Tries = d.groom.Count(e.Prompt)
	}
	return events.Event{Type: verbGroom, Data: g}
}

// groomed is what the session's own answer to the present prompt would be.
func (c *core) groomed() (p *agent.Request, answer agent.Answer, ok bool) {
	d := c.detection
	driver, can := d.driver.(agent.StartupAnswerer)
	if !can || !d.awake || c.spec.Groom != agent.GroomAuto || c.state != agent.Prompt || d.fold.Status().Ready {
		return nil, answer, false // what is asked later somebody has called up
	}
	pending, there := d.fold.Pending("")
	if !there || pending.Dialog == nil || pending.Dialog.Partial || !pending.Request.Ready {
		return nil, answer, false
	}
	answer, ok = driver.Groom(pending.Dialog, agent.Policy{Trust: c.spec.Trust, AcceptBypass: c.spec.AcceptBypass, Vouched: c.spec.Vouched})
	return pending.Request, answer, ok
}

// groom answers what the session lets Berth answer, by the same way as respond:
// under the lease, and by keys that are pressed only while the dialog stands
// there as it was.
func (c *core) groom(now time.Time) {
	d := c.detection
	d.groomAt = time.Time{}
	p, answer, ok := c.groomed()
	if !ok {
		return
	}
	busy := d.grooming || d.answers[p.ID] != nil && !d.answers[p.ID].judged
	action, wake := d.groom.Step(groom.Seen{Prompt: p.ID, Wanted: ok, Busy: busy}, now)
	d.groomAt = wake
	switch action {
	case groom.Leave:
		c.note(verbGroom, groomEvent{By: verbGroom, Prompt: p.ID, Type: p.Type, Subtype: p.Subtype, Answer: answer.Kind, Outcome: outcomeLeft, Tries: d.groom.Count(p.ID)})
		c.saveSoon = true
	case groom.Answer:
		d.grooming = true
		c.background(func() { c.s.groom(d, p.ID, answer) })
	}
}

// groom gives an answer, off the loop.
func (s *Session) groom(d *detection, prompt string, answer agent.Answer) {
	ctx := s.reg.ctx
	_, err := s.Respond(ctx, Claim{Actor: groomer, Verb: verbGroom}, prompt, answer)
	_ = s.do(context.WithoutCancel(ctx), func(c *core) { // a loop that has ended grooms no more
		d.grooming = false
		if c.detection != d || err == nil {
			return
		}
		switch api.AsError(err).Code {
		case api.CodeWriterBusy, api.CodeNotReady, api.CodeStalePrompt, api.CodeNoPrompt, api.CodeUnconfirmed, api.CodeExited:
			// Somebody writes or was first, or the key had no effect, which is counted by its record.
		default:
			c.log.Warn("what the agent asks at its start could not be answered", "prompt", prompt, "error", err)
			d.groom.Given(prompt, c.now())
		}
	})
}

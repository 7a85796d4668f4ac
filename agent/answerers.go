package agent

import (
	"fmt"
	"time"
)

// Answerers answer prompts by keys at their dialogs. An answerer is nil when Berth presses no key at such a dialog of the
// agent.
type Answerers struct {
	Permission, Plan, Question, Form, Setup, Notice func(p *Request, a Answer, d *Dialog) (KeyAnswer, error)

	ShownFor time.Duration // of the first step
}

// Keys is PromptAnswerer.Keys by the prompt's type.
func (as Answerers) Keys(p *Request, a Answer, d *Dialog) (KeyAnswer, error) {
	if d == nil || d.Partial {
		return KeyAnswer{}, ErrNotReady
	}
	answer := map[PromptType]func(*Request, Answer, *Dialog) (KeyAnswer, error){
		PromptPermission: as.Permission, PromptPlan: as.Plan, PromptQuestion: as.Question,
		PromptForm: as.Form, PromptSetup: as.Setup, PromptNotice: as.Notice,
	}[p.Type]
	if answer == nil {
		return KeyAnswer{}, fmt.Errorf("%w: use keys or attach", ErrCannot)
	}
	k, err := answer(p, a, d)
	if err == nil && len(k.Steps) > 0 {
		k.Steps[0].ShownFor = as.ShownFor
	}
	return k, err
}

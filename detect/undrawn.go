package detect

import (
	"strings"

	"berth/agent"
)

// withUndrawn returns the fact with what no dialog draws of its tool's input in its prompt.
func (f *Fold) withUndrawn(fact *agent.Fact) *agent.Fact {
	whole := *fact
	whole.Request = fact.Request.Clone()
	f.showUndrawn(whole.Request, whole.Request)
	return &whole
}

// showUndrawn adds what no dialog draws of the reported tool's input to a prompt's text, once. A prompt whose
// input it is shows it already.
func (f *Fold) showUndrawn(p, reported *agent.Request) {
	lines, text := f.undrawn(reported), agent.Value(p.Text)
	if lines != "" && lines != p.FullInput && text != lines && !strings.HasSuffix(text, "\n\n"+lines) {
		p.Text = agent.Pointer(strings.TrimPrefix(text+"\n\n"+lines, "\n\n"))
	}
}

// learnUndrawn adds that to a prompt that was seen before a hook reported it. The result is
// another prompt, because the seen one didn't show it.
func (f *Fold) learnUndrawn(r *request, reported *agent.Request) {
	more := r.Prompt.Clone()
	f.showUndrawn(more, reported)
	f.renewWith(r, more.Text)
}

// renewWith gives a prompt another text, and a new id with it. The same text changes nothing.
func (f *Fold) renewWith(r *request, text *string) {
	if agent.Value(text) == agent.Value(r.Prompt.Text) {
		return
	}
	f.renew(r)
	r.Prompt.Text = text
	r.keep()
	f.result.Opened = append(f.result.Opened, r.Prompt.Clone())
}

// learnLogged adds what the dialog's call has beside it to a prompt that was only seen, when its call is logged, or the hook of
// another conversation reports it, after the prompt was opened. The dialog may be off the screen, or cut, at that moment: any
// process of the session can draw over it. So it is compared again when it is back. The result is another prompt, because the
// seen one didn't show it.
func (f *Fold) learnLogged() {
	d := f.dialog()
	for _, r := range f.m.Requests {
		if d == nil || d.Cut || !r.seenOnly() || !r.Prompt.OnScreen || r.Over != nil && !r.Over.Denied {
			continue
		}
		more := r.Prompt.Clone()
		f.addUndrawn(more, d)
		f.renewWith(r, more.Text)
	}
}

// learnPast adds what dialogs don't draw of past calls to prompts that hooks reported and that only keys can answer. The result is another prompt.
func (f *Fold) learnPast() {
	d := f.dialog()
	for _, r := range f.m.Requests {
		if d == nil || !r.Told || r.Hook != "" || r.Given || !r.Prompt.OnScreen || r.Over != nil || r.Prompt.Type != agent.PromptPermission {
			continue
		}
		l, ok := f.comparesPast(d)
		if !ok {
			return
		}
		more := r.Prompt.Clone()
		f.addPast(more, d, f.toldUndrawn(l, r, d))
		f.renewWith(r, more.Text)
	}
}

package detect

import "berth/agent"

// A line of the session log can be too long to be read, or no entry. It may have had a call, and only the log has what a hook leaves
// out of it, or what its dialog doesn't draw. The functions of this file say so in the prompts that may be about that call, until
// the agent rests.

// nameSkipped says so in the prompts whose hooks have reported them before the line was read. The result is another prompt.
func (f *Fold) nameSkipped() {
	for _, r := range f.m.Requests {
		if r.Told && !r.Given {
			more := r.Prompt.Clone()
			f.nameForgotten(more)
			f.renewWith(r, more)
		}
	}
}

// learnSkipped says so in the permission on the screen, also if it has no room there, unless a hook waits for its answer: that is for the
// hook's own call. Of an agent whose log alone says what a permission leaves out, it is a part.
func (f *Fold) learnSkipped() {
	_, leavesOut := f.driver.(agent.UndrawnInputReader)
	_, logs := f.driver.(agent.CallLogReader)
	_, joins := f.driver.(agent.CallJoiner)
	d := f.dialog()
	if f.m.Skipped.IsZero() || !leavesOut && !logs || d == nil || !ofWork(d) {
		return
	}
	for _, r := range f.m.Requests {
		if r.Prompt.OnScreen && r.Hook == "" && !r.Given && r.Prompt.Type == agent.PromptPermission {
			more := r.Prompt.Clone()
			addLines(more, hadNoRoom)
			if joins { // no hook says what the dialog leaves out
				if more.Input == nil {
					more.SetInput(d.Body)
				}
				more.SetInPart()
			}
			f.renewWith(r, more)
		}
	}
}

package detect

import (
	"cmp"
	"slices"
	"strings"

	"berth/agent"
)

// An agent may ask about its calls in any order, or by dialogs that the driver doesn't know. So a prompt of such an agent names each call of the
// session log that may have a dialog below its own: an answer by keys is for those too. See openlog.go and agent.OpenCallNamer.

// openLonger bounds the input of such a call in a prompt's text. With a longer one no key answers the prompt.
const openLonger = 16 << 10

// openLines are the paragraphs that name the calls whose dialogs may be below d, the dialog of prompt r: those of the session log without
// a result that the driver wants named, and those of other tools whose hooks waited in another conversation. Any process of the
// session can report that the agent has left its conversation, and the agent's own hook is then another one's. d is nil before its dialog came.
func (f *Fold) openLines(r *request, d *agent.Dialog) (all []string) {
	if d != nil && (d.Type == agent.PromptForm || !ofWork(d) && len(d.Options) == 0) {
		return nil
	}
	add := func(tool string, input []byte) {
		if lines := mayBeOf + tool + ", with\n" + agent.Compact(input); !slices.Contains(all, lines) {
			all = append(all, lines)
		}
	}
	if l, ok := f.driver.(agent.OpenCallNamer); ok && (d == nil || d.Agent == "") {
		for i := range f.m.Open {
			c := &f.m.Open[i]
			own := c.Tool == r.Tool && c.Input == r.Input
			if f.mayAsk(c) && (!own && (d == nil || l.NamesOpen(d, c.Tool, []byte(c.Input), f.isOpen(c, d))) || d != nil && f.leavesOutOpen(r, d, c)) {
				add(c.Tool, []byte(cmp.Or(c.Raw, c.Input)))
			}
		}
	}
	for _, o := range f.m.Lost {
		if o.Waits && o.Foreign && (o.Tool != r.Tool || !says(r.Prompt, f.undrawn(o.Prompt))) {
			asks := o.Prompt.Raw
			if in, err := agent.ReadInput(asks); err != nil || len(in) == 0 {
				asks = agent.Encoded(map[string]any{"input": o.Prompt.FullInput, "text": o.Prompt.Text, "questions": o.Prompt.Questions})
			}
			add(o.Tool, asks)
		}
	}
	return all
}

// leavesOutOpen reports whether the dialog is like the call and leaves out a part of it that the prompt doesn't say. A call of a log that was read late is
// known only as one of the log's.
func (f *Fold) leavesOutOpen(r *request, d *agent.Dialog, c *logCall) bool {
	if !c.Late || f.isOpen(c, d) == agent.NoMatch {
		return false
	}
	p := &agent.Request{Tool: agent.Pointer(c.Tool), Raw: []byte(cmp.Or(c.Raw, c.Input))}
	return !says(r.Prompt, f.undrawn(p))
}

// nameOpen adds to the prompt's text the other calls that may have a dialog below the drawn one.
func (f *Fold) nameOpen(p *agent.Request, r *request, d *agent.Dialog) {
	if all := f.openLines(r, d); len(all) <= alikeShown {
		for _, lines := range all {
			if len(lines) <= openLonger {
				addLines(p, lines)
			}
		}
	}
}

// namedOpen are the paragraphs of the prompt's text that name such calls.
func namedOpen(p *agent.Request) []string {
	return slices.DeleteFunc(strings.Split(agent.Value(p.Text), "\n\n"), func(lines string) bool { return !strings.HasPrefix(lines, mayBeOf) })
}

// unnamedOpen reports whether there is such a call that the prompt doesn't name.
func (f *Fold) unnamedOpen(r *request, d *agent.Dialog) bool {
	return slices.ContainsFunc(f.openLines(r, d), func(lines string) bool { return !says(r.Prompt, lines) })
}

// isOpen says how much of the call the dialog may show, by the call or by its permission in the log.
func (f *Fold) isOpen(c *logCall, d *agent.Dialog) agent.Match {
	if how := f.isDrawn(c, d); how != agent.NoMatch || !f.asksBy(d, c.ID) {
		return how
	}
	return agent.PartMatch
}

// isOnlyOpen reports whether the session log, which has subagents' calls too, has one call alone without a result, and the dialog shows all of it.
func (f *Fold) isOnlyOpen(d *agent.Dialog) bool {
	found, m := 0, &f.m
	for i := range m.Open {
		if c := &m.Open[i]; f.mayAsk(c) {
			if found++; f.isDrawn(c, d) != agent.WholeMatch {
				return false
			}
		}
	}
	l, ok := f.driver.(agent.OpenCallReader)
	return ok && l.OpenCalls().OfAll && found == 1 && !m.OpenMore && len(m.Away) == 0
}

// asksBy reports whether the session log has a permission that names the call, and the dialog is like that.
func (f *Fold) asksBy(d *agent.Dialog, id string) bool {
	return slices.ContainsFunc(slices.Concat(f.m.Calls, f.m.Unasked), func(c call) bool {
		return id != "" && c.ID == id && c.Joined && f.looksLike(d, &c) != nil
	})
}

// mayBeOf begins such a paragraph.
const mayBeOf = mayAlso + "of "

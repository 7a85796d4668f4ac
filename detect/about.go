package detect

import (
	"slices"
	"strings"

	"berth/agent"
)

// undrawn is what no dialog draws of a reported permission; empty for an agent whose dialogs draw all.
func (f *Fold) undrawn(p *agent.Request) string {
	u, ok := f.driver.(agent.UndrawnInputReader)
	if !ok || p == nil {
		return ""
	}
	return u.Undrawn(agent.Value(p.Tool), p.Raw, f.o.Dir)
}

// isOf reports whether the prompt is about the call, in what no dialog draws too.
func (f *Fold) isOf(r *request, c *call) bool {
	asks := c.asks()
	lines := f.undrawn(asks)
	if lines != "" && r.seenOnly() {
		return c.Tool == r.Tool && c.Agent == r.Agent && asks.FullInput == r.Prompt.FullInput && strings.HasSuffix(agent.Value(r.Prompt.Text), lines)
	}
	same := c.Tool == r.Tool && c.Agent == r.Agent && (c.Input == r.Input || c.Logged != "" && c.Logged == r.Input)
	// Any process of the session can name a call's id in a hook about something else, such as another tool.
	named := c.ID != "" && c.ID == r.Call && c.Tool == r.Tool && (asks == nil && c.Logged == "" || asks != nil && asks.FullInput == r.Prompt.FullInput)
	return (same || named) && (asks == nil || f.undrawn(r.Prompt) == lines)
}

// equals is how many calls the prompt may be about that haven't asked. Its dialog is one's, and any process can name
// either.
func (f *Fold) equals(r *request) (n int) {
	for i := range f.m.Calls {
		if c := &f.m.Calls[i]; !c.Asked && f.isOf(r, c) {
			n++
		}
	}
	return n
}

// mayAlso begins a paragraph of a prompt's text that names a call that its dialog may be about.
const mayAlso = "The dialog may be that of a call "

// onlyHook is in the text of a subagent's prompt that keys answer.
const onlyHook = "Only a hook says what the dialog leaves out of this call, and another process can have sent that hook."

// alone is the prompt's text without other calls, which are its last paragraphs. What the agent says is before them, also where
// it begins like such a paragraph.
func alone(p *agent.Request) string {
	own := strings.Split(agent.Value(p.Text), "\n\n")
	for at := len(own) - 1; at >= 0; at-- {
		switch {
		case strings.HasPrefix(own[at], mayAlso):
			own = slices.Delete(own, at, at+1)
		case own[at] != onlyHook:
			return strings.Join(own, "\n\n")
		}
	}
	return strings.Join(own, "\n\n")
}

// ofSeveral reports whether the prompt's text names another call.
func ofSeveral(p *agent.Request) bool { return alone(p) != agent.Value(p.Text) }

// allowedOne reports whether a key of Berth has allowed the prompt's call, and no other one's dialog.
func (r *request) allowedOne() bool { return r.Allowed && r.Whole && !ofSeveral(r.Prompt) }

// eachCall visits the calls that haven't ended, after those that were only reported as over.
func (f *Fold) eachCall(visit func(c *call)) {
	for _, calls := range [][]call{f.m.Unasked, f.m.Calls} {
		for i := range calls {
			visit(&calls[i])
		}
	}
}

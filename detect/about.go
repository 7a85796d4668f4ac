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
		return f.isInPlaceOf(r, c) || c.Tool == r.Tool && c.Agent == r.Agent && asks.FullInput == r.Prompt.FullInput && strings.HasSuffix(agent.Value(r.Prompt.Text), lines)
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

// alikeShown is how many other calls a prompt's text names. With more, no key answers it.
const alikeShown = 16

// hadNoRoom is in the text of a prompt that may be about a call that was crowded out, or whose line in the log couldn't be read.
const hadNoRoom = mayAlso + "that Berth had no room to keep, and that may do more than is shown."

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

// ofKept is a prompt's text without that paragraph, which says nothing about its call.
func ofKept(p *agent.Request) string {
	own := strings.Split(agent.Value(p.Text), "\n\n")
	return strings.Join(slices.DeleteFunc(own, func(lines string) bool { return lines == hadNoRoom }), "\n\n")
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

// uncalled reports whether a prompt is about a call that isn't known, and that says what the dialog leaves out.
func (f *Fold) uncalled(p *agent.Request) bool {
	chooser, ok := f.driver.(agent.CallChooser)
	return ok && chooser.OnlyByCall(p)
}

// showUndrawn adds what no dialog draws of the reported tool's input to a prompt's text, once. A prompt whose
// input it is shows it already.
func (f *Fold) showUndrawn(p, reported *agent.Request) {
	lines, text := f.undrawn(reported), agent.Value(p.Text)
	if lines != "" && lines != p.FullInput && text != lines && !strings.HasSuffix(text, "\n\n"+lines) {
		p.Text = agent.Pointer(strings.TrimPrefix(text+"\n\n"+lines, "\n\n"))
	}
	addWhole(p, lines, reported.FullInput)
	f.completes(p, reported)
}

// completes ends that a prompt is a part, if the agent reported that it asks the call, whose fields the text has, by such a dialog. After a
// line of the log that wasn't read, the dialog may be another call's.
func (f *Fold) completes(p, reported *agent.Request) {
	if joiner, ok := f.driver.(agent.CallJoiner); ok && p.InPart() && f.m.Skipped.IsZero() && joiner.AsksInPart(reported) {
		p.SetNoPart()
	}
}

// called is the prompt that a call would ask by its input alone, as the agent uses that.
func (f *Fold) called(c *call) *agent.Request {
	var about agent.Fact
	if c.name(&about); c.Used != "" {
		about.Input = []byte(c.Used)
	}
	return f.driver.Waiting(&about)
}

// keepAsks keeps what the agent asks before it runs the call, if the fact reports that.
func (f *Fold) keepAsks(c *call, fact *agent.Fact) {
	if c.Asks = fact.Request.Clone(); c.Asks != nil {
		f.showUndrawn(c.Asks, fact.Request)
		c.Full, c.Raw = c.Asks.FullInput, string(c.Asks.Raw)
	}
}

// A dialog may draw only a part of what the agent reported, such as the paths of a command. It becomes a prompt of its own, with the rest
// of the report in its text, in place of the reported prompt. So a key that allows it allows that call.

// vouch keeps that the agent also reported the prompt of a dialog, as the permission of that call.
func (f *Fold) vouch(r *request, call string, reported *agent.Request) {
	r.Vouched, r.Uncalled = true, r.Uncalled || f.uncalled(reported)
	s := inPlaceOf{call, reported.FullInput, f.undrawn(reported)}
	if _, joins := f.driver.(agent.CallJoiner); joins && s.Lines != "" && len(r.Replaces) < 2 && !slices.Contains(r.Replaces, s) {
		r.Replaces = append(r.Replaces, s)
	}
}

// isInPlaceOf reports whether the prompt took the place of the call's permission, and of no other one.
func (f *Fold) isInPlaceOf(r *request, c *call) bool {
	asks := c.asks()
	return asks != nil && c.ID != "" && len(r.Replaces) == 1 && r.Replaces[0] == inPlaceOf{c.ID, asks.FullInput, f.undrawn(asks)}
}

// asksOn reports whether the call may ask again although the prompt's key has allowed it: the dialog drew a part of it, and the call's own may
// follow. From then on the call asks what that one does.
func (f *Fold) asksOn(r *request, c *call) bool {
	if !f.isInPlaceOf(r, c) {
		return false
	}
	asks := f.called(c)
	if agent.Value(asks.Tool) != agent.Value(c.Asks.Tool) {
		return false
	}
	f.keepAsks(c, &agent.Fact{Request: asks})
	c.Joined = false
	return true
}

// addWhole adds a call's whole input to the prompt's, once, if the lines about the call say that it has more.
func addWhole(p *agent.Request, lines, whole string) {
	if strings.Contains(lines, agent.InFull) && !strings.Contains(p.FullInput, whole) {
		p.SetWhole(strings.TrimPrefix(p.FullInput+"\n"+whole, "\n"))
	}
}

// addLines adds lines to the prompt's text, once.
func addLines(p *agent.Request, lines string) {
	if !says(p, lines) {
		p.Text = agent.Pointer(strings.TrimPrefix(agent.Value(p.Text)+"\n\n"+lines, "\n\n"))
	}
}

// says reports whether the prompt's text has these lines.
func says(p *agent.Request, lines string) bool {
	return lines == "" || slices.Contains(strings.Split(agent.Value(p.Text), "\n\n"), lines)
}

// looksLike compares the call with the dialog, once for each picture. It is nil if the dialog isn't about the call.
func (f *Fold) looksLike(d *agent.Dialog, c *call) *lookalike {
	if c.Asks == nil {
		return nil
	}
	f.onPicture(d)
	done, ok := f.drawnCalls[c.Asks]
	if !ok {
		if p := c.asks(); f.driver.Match(d, p) != agent.NoMatch {
			done = &lookalike{lines: f.undrawn(p), whole: p.FullInput}
		}
		f.drawnCalls[c.Asks] = done
	}
	return done
}

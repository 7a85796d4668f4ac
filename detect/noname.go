package detect

import (
	"reflect"

	"berth/agent"
)

// Some dialogs name no tool. Such a dialog may be about a call of any of these tools, unless it draws another input: see agent.CallChooser.

// drawnElseKept bounds the calls that were compared with a dialog.
const drawnElseKept = 512

// drawsElse reports whether the dialog, which names no tool, draws another call's input.
func (f *Fold) drawsElse(d *agent.Dialog, call *agent.Request) bool {
	chooser, ok := f.driver.(agent.CallChooser)
	return ok && chooser.DrawsElse(d, call)
}

// drawsElseThan is drawsElse for such a call, once for each picture.
func (f *Fold) drawsElseThan(d *agent.Dialog, c *call) bool {
	f.onPicture(d)
	key := drawnCall{c.Tool, c.Input, c.Used}
	is, done := f.drawnElse[key]
	if !done {
		if len(f.drawnElse) >= drawnElseKept { // of calls that are forgotten
			clear(f.drawnElse)
		}
		is = f.drawsElse(d, f.called(c))
		f.drawnElse[key] = is
	}
	return is
}

// ofTool reports whether the prompt's dialog may be about the call, by its tool.
func (f *Fold) ofTool(r *request, d *agent.Dialog, c *call) bool {
	return c.Tool == r.Tool || r.Tool == "" && f.ofNoName(c.Tool) && !f.drawsElseThan(d, c)
}

// ofNoName reports whether a dialog that names no tool may be about a call of this tool.
func (f *Fold) ofNoName(tool string) bool {
	chooser, ok := f.driver.(agent.CallChooser)
	return ok && chooser.Unnamed(tool)
}

// drawsWhole reports whether a call does no more than its dialog draws. Of an agent that doesn't say which of its calls it asks about, only a
// call whose dialog names no tool may be forgotten for that.
func (f *Fold) drawsWhole(c call) bool {
	if _, names := f.driver.(agent.CallNamer); names {
		return c.Plain
	}
	return f.undrawn(c.asks()) == ""
}

// onPicture forgets what was compared with another dialog.
func (f *Fold) onPicture(d *agent.Dialog) {
	if f.drawnOn != d && !reflect.DeepEqual(f.drawnOn, d) {
		f.drawnCalls, f.drawnElse = map[*agent.Request]*lookalike{}, map[drawnCall]bool{}
		f.drawnOpen = map[drawnCall]agent.Match{}
	}
	f.drawnOn = d
}

// mayDraw reports whether the dialog may be about the call, for an agent that doesn't say which of its calls it asks about.
func (f *Fold) mayDraw(d *agent.Dialog, c *call) bool {
	return (!f.ofNoName(c.Tool) || !f.drawsElseThan(d, c)) && f.driver.Match(d, f.called(c)) != agent.NoMatch
}

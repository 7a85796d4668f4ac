package claude

import (
	"fmt"
	"strings"

	"berth/agent"
	"berth/agent/pattern"
)

// stayOrLeave matches the foot of the dialog that opens when auto mode can't run its check.
var stayOrLeave = pattern.New(`Enter to (stay in auto mode) · shift\+Tab to (leave for [^·(]+?)( \(needs a taller window\))? · Esc to cancel$`)

// titleAutoMode is that dialog's head.
const titleAutoMode = "Auto mode can't check actions in this session"

// autoMode reads that dialog: its two answers are keys, which its foot names.
func (b *bottomBlock) autoMode() bool {
	s := b.screen
	top := s.top(s.last)
	words, end := s.lastWords(top)
	m := stayOrLeave.FindStringSubmatch(words)
	if m == nil {
		return false
	}
	d := b.dialog
	d.Type, d.Subtype, d.Title = agent.PromptSetup, agent.SubtypeAutoMode, titleAutoMode
	d.Options = []agent.Option{{Key: "Enter", Label: upper(m[1]), Focused: true}, {Key: "S-Tab", Label: upper(m[2])}}
	if m[3] != "" { // without room for the longer text, only the first answer can be given
		d.Options[1].Key = ""
	}
	d.Body = strings.Trim(strings.Join(paragraphs(b.rows(top+1, end), s.view.Cols-besideQuestion), "\n"), "\n")
	d.Body = below(titleAutoMode, d.Body)
	d.Key = string(d.Type) + " " + d.Subtype // whatever part of it has room
	return true
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// autoModeKeys: to stay means that Claude asks for each action. To leave turns the check off, so it
// needs the option's number.
func autoModeKeys(a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	switch {
	case a.Kind == agent.Deny && a.Text == "":
		return agent.KeyAnswer{Steps: []agent.Step{press("Escape", d)}, Outcome: agent.OutcomeDenied}, nil
	case a.Kind == agent.Accept || a.Kind == agent.ChooseOption && a.Option == 1:
		return agent.KeyAnswer{Steps: []agent.Step{press(d.Options[0].Key, d)}, Outcome: agent.OutcomeAccepted}, nil
	case a.Kind == agent.ChooseOption && a.Option == 2 && d.Options[1].Key == "":
		return agent.KeyAnswer{}, fmt.Errorf("%w: Claude takes that only in a taller window; attach with more rows", agent.ErrCannot)
	case a.Kind == agent.ChooseOption && a.Option == 2:
		return agent.KeyAnswer{Steps: []agent.Step{press(d.Options[1].Key, d)}, Outcome: agent.OutcomeAnswered}, nil
	}
	return agent.KeyAnswer{}, fmt.Errorf("%w: accept stays in auto mode and asks for each action, option 2 leaves it, deny closes the dialog", agent.ErrAnswer)
}

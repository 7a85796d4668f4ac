package generic

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/generic/rules"
)

// ruled is a Driver that reads its program's screen by rules.
type ruled struct{ Driver }

var (
	_ agent.Driver          = ruled{}
	_ agent.PromptAnswerer  = ruled{}
	_ agent.PartialAnswerer = ruled{}
	_ agent.RulesNamer      = ruled{}
)

// RulesName is the name of the program's rules.
func (d ruled) RulesName() string { return d.set.Name }

// ReportedStates: with rules for the screen, a program works when it is neither idle nor asks nor
// has failed.
func (d ruled) ReportedStates() []agent.State {
	if d.set.Set.Reports {
		return agent.States
	}
	s := &d.set.Set
	list := d.Driver.ReportedStates()
	for _, one := range []struct {
		state agent.State
		known bool
	}{{agent.Working, d.set.Looks()}, {agent.Idle, s.Idle != nil}, {agent.Prompt, s.Prompt != nil}, {agent.InError, s.Error != nil}, {agent.Parked, s.Error != nil}} {
		if one.known && !slices.Contains(list, one.state) {
			list = append(list, one.state)
		}
	}
	return list
}

// Table lists the screen after the program's own reports. When rules read the screen, the
// foreground process says nothing.
func (d ruled) Table() agent.Table {
	t, after := d.Driver.Table(), d.set.Set.After
	if !d.set.Looks() {
		return t
	}
	for _, w := range []struct {
		move  agent.Move
		after agent.Witness
	}{
		{agent.MoveReady, agent.Witness{After: after.Idle}}, {agent.MoveRest, agent.Witness{After: after.Idle}},
		{agent.MoveWork, agent.Witness{After: after.Working}}, {agent.MoveFail, agent.Witness{After: after.Error}},
		{agent.MoveAsk, agent.Witness{After: after.Prompt}}, {agent.MoveAnswer, agent.Witness{After: after.Prompt}},
	} {
		w.after.Source = agent.SourceScreen
		t[w.move] = append(slices.Clone(t[w.move]), w.after)
	}
	return t
}

// Process: see Table.
func (d ruled) Process(p agent.Process) []agent.Fact {
	if d.set.Looks() {
		return nil
	}
	return d.Driver.Process(p)
}

// OSC reads a sequence by the rules first.
func (d ruled) OSC(number int, payload string) []agent.Fact {
	state, rule := d.set.Sequence(number, payload)
	f := agent.Fact{Kind: agent.LevelIs, Source: agent.SourceOSC, Cause: "osc:" + rule.Name, Evidence: firstLine(payload)}
	switch state {
	case agent.Idle:
		f.Level = agent.LevelIdle
	case agent.Working:
		return works(f)
	case agent.Prompt:
		f.Level, f.Text = agent.LevelWaiting, rule.Type
	case agent.InError:
		end := ends(f, agent.Failed, firstLine(payload))
		end[0].Failure.Class = agent.Class(rule.Class)
		return end
	default:
		return d.Driver.OSC(number, payload)
	}
	return []agent.Fact{f}
}

// otherwise is the reason for a guess that the program works.
const otherwise = "the screen matches none of its rules"

// Screen reads the screen by the rules.
func (d ruled) Screen(v *agent.View) *agent.Reading {
	seen := d.set.Screen(v)
	r := &agent.Reading{Clear: seen.Prompt == nil}
	if f := seen.Failed; f != nil {
		r.Failed = &agent.Failure{Class: agent.Class(f.Class), Text: shown(f.Text)}
	}
	switch {
	case seen.Prompt != nil:
		r.Dialog = d.dialog(seen.Prompt)
	case seen.Working != "":
		r.Busy = shown(seen.Working)
	case seen.Idle != nil:
		r.Composer = d.composer(seen.Idle)
	default:
		r.Busy, r.Guess = otherwise, true
	}
	return r
}

func (d ruled) composer(c *rules.Composer) *agent.Composer {
	box := &agent.Composer{Mode: agent.ModeMessage, Text: c.Draft, Focused: true}
	if box.Empty = c.Draft == "" || c.Hidden || d.set.Placeholder(c.Draft); box.Empty {
		box.Hint, box.Text = c.Draft, ""
	}
	return box
}

// dialog converts a prompt for the fold. It leaves the text's characters as they are; code that
// displays the prompt makes hidden ones visible. Its key starts with the name of the rule that
// matched.
func (d ruled) dialog(a *rules.Asked) *agent.Dialog {
	text := strings.TrimSpace(strings.Join(a.Rows, "\n"))
	out := &agent.Dialog{
		Type: agent.PromptType(a.Type), Title: a.Title, Body: text, Tool: a.Tool, Input: a.Typed, Partial: !a.Whole, Cut: a.Cut,
		Key:   strings.Join([]string{a.Name, a.Title, text, a.Tool, a.Input}, "\x00"),
		Alike: true, // the rules may read only a part of the question
	}
	if out.Title == "" {
		out.Title = a.Name
	}
	if a.Title == "" && len(a.Rows) > 1 && a.Text != "" { // a list shows the question before the rows above it
		out.Title = a.Text
	}
	for _, o := range a.Options {
		out.Options = append(out.Options, agent.Option{Label: o.Label, Key: o.Key, Focused: o.Focused})
	}
	for _, line := range a.Lines {
		out.Lines = append(out.Lines, line)
	}
	return out
}

// ruleOf is the name of the rule that matched the dialog.
func ruleOf(d *agent.Dialog) string {
	name, _, _ := strings.Cut(d.Key, "\x00")
	return name
}

// FromDialog is the prompt that the dialog asks.
func (d ruled) FromDialog(dialog *agent.Dialog) *agent.Request {
	p := &agent.Request{
		Type: dialog.Type, Tool: agent.Pointer(dialog.Tool), Title: agent.Pointer(dialog.Title), Text: agent.Pointer(dialog.Body),
		Modal: true, Channel: agent.ChannelKeys, Options: []string{},
	}
	if parts := strings.Split(dialog.Key, "\x00"); len(parts) == 5 && parts[4] != "" {
		p.SetInput(parts[4])
	}
	d.Fill(p, dialog)
	return p
}

// Match: if the program reported only that it asks, any dialog is a PartMatch, because the subject
// isn't known. Otherwise all that the rules read must be equal.
func (d ruled) Match(dialog *agent.Dialog, p *agent.Request) agent.Match {
	if p.Title == nil {
		return agent.PartMatch
	}
	input := ""
	if p.Input != nil {
		input = p.FullInput
	}
	text := ""
	if p.Text != nil {
		text = *p.Text
	}
	tool := ""
	if p.Tool != nil {
		tool = *p.Tool
	}
	other := d.FromDialog(dialog)
	if *p.Title == dialog.Title && p.Type == dialog.Type && tool == dialog.Tool && input == other.FullInput && (text == dialog.Body || dialog.Body == "") {
		if dialog.Cut || text != dialog.Body { // the rules read no text, so what was reported isn't shown
			return agent.PartMatch
		}
		return agent.WholeMatch
	}
	return agent.NoMatch
}

// Fill adds what only the dialog shows. A prompt whose subject isn't known takes none from a dialog
// that isn't drawn whole: drawn whole, that dialog is a prompt of its own.
func (ruled) Fill(p *agent.Request, dialog *agent.Dialog) {
	if p.Title == nil && dialog.Cut {
		p.OnScreen, p.Lines = true, dialog.Lines
		return
	}
	p.Title = agent.Pointer(dialog.Title)
	if p.Text == nil {
		p.Text = agent.Pointer(dialog.Body)
	}
	p.Options, p.Ready, p.OnScreen, p.Lines = dialog.Labels(), !dialog.Partial, true, dialog.Lines
}

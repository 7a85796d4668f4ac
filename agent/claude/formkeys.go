package claude

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/agent"
	"berth/agent/drawn"
)

var (
	errFormReason = fmt.Errorf("%w: a form takes no reason; deny without one, then nudge", agent.ErrCannot)
	errFormTakes  = fmt.Errorf(`%w: a form takes accept, deny, cancel, or {"action":"accept","content":{...}} on standard input`, agent.ErrAnswer)
)

// formKeys fills a form in, field by field from where the focus is, and presses
// a button once every field shows what it was given.
func formKeys(p *agent.Request, a agent.Answer, shown *agent.Dialog) (agent.KeyAnswer, error) {
	all, _ := properties(p.Schema) // filling reports a schema that can't be read
	d := titled(shown, all)
	w := formWalk{at: formFocus(d), fields: len(d.Fields), all: all, next: "Down"}
	if strings.Contains(foot(d), "←/→ to switch") {
		w.next = "Right"
	}
	switch {
	case a.Kind == agent.Cancel:
		return agent.KeyAnswer{Steps: []agent.Step{press("Escape", shown)}, Outcome: agent.OutcomeCancelled}, nil
	case w.at < 0 || w.at < w.fields && d.Fields[w.at].List != nil:
		return agent.KeyAnswer{}, agent.ErrNotReady
	case a.Kind == agent.Deny && a.Text != "":
		return agent.KeyAnswer{}, errFormReason
	case a.Kind == agent.Deny || a.Kind == agent.ChooseOption && a.Option == 2:
		w.to(w.fields + 1)
		w.key("Enter", "Decline chosen", nil)
		return agent.KeyAnswer{Steps: w.steps, Outcome: agent.OutcomeDenied}, nil
	case a.Kind == agent.Accept || a.Kind == agent.ChooseOption && a.Option == 1:
	default:
		return agent.KeyAnswer{}, errFormTakes
	}
	fill, err := filling(p, a, d)
	if err != nil {
		return agent.KeyAnswer{}, err
	}
	for i := range d.Fields {
		if one, ok := fill[i]; ok && !one.shown(d.Fields[i], one.wanted) {
			w.to(i)
			w.fill(&one, d.Fields[i])
			w.then = func(now *agent.Dialog) bool { return one.shown(now.Fields[i], one.wanted) }
		}
	}
	w.to(w.fields)
	w.key("Enter", "every field as it was given, and the others as they were", func(now *agent.Dialog) bool {
		for i, f := range now.Fields {
			one, given := fill[i]
			same := f.Set == d.Fields[i].Set && f.Value == d.Fields[i].Value
			if f.Wrong || given && !one.shown(f, one.wanted) || !given && !same {
				return false
			}
		}
		return true
	})
	if len(w.steps) > 1 {
		w.steps[len(w.steps)-1].ShownFor = buttonShownFor
	}
	return agent.KeyAnswer{Steps: w.steps, Outcome: agent.OutcomeAccepted}, nil
}

// buttonShownFor is how long Accept must have had the focus before Enter. 2.1.330 ignored an Enter 0.1 s after the key
// that went there (3 of 3, on a machine with other work), and took one after 1 s.
const buttonShownFor = 500 * time.Millisecond

// filled is a field and its wanted value.
type filled struct {
	property
	wanted
}

// filling returns the wanted value for each field.
func filling(p *agent.Request, a agent.Answer, d *agent.Dialog) (map[int]filled, error) {
	if len(p.Schema) == 0 {
		if len(a.Fields) > 0 {
			return nil, fmt.Errorf("%w: without hooks berth knows the form's fields by their titles alone, not what they take; use keys or attach", agent.ErrCannot)
		}
		for _, f := range d.Fields {
			if f.Missing || f.Wrong {
				return nil, fmt.Errorf("%w: the form needs %s. Without hooks Berth doesn't know the field's type; fill it in with keys or attach", agent.ErrAnswer, f.Label)
			}
		}
		return nil, nil
	}
	all, err := properties(p.Schema)
	if err != nil {
		return nil, err
	}
	if len(all) != len(d.Fields) {
		return nil, agent.ErrNotReady // the form doesn't fit on the screen, or isn't drawn completely
	}
	fill := map[int]filled{}
	for i, one := range all {
		value, given := a.Fields[one.name]
		switch {
		case one.unclear() && d.Fields[i].Set:
			return nil, fmt.Errorf("%w: %s has something chosen, and its labels do not show what; use keys or attach", agent.ErrCannot, one.name)
		case given:
			w, err := one.want(value)
			if err != nil {
				return nil, err
			}
			fill[i] = filled{one, w}
		case one.required && !d.Fields[i].Set:
			return nil, one.missing()
		case !one.untouched(d.Fields[i]):
			return nil, fmt.Errorf(`%w: at the terminal %s holds %q, and accept would send that: give it as {"action":"accept","content":{%q:...}} on standard input, or attach`, agent.ErrAnswer, one.name, d.Fields[i].Value, one.name)
		}
	}
	return fill, onlyFields(all, a.Fields)
}

// formFocus is the index of the focused field or button in their ring; -1 without focus.
func formFocus(d *agent.Dialog) int {
	for i, f := range d.Fields {
		if f.Focused {
			return i
		}
	}
	for i, o := range d.Options {
		if o.Focused {
			return len(d.Fields) + i
		}
	}
	return -1
}

// formWalk collects the keys through a form.
type formWalk struct {
	steps  []agent.Step
	at     int // where the focus will be
	fields int
	all    []property
	next   string                   // the key that goes to the next field or button
	then   func(*agent.Dialog) bool // what the last field must show before the next key
}

// key presses a key if the form is as it should be.
func (w *formWalk) key(name, wants string, ready func(*agent.Dialog) bool) {
	w.step(agent.Step{Key: name, Wants: wants}, ready)
}

func (w *formWalk) step(s agent.Step, ready func(*agent.Dialog) bool) {
	at, fields, then, all := w.at, w.fields, w.then, w.all
	w.then, s.Pause = nil, between
	s.Ready = func(r *agent.Reading) bool {
		d := titled(r.Dialog, all)
		return d != nil && d.Type == agent.PromptForm && len(d.Fields) == fields && formFocus(d) == at && (then == nil || then(d)) && (ready == nil || ready(d))
	}
	w.steps = append(w.steps, s)
}

// to goes down the ring until the focus is at place.
func (w *formWalk) to(place int) {
	for ; w.at != place; w.at = (w.at + 1) % (w.fields + 2) {
		w.key(w.next, "field "+strconv.Itoa(w.at+1)+" chosen", func(d *agent.Dialog) bool { return !listed(d) })
	}
}

// listed reports whether a field shows its choices. Then Down moves within them.
func listed(d *agent.Dialog) bool {
	return slices.ContainsFunc(d.Fields, func(f agent.Field) bool { return f.List != nil })
}

// fill puts a value into the focused field.
func (w *formWalk) fill(one *filled, now agent.Field) {
	switch at := w.at; {
	case one.kind == "boolean":
		w.tick(one, now)
	case len(one.values) > 0:
		w.choose(one, now)
	default:
		if now.Value != "" {
			w.key("Ctrl-u", "the field's old value", nil)
		}
		w.step(agent.Step{Paste: one.text, Wants: "an empty field"}, func(d *agent.Dialog) bool { return d.Fields[at].Value == "" })
	}
}

// tick presses Space until the field shows the value: not set, yes, no, yes and so on.
func (w *formWalk) tick(one *filled, now agent.Field) {
	at := w.at
	space := func(set bool, value string) {
		w.key("Space", "the field as it was", func(d *agent.Dialog) bool {
			return d.Fields[at].Set == set && (!set || d.Fields[at].Value == value)
		})
	}
	switch {
	case now.Set:
		space(true, now.Value)
	case one.yes:
		space(false, "")
	default:
		space(false, "")
		space(true, valueYes)
	}
}

// choose opens the field's list and chooses one or several there. Enter closes it and goes to the
// next field.
func (w *formWalk) choose(one *filled, now agent.Field) {
	at, row := w.at, 0
	if len(one.chosen) == 0 {
		w.key("Backspace", "its list closed", func(d *agent.Dialog) bool { return !listed(d) })
		return
	}
	w.key("Right", "its list closed", func(d *agent.Dialog) bool { return !listed(d) })
	on := func(row int, ticked func(agent.Option) bool) func(*agent.Dialog) bool {
		return func(d *agent.Dialog) bool {
			list := d.Fields[at].List
			return len(list) == len(one.values) && list[row].Focused && drawn.Squeeze(list[row].Label) == drawn.Squeeze(one.labels[row]) && (ticked == nil || ticked(list[row]))
		}
	}
	if one.kind != "array" {
		if i := slices.IndexFunc(one.labels, func(l string) bool { return now.Set && drawn.Squeeze(l) == drawn.Squeeze(now.Value) }); i > 0 {
			row = i // where its list opens
		}
		for ; row < one.chosen[0]; row++ {
			w.key("Down", "its list", on(row, nil))
		}
		for ; row > one.chosen[0]; row-- {
			w.key("Up", "its list", on(row, nil))
		}
		w.key("Enter", one.labels[row]+" chosen", on(row, nil))
		w.at++
		return
	}
	held := strings.Split(now.Value, ", ")
	tick := func(i int) func(*agent.Dialog) bool {
		return on(i, func(o agent.Option) bool { return o.Ticked == slices.Contains(one.chosen, i) })
	}
	for i, label := range one.labels {
		has, wants := now.Set && slices.Contains(held, label), slices.Contains(one.chosen, i)
		if has != wants {
			w.key("Space", label, on(i, func(o agent.Option) bool { return o.Ticked == has }))
		}
		if row = i; i < len(one.labels)-1 {
			w.key("Down", label, tick(i))
		}
	}
	for ; !slices.Contains(one.chosen, row); row-- { // Enter also chooses the line that it is pressed on
		w.key("Up", one.labels[row], tick(row))
	}
	w.key("Enter", one.labels[row], tick(row))
	w.at++
}

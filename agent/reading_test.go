package agent

import "testing"

// TestSameAs: a change in anything that a person chooses by makes another dialog.
func TestSameAs(t *testing.T) {
	dialog := func(change func(*Dialog)) *Dialog {
		d := &Dialog{
			Type: PromptPermission, Subtype: "s", Title: "Bash command", Body: "ls", Confirm: true,
			Options: []Option{{Number: 1, Label: "Yes"}, {Number: 2, Label: "No", Focused: true}},
		}
		change(d)
		return d
	}
	seen := dialog(func(*Dialog) {})
	for name, d := range map[string]*Dialog{
		"type":        dialog(func(d *Dialog) { d.Type = PromptPlan }),
		"subtype":     dialog(func(d *Dialog) { d.Subtype = "" }),
		"title":       dialog(func(d *Dialog) { d.Title = "Edit" }),
		"body":        dialog(func(d *Dialog) { d.Body = "rm" }),
		"confirm":     dialog(func(d *Dialog) { d.Confirm = false }),
		"partial":     dialog(func(d *Dialog) { d.Partial = true }),
		"one option":  dialog(func(d *Dialog) { d.Options = d.Options[:1] }),
		"a label":     dialog(func(d *Dialog) { d.Options[0].Label = "Yes, and always" }),
		"a number":    dialog(func(d *Dialog) { d.Options[1].Number = 3 }),
		"none at all": nil,
	} {
		if d.SameAs(seen) {
			t.Errorf("another %s is the same dialog", name)
		}
	}
	moved := dialog(func(d *Dialog) { d.Options[0].Focused, d.Options[1].Focused = true, false })
	if !moved.SameAs(seen) || moved.Focused() != 1 || seen.Focused() != 2 {
		t.Errorf("the focus alone: same %v, on %d, before on %d", moved.SameAs(seen), moved.Focused(), seen.Focused())
	}
}

// TestMatchers: a prompt is compared by its type's rule, and matches no dialog of another type.
func TestMatchers(t *testing.T) {
	part := func(*Dialog, *Request) Match { return PartMatch }
	m := Matchers{Question: part, Permission: part}
	for _, c := range []struct {
		d    Dialog
		p    Request
		want Match
	}{
		{Dialog{Type: PromptQuestion}, Request{Type: PromptQuestion}, PartMatch},
		{Dialog{Type: PromptQuestion}, Request{Type: PromptPermission}, NoMatch},
		{Dialog{Type: PromptPermission}, Request{Type: PromptPermission}, PartMatch},
		{Dialog{Type: PromptPermission, Subtype: "trust"}, Request{Type: PromptPermission}, NoMatch},
		{Dialog{Type: PromptPermission, Subtype: "trust"}, Request{Type: PromptPermission, Subtype: Pointer("trust")}, WholeMatch},
		{Dialog{Type: PromptPlan}, Request{Type: PromptPlan}, NoMatch}, // the agent has no such dialog
		{Dialog{Type: PromptForm}, Request{Type: PromptForm}, NoMatch},
		{Dialog{Type: PromptNotice, Title: "Help"}, Request{Type: PromptNotice, Title: Pointer("Help")}, WholeMatch},
		{Dialog{Type: PromptNotice, Title: "Help"}, Request{Type: PromptNotice, Title: Pointer("Memory")}, NoMatch},
	} {
		if got := m.Match(&c.d, &c.p); got != c.want {
			t.Errorf("%s %q with %s %q: %v, want %v", c.d.Type, c.d.Title, c.p.Type, Value(c.p.Title), got, c.want)
		}
	}
}

package rules

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"

	"berth/agent"
)

// Book is a configuration's rules, ready to be used. It never changes.
type Book struct {
	sets     map[string]*Compiled
	programs map[string]*Compiled
}

// Compiled is a set that is ready to be used. It never changes.
type Compiled struct {
	Name string
	Set  Set // with defaults in place of what is not set

	idle, working, fault, prompt  []*rule
	commands, placeholder, pasted *matcher
}

// Compile makes sets ready. Those that are as they were in before, which may be
// nil, stay the same value.
func Compile(sets map[string]Set, before *Book) (*Book, error) {
	if list := Check(sets); len(list) > 0 {
		var all []error
		for _, p := range list {
			all = append(all, fmt.Errorf("rules.%s: %s; %s", p.Field, p.Text, p.Remedy))
		}
		return nil, errors.Join(all...)
	}
	b := &Book{sets: map[string]*Compiled{}, programs: map[string]*Compiled{}}
	for name, s := range sets {
		c := compile(name, s)
		if old := before.Named(name); old != nil && reflect.DeepEqual(old.Set, c.Set) {
			c = old
		}
		b.sets[name] = c
		for _, p := range s.Programs {
			b.programs[p] = c
		}
	}
	return b, nil
}

// Named is the set of that name; nil: there is none.
func (b *Book) Named(name string) *Compiled {
	if b == nil {
		return nil
	}
	return b.sets[name]
}

// For is the set for the program that a command starts; nil: there is none.
func (b *Book) For(command []string) *Compiled {
	if b == nil || len(command) == 0 {
		return nil
	}
	return b.programs[path.Base(command[0])]
}

// Names are those of the sets.
func (b *Book) Names() []string {
	if b == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(b.sets))
}

// Looks says whether anything on the screen means something.
func (c *Compiled) Looks() bool {
	for _, list := range [][]*rule{c.idle, c.working, c.fault, c.prompt} {
		if slices.ContainsFunc(list, func(r *rule) bool { return r.osc == nil }) {
			return true
		}
	}
	return false
}

// rule is a Rule that is ready to be used.
type rule struct {
	Rule
	name                 string
	lines                []*matcher
	title, osc           *matcher
	option, accept, deny *matcher
}

func compile(name string, s Set) *Compiled {
	s.Rows = cmp.Or(s.Rows, DefaultRows)
	s.After.Idle, s.After.Working = cmp.Or(s.After.Idle, DefaultIdle), cmp.Or(s.After.Working, DefaultWorking)
	s.After.Prompt, s.After.Error = cmp.Or(s.After.Prompt, DefaultPrompt), cmp.Or(s.After.Error, DefaultError)
	c := &Compiled{
		Name: name, idle: ready("idle", s.Idle), working: ready("working", s.Working), fault: ready("error", s.Error), prompt: ready("prompt", s.Prompt),
	}
	if s.Nudge != nil {
		n := *s.Nudge
		n.Paste, n.Enter, n.Interrupt = cmp.Or(n.Paste, "auto"), cmp.Or(n.Enter, DefaultEnter), cmp.Or(n.Interrupt, DefaultInterrupt)
		n.Pause = cmp.Or(n.Pause, DefaultPause)
		s.Nudge = &n
		c.commands, c.placeholder, c.pasted = pattern(n.Commands), pattern(n.Placeholder), pattern(n.Pasted)
	}
	c.Set = s
	return c
}

func ready(state string, list []Rule) []*rule {
	var out []*rule
	for i, r := range list {
		one := &rule{
			Rule: r, name: cmp.Or(r.Name, fmt.Sprintf("%s[%d]", state, i)), title: pattern(r.Title), osc: pattern(r.OSC.Text),
			option: pattern(r.Option), accept: pattern(r.Accept), deny: pattern(r.Deny),
		}
		one.Type, one.Class = cmp.Or(r.Type, string(agent.PromptQuestion)), cmp.Or(r.Class, string(agent.OtherFailure))
		for _, line := range r.Lines {
			one.lines = append(one.lines, pattern(line))
		}
		out = append(out, one)
	}
	return out
}

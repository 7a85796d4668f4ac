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

// Ruleset is a configuration's rules, compiled. It never changes.
type Ruleset struct {
	sets     map[string]*Compiled
	programs map[string]*Compiled
}

// Compiled is a compiled set. It never changes.
type Compiled struct {
	Name string
	Set  Set // with the defaults filled in

	idle, working, fault, prompt  []*rule
	commands, placeholder, pasted *matcher
}

// Compile compiles sets. A set that is unchanged since before keeps its *Compiled, so that sessions
// don't notice a reload. before may be nil.
func Compile(sets map[string]Set, before *Ruleset) (*Ruleset, error) {
	if list := Check(sets); len(list) > 0 {
		var all []error
		for _, p := range list {
			all = append(all, fmt.Errorf("rules.%s: %s; %s", p.Field, p.Text, p.Remedy))
		}
		return nil, errors.Join(all...)
	}
	b := &Ruleset{sets: map[string]*Compiled{}, programs: map[string]*Compiled{}}
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

// Named is the set with that name; nil without one.
func (b *Ruleset) Named(name string) *Compiled {
	if b == nil {
		return nil
	}
	return b.sets[name]
}

// For is the set for the program that a command starts; nil without one.
func (b *Ruleset) For(command []string) *Compiled {
	if b == nil || len(command) == 0 {
		return nil
	}
	return b.programs[path.Base(command[0])]
}

// Names are the names of the sets.
func (b *Ruleset) Names() []string {
	if b == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(b.sets))
}

// Looks reports whether any rule reads the screen.
func (c *Compiled) Looks() bool {
	for _, list := range [][]*rule{c.idle, c.working, c.fault, c.prompt} {
		if slices.ContainsFunc(list, func(r *rule) bool { return r.osc == nil }) {
			return true
		}
	}
	return false
}

// rule is a compiled Rule.
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

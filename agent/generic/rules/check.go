package rules

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"berth/agent"
	"berth/api"
	"berth/terminal"
)

// Bounds. Reading the screen may try every pattern on every row. With these bounds that takes some
// tens of milliseconds at worst, and usually some microseconds.
const (
	maxSets     = 64
	maxRules    = 32    // for one state
	maxLines    = 8     // in one rule
	maxPattern  = 500   // bytes
	maxProgram  = 1_000 // compiled instructions in one pattern
	maxTotal    = 4_000 // compiled instructions in all patterns of a set
	maxRows     = 60
	maxOptions  = 20
	maxKeys     = 8
	maxAfter    = time.Minute
	maxPause    = 5 * time.Second
	maxPrograms = 32
)

// Problem is one error in a set. Field is its place in the set.
type Problem struct{ Field, Text, Remedy string }

// Check returns all problems of sets, in the order of the sets' names. Fields are written as in
// berth.yaml: aider.prompt[0].option.
func Check(sets map[string]Set) []Problem {
	var all []Problem
	owner := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		c := checker{at: name}
		if err := api.CheckName(name); err != nil {
			c.add("", err.Error(), "")
		}
		s := sets[name]
		c.set(&s)
		for i, p := range s.Programs {
			if first, twice := owner[p]; twice {
				c.add(fmt.Sprintf("programs[%d]", i), fmt.Sprintf("the rules %s are for %s already", first, api.Quote(p)), "remove it from one of them; a session may name its rules")
			}
			owner[p] = name
		}
		all = append(all, c.problems...)
	}
	if len(sets) > maxSets {
		all = append(all, Problem{"", fmt.Sprintf("there are %d sets of rules", len(sets)), fmt.Sprintf("keep at most %d", maxSets)})
	}
	return all
}

type checker struct {
	at       string
	total    int
	problems []Problem
}

func (c *checker) add(field, text, remedy string) {
	if field = strings.TrimSuffix(c.at+"."+field, "."); len(c.problems) < 100 {
		c.problems = append(c.problems, Problem{field, text, remedy})
	}
}

func (c *checker) set(s *Set) {
	if len(s.Programs) > maxPrograms {
		c.add("programs", fmt.Sprintf("there are %d", len(s.Programs)), fmt.Sprintf("name at most %d", maxPrograms))
	}
	for i, p := range s.Programs {
		if p == "" || p != path.Base(p) || p == "." || !utf8.ValidString(p) {
			c.add(fmt.Sprintf("programs[%d]", i), api.Quote(p)+" isn't a program's name", "write the last part of its path")
		}
	}
	if s.Rows > maxRows {
		c.add("rows", fmt.Sprintf("%d rows are too many", s.Rows), fmt.Sprintf("write at most %d", maxRows))
	}
	for _, a := range []struct {
		name  string
		value time.Duration
	}{{"idle", s.After.Idle}, {"working", s.After.Working}, {"prompt", s.After.Prompt}, {"error", s.After.Error}} {
		if a.value > maxAfter {
			c.add("after."+a.name, a.value.String()+" is too long", "write at most "+maxAfter.String())
		}
	}
	c.list("idle", s.Idle, c.plain)
	c.list("working", s.Working, c.plain)
	c.list("error", s.Error, c.fault)
	c.list("prompt", s.Prompt, c.prompt)
	c.nudge(s)
	if c.total > maxTotal {
		c.add("", fmt.Sprintf("its patterns are too large together: %d instructions", c.total), fmt.Sprintf("keep to %d: fewer patterns, fewer counted repetitions", maxTotal))
	}
	if s.Idle == nil && s.Working == nil && s.Error == nil && s.Prompt == nil && !s.Reports {
		c.add("", "it says nothing about the program", "add idle, working, error or prompt, or tells: true")
	}
}

func (c *checker) list(state string, list []Rule, check func(string, *Rule)) {
	if len(list) > maxRules {
		c.add(state, fmt.Sprintf("there are %d rules", len(list)), fmt.Sprintf("keep at most %d", maxRules))
		return
	}
	for i := range list {
		field := fmt.Sprintf("%s[%d]", state, i)
		c.seen(field, state, &list[i])
		check(field, &list[i])
	}
}

// seen checks what a rule searches for.
func (c *checker) seen(field, state string, r *Rule) {
	osc := r.OSC != OSC{}
	switch {
	case osc && (len(r.Lines) > 0 || r.Title != ""):
		c.add(field+".osc", "osc can't be combined with lines or title: when a sequence arrives, the screen may not be drawn yet", "make two rules of it")
	case !osc && len(r.Lines) == 0 && r.Title == "":
		c.add(field, "the rule has nothing to match", "add lines, title or osc")
	case osc && !slices.Contains(sequences, r.OSC.Number):
		c.add(field+".osc.number", fmt.Sprintf("Berth doesn't read the sequence %d", r.OSC.Number), fmt.Sprintf("write one of %v", sequences))
	case osc && r.OSC.Text == "":
		c.add(field+".osc.text", "it is missing", "write a pattern for the sequence's text")
	}
	if len(r.Lines) > maxLines {
		c.add(field+".lines", fmt.Sprintf("there are %d", len(r.Lines)), fmt.Sprintf("keep at most %d", maxLines))
	}
	groups := map[string][]string{"idle": {GroupDraft}, "prompt": {GroupTitle, GroupText, GroupTool, GroupInput, GroupTyped, GroupOther}}[state]
	for i, line := range r.Lines {
		c.pattern(fmt.Sprintf("%s.lines[%d]", field, i), line, groups...)
	}
	c.pattern(field+".title", r.Title)
	c.pattern(field+".osc.text", r.OSC.Text)
	if r.Within > maxRows {
		c.add(field+".within", fmt.Sprintf("%d rows are too many", r.Within), fmt.Sprintf("write at most %d", maxRows))
	}
	if r.Name != "" && api.CheckName(r.Name) != nil {
		c.add(field+".name", api.Quote(r.Name)+" isn't a valid name", "use letters, digits, . _ and -")
	}
}

// sequences are those that the terminal passes on.
var sequences = []int{7, 9, 99, 133, 777, 7501}

func (c *checker) plain(field string, r *Rule) {
	c.unset(field, "errors", map[string]bool{"class": r.Class != ""})
	c.noPrompt(field, r)
}

func (c *checker) fault(field string, r *Rule) {
	if r.Class != "" && !slices.Contains(agent.Classes, agent.Class(r.Class)) {
		c.add(field+".class", api.Quote(r.Class)+" isn't a class of errors", fmt.Sprintf("write one of %v", agent.Classes))
	}
	c.noPrompt(field, r)
}

func (c *checker) noPrompt(field string, r *Rule) {
	c.unset(field, "prompts", map[string]bool{
		"type": r.Type != "", "options": r.Options != nil, "option": r.Option != "", "accept": r.Accept != "", "deny": r.Deny != "", "text": r.Text != nil,
		"choose": r.Choose.Next != "" || r.Choose.Previous != "" || r.Choose.Focus != "" || r.Choose.Keys != nil,
	})
}

func (c *checker) unset(field, whose string, set map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if set[name] {
			c.add(field+"."+name, "only "+whose+" have it", "remove it")
		}
	}
}

var types = []agent.PromptType{agent.PromptQuestion, agent.PromptPermission, agent.PromptPlan, agent.PromptNotice}

func (c *checker) prompt(field string, r *Rule) {
	c.unset(field, "errors", map[string]bool{"class": r.Class != ""})
	if r.Type != "" && !slices.Contains(types, agent.PromptType(r.Type)) {
		c.add(field+".type", api.Quote(r.Type)+" isn't a type of prompt", fmt.Sprintf("write one of %v", types))
	}
	typed := slices.ContainsFunc(r.Lines, func(line string) bool { return hasGroup(line, GroupTyped) })
	c.pattern(field+".accept", r.Accept)
	c.pattern(field+".deny", r.Deny)
	c.options(field, r, typed)
	if r.Text != nil {
		c.keys(field+".text", r.Text, false)
		if !typed {
			c.add(field+".text", "no pattern shows the typed text, so Berth couldn't check it before it presses the key", "add a group (?P<typed>...) to one of lines, around what was typed")
		}
	}
}

func (c *checker) options(field string, r *Rule, typed bool) {
	switch {
	case r.Options != nil && r.Option != "":
		c.add(field+".option", "the rule has options too", "keep one: options for fixed options, or option to read them from the screen")
	case r.OSC != OSC{} && (r.Options != nil || r.Option != "" || r.Text != nil):
		c.add(field, "Berth can't check keys on the screen for a prompt that only a sequence reports", "add a rule with lines for it, and put options, option or text there")
	case r.Options == nil && r.Option == "" && (r.Accept != "" || r.Deny != ""):
		c.add(field, "accept and deny choose among options, but the rule has no options", "add options or option")
	}
	if len(r.Options) > maxOptions {
		c.add(field+".options", fmt.Sprintf("there are %d", len(r.Options)), fmt.Sprintf("keep at most %d", maxOptions))
		return
	}
	for i, o := range r.Options {
		at := fmt.Sprintf("%s.options[%d]", field, i)
		if strings.TrimSpace(o.Label) == "" || terminal.Printable(o.Label) != o.Label {
			c.add(at+".label", "it isn't a line of text", "write the text that people choose the option by")
		}
		c.keys(at+".keys", o.Keys, true)
		c.several(at+".keys", o.Keys, typed)
	}
	if r.Option == "" {
		c.unset(field+".choose", "rules with option", map[string]bool{
			"next": r.Choose.Next != "", "previous": r.Choose.Previous != "", "focus": r.Choose.Focus != "", "keys": r.Choose.Keys != nil,
		})
		return
	}
	c.drawn(field, r, typed)
}

// drawn checks a rule that reads its options from the screen.
func (c *checker) drawn(field string, r *Rule, typed bool) {
	c.pattern(field+".option", r.Option, GroupLabel, GroupKey, GroupFocus)
	if !hasGroup(r.Option, GroupLabel) {
		c.add(field+".option", "it doesn't say which part of the row is the option's text", "add a group (?P<label>...)")
	}
	at, moves := field+".choose", r.Choose.Next != "" || r.Choose.Previous != ""
	keyed := slices.Contains(r.Choose.Keys, keyOf)
	switch {
	case r.Choose.Keys == nil:
		c.add(at+".keys", "it is missing", "write [Enter] after next and previous, or [$key] with a group (?P<key>...) in option")
	case moves && (r.Choose.Next == "" || r.Choose.Previous == ""):
		c.add(at, "next and previous belong together", "write both, such as Down and Up")
	case moves && r.Choose.Focus == "":
		c.add(at+".focus", "it is missing: Berth presses Enter only when the screen shows that the right option is chosen", "write group, cursor or inverse")
	case !moves && !keyed:
		c.add(at, "no key chooses one option and not another", "add next, previous and focus, or write $key in keys")
	case keyed && !hasGroup(r.Option, GroupKey):
		c.add(field+".option", "keys has $key, but the pattern has no group key", "add (?P<key>...)")
	}
	if f := r.Choose.Focus; f != "" && f != FocusGroup && f != FocusCursor && f != FocusInverse {
		c.add(at+".focus", api.Quote(f)+" isn't a way to show the chosen option", "write group, cursor or inverse")
	} else if f == FocusGroup && !hasGroup(r.Option, GroupFocus) {
		c.add(field+".option", "focus is group, but the pattern has no group focus", "add (?P<focus>...)?, around the mark that only the chosen option has")
	}
	if r.Choose.Keys != nil {
		c.keys(at+".keys", slices.DeleteFunc(slices.Clone(r.Choose.Keys), func(k string) bool { return k == keyOf }), false)
	}
	if moves {
		c.keys(at, []string{r.Choose.Next, r.Choose.Previous}, true)
		return
	}
	c.several(at+".keys", r.Choose.Keys, typed)
}

// keyOf is the key that an option's own row shows.
const keyOf = "$key"

func (c *checker) keys(field string, keys []string, some bool) {
	if some && len(keys) == 0 {
		c.add(field, "there are none", "write the keys to press, such as [y] or [Down, Enter]")
	}
	if len(keys) > maxKeys {
		c.add(field, fmt.Sprintf("there are %d", len(keys)), fmt.Sprintf("keep at most %d", maxKeys))
	}
	for _, k := range keys {
		c.key(field, k)
	}
}

func (c *checker) key(field, key string) {
	if key == "" {
		return
	}
	if _, err := terminal.EncodeKey(key, terminal.Modes{}); err != nil {
		c.add(field, err.Error(), "write Enter, Escape, Down, Ctrl-c, y ...")
	}
}

// several checks that between two keys the screen shows whether the first one arrived. A typed
// character shows that only if the program draws it.
func (c *checker) several(field string, keys []string, typed bool) {
	if len(keys) > 1 && !typed && (keys[0] == keyOf || utf8.RuneCountInString(keys[0]) == 1) {
		c.add(field, "no pattern shows whether the first key arrived before Berth presses the next one", "add a group (?P<typed>...) to one of lines, around what was typed")
	}
}

func (c *checker) nudge(s *Set) {
	n := s.Nudge
	if n == nil {
		return
	}
	draft := slices.ContainsFunc(s.Idle, func(r Rule) bool {
		return slices.ContainsFunc(r.Lines, func(line string) bool { return hasGroup(line, GroupDraft) })
	})
	if !draft {
		c.add("nudge", "no pattern shows the composer's text, so Berth couldn't check it before it presses Enter", "add a group (?P<draft>...) to the lines of a rule of idle, around the typed text")
	}
	if n.Paste != "" && n.Paste != "auto" && n.Paste != "typed" {
		c.add("nudge.paste", api.Quote(n.Paste)+" isn't a way to type", "write auto (as a paste where the program takes one) or typed")
	}
	if n.Pause > maxPause {
		c.add("nudge.pause", n.Pause.String()+" is too long", "write at most "+maxPause.String())
	}
	c.key("nudge.enter", n.Enter)
	c.key("nudge.interrupt", n.Interrupt)
	c.keys("nudge.clear", n.Clear, false)
	c.pattern("nudge.commands", n.Commands)
	c.pattern("nudge.placeholder", n.Placeholder)
	c.pattern("nudge.pasted", n.Pasted)
}

// pattern checks a pattern, and adds its size to the total.
func (c *checker) pattern(field, text string, groups ...string) {
	if text == "" {
		return
	}
	if len(text) > maxPattern {
		c.add(field, fmt.Sprintf("the pattern has %d bytes", len(text)), fmt.Sprintf("keep to %d", maxPattern))
		return
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		c.add(field, "not a regular expression: "+terminal.Printable(err.Error()), "see pkg.go.dev/regexp/syntax; in YAML put it in single quotes")
		return
	}
	for _, name := range re.CapNames() {
		if name != "" && !slices.Contains(groups, name) {
			remedy := "remove its name"
			if len(groups) > 0 {
				remedy = "its groups are " + strings.Join(groups, ", ")
			}
			c.add(field, "the group "+api.Quote(name)+" has no meaning here", remedy)
		}
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		c.add(field, "not a regular expression: "+terminal.Printable(err.Error()), "")
		return
	}
	if c.total += len(prog.Inst); len(prog.Inst) > maxProgram {
		c.add(field, fmt.Sprintf("the pattern is too large: %d instructions", len(prog.Inst)), fmt.Sprintf("keep to %d: counted repetitions make it long", maxProgram))
	}
}

func hasGroup(pattern, group string) bool {
	re, err := regexp.Compile(pattern)
	return err == nil && re.SubexpIndex(group) >= 0
}

package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"berth/agent"
	"berth/terminal"
)

// Answers say how a prompt is answered.
type Answers struct{ rule *rule }

// Answers are those of the prompt's rule of that name; nil: there is none.
func (c *Compiled) Answers(name string) *Answers {
	for _, r := range c.prompt {
		if r.name == name {
			return &Answers{r}
		}
	}
	return nil
}

// Outcome is what choosing the option of that label means.
func (a *Answers) Outcome(label string) string {
	switch {
	case a.rule.accept != nil && a.rule.accept.MatchString(label):
		return agent.OutcomeAccepted
	case a.rule.deny != nil && a.rule.deny.MatchString(label):
		return agent.OutcomeDenied
	}
	return agent.OutcomeAnswered
}

// Keys are what gives the option of that number, once it is moved to where the
// prompt wants that.
func (a *Answers) Keys(n int, shown string) ([]string, error) {
	if a.rule.option == nil {
		return a.rule.Options[n-1].Keys, nil
	}
	keys := slices.Clone(a.rule.Choose.Keys)
	for i, k := range keys {
		if k != keyOf {
			continue
		}
		if utf8.RuneCountInString(shown) != 1 {
			return nil, fmt.Errorf("the option shows no key, but %s", quoted(shown))
		}
		if _, err := terminal.EncodeKey(shown, terminal.Modes{}); err != nil {
			return nil, err
		}
		keys[i] = shown
	}
	return keys, nil
}

func quoted(text string) string { return fmt.Sprintf("%q", terminal.Printable(text)) }

// Moves are the keys that move to the next option and the one before; empty
// where options are not moved to.
func (a *Answers) Moves() (next, previous string) {
	return a.rule.Choose.Next, a.rule.Choose.Previous
}

// Words are the keys behind an answer in words; nil: it takes none.
func (a *Answers) Words() []string { return a.rule.Text }

// Takes says what it can be answered by.
func (a *Answers) Takes(labels []string) string {
	var ways []string
	outcomes := map[string]bool{}
	for _, label := range labels {
		outcomes[a.Outcome(label)] = true
	}
	if outcomes[agent.OutcomeAccepted] {
		ways = append(ways, "accept")
	}
	if outcomes[agent.OutcomeDenied] {
		ways = append(ways, "deny")
	}
	if len(labels) > 0 {
		ways = append(ways, "option N")
	}
	if a.rule.Text != nil {
		ways = append(ways, "text")
	}
	if len(ways) == 0 {
		return "no answer that its rules name: use keys or attach"
	}
	return strings.Join(ways, ", ")
}

// Sequence is what a sequence says, by the first rule that matches it; an empty
// state: nothing.
func (c *Compiled) Sequence(number int, payload string) (agent.State, Rule) {
	if len(payload) > longest {
		payload = strings.ToValidUTF8(payload[:longest], "")
	}
	for _, list := range []struct {
		state agent.State
		rules []*rule
	}{{agent.Prompt, c.prompt}, {agent.InError, c.fault}, {agent.Working, c.working}, {agent.Idle, c.idle}} {
		for _, r := range list.rules {
			if r.osc != nil && r.OSC.Number == number && r.osc.MatchString(payload) {
				told := r.Rule
				told.Name = r.name
				return list.state, told
			}
		}
	}
	return "", Rule{}
}

// Command says whether the program takes the text as a command.
func (c *Compiled) Command(text string) bool {
	return c.commands != nil && c.commands.MatchString(text)
}

// Placeholder says whether the text is what an empty composer shows.
func (c *Compiled) Placeholder(text string) bool {
	return c.placeholder != nil && c.placeholder.MatchString(text)
}

// Pasted says whether the text is what stands for a long one.
func (c *Compiled) Pasted(text string) bool { return c.pasted != nil && c.pasted.MatchString(text) }

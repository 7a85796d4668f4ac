package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"berth/agent"
	"berth/terminal"
)

// Answers are the ways to answer a prompt.
type Answers struct{ rule *rule }

// Answers returns those of the prompt rule with that name; nil without such a rule.
func (c *Compiled) Answers(name string) *Answers {
	for _, r := range c.prompt {
		if r.name == name {
			return &Answers{r}
		}
	}
	return nil
}

// Outcome is the meaning of the option with that label.
func (a *Answers) Outcome(label string) string {
	switch {
	case a.rule.accept != nil && a.rule.accept.MatchString(label):
		return agent.OutcomeAccepted
	case a.rule.deny != nil && a.rule.deny.MatchString(label):
		return agent.OutcomeDenied
	}
	return agent.OutcomeAnswered
}

// Keys returns the keys that choose option n, after the caller has moved to it if Moves has keys.
// shown is the key in the option's row.
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
			return nil, fmt.Errorf("the option's row shows %s, which isn't a key", quoted(shown))
		}
		if _, err := terminal.EncodeKey(shown, terminal.Modes{}); err != nil {
			return nil, err
		}
		keys[i] = shown
	}
	return keys, nil
}

func quoted(text string) string { return fmt.Sprintf("%q", terminal.Printable(text)) }

// Moves are the keys that move to the next and the previous option; empty if options are chosen
// without moving.
func (a *Answers) Moves() (next, previous string) {
	return a.rule.Choose.Next, a.rule.Choose.Previous
}

// Words are the keys that send a text answer; nil if the prompt takes no text.
func (a *Answers) Words() []string { return a.rule.Text }

// Takes lists the ways to answer, for an error.
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
		return "no answer by its rules; use keys or attach"
	}
	return strings.Join(ways, ", ")
}

// Sequence returns the state that an OSC sequence shows, by the first matching rule. The state is
// empty without one.
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
				found := r.Rule
				found.Name = r.name
				return list.state, found
			}
		}
	}
	return "", Rule{}
}

// Command reports whether the program takes the text as a command.
func (c *Compiled) Command(text string) bool {
	return c.commands != nil && c.commands.MatchString(text)
}

// Placeholder reports whether the text is the placeholder of an empty composer.
func (c *Compiled) Placeholder(text string) bool {
	return c.placeholder != nil && c.placeholder.MatchString(text)
}

// Pasted reports whether the text is the mark that the program shows in place of a long text.
func (c *Compiled) Pasted(text string) bool { return c.pasted != nil && c.pasted.MatchString(text) }

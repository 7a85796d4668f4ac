package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"berth/api"
	"berth/keys"
)

// Notify is what the server does for the verb notify.
type Notify struct {
	// List is the notification rules, without their secrets.
	List func() ([]NotifyRule, error)
	// Test sends a test by the rule of that name, and returns the name of its service. If there is no such
	// rule, service is empty, and known has the names that there are.
	Test func(ctx context.Context, rule string) (service string, known []string, err error)
}

// NotifyRule is an item of the answer of notify ls.
type NotifyRule struct {
	Rule     string        `json:"rule"`
	Service  string        `json:"service"` // ntfy, slack, telegram, webhook, command
	On       []string      `json:"on"`
	Sessions []string      `json:"sessions"` // patterns; empty: all
	Tags     []string      `json:"tags"`     // patterns; empty: all
	Last     *NotifyResult `json:"last"`     // null: nothing was sent yet
}

// NotifyResult is how the last notification by a rule ended.
type NotifyResult struct {
	At      api.Time `json:"happened_at"`
	Kind    string   `json:"kind"`
	Session *string  `json:"session"` // null for a test, and if the session was removed
	ID      *string  `json:"id"`
	Sent    bool     `json:"sent"`
	Error   *string  `json:"error"`
}

// NotifyTested is the answer of notify test.
type NotifyTested struct {
	Rule    string `json:"rule"`
	Service string `json:"service"` // as in NotifyRule
	Sent    bool   `json:"sent"`
}

func notifyVerb() *Verb {
	return &Verb{
		Name: "notify", Group: "access", Synopsis: "ls | test NAME", Short: "list the notification rules of berth.yaml, each with its last result; test sends a test by one, and says whether its service took it",
		Examples: []Example{
			{"notify ls", "which rules there are, and how the last notification by each ended"},
			{"notify test phone", "does the rule phone reach the phone?"},
		},
		Need: keys.Admin, MinArgs: 1, MaxArgs: 2, Parts: []string{"ls", "test"}, Answer: []NotifyRule{}, Run: notify,
		Others: map[string]any{"ls": []NotifyRule{}, "test": NotifyTested{}},
	}
}

func notify(ctx context.Context, c *Call) error {
	switch words := c.Args; {
	case words[0] == "ls" && len(words) == 1:
		return notifyList(c)
	case words[0] == "test" && len(words) == 2:
		return notifyTest(ctx, c, words[1])
	case words[0] == "test":
		return Lookup("notify").usage(errors.New("test needs the name of a rule; notify ls lists them"))
	default:
		return Lookup("notify").usage(fmt.Errorf("unknown word %s", api.Quote(words[len(words)-1])))
	}
}

func notifyList(c *Call) error {
	list, err := c.Notify.List()
	if err != nil {
		return err
	}
	return c.answer(list, func(w io.Writer) {
		if len(list) == 0 {
			fmt.Fprintln(w, "berth.yaml has no notify: no person is notified")
			return
		}
		rows := [][]string{{"RULE", "SERVICE", "ON", "SESSIONS", "LAST"}}
		for _, r := range list {
			of := strings.Join(r.Sessions, ",")
			for _, t := range r.Tags {
				of = strings.TrimPrefix(of+" #"+t, " ")
			}
			if of == "" {
				of = "all"
			}
			rows = append(rows, []string{r.Rule, r.Service, strings.Join(r.On, ","), of, r.Last.text(c)})
		}
		table(w, rows)
	})
}

// text is how the notification ended, for people.
func (r *NotifyResult) text(c *Call) string {
	if r == nil {
		return "-"
	}
	text := ago(c.Now(), r.At.Time) + " ago: " + r.Kind
	if r.Session != nil {
		text += " of " + *r.Session
	}
	if r.Error != nil {
		return text + ", failed: " + *r.Error
	}
	return text + ", sent"
}

func notifyTest(ctx context.Context, c *Call, name string) error {
	service, known, err := c.Notify.Test(ctx, name)
	switch {
	case err != nil:
		return api.Errorf(api.CodeUnconfirmed, "the test by the rule %s was not sent: %w", api.Quote(name), err)
	case service == "" && len(known) == 0:
		return api.Errorf(api.CodeNotFound, "no rule is called %s: berth.yaml has no notify", api.Quote(name))
	case service == "":
		return api.Errorf(api.CodeNotFound, "no rule is called %s: %sthere are %s", api.Quote(name), didYouMean(name, known), strings.Join(known, ", "))
	}
	return c.answer(NotifyTested{Rule: name, Service: service, Sent: true}, func(w io.Writer) {
		if service == "command" {
			fmt.Fprintf(w, "%s: the command took the test\n", name)
			return
		}
		fmt.Fprintf(w, "%s: %s took the test\n", name, service)
	})
}

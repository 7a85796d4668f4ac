package commands

import (
	"context"
	"fmt"
	"io"
	"strings"

	"berth/api"
	"berth/keys"
)

// NotifyTested is the answer of notify test.
type NotifyTested struct {
	Rule    string `json:"rule"`
	Service string `json:"service"` // ntfy, slack, telegram, webhook, command
	Sent    bool   `json:"sent"`
}

func notifyVerb() *Verb {
	return &Verb{
		Name: "notify", Group: "access", Synopsis: "test NAME", Short: "send a test by the notification rule NAME of berth.yaml, and say whether its service took it",
		Examples: []Example{{"notify test phone", "does the rule phone reach the phone?"}},
		Need:     keys.Admin, MinArgs: 2, MaxArgs: 2, Parts: []string{"test"}, Answer: NotifyTested{}, Run: notifyTest,
		Others: map[string]any{"test": NotifyTested{}},
	}
}

func notifyTest(ctx context.Context, c *Call) error {
	name := c.Args[1]
	if c.Args[0] != "test" {
		return Lookup("notify").usage(fmt.Errorf("unknown word %s", api.Quote(c.Args[0])))
	}
	service, known, err := c.NotifyTest(ctx, name)
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

package commands

import (
	"context"
	"errors"
	"fmt"
	"io"

	"berth/keys"
	"berth/sessions"
	"berth/terminal"
)

func queueVerb() *Verb {
	return &Verb{
		Name: "queue", Group: "see", Synopsis: "S [rm ID]", Short: "list the queued messages, next first; rm removes one",
		Examples: []Example{
			{"queue alpha", "the messages that wait for alpha to be idle"},
			{"queue alpha rm q1", "remove one"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: 3, Answer: []sessions.Queued{}, Run: queue, Changes: func(args []string) bool { return len(args) > 1 },
	}
}

// headLength is how many characters of a message are listed, as many as of a question.
const headLength = 200

func queue(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	switch {
	case len(c.Args) == 3 && c.Args[1] == "rm":
		err = s.Unqueue(ctx, c.actor(), c.Args[2], func(by sessions.By) error { return c.mayDrop(s, by) })
	case len(c.Args) != 1:
		return Lookup("queue").usage(errors.New("after the session give nothing, or rm and a message's id"))
	}
	if err != nil {
		return err
	}
	list, err := s.Queue(ctx)
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Text, list[i].Why = head(list[i].Text), terminal.Printable(list[i].Why)
	}
	return c.answer(list, func(w io.Writer) {
		if len(list) == 0 {
			fmt.Fprintf(w, "%s has no queued messages\n", s.Status().Name)
			return
		}
		rows := [][]string{{"ID", "SINCE", "EXPIRES", "BY", "WHY", "TEXT"}}
		for _, q := range list {
			expires := "-"
			if q.Expires != nil {
				expires = q.Expires.Local().Format("Jan 2 15:04:05")
			}
			rows = append(rows, []string{q.QueueID, ago(c.Now(), q.Since.Time), expires, q.By.Identity, q.Why, q.Text})
		}
		table(w, rows)
	})
}

// mayDrop: a responder may drop its own messages, an operator any message. A process inside a session has no role:
// where it may type it may drop any.
func (c *Call) mayDrop(s *sessions.Session, by sessions.By) error {
	id := c.Identity()
	switch {
	case by.Identity == id.Name && by.Fingerprint == id.Fingerprint:
		return c.may("queue", keys.Responder, s)
	case id.Kind == keys.KindAgent:
		return c.may("input", keys.Operator, s)
	}
	return c.may("queue", keys.Operator, s)
}

// head is the start of a text, printable.
func head(text string) string {
	if r := []rune(text); len(r) > headLength {
		text = string(r[:headLength]) + "…"
	}
	return terminal.Printable(text)
}

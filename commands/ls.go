package commands

import (
	"context"
	"fmt"
	"io"
	"strings"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions"
)

func lsVerb() *Verb {
	return &Verb{
		Name: "ls", Group: "see", Synopsis: "[TARGET...]", Short: "list sessions",
		Need: keys.Viewer, MaxArgs: -1, Targets: true, Answer: []api.Session{}, Run: ls,
	}
}

func ls(_ context.Context, c *Call) error {
	list, err := c.targets(c.Args, orAll)
	if err != nil {
		return err
	}
	rows := make([]api.Session, 0, len(list))
	for _, s := range list {
		rows = append(rows, s.Status().Row())
	}
	return c.answer(rows, func(w io.Writer) {
		if len(rows) == 0 {
			fmt.Fprintln(w, "no sessions; start one with: new NAME")
			return
		}
		lines := [][]string{{"NAME", "STATE", "SINCE", "AGENT", "SIZE", "WRITER", "VIEWERS", "TAGS", "TITLE"}}
		for _, r := range rows {
			writer := "-"
			if r.Writer != nil {
				writer = r.Writer.Identity
			}
			lines = append(lines, []string{r.Session, r.State, ago(c.Now(), r.Since.Time), r.Agent,
				fmt.Sprintf("%dx%d", r.Cols, r.Rows), writer, fmt.Sprint(r.Viewers), orDash(strings.Join(r.Tags, ",")), r.Title})
		}
		table(w, lines)
	})
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func waitingVerb() *Verb {
	return &Verb{
		Name: "waiting", Group: "see", Short: "list the sessions that wait for a person, longest wait first",
		Need: keys.Viewer, Answer: []api.Session{}, Run: waiting,
	}
}

func waiting(_ context.Context, c *Call) error {
	list, err := c.targets(nil, orAll)
	if err != nil {
		return err
	}
	rows := sessions.Waiting(list)
	return c.answer(rows, func(w io.Writer) {
		if len(rows) == 0 {
			fmt.Fprintln(w, "no session is waiting")
			return
		}
		lines := [][]string{{"NAME", "STATE", "SINCE", "AGENT", "ASKS", "ANSWER WITH"}}
		for _, r := range rows {
			what, answer := "-", "-"
			if p, ok := r.Prompt.(*agent.Request); ok {
				what, answer = asksFor(p), answerWith(r.Session, p)
			}
			if r.Failure != nil {
				what = inList(strings.Join([]string{strings.ReplaceAll(r.Failure.Class, "_", " "), r.Failure.Text}, " "))
			}
			lines = append(lines, []string{r.Session, r.State, ago(c.Now(), r.Since.Time), r.Agent, what, answer})
		}
		table(w, lines)
	})
}

// asksFor is what a prompt asks, on one line.
func asksFor(p *agent.Request) string {
	kind := string(p.Type)
	if p.Subtype != nil {
		kind += " " + *p.Subtype
	}
	return inList(kind + " " + inLine(strings.TrimSpace(p.About())))
}

// inList is a text as a cell of a list shows it.
func inList(text string) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > asksMost {
		line = append(line[:asksMost-1], '…')
	}
	return string(line)
}

// asksMost is how many characters of a question a line of a list shows.
const asksMost = 60

package commands

import (
	"context"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"berth/api"
	"berth/keys"
	"berth/sessions"
	"berth/sessions/gates/gate"
)

func reportVerb() *Verb {
	return &Verb{
		Name: "report", Group: "talk", Synopsis: "complete | escalate | continue | status [MESSAGE|-]",
		Short: "inside a session: report how the work is going; - reads the message from standard input",
		Examples: []Example{
			{`report complete "all tests pass"`, "from inside a session: the work is done"},
			{`report status "3 of 7 files"`, "how far it is"},
		},
		Need: keys.Viewer, Tail: true, Lead: 1, NoSession: true, Answer: sessions.Reported{}, Run: report,
	}
}

// report is for agents only: it reports on the session of the calling process. It names no
// session, so that an agent can't report for another one.
func report(ctx context.Context, c *Call) error {
	id := c.Identity()
	if id.Kind != keys.KindAgent {
		return api.Errorf(api.CodeDenied, "report is for agents: %s isn't inside a session", id.Name).With("verb", "report").With("identity", id.Name)
	}
	s, err := c.session(id.Session)
	if err != nil {
		return err
	}
	if len(c.Args) == 0 {
		return Lookup("report").usage(errMissing)
	}
	kind := gate.Kind(c.Args[0])
	if !slices.Contains(gate.Kinds, kind) {
		return Lookup("report").usage(fmt.Errorf("unknown kind of report %s", api.Quote(c.Args[0])))
	}
	message := ""
	if c.HasTail || c.Stdin {
		text, err := c.tailBytes()
		if err != nil {
			return err
		}
		if !utf8.Valid(text) {
			return api.Errorf(api.CodeBadRequest, "report: the message is not UTF-8")
		}
		message = string(text)
	}
	done, err := s.Report(ctx, c.actor(), kind, message)
	if err != nil {
		return err
	}
	return c.answer(done, func(w io.Writer) {
		fmt.Fprintf(w, "%s has reported: %s\n", done.Session, done.Kind)
		if !done.LetsGo {
			fmt.Fprintln(w, "the turn continues until you report complete or escalate")
		}
	})
}

package commands

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/keys"
	"berth/sessions"
)

// Interrupted is the answer of interrupt, for each target.
type Interrupted struct {
	Session     string     `json:"session"`
	ID          string     `json:"id"`
	Delivered   bool       `json:"delivered"` // false: no key was pressed
	Confirmed   bool       `json:"confirmed"`
	StateBefore string     `json:"state_before"`
	State       string     `json:"state"`
	Seq         uint64     `json:"seq"`
	Skipped     *string    `json:"skipped"`         // why a session of all or tag:T was skipped; null: it wasn't
	Error       *api.Error `json:"error,omitempty"` // of one target of several
}

func interruptVerb() *Verb {
	return &Verb{
		Name: "interrupt", Group: "drive", Synopsis: "TARGET... [--wait-lock D] [--takeover] [--lease G]", Short: "interrupt the current turn",
		Examples: []Example{
			{"interrupt alpha", "end its turn, as Esc does"},
			{"interrupt tag:web", "of all with a tag"},
		},
		Need: keys.Responder, MinArgs: 1, MaxArgs: -1, Targets: true, Answer: Interrupted{}, Run: interrupt,
		Flags: func(f *pflag.FlagSet) { claimFlags(f) },
	}
}

func interrupt(ctx context.Context, c *Call) error {
	list, err := c.targets(c.Args, needsOne)
	if err != nil {
		return err
	}
	if len(list) > 1 && c.flags.Changed("lease") {
		return Lookup("interrupt").usage(errors.New("--lease is for a single session"))
	}
	named := c.named(c.Args)
	return c.each(ctx, list, func(s *sessions.Session) result {
		done, err := s.Interrupt(ctx, c.claim("interrupt", keys.Responder, s))
		st := s.Status()
		answer := Interrupted{
			Session: st.Name, ID: st.ID, Delivered: done.Pressed, Confirmed: err == nil, StateBefore: string(done.Before), State: string(st.Now), Seq: st.Seq,
		}
		if err == nil {
			answer.State = string(done.State)
		}
		if failed := api.AsError(err); failed != nil && !named[s.ID()] && (failed.Code == api.CodeNoDriver || failed.Code == api.CodeExited) {
			answer.Skipped, err = &failed.Message, nil
			answer.Confirmed = false
		}
		return result{
			err: err,
			answer: func(failed *api.Error) any {
				answer.Error = failed
				return answer
			},
			text: func(w io.Writer) {
				if answer.Skipped != nil {
					fmt.Fprintf(w, "skipped: %s\n", *answer.Skipped)
					return
				}
				if !answer.Delivered {
					fmt.Fprintf(w, "%s is %s: there is nothing to interrupt\n", answer.Session, answer.State)
					return
				}
				fmt.Fprintf(w, "interrupted; %s is %s\n", answer.Session, answer.State)
			},
		}
	})
}

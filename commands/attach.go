package commands

import (
	"context"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/keys"
	"berth/sessions"
)

func attachFlags(f *pflag.FlagSet) {
	f.Bool("read-only", false, "watch without typing")
}

// Attachment is a parsed attach line. The edge performs it, because it has the terminal.
type Attachment struct {
	Session  *sessions.Session
	MayWrite bool
	ReadOnly bool
	// Allowed checks the right to write against the rights, name and tags at the time of the call.
	Allowed func() error
	// Sees checks in the same way whether the caller may see the session at all.
	Sees func() bool
}

// Attach reads an attach line and checks the caller's rights.
func (s *Service) Attach(r Request) (Attachment, error) {
	c := &Call{Service: s, Request: r}
	verb, err := c.parse()
	if err != nil {
		return Attachment{}, err
	}
	if verb.Name != "attach" {
		return Attachment{}, api.Errorf(api.CodeUsage, "%s is not attach", verb.Name)
	}
	readOnly, _ := c.flags.GetBool("read-only")
	return c.attachment(c.Args[0], readOnly)
}

// AttachByName is attach for a client that gave a session's name as its SSH user name; ok is
// false when the caller can see no such session.
func (s *Service) AttachByName(r Request, name string) (a Attachment, ok bool) {
	c := &Call{Service: s, Request: r}
	a, err := c.attachment(name, false)
	return a, err == nil
}

func (c *Call) attachment(name string, readOnly bool) (Attachment, error) {
	id := c.Identity()
	if err := id.May("attach", keys.Viewer); err != nil {
		return Attachment{}, err
	}
	s, err := c.session(name)
	if err != nil {
		return Attachment{}, err
	}
	allowed := func() error { return c.may("attach", keys.Operator, s) }
	return Attachment{Session: s, ReadOnly: readOnly, MayWrite: allowed() == nil, Allowed: allowed, Sees: func() bool { return c.sees(s) }}, nil
}

// Fail writes an error as other verbs write theirs, and returns its exit status.
func (s *Service) Fail(ctx context.Context, r Request, err error) int {
	c := &Call{Service: s, Request: r, JSON: !r.Terminal}
	return c.finish(ctx, err)
}

// Package dispatch connects the SSH edge to the rest of Berth. It turns each session of the edge into
// a verb, an attachment, the dashboard or files, with the caller's rights. Handler is the chain of
// middlewares that decide which. cmd/berth makes one Dispatcher for the server; its methods run
// concurrently, one call for each session.
package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"berth/api"
	"berth/attach"
	"berth/commands"
	"berth/keys"
	"berth/sshd"
	"berth/sshd/files"
	"berth/terminal"
	"berth/tui"
)

// Dispatcher serves sessions. Its fields don't change while it serves, except for the counters of
// Files.
type Dispatcher struct {
	Commands *commands.Service
	Prefixes func() string // attach's prefix keys, for clients and keys without their own
	Address  func() string // how clients reach this server, for hints: agents@HOST, with -p if needed
	Log      *slog.Logger
	Files    files.Room          // the temporary files of sftp
	Choices  *Choices            // what people have set
	Reach    Reach               // other hosts of a fleet; nil: the server isn't a gateway
	Echoed   func(time.Duration) // is called with the time from each key to its echo; nil: not measured

	seen    tui.Memory
	carried carried
	queued  attach.Shares // for attached terminals
}

// address is how the client would write this server's address after ssh.
func (d *Dispatcher) address(c *sshd.Session) string {
	if c.Local() {
		return d.Address()
	}
	user := c.User()
	if strings.ContainsFunc(user, func(r rune) bool { return r <= ' ' || r > '~' }) || user == "" {
		user = "agents"
	}
	return strings.Replace(d.Address(), "agents@", user+"@", 1)
}

// attach shares the session's terminal with the client. Without a terminal the client gets the
// session's text.
func (d *Dispatcher) attach(ctx context.Context, c *sshd.Session, r commands.Request, to commands.Attachment) int {
	end, err := d.Commands.Attached(r, to)
	if err != nil {
		return d.Commands.Fail(ctx, r, err)
	}
	status := d.attached(ctx, c, r, to)
	end(status, "")
	return status
}

func (d *Dispatcher) attached(ctx context.Context, c *sshd.Session, r commands.Request, to commands.Attachment) int {
	err := d.share(ctx, c, to)
	if errors.Is(err, attach.ErrDashboard) {
		return d.dashboard(ctx, c, r, to.Session.ID())
	}
	return d.attachStatus(ctx, r, err)
}

// share attaches the client until it leaves.
func (d *Dispatcher) share(ctx context.Context, c *sshd.Session, to commands.Attachment) error {
	session := adapter{to: to, call: c}
	if c.Terminal == nil {
		return attach.RunPlain(ctx, attach.PlainOptions{
			Session: session, In: c.Input, Out: c, Err: c.Stderr(),
			MayWrite: to.MayWrite, ReadOnly: to.ReadOnly, Identity: c.Identity().Name, Host: d.address(c),
		})
	}
	prefixes, warning := d.prefixes(c)
	share, leave := d.queued.Join(person(c.Identity()))
	defer leave()
	return attach.Run(ctx, attach.Options{
		Session: session, In: c.Input, Out: c, Share: share, Hangup: c.Hangup, Window: c.Window, Resized: c.Resized(),
		Term: c.Terminal.Term, Env: c.Env(), Prefixes: prefixes, MayWrite: to.MayWrite, ReadOnly: to.ReadOnly,
		Identity: c.Identity().Name, Host: d.address(c), Dashboard: mayGoHome(c), Warning: warning, Echoed: d.Echoed,
		StatusLine:     d.Choices.of(person(c.Identity())).StatusLine,
		ShowStatusLine: func(on bool) { d.Choices.change(person(c.Identity()), func(p *chosen) { p.StatusLine = on }) },
	})
}

// prefixes are the prefix keys of a client: from its environment, its key or the configuration.
func (d *Dispatcher) prefixes(c *sshd.Session) (prefixes, warning string) {
	prefixes = d.Prefixes()
	if own := c.Identity().Prefixes; own != "" {
		prefixes = own
	}
	if name := c.Env()["BERTH_PREFIX"]; name != "" {
		asked, err := keys.ParsePrefixes(name)
		if err != nil {
			return prefixes, terminal.Printable("BERTH_PREFIX: " + err.Error())
		}
		prefixes = asked
	}
	return prefixes, ""
}

// mayGoHome says whether the client may go on to the dashboard. A client with a forced command may
// not.
func mayGoHome(c *sshd.Session) bool {
	id := c.Identity()
	return id.Command == "" && canDraw(c.Terminal) && id.May("ls", keys.Viewer) == nil
}

// harmless are the ends of an attachment that aren't failures.
func harmless(err error) bool {
	var detached *attach.DetachedError
	return err == nil || errors.As(err, &detached) || errors.Is(err, attach.ErrEnded) || errors.Is(err, attach.ErrClientGone) || errors.Is(err, attach.ErrDashboard)
}

// attachStatus is the exit status of an attachment that ended with err. The client already has the
// message.
func (d *Dispatcher) attachStatus(ctx context.Context, r commands.Request, err error) int {
	var kicked *attach.KickedError
	switch {
	case harmless(err):
		return api.StatusDone
	case errors.As(err, &kicked):
		return api.CodeDenied.Status()
	case ctx.Err() != nil:
		return api.CodeInternal.Status() // the connection or the server ends
	}
	return d.Commands.Fail(ctx, r, err)
}

// Package dispatch is between the SSH edge and what can be asked of Berth: it
// turns a call into a verb or an attachment, with the caller's rights.
package dispatch

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"

	"berth/api"
	"berth/attach"
	"berth/commands"
	"berth/keys"
	"berth/sshd"
	"berth/sshd/files"
	"berth/terminal"
	"berth/tui"
)

// Dispatcher answers calls. Its fields do not change while it serves, but for
// what Files counts.
type Dispatcher struct {
	Commands *commands.Service
	Prefix   byte   // attach's prefix key
	Address  string // how clients reach this server: agents@HOST with -p before it where needed, for hints
	Log      *slog.Logger
	Files    files.Room // what lies aside for sftp

	seen tui.Memory
}

// Serve answers one call and returns its exit status.
func (d *Dispatcher) Serve(ctx context.Context, c *sshd.Call) int {
	r := commands.Request{
		Identity: c.Identity, Client: c.Client, Line: c.Command, Terminal: c.PTY != nil,
		In: c.Stdin, Out: c.Stdout, Err: c.Stderr,
	}
	switch {
	case c.Subsystem != "":
		r.Terminal = false
		return files.Serve(ctx, &d.Files, d.Commands, r, c.Input.Reader(ctx), c.Stdout)
	case c.Shell || strings.TrimSpace(c.Command) == "":
		return d.home(ctx, c, r)
	case commands.VerbOf(c.Command) == "attach" && !asksHelp(c.Command):
		to, err := d.Commands.Attach(r)
		if err != nil {
			return d.Commands.Fail(ctx, r, err)
		}
		return d.attach(ctx, c, r, to)
	case c.PTY != nil && !readsInput(c.Command):
		return d.interruptible(ctx, c, r)
	}
	if !mayReadInput(c.Command) {
		c.Input.Discard()
	}
	return d.Commands.Run(ctx, r)
}

// mayReadInput says whether the line may ask for standard input: a word of it, or the
// value of an option, may be a lone dash. It may be wrong about a line that does not.
func mayReadInput(line string) bool {
	for i := range len(line) {
		if line[i] != '-' {
			continue
		}
		if i+1 == len(line) || !strings.ContainsRune(optionRunes, rune(line[i+1])) {
			return true
		}
	}
	return false
}

// optionRunes are what may follow a dash that is not alone.
const optionRunes = "-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// asksHelp says whether a line only asks how the verb is used.
func asksHelp(line string) bool {
	for _, word := range strings.Fields(line) {
		if word == "--help" || word == "-h" {
			return true
		}
	}
	return false
}

// home is a call without a command: the session that the SSH user name names,
// or the dashboard; without a terminal to draw on, the list of sessions and how
// to go on.
func (d *Dispatcher) home(ctx context.Context, c *sshd.Call, r commands.Request) int {
	if to, ok := d.Commands.AttachByName(r, c.User); ok {
		return d.attach(ctx, c, r, to)
	}
	if canDraw(c.PTY) {
		return d.dashboard(ctx, c, r, "")
	}
	r.Line = "ls"
	if status := d.Commands.Run(ctx, r); status != api.StatusDone {
		return status
	}
	end := "\n"
	why := "there is no terminal for the dashboard: ssh -t "
	if c.PTY != nil {
		end = "\r\n"
		why = "this terminal (TERM=" + terminal.Printable(c.PTY.Term) + ") cannot show the dashboard: TERM=xterm ssh -t "
	}
	text := "berth: " + why + d.address(c) + end + "all verbs: ssh " + d.address(c) + " help" + end
	if _, err := io.WriteString(c.Stderr, text); err != nil {
		return api.CodeInternal.Status() // nobody is there
	}
	return api.StatusDone
}

// address is how the client would write this server behind ssh.
func (d *Dispatcher) address(c *sshd.Call) string {
	if c.Local() {
		return d.Address
	}
	user := c.User
	if strings.ContainsFunc(user, func(r rune) bool { return r <= ' ' || r > '~' }) || user == "" {
		user = "agents"
	}
	return strings.Replace(d.Address, "agents@", user+"@", 1)
}

// readsInput says whether the verb takes standard input: then a Ctrl-C in it
// is a byte like any other.
func readsInput(line string) bool {
	return strings.HasSuffix(strings.TrimRight(line, " "), " -") || strings.HasSuffix(line, `,"-"]`)
}

// errInterrupted is why a call ends on Ctrl-C.
var errInterrupted = errors.New("interrupted")

// interruptible runs a verb for a client whose terminal is raw, so that Ctrl-C
// comes as a byte and not as a signal.
func (d *Dispatcher) interruptible(ctx context.Context, c *sshd.Call, r commands.Request) int {
	ctx, cancel := context.WithCancelCause(ctx)
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		var buf [256]byte
		for {
			n, err := c.Input.ReadContext(ctx, buf[:])
			for _, b := range buf[:n] {
				if b == ctrlC {
					cancel(errInterrupted)
				}
			}
			if err != nil {
				return
			}
		}
	}()
	status := d.Commands.Run(ctx, r)
	if errors.Is(context.Cause(ctx), errInterrupted) {
		status = interruptedStatus
	}
	cancel(nil)
	<-listening
	return status
}

const (
	ctrlC             = 0x03
	interruptedStatus = 130 // 128 + SIGINT, as shells have it
)

// attach shares the session's terminal with the client, or its text when the
// client has none.
func (d *Dispatcher) attach(ctx context.Context, c *sshd.Call, r commands.Request, to commands.Attachment) int {
	end, err := d.Commands.Attached(r, to)
	if err != nil {
		return d.Commands.Fail(ctx, r, err)
	}
	status := d.attached(ctx, c, r, to)
	end(status, "")
	return status
}

func (d *Dispatcher) attached(ctx context.Context, c *sshd.Call, r commands.Request, to commands.Attachment) int {
	err := d.share(ctx, c, to)
	if errors.Is(err, attach.ErrDashboard) {
		return d.dashboard(ctx, c, r, to.Session.ID())
	}
	return d.attachStatus(ctx, r, err)
}

// share attaches the client until it leaves.
func (d *Dispatcher) share(ctx context.Context, c *sshd.Call, to commands.Attachment) error {
	session := adapter{to: to, call: c}
	if c.PTY == nil {
		return attach.RunPlain(ctx, attach.PlainOptions{
			Session: session, In: c.Input, Out: c.Stdout, Err: c.Stderr,
			MayWrite: to.MayWrite, ReadOnly: to.ReadOnly, Identity: c.Identity().Name, Host: d.address(c),
		})
	}
	return attach.Run(ctx, attach.Options{
		Session: session, In: c.Input, Out: c.Stdout, Hangup: c.Hangup, Window: c.Window, Resized: c.Resized(),
		Term: c.PTY.Term, Env: c.Env(), Prefix: d.Prefix, MayWrite: to.MayWrite, ReadOnly: to.ReadOnly,
		Identity: c.Identity().Name, Host: d.address(c), Dashboard: mayGoHome(c),
	})
}

// mayGoHome says whether the client may go on to the dashboard: not one whose
// key says which command it has.
func mayGoHome(c *sshd.Call) bool {
	id := c.Identity()
	return id.Command == "" && canDraw(c.PTY) && id.May("ls", keys.Viewer) == nil
}

// harmless are the ends of an attachment that are no failure.
func harmless(err error) bool {
	return err == nil || errors.Is(err, attach.ErrEnded) || errors.Is(err, attach.ErrClientGone) || errors.Is(err, attach.ErrDashboard)
}

// attachStatus is the exit status of an attachment that ended with err, about
// which the client has been told.
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

package dispatch

import (
	"context"
	"io"
	"strings"

	ssh "charm.land/ssh"
	wish "charm.land/wish/v2"

	"berth/acp"
	"berth/api"
	"berth/commands"
	"berth/mcp"
	"berth/sshd"
	"berth/sshd/files"
	"berth/terminal"
)

// Handler serves sessions. Each middleware serves the sessions of its kind and passes on all
// others. As everywhere in wish, the last middleware of the list gets a session first.
func (d *Dispatcher) Handler() ssh.Handler {
	var chain ssh.Server // only its Handler is used; sshd runs the server
	_ = wish.WithMiddleware(
		d.Verbs,        // a command: a verb
		d.Dashboard,    // no command: the dashboard, or the list of sessions
		d.AttachByName, // no command, and the SSH user name is a session's
		d.Attach,       // the verb attach
		d.MCP,          // the verb mcp
		d.ACP,          // the verb acp
		d.SFTP,         // sessions as files
		d.Fleet,        // a command about sessions of other hosts
		sshd.Recover(d.Log),
	)(&chain) // it has no error to give
	return chain.Handler
}

// request is a session's request in the form that verbs take.
func request(s *sshd.Session) commands.Request {
	return commands.Request{
		Identity: s.Identity, Client: s.Client, Line: s.RawCommand(), Terminal: s.Terminal != nil,
		In: s.Stdin, Out: s, Err: s.Stderr(),
	}
}

// exit ends a session with its status. An error means that the client is gone, so it is ignored.
func exit(s *sshd.Session, status int) { _ = s.Exit(status) }

// SFTP answers sftp and scp.
func (d *Dispatcher) SFTP(next ssh.Handler) ssh.Handler {
	return func(given ssh.Session) {
		if given.Subsystem() == "" {
			next(given)
			return
		}
		s := sshd.Of(given)
		r := request(s)
		r.Terminal = false
		exit(s, files.Serve(s.Context(), &d.Files, d.Commands, r, s.Input.Reader(s.Context()), s))
	}
}

// MCP serves the Model Context Protocol to a program that runs the verb mcp.
func (d *Dispatcher) MCP(next ssh.Handler) ssh.Handler {
	return d.program(next, "mcp", func(ctx context.Context, r commands.Request, _ commands.Served, s *sshd.Session) error {
		return mcp.Serve(ctx, d.Commands, r, s.CountVerb, s.Input.Reader(ctx), s)
	})
}

// ACP serves the Agent Client Protocol to an editor that runs the verb acp.
func (d *Dispatcher) ACP(next ssh.Handler) ssh.Handler {
	return d.program(next, "acp", func(ctx context.Context, r commands.Request, to commands.Served, s *sshd.Session) error {
		return acp.Serve(ctx, d.Commands, r, to, s.CountVerb, s.Input.Reader(ctx), s)
	})
}

// program serves a protocol to a program that runs a verb without a terminal.
func (d *Dispatcher) program(next ssh.Handler, verb string, serve func(context.Context, commands.Request, commands.Served, *sshd.Session) error) ssh.Handler {
	return func(given ssh.Session) {
		s := sshd.Of(given)
		if line := given.RawCommand(); commands.VerbOf(line) != verb || s.Terminal != nil || asksHelp(line) {
			next(given)
			return
		}
		r := request(s)
		to, err := d.Commands.Serving(s.Context(), r, verb)
		if err == nil {
			err = serve(s.Context(), r, to, s)
		}
		if err != nil {
			exit(s, d.Commands.Fail(s.Context(), r, err))
			return
		}
		exit(s, api.StatusDone)
	}
}

// Attach shares a session's terminal with a client that runs the verb attach.
func (d *Dispatcher) Attach(next ssh.Handler) ssh.Handler {
	return func(given ssh.Session) {
		line := given.RawCommand()
		if commands.VerbOf(line) != "attach" || asksHelp(line) {
			next(given)
			return
		}
		s := sshd.Of(given)
		r := request(s)
		to, err := d.Commands.Attach(r)
		if err != nil {
			exit(s, d.Commands.Fail(s.Context(), r, err))
			return
		}
		exit(s, d.attach(s.Context(), s, r, to))
	}
}

// asksHelp says whether a line only asks how to use the verb.
func asksHelp(line string) bool {
	for _, word := range strings.Fields(line) {
		if word == "--help" || word == "-h" {
			return true
		}
	}
	return false
}

// hasCommand says whether the client asked for a command or a subsystem.
func hasCommand(s ssh.Session) bool { return strings.TrimSpace(s.RawCommand()) != "" }

// AttachByName attaches a client that has a session's name as its SSH user name, and no command.
func (d *Dispatcher) AttachByName(next ssh.Handler) ssh.Handler {
	return func(given ssh.Session) {
		if hasCommand(given) {
			next(given)
			return
		}
		s := sshd.Of(given)
		r := request(s)
		to, ok := d.Commands.AttachByName(r, s.User())
		if !ok {
			next(given)
			return
		}
		exit(s, d.attach(s.Context(), s, r, to))
	}
}

// Dashboard serves a client without a command. Without a usable terminal it prints the list of
// sessions and how to go on.
func (d *Dispatcher) Dashboard(next ssh.Handler) ssh.Handler {
	return func(given ssh.Session) {
		if hasCommand(given) {
			next(given)
			return
		}
		s := sshd.Of(given)
		if canDraw(s.Terminal) {
			exit(s, d.dashboard(s.Context(), s, request(s), ""))
			return
		}
		exit(s, d.list(s))
	}
}

func (d *Dispatcher) list(s *sshd.Session) int {
	r := request(s)
	r.Line = "ls"
	if status := d.Commands.Run(s.Context(), r); status != api.StatusDone {
		return status
	}
	end := "\n"
	why := "the dashboard needs a terminal: ssh -t "
	if s.Terminal != nil {
		end = "\r\n"
		why = "this terminal (TERM=" + terminal.Printable(s.Terminal.Term) + ") can't show the dashboard: TERM=xterm ssh -t "
	}
	text := "berth: " + why + d.address(s) + end + "all verbs: ssh " + d.address(s) + " help" + end
	if _, err := io.WriteString(s.Stderr(), text); err != nil {
		return api.CodeInternal.Status() // the client is gone
	}
	return api.StatusDone
}

// Verbs runs the verb that a command names. It serves all sessions that no other middleware serves.
func (d *Dispatcher) Verbs(ssh.Handler) ssh.Handler {
	return func(given ssh.Session) {
		s := sshd.Of(given)
		r := request(s)
		if s.Terminal != nil && !readsInput(r.Line) {
			exit(s, d.interruptible(s.Context(), s, r))
			return
		}
		if !mayReadInput(r.Line) {
			s.Input.Discard()
		}
		exit(s, d.Commands.Run(s.Context(), r))
	}
}

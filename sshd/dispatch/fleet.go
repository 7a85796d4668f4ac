package dispatch

import (
	"bytes"
	"context"
	"errors"
	"sync"

	ssh "charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"berth/api"
	"berth/attach"
	"berth/commands"
	"berth/fleet/relay"
	"berth/keys"
	"berth/sshd"
)

// Reach logs in at another host of the fleet for a caller. Its errors are for the caller.
type Reach func(ctx context.Context, host string, person keys.Identity) (*gossh.Client, error)

// hostsAtOnce bounds the hosts that one call drives at a time.
const hostsAtOnce = 16

// Fleet carries a command to the hosts that it is about, if any is another one.
func (d *Dispatcher) Fleet(next ssh.Handler) ssh.Handler {
	return func(given ssh.Session) {
		if d.Reach == nil || given.Subsystem() != "" {
			next(given)
			return
		}
		s := sshd.Of(given)
		r := request(s)
		to, err := d.Commands.Route(r, s.User())
		switch {
		case err != nil:
			exit(s, d.Commands.Fail(s.Context(), r, err))
		case !to.Away():
			next(given)
		case len(to.Hosts) == 1 && !to.Here:
			exit(s, d.carry(s, r, to))
		default:
			exit(s, d.spread(s.Context(), s, r, to))
		}
	}
}

// carry joins the session to one on another host.
func (d *Dispatcher) carry(s *sshd.Session, r commands.Request, to commands.Route) int {
	host := to.Hosts[0]
	return d.onHost(s.Context(), s, r, to, host, func(client *gossh.Client, person keys.Identity) (int, error) {
		status, err := relay.Run(client, s, person, to.Line, r.Err)
		if errors.Is(err, relay.ErrUnreachable) && s.Terminal != nil {
			_, err2 := s.Write([]byte(attach.Restore)) // the host can't any more; an error means that the client is gone
			err = errors.Join(err, err2)
		}
		return status, err
	})
}

// exec runs a command on one host, with the request's input and for its outputs.
func (d *Dispatcher) exec(ctx context.Context, s *sshd.Session, r commands.Request, to commands.Route, host string) int {
	return d.onHost(ctx, s, r, to, host, func(client *gossh.Client, person keys.Identity) (int, error) {
		return relay.Exec(ctx, client, s, person, relay.Command{Line: to.Line, Terminal: r.Terminal, In: r.In, Out: r.Out, Messages: r.Err})
	})
}

// onHost runs a command on a host, with the caller's rights and share.
func (d *Dispatcher) onHost(ctx context.Context, s *sshd.Session, r commands.Request, to commands.Route, host string, run func(*gossh.Client, keys.Identity) (int, error)) int {
	person := s.Identity()
	return d.Commands.Carried(ctx, r, to, host, func() (int, error) {
		leave, err := d.carried.enter(person)
		if err != nil {
			return 0, err
		}
		defer leave()
		client, err := d.Reach(ctx, host, person)
		if err != nil {
			return 0, err
		}
		status, err := run(client, person)
		return status, ended(host, err)
	})
}

// ended says why a session on another host ended without a status of its own.
func ended(host string, err error) error {
	switch {
	case errors.Is(err, relay.ErrUnreachable):
		return api.Errorf(api.CodeUnreachable, "%s: the connection to the host broke; the session goes on there. Try again", host).With("host", host)
	case errors.Is(err, relay.ErrNarrowed):
		return api.Errorf(api.CodeDenied, "%w", err)
	}
	return err
}

// spread runs a command on several hosts at once, and prints each line of theirs as it is complete, with the host's
// name. A host that is away delays no other. The exit status is the highest.
func (d *Dispatcher) spread(ctx context.Context, s *sshd.Session, r commands.Request, to commands.Route) int {
	out := &lines{to: r.Out, shaped: to.Shaped}
	messages := &lines{to: r.Err, messages: true}
	var mu sync.Mutex // of worst
	worst := api.StatusDone
	slots := make(chan struct{}, hostsAtOnce)
	var running sync.WaitGroup
	part := func(host string, run func(commands.Request) int) {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			one := r
			one.In = bytes.NewReader(nil)
			mine, errs := out.part(host), messages.part(host)
			one.Out, one.Err = mine, errs
			status := run(one)
			mine.flush()
			errs.flush()
			mu.Lock()
			defer mu.Unlock()
			worst = max(worst, status)
		})
	}
	if to.Here {
		part(d.Commands.Fleet.Name(), func(one commands.Request) int { return d.Commands.Run(ctx, one) })
	}
	for _, host := range to.Hosts {
		part(host, func(one commands.Request) int { return d.exec(ctx, s, one, to, host) })
	}
	running.Wait()
	return worst
}

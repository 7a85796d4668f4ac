// Package relay is a gateway's way to a host: it opens SSH over a stream of the fleet, as itself, with a pass for
// the caller, and joins the caller's session to one on the host. The host decides what the caller may do.
//
// The caller's session is an sshd.Session at the gateway. Run gives the session on the host the same command
// or subsystem, terminal, environment, input and signals, and returns its exit status. Three goroutines
// serve a Run, and end with it.
package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	ssh "charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"berth/fleet/join"
	"berth/keys"
	"berth/sshd"
)

// connectTime bounds the way to a host, with the login there.
const connectTime = 2 * time.Second

// reviewEvery is how often the caller's rights at the gateway are compared with those of its pass.
const reviewEvery = 500 * time.Millisecond

// Why a host isn't reached, or a session ended.
var (
	ErrUnreachable = errors.New("the host can't be reached")
	ErrHostKey     = errors.New("the host key")
	ErrNarrowed    = errors.New("you have fewer rights now: connect again to use the remaining ones")
)

// Gateway reaches hosts. Its fields don't change.
type Gateway struct {
	Name      string       // in passes and audit logs
	Key       gossh.Signer // that it proves
	Authority gossh.Signer // of passes
	Host      func(name string) (join.Host, error)
	Dial      func(ctx context.Context, host string) (net.Conn, error)
	Rights    func(keys.Identity) (keys.Identity, error) // now, of a caller that was identified before
	Now       func() time.Time
}

// Client logs in at a host for a person. The host's key must be one that it had when it joined. The caller
// closes the client. The error is ErrUnreachable at the latest after connectTime.
func (g *Gateway) Client(ctx context.Context, name string, person keys.Identity) (*gossh.Client, error) {
	known, err := g.hostKeys(name)
	if err != nil {
		return nil, err
	}
	cert, err := g.pass(name, known, person)
	if err != nil {
		return nil, err
	}
	signer, err := gossh.NewCertSigner(cert, g.Key)
	if err != nil {
		return nil, fmt.Errorf("prove the pass: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	conn, err := g.Dial(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, ErrUnreachable, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	c, channels, requests, err := gossh.NewClientConn(conn, name, &gossh.ClientConfig{
		User: keys.UsualUser, Auth: []gossh.AuthMethod{gossh.PublicKeys(signer)},
		HostKeyCallback: func(_ string, _ net.Addr, key gossh.PublicKey) error {
			if !slices.ContainsFunc(known, func(k gossh.PublicKey) bool { return string(k.Marshal()) == string(key.Marshal()) }) {
				return fmt.Errorf("%w of %s isn't one that it had when it joined: remove the host with fleet rm, and invite it again", ErrHostKey, name)
			}
			return nil
		},
	})
	if err != nil {
		_ = conn.Close()
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s: %w: it doesn't answer within %s", name, ErrUnreachable, connectTime)
		}
		return nil, fmt.Errorf("log in at %s: %w", name, err)
	}
	return gossh.NewClient(c, channels, requests), nil
}

// hostKeys are the keys that a host had when it joined.
func (g *Gateway) hostKeys(name string) (known []gossh.PublicKey, err error) {
	host, err := g.Host(name)
	if err != nil {
		return nil, fmt.Errorf("find the host %s: %w", name, err)
	}
	for _, line := range host.HostKeys {
		key, _, _, _, err := gossh.ParseAuthorizedKey([]byte(line))
		if err != nil {
			return nil, fmt.Errorf("read the key of the host %s: %w", name, err)
		}
		known = append(known, key)
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("the host %s has no key", name)
	}
	return known, nil
}

func (g *Gateway) pass(name string, known []gossh.PublicKey, person keys.Identity) (*gossh.Certificate, error) {
	return keys.Pass{Person: person, Gateway: g.Key.PublicKey(), GatewayName: g.Name, Host: name, HostKey: known[0]}.Sign(g.Authority, g.Now())
}

// Renew makes a pass with the rights that the person of an older one has now, for the host that shows it.
func (g *Gateway) Renew(name string, older *gossh.Certificate) (*gossh.Certificate, error) {
	was, err := keys.Vouched(older, g.Authority.PublicKey(), name)
	if err != nil {
		return nil, err
	}
	now, err := g.Rights(was)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", keys.ErrNoVouch, err)
	}
	known, err := g.hostKeys(name)
	if err != nil {
		return nil, err
	}
	return g.pass(name, known, now)
}

// Run runs a command on the host for the caller of s, its subsystem, or a shell, and returns the exit status.
// What the host says beside the output goes to messages. Run ends when the host's session does, when the caller leaves,
// or when the caller has fewer rights at the gateway than person, who the client's pass is for. The client can't be
// used afterwards.
func Run(client *gossh.Client, s *sshd.Session, person keys.Identity, command string, messages io.Writer) (int, error) {
	return run(s.Context(), client, s, person, Command{command, s.Terminal != nil, nil, s, messages})
}

// Command is one that a caller has run besides its own session, such as on several hosts at once.
type Command struct {
	Line          string
	Terminal      bool      // the host prints for a person
	In            io.Reader // nil: the caller's own input, with its window and signals
	Out, Messages io.Writer
}

// Exec is Run for a command with an input and outputs of its own, until ctx ends.
func Exec(ctx context.Context, client *gossh.Client, s *sshd.Session, person keys.Identity, c Command) (int, error) {
	return run(ctx, client, s, person, c)
}

func run(ctx context.Context, client *gossh.Client, s *sshd.Session, person keys.Identity, c Command) (int, error) {
	defer client.Close()
	session, input, err := begin(ctx, client, s, c)
	if err != nil {
		return 0, err
	}
	defer session.Close()
	return follow(ctx, client, session, s, person, c, input)
}

// begin starts the command within connectTime, or until the caller leaves. A host that logs a caller in and answers
// nothing else holds up no caller.
func begin(caller context.Context, client *gossh.Client, s *sshd.Session, c Command) (*gossh.Session, io.WriteCloser, error) {
	ctx, cancel := context.WithTimeout(caller, connectTime)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = client.Close() })
	defer stop()
	session, input, err := start(client, s, c)
	switch {
	case err != nil && caller.Err() != nil:
		err = context.Cause(caller)
	case err != nil && ctx.Err() != nil:
		err = fmt.Errorf("%w: it doesn't answer within %s", ErrUnreachable, connectTime)
	}
	return session, input, err
}

func start(client *gossh.Client, s *sshd.Session, c Command) (*gossh.Session, io.WriteCloser, error) {
	session, err := client.NewSession()
	if err != nil {
		return nil, nil, fmt.Errorf("open a session: %w", err)
	}
	session.Stdout, session.Stderr = c.Out, c.Messages
	input, err := session.StdinPipe()
	if err != nil {
		return nil, nil, fmt.Errorf("open the host's input: %w", err)
	}
	for name, value := range s.Env() {
		_ = session.Setenv(name, value) // the host keeps what it wants
	}
	if c.Terminal && s.Terminal != nil {
		cols, rows := s.Window()
		if err := session.RequestPty(s.Terminal.Term, rows, cols, gossh.TerminalModes{}); err != nil {
			return nil, nil, fmt.Errorf("open a terminal: %w", err)
		}
	}
	switch {
	case c.In == nil && s.Subsystem() != "":
		err = session.RequestSubsystem(s.Subsystem())
	case c.Line == "":
		err = session.Shell()
	default:
		err = session.Start(c.Line)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("start: %w", err)
	}
	return session, input, nil
}

// follow passes on what the caller does until the host's session ends.
func follow(caller context.Context, client *gossh.Client, session *gossh.Session, s *sshd.Session, person keys.Identity, c Command, input io.WriteCloser) (int, error) {
	ctx, cancel := context.WithCancelCause(caller)
	signals := make(chan ssh.Signal, 1)
	var resized <-chan struct{}
	var running sync.WaitGroup
	defer running.Wait()
	if c.In == nil {
		c.In, resized = s.Input.Reader(ctx), s.Resized()
		s.Signals(signals)
		defer s.Signals(nil)
	}
	defer cancel(nil)
	defer client.Close() // so that a write to the host returns
	stop := context.AfterFunc(ctx, func() { _ = client.Close() })
	defer stop()
	running.Go(func() {
		_, _ = io.Copy(input, c.In)
		_ = input.Close()
	})
	running.Go(func() {
		tick := time.NewTicker(reviewEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-resized:
				cols, rows := s.Window()
				_ = session.WindowChange(rows, cols) // an error is the end of the session
			case signal := <-signals:
				_ = session.Signal(gossh.Signal(signal))
			case <-tick.C:
				if person.NarrowedTo(s.Identity()) {
					cancel(ErrNarrowed)
				}
			}
		}
	})
	err := session.Wait()
	var exit *gossh.ExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit):
		return exit.ExitStatus(), nil
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	}
	return 0, fmt.Errorf("%w: the connection broke", ErrUnreachable)
}

// Package local is the client of a server's Unix socket, with which berth VERB runs verbs on the host.
// It speaks SSH, so that a verb has one path for every client.
package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	gossh "golang.org/x/crypto/ssh"

	"berth/rawio"
)

// ErrNoServer says that no server answers on the socket.
var ErrNoServer = errors.New("no server is running")

// ErrWord is for a word of the command that can't be sent. Every other error of Run is one of the connection.
var ErrWord = errors.New("it isn't UTF-8: send it on standard input")

// handshakeTime bounds the handshake with a server that hangs.
const handshakeTime = 10 * time.Second

// Run runs argv on the server at socket (its shell when argv is empty) with the given streams, and
// returns the exit status. With tty, and when stdin and stdout are terminals, the server gets a
// terminal: stdin is raw until Run returns, and size changes are passed on. The end of ctx closes the
// connection. Run doesn't wait for a running read of stdin.
func Run(ctx context.Context, socket string, argv []string, stdin io.Reader, stdout, stderr io.Writer, tty bool) (int, error) {
	exit, err := run(ctx, socket, argv, stdin, stdout, stderr, tty)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // whatever it broke
	}
	return exit, err
}

func run(ctx context.Context, socket string, argv []string, stdin io.Reader, stdout, stderr io.Writer, tty bool) (int, error) {
	client, err := dial(ctx, socket, stderr)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	stop := context.AfterFunc(ctx, func() { client.Close() })
	defer stop()

	session, err := client.NewSession()
	if err != nil {
		return 0, openError(err)
	}
	defer session.Close()
	session.Stdout, session.Stderr = stdout, stderr
	input, err := session.StdinPipe()
	if err != nil {
		return 0, fmt.Errorf("open the server's input: %w", err)
	}
	if tty {
		restore, err := openTerminal(ctx, session, stdin, stdout)
		if err != nil {
			return 0, err
		}
		defer restore()
	}
	if err := begin(session, argv); err != nil {
		return 0, err
	}
	go func() {
		_, _ = io.Copy(input, stdin)
		_ = input.Close()
	}()
	return status(session.Wait())
}

// begin starts the command. It is sent as a JSON array, which needs no word splitting.
func begin(session *gossh.Session, argv []string) error {
	if len(argv) == 0 {
		if err := session.Shell(); err != nil {
			return fmt.Errorf("start: %w", err)
		}
		return nil
	}
	for _, word := range argv {
		if !utf8.ValidString(word) { // JSON would change it in silence
			return fmt.Errorf("the word %q can't be sent: %w", word, ErrWord)
		}
	}
	line, err := json.Marshal(argv)
	if err != nil {
		return fmt.Errorf("write the command: %w", err)
	}
	if err := session.Start(string(line)); err != nil {
		return fmt.Errorf("start %s: %w", argv[0], err)
	}
	return nil
}

func status(err error) (int, error) {
	var exit *gossh.ExitError
	var missing *gossh.ExitMissingError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit):
		return exit.ExitStatus(), nil
	case errors.As(err, &missing):
		return 0, errors.New("the server ended before the command did")
	}
	return 0, fmt.Errorf("run: %w", err)
}

// dial opens the connection. There is no known host key: the socket's folder belongs to one user, and
// dial checks that the socket does too.
func dial(ctx context.Context, socket string, stderr io.Writer) (*gossh.Client, error) {
	if err := checkOwner(socket); err != nil {
		return nil, err
	}
	connecting, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	conn, err := rawio.Dial(connecting, socket)
	if err != nil {
		return nil, noServer(socket, err)
	}
	_ = conn.SetDeadline(time.Now().Add(handshakeTime))
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	config := &gossh.ClientConfig{
		// The cheapest of what the server has: this is one machine.
		Config:          gossh.Config{KeyExchanges: []string{gossh.KeyExchangeCurve25519}, Ciphers: []string{gossh.CipherAES128GCM}},
		User:            "berth",
		Auth:            []gossh.AuthMethod{gossh.PublicKeysCallback(signers)}, // asked for where the socket demands a key
		HostKeyCallback: func(string, net.Addr, gossh.PublicKey) error { return nil },
		BannerCallback: func(message string) error { // why the server refused
			_, err := io.WriteString(stderr, message)
			return err
		},
	}
	c, channels, requests, err := gossh.NewClientConn(conn, socket, config)
	if err != nil {
		_ = conn.Close()
		if strings.Contains(err.Error(), "unable to authenticate") {
			return nil, fmt.Errorf("the server at %s requires a key from callers on its socket (local: key), and accepts none of yours: "+
				"load the right key with ssh-add, or use ssh", socket)
		}
		return nil, fmt.Errorf("the server at %s refused the login: %w", socket, err)
	}
	_ = conn.SetDeadline(time.Time{})
	return gossh.NewClient(c, channels, requests), nil
}

func checkOwner(socket string) error {
	info, err := os.Stat(socket)
	if err != nil {
		return noServer(socket, err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() && os.Geteuid() != 0 && st.Uid != 0 {
		return fmt.Errorf("the socket %s belongs to uid %d, and you are uid %d", socket, st.Uid, os.Geteuid())
	}
	return nil
}

func noServer(socket string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		if os.Getenv("BERTH_SESSION") != "" { // whose processes can't start one
			return fmt.Errorf("%w at %s: try again when it is back, sessions keep running without it", ErrNoServer, socket)
		}
		return fmt.Errorf("%w at %s: start one with `berth up`", ErrNoServer, socket)
	}
	return fmt.Errorf("reach the server at %s: %w", socket, err)
}

// openError is the server's reason if it gave one.
func openError(err error) error {
	var refused *gossh.OpenChannelError
	if errors.As(err, &refused) {
		return errors.New(refused.Message)
	}
	return fmt.Errorf("open a session: %w", err)
}

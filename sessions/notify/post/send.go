package post

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"time"

	"berth/sessions/command"
)

const (
	// within is how long a command, or one try to post, may take.
	within = 10 * time.Second
	// mostAnswer is how much of an answer is read, so that the connection can
	// be used again.
	mostAnswer = 64 << 10
	// mostRead is how much of it is looked at.
	mostRead = 4 << 10
)

// inherited are the variables that a command has of the server's.
var inherited = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR"}

// runner runs a command as a caller of the session that the notice is about.
type runner interface {
	Run(context.Context, command.Command) (command.Result, error)
}

// command runs a rule's command with the notice on its standard input.
func (p *Poster) command(ctx context.Context, s runner, argv []string, data []byte) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return errors.New("the command was not found in the server's PATH: give its full path")
	}
	var env []string
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	_, err = s.Run(ctx, command.Command{Path: path, Argv: argv, Env: env, Dir: "/", Stdin: data, Within: within})
	return err
}

// web posts, through the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the server's environment name.
// Its errors name no URL, which may hold a secret.
type web struct {
	client  http.Client
	pool    *http.Transport
	version string
}

func newWeb(version string) *web {
	pool := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: within}).DialContext,
		TLSHandshakeTimeout: within, MaxIdleConns: atOnce, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: mostAnswer,
	}
	return &web{pool: pool, version: version, client: http.Client{
		Transport: pool, Timeout: within,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (w *web) close() { w.pool.CloseIdleConnections() }

// drain reads an answer to its end, so that the connection can be used again, and returns its start.
func drain(body io.ReadCloser) []byte {
	start, _ := io.ReadAll(io.LimitReader(body, mostRead)) // what came counts
	_, _ = io.Copy(io.Discard, io.LimitReader(body, mostAnswer))
	_ = body.Close()
	return start
}

// unsent says that the request didn't reach the service, or the proxy. After any other failure the service
// may have it.
func unsent(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "proxyconnect" {
		return unsent(op.Err)
	}
	return op != nil && op.Op == "dial"
}

// connection says why there was no answer. The library's errors have the URL in them, or the proxy's.
func connection(err error) error {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var op *net.OpError
	var errno syscall.Errno
	switch {
	case os.IsTimeout(err) || errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("there was no answer within %s", within)
	case errors.As(err, &dns):
		return errors.New("its host was not found")
	case errors.As(err, &certificate):
		return fmt.Errorf("its certificate isn't valid: %w", certificate.Err)
	case errors.As(err, &errno) && errors.As(err, &op):
		return fmt.Errorf("it could not be reached: %s: %w", op.Op, errno)
	}
	return errors.New("the connection failed")
}

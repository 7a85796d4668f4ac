package post

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"time"

	"berth/sessions/command"
)

const (
	// within is how long a command, or one try to post, may take.
	within = 10 * time.Second
	// mostAnswer is how much of an answer is read, so that the connection can
	// be used again.
	mostAnswer = 64 << 10
)

// tries are the pauses before the tries to post: what could not be reached, or
// says that it is busy, is tried again.
var tries = []time.Duration{0, 2 * time.Second, 4 * time.Second}

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

// web posts. Its errors name no URL, which may hold a secret.
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

// post posts, up to three times.
func (w *web) post(ctx context.Context, to string, data []byte) error {
	var failed error
	for _, pause := range tries {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		again, err := w.try(ctx, to, data)
		if err == nil || !again {
			return err
		}
		failed = err
	}
	return fmt.Errorf("%w, %d times", failed, len(tries))
}

// try posts once; again says whether another try may do better.
func (w *web) try(ctx context.Context, to string, data []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(data))
	if err != nil {
		return false, errors.New("the url cannot be used")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "berth/"+w.version)
	answer, err := w.client.Do(r)
	if err != nil {
		var named *url.Error
		if errors.As(err, &named) {
			err = named.Err
		}
		var dial *net.OpError
		return errors.As(err, &dial) && dial.Op == "dial", fmt.Errorf("it could not be posted: %w", err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, mostAnswer)) // only the status counts
	_ = answer.Body.Close()
	switch s := answer.StatusCode; {
	case s >= 200 && s < 300:
		return false, nil
	case s >= 300 && s < 400:
		return false, fmt.Errorf("it was answered with a redirect (%d), which is not followed", s)
	default:
		return s == http.StatusTooManyRequests || s >= 500, fmt.Errorf("it was answered with status %d", s)
	}
}

package ship

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// sendWithin is how long the other side may take for one batch.
const sendWithin = 30 * time.Second

// jsonLines joins lines, each with its line feed.
func jsonLines(lines [][]byte) []byte { return append(bytes.Join(lines, []byte("\n")), '\n') }

// Command sends a batch to the standard input of a command, which takes it by ending with status 0.
func Command(run func(ctx context.Context, stdin []byte, within time.Duration) error) func(context.Context, [][]byte) error {
	return func(ctx context.Context, lines [][]byte) error {
		if err := run(ctx, jsonLines(lines), sendWithin); err != nil {
			return fmt.Errorf("the command of audit.ship: %w", err)
		}
		return nil
	}
}

// HTTP posts a batch as application/x-ndjson. The service takes it with a status of 200 to 299. Errors
// don't have the URL, which may hold a secret.
func HTTP(target, token, version string) func(context.Context, [][]byte) error {
	client := &http.Client{
		Timeout:       sendWithin,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context, lines [][]byte) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(jsonLines(lines)))
		if err != nil {
			return errors.New("the URL of audit.ship isn't valid")
		}
		req.Header.Set("Content-Type", "application/x-ndjson")
		req.Header.Set("User-Agent", "berth/"+version)
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := client.Do(req)
		if err != nil {
			var u *url.Error
			if errors.As(err, &u) {
				err = u.Err
			}
			return fmt.Errorf("post the audit log: %w", err)
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection can be used again
		_ = res.Body.Close()
		if res.StatusCode < 200 || res.StatusCode > 299 {
			return fmt.Errorf("the service that audit.ship names answered %s", res.Status)
		}
		return nil
	}
}

// Syslog sends each line as one message of RFC 5424 (facility authpriv, severity info): to a socket of
// this machine, such as /dev/log, or over TCP (tcp://HOST:PORT) with the frames of RFC 6587. A batch has a
// connection of its own. Over a stream the receiver takes a batch by closing the connection after the
// last message. A datagram is taken when it is in the receiver's queue, which a receiver that is killed
// loses.
func Syslog(target string) func(context.Context, [][]byte) error {
	return func(ctx context.Context, lines [][]byte) error {
		ctx, cancel := context.WithTimeout(ctx, sendWithin)
		defer cancel()
		if err := syslog(ctx, target, lines); err != nil {
			return fmt.Errorf("send the audit log to syslog: %w", err)
		}
		return nil
	}
}

func syslog(ctx context.Context, target string, lines [][]byte) error {
	var d net.Dialer
	conn, datagrams, err := dialSyslog(ctx, &d, target)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	host, err := os.Hostname()
	if err != nil {
		host = "-"
	}
	if datagrams {
		for _, line := range lines {
			if _, err := conn.Write(message(line, host)); err != nil {
				return err
			}
		}
		return nil
	}
	var all []byte
	for _, line := range lines {
		m := message(line, host)
		all = append(all, strconv.Itoa(len(m))+" "...)
		all = append(all, m...)
	}
	if _, err := conn.Write(all); err != nil {
		return err
	}
	half, ok := conn.(interface{ CloseWrite() error })
	if !ok {
		return fmt.Errorf("%T can't be half closed", conn)
	}
	if err := half.CloseWrite(); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, conn); err != nil {
		return fmt.Errorf("the receiver didn't close the connection: %w", err)
	}
	return nil
}

func dialSyslog(ctx context.Context, d *net.Dialer, target string) (conn net.Conn, datagrams bool, err error) {
	if address, ok := strings.CutPrefix(target, "tcp://"); ok {
		conn, err = d.DialContext(ctx, "tcp", address)
		return conn, false, err
	}
	if conn, err = d.DialContext(ctx, "unixgram", target); err == nil {
		return conn, true, nil
	}
	conn, err = d.DialContext(ctx, "unix", target)
	return conn, false, err
}

// priority is authpriv.info.
const priority = 10<<3 | 6

// message is a line as RFC 5424 has it, with the line's own time.
func message(line []byte, host string) []byte {
	var e struct {
		Time string `json:"time"`
		Kind string `json:"kind"`
	}
	if json.Unmarshal(line, &e) != nil || e.Time == "" {
		e.Time = "-"
	}
	if e.Kind == "" {
		e.Kind = "-"
	}
	return append(fmt.Appendf(nil, "<%d>1 %s %s berth %d %s - ", priority, e.Time, host, os.Getpid(), e.Kind), line...)
}

package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// answerWithin is how long a listener may take to send its first line.
const answerWithin = 3 * time.Second

func checkConfig(_ context.Context, e *examination) []Result {
	if e.Config == nil {
		return one(Error, e.Problem.Error(), "mend the file; berth config check lists every error in it")
	}
	var found []Result
	for _, n := range e.Config.Notices {
		found = append(found, Result{Status: Warning, Message: n.String(), Remedy: "mend the field; berth config check lists them"})
	}
	if len(found) > 0 {
		return found
	}
	if e.Config.File == "" {
		return ok("there is no berth.yaml: the defaults hold")
	}
	return ok(e.Config.File + " is valid")
}

func checkServer(_ context.Context, e *examination) []Result {
	socket := filepath.Join(e.Config.RuntimeDir, "berth.sock")
	switch {
	case e.serverErr != nil:
		return one(Error, "a server has the socket, but doesn't answer: "+e.serverErr.Error(),
			"look into its log; if it hangs, end its process: the sessions keep running, and the next server takes them up")
	case e.server == nil:
		if _, err := os.Lstat(socket); err == nil {
			return one(Warning, "no server runs; a killed one left its socket "+socket, "start one with: berth up")
		}
		return one(Warning, "no server runs", "start one with: berth up")
	}
	var found []Result
	for _, p := range e.server.Problems {
		found = append(found, Result{Status: Error, Message: p, Remedy: "berth health has the counts; the server's log says more"})
	}
	if len(found) > 0 {
		return found
	}
	return ok(fmt.Sprintf("running, pid %d, version %s", e.server.PID, e.server.Version))
}

// checkListen looks who has the port. A running server must answer there as an SSH server; without
// one the port must be free.
func checkListen(ctx context.Context, e *examination) []Result {
	address := e.Config.Listen
	if e.server != nil {
		if e.server.Listen != "" {
			address = e.server.Listen
		}
		line, err := greeting(ctx, address)
		switch {
		case err != nil:
			return one(Error, fmt.Sprintf("the server doesn't answer on %s: %v", address, err),
				"a firewall may be in the way, or the server is at its limit of connections: see berth health")
		case !strings.HasPrefix(line, "SSH-2.0-"):
			return one(Error, fmt.Sprintf("what answers on %s isn't an SSH server", address), "choose another port with listen in berth.yaml")
		}
		return ok("an SSH server answers on " + address)
	}
	if e.serverErr != nil {
		return ok("not looked at, because the server doesn't answer")
	}
	l, err := net.Listen("tcp", address)
	if err == nil {
		_ = l.Close()
		return ok(address + " is free")
	}
	remedy := "choose another address with listen in berth.yaml"
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		_, port, _ := net.SplitHostPort(address)
		remedy = fmt.Sprintf("another program has the port: find it with ss -ltnp 'sport = :%s', or %s", port, remedy)
	case errors.Is(err, syscall.EACCES):
		remedy = "ports below 1024 need root or CAP_NET_BIND_SERVICE: " + remedy
	}
	return one(Error, err.Error(), remedy)
}

// greeting is the first line that a listener sends.
func greeting(ctx context.Context, address string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if host, port, err := net.SplitHostPort(address); err == nil {
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			address = net.JoinHostPort("localhost", port)
		}
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	line := make([]byte, 64)
	n, err := io.ReadAtLeast(conn, line, len("SSH-2.0-"))
	if err != nil {
		return "", fmt.Errorf("read its first line: %w", err)
	}
	return string(line[:n]), nil
}

func checkLinger(_ context.Context, e *examination) []Result {
	unit := filepath.Join(e.Account.Home, ".config", "systemd", "user", "berth.service")
	if _, err := os.Stat(unit); err != nil {
		return ok("the server isn't a unit of your own")
	}
	if _, err := os.Stat(filepath.Join("/var/lib/systemd/linger", e.Account.Name)); err != nil {
		return one(Warning, "the server and its sessions end when "+e.Account.Name+" logs out of this machine", "run: loginctl enable-linger "+e.Account.Name)
	}
	return ok("the server's unit outlives logins")
}

// leastFiles is what 100 sessions with 10 clients each need, with room for bursts.
const leastFiles = 4096

func checkLimits(_ context.Context, e *examination) []Result {
	files, err := e.FileLimit()
	if err != nil {
		return one(Warning, "the limit of open files isn't known: "+err.Error(), "see ulimit -n")
	}
	if files < leastFiles {
		return one(Warning, fmt.Sprintf("a process may open %d files: many sessions and clients need more", files),
			"raise it to "+strconv.Itoa(leastFiles)+" or more: LimitNOFILE= in the unit, ulimit -n in a shell")
	}
	return ok(fmt.Sprintf("a process may open %d files", files))
}

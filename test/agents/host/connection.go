package host

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// connection is an ssh ControlMaster that all calls share, because a handshake costs more processor time than a call.
// For Berth each call is still a client of its own.
type connection struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// controlPath is the path of its socket, for ssh_config.
func (h *Host) controlPath() string { return filepath.Join(h.dir, "ssh") }

// connect makes the connection, and returns when calls can use it.
func (h *Host) connect() (*connection, error) {
	cmd := exec.Command("ssh", "-F", filepath.Join(h.dir, "ssh_config"), "-M", "-N", "berth")
	cmd.Env, cmd.Dir = h.environ(), h.dir
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start ssh: %w", err)
	}
	c := &connection{cmd: cmd, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // it is ended by us, or by a server that was killed
		close(c.ended)
	}()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		// The file isn't enough, because ssh makes it before it listens.
		if conn, err := net.Dial("unix", h.controlPath()); err == nil {
			_ = conn.Close()
			return c, nil
		}
		select {
		case <-tick.C:
		case <-c.ended:
			return nil, errors.New("the connection that calls share ended at once")
		case <-deadline.C:
			return nil, errors.Join(errors.New("the connection that calls share does not come about"), h.disconnect(c))
		}
	}
}

// disconnect ends the connection. Later calls make connections of their own.
func (h *Host) disconnect(c *connection) error {
	_ = c.cmd.Process.Kill() // it may have ended
	<-c.ended
	if err := os.Remove(h.controlPath()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

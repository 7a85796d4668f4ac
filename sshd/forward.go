package sshd

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"berth/keys"
)

// Forward opens a connection to a fleet's host for a caller of ssh -J. Allowed is asked again while the
// connection is open.
type Forward struct {
	Allowed func(keys.Identity) error
	Dial    func(ctx context.Context, host string) (net.Conn, error)
}

// Bounds of forwarded connections. Each may have as many unread bytes as an SSH channel has, which is 2 MiB.
const (
	forwardsEach  = 16 // of one caller at once
	forwardsMost  = 256
	forwardDial   = 2 * time.Second
	forwardReview = 500 * time.Millisecond
)

// forwards counts the connections that are open, by caller.
type forwards struct {
	mu   sync.Mutex
	open map[string]int
	all  int
}

func (f *forwards) enter(caller string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all >= forwardsMost || f.open[caller] >= forwardsEach {
		return false
	}
	if f.open == nil {
		f.open = map[string]int{}
	}
	f.open[caller]++
	f.all++
	return true
}

func (f *forwards) leave(caller string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open[caller]--; f.open[caller] <= 0 {
		delete(f.open, caller)
	}
	f.all--
}

// openDirect serves a direct-tcpip channel: to a fleet's host, by name, whatever the port. Nothing else is reached.
func (c *connection) openDirect(conn *gossh.ServerConn, offered gossh.NewChannel) {
	if c.server.forward == nil || c.carried != nil {
		c.refuseChannel(offered)
		return
	}
	if !c.answering() {
		return
	}
	answered := sync.OnceFunc(c.answered)
	defer answered()
	var to struct {
		Host       string
		Port       uint32
		From       string
		SourcePort uint32
	}
	if err := gossh.Unmarshal(offered.ExtraData(), &to); err != nil {
		_ = offered.Reject(gossh.ConnectionFailed, "berth: the request can't be read")
		return
	}
	if err := c.establish(conn); err != nil {
		c.refuse(offered, err)
		return
	}
	id := *c.identity.Load()
	if err := c.server.forward.Allowed(id); err != nil {
		_ = offered.Reject(gossh.Prohibited, "berth: "+err.Error())
		return
	}
	caller := id.Fingerprint
	if !c.server.forwards.enter(caller) {
		_ = offered.Reject(gossh.ResourceShortage, "berth: too many forwarded connections are open")
		return
	}
	defer c.server.forwards.leave(caller)
	ctx, cancel := context.WithTimeout(context.Background(), forwardDial)
	defer cancel()
	host, err := c.server.forward.Dial(ctx, to.Host)
	if err != nil {
		_ = offered.Reject(gossh.ConnectionFailed, "berth: "+err.Error())
		return
	}
	defer host.Close()
	channel, requests, ok := c.accept(conn, offered)
	answered()
	if !ok {
		return
	}
	defer c.leave()
	c.join(channel, requests, host)
}

// join copies both ways until one end closes, or the caller may no longer forward.
func (c *connection) join(channel gossh.Channel, requests <-chan *gossh.Request, host net.Conn) {
	var running sync.WaitGroup
	over := make(chan struct{})
	end := sync.OnceFunc(func() {
		close(over)
		_ = channel.Close()
		_ = host.Close()
	})
	running.Go(func() { gossh.DiscardRequests(requests) })
	running.Go(func() {
		defer end()
		_, _ = io.Copy(host, channel) // its error is an end's end
	})
	running.Go(func() {
		defer end()
		_, _ = io.Copy(channel, host)
	})
	tick := time.NewTicker(forwardReview)
	defer tick.Stop()
	for open := true; open; {
		select {
		case <-over:
			open = false
		case <-c.stop:
			open = false
		case <-tick.C:
			c.mu.Lock()
			ending := c.ending != nil
			c.mu.Unlock()
			open = !ending && c.server.forward.Allowed(*c.identity.Load()) == nil
		}
	}
	end()
	running.Wait()
}

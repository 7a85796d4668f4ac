package sshd

import (
	"sync/atomic"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// keepAlive watches for signs of life. Any byte from the client is one; when
// there was none for the set time it is asked, and when it then keeps silent
// too long the connection is closed: a vanished client would hold its lease
// and its attach until TCP gives up, which may be never. A quiet attach whose
// client answers stays for ever.
func (c *connection) keepAlive(conn *gossh.ServerConn) {
	interval, most := c.server.limits.KeepAlive, c.server.limits.KeepAliveMissed
	timer := time.NewTimer(interval)
	defer timer.Stop()
	var asking atomic.Bool
	missed, last := 0, int64(-1)
	for {
		select {
		case <-c.stop:
			return
		case <-timer.C:
		}
		if heard := c.wire.heard.Load(); heard != last {
			missed, last = 0, heard
		}
		silent := c.wire.silent()
		switch {
		case silent < interval:
			timer.Reset(interval - silent)
			continue
		case missed == most:
			c.server.log.Info("client does not answer", "conn", c.id, "silent", silent.Round(time.Second))
			_ = c.wire.Close()
			return
		}
		missed++
		// One question is under way at a time; it ends with the answer or
		// with the connection.
		if asking.CompareAndSwap(false, true) {
			c.workers.Go(func() {
				defer asking.Store(false)
				_, _, _ = conn.SendRequest("keepalive@openssh.com", true, nil)
			})
		}
		timer.Reset(interval)
	}
}

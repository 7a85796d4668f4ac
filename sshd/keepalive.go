package sshd

import (
	"sync/atomic"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// keepAlive looks for signs of life. Any byte from the client is one. After a silent interval
// the server asks the client, and after too many unanswered questions it closes the connection:
// a vanished client would hold its lease and its attach until TCP gives up, which may be never.
// A quiet attach whose client answers stays for ever.
//
// During a key exchange the server can't even write its question. Output is held then, and the
// client can delay the end of the exchange. If the server can't write for the same time as it
// waits for a silent client, it closes the connection, even if the client sends bytes.
func (c *connection) keepAlive(conn *gossh.ServerConn) {
	interval, most := c.server.limits.KeepAlive, c.server.limits.KeepAliveMissed
	timer := time.NewTimer(interval)
	defer timer.Stop()
	var asking, sending atomic.Bool
	missed, last := 0, int64(-1)
	unsent, wrote := 0, int64(-1)
	for {
		select {
		case <-c.stop:
			return
		case <-timer.C:
		}
		if heard := c.wire.heard.Load(); heard != last {
			missed, last = 0, heard
		}
		if now := c.wire.wrote.Load(); now != wrote {
			unsent, wrote = 0, now
		}
		silent, mute := c.wire.silent(), c.wire.mute()
		switch {
		case mute >= interval && unsent == most:
			c.server.log.Info("client doesn't end a key exchange", "conn", c.id, "mute", mute.Round(time.Second))
			_ = c.wire.Close()
			return
		case silent < interval && mute < interval:
			timer.Reset(interval - max(silent, mute))
			continue
		case silent >= interval && missed == most:
			c.server.log.Info("client doesn't answer", "conn", c.id, "silent", silent.Round(time.Second))
			_ = c.wire.Close()
			return
		}
		if silent >= interval {
			missed++
		}
		if mute >= interval {
			unsent++
		}
		// One question is under way at a time; it ends with the answer or
		// with the connection.
		if asking.CompareAndSwap(false, true) {
			c.workers.Go(func() {
				defer asking.Store(false)
				_, _, _ = conn.SendRequest("keepalive@openssh.com", true, nil)
			})
		} else if mute >= interval && sending.CompareAndSwap(false, true) { // the client answers no question, but it may end its key exchanges
			c.workers.Go(func() {
				defer sending.Store(false)
				_, _, _ = conn.SendRequest("keepalive@openssh.com", false, nil)
			})
		}
		timer.Reset(interval)
	}
}

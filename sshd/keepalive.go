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
//
// A question that is not even written waits for a key exchange. Output is held for
// that, and the client can keep it from ending: one that takes as long as the patience
// with a silent client closes the connection, also where the client sends bytes.
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
			c.server.log.Info("client does not end a key exchange", "conn", c.id, "mute", mute.Round(time.Second))
			_ = c.wire.Close()
			return
		case silent < interval && mute < interval:
			timer.Reset(interval - max(silent, mute))
			continue
		case silent >= interval && missed == most:
			c.server.log.Info("client does not answer", "conn", c.id, "silent", silent.Round(time.Second))
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
		} else if mute >= interval && sending.CompareAndSwap(false, true) { // the client answers nothing, and may be well
			c.workers.Go(func() {
				defer sending.Store(false)
				_, _, _ = conn.SendRequest("keepalive@openssh.com", false, nil)
			})
		}
		timer.Reset(interval)
	}
}

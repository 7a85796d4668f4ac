package sshd

import (
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"berth/keys"
)

// An agent's logins with a person's key are its session's, also those that open no
// channel: they leave the person's share alone.
func TestAgentWithoutChannelHasItsOwnShare(t *testing.T) {
	var known lockedHolders
	h := start(t, newHolding().serve, func(o *Options) {
		o.Limits.Connections, o.Holders = 64, known.list
		o.Limits.Penalties = Penalties{From: time.Nanosecond, Exempt: []netip.Prefix{}}
	})
	self := holderProcessOf(t, os.Getpid())
	self.Command = true
	known.set(self)
	for range 16 {
		if _, err := h.dial(h.admin); err != nil {
			t.Fatal(err)
		}
	}
	told := ""
	if _, err := h.dial(h.admin, &told); err == nil || !strings.Contains(told, "you already have 16 connections open") {
		t.Errorf("the agent's 17th: %v, output %q", err, told)
	}
	known.set()
	if _, err := h.dial(h.admin); err != nil {
		t.Errorf("the person: %v", err)
	}
}

// A client that cannot be taken for a person is refused before it has a channel, and
// recorded once, whatever is reviewed meanwhile.
func TestRefusedProcessIsRecordedOnce(t *testing.T) {
	h := start(t, describe)
	cmd := exec.Command("ssh", append([]string{"-o", "LogLevel=INFO"}, h.args(h.admin.file, "-N", "agents@127.0.0.1")...)...)
	cmd.Env = append(os.Environ(), "BERTH_SESSION=01ALPHA")
	reviewed := make(chan struct{})
	go func() {
		defer close(reviewed)
		for range 50 {
			h.keys.set(h.admin.public(), keys.Identity{Name: "admin", Role: keys.Admin})
			time.Sleep(10 * time.Millisecond) // so that the reviews fall in all parts of the login
		}
	}()
	r := run(t, cmd, "")
	if r.status != 255 || !strings.Contains(r.err, "berth: can't accept the client as a person: ") || !strings.Contains(r.err, "Permission denied") {
		t.Errorf("%+v", r)
	}
	<-reviewed
	eventually(t, "it is audited", func() bool { return len(h.audited()) > 0 })
	if all := h.audited(); len(all) != 1 || all[0].Accepted || !strings.HasPrefix(all[0].Reason, "can't accept the client as a person: ") {
		t.Errorf("%+v", all)
	}
}

// A login is one in the records, also where its rights go before it opens a channel.
func TestLoginIsRecordedOnce(t *testing.T) {
	h := start(t, describe)
	c, err := h.dial(h.admin)
	if err != nil {
		t.Fatal(err)
	}
	h.keys.remove(h.admin.public())
	_, _, _ = c.OpenChannel("session", nil)
	_ = c.Wait()
	eventually(t, "it is audited", func() bool { return len(h.audited()) > 0 })
	if err := h.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if all := h.audited(); len(all) != 1 {
		t.Errorf("%+v", all)
	}
}

// Package sshd is the edge of Berth: it listens, identifies callers, and passes each command, shell or
// subsystem to Options.Handler as a Session. It knows nothing of Berth's sessions and verbs;
// sshd/dispatch does.
//
// Clients come over TCP and prove a public key, or over a Unix socket with the same SSH protocol,
// where the kernel's process id of the peer replaces the key. A client's rights are a keys.Identity.
// It is determined after the handshake, only from what was proven, and reviewed when keys change.
//
// One ssh.Server of charm.land/ssh does the handshakes and demultiplexes channels and requests. Its
// session handler isn't used, for four reasons: one undrained window change stalls every channel of a
// connection, all channels share one context, line ends are rewritten, and commands lose their
// quotes. A Session still implements ssh.Session, so that wish's middlewares work with it.
//
// Each connection has a goroutine, and each of its sessions has one for the handler, one for requests
// and one that reads input ahead. The handshake limits, the penalties and the shares of one caller are
// counted per Server.
package sshd

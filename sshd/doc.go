// Package sshd is the edge of Berth: it listens, finds out who is calling, and
// hands each command or shell that a client asks for to Options.Handler as a
// Session. It knows no sessions and no verbs.
//
// Clients come over TCP, proving a public key, and over a Unix socket that
// speaks the same SSH with the peer's process id, known from the kernel, in
// place of a key. What either may do is a keys.Identity, read only after the
// handshake and only from what was proven.
//
// One ssh.Server of charm.land/ssh does the handshakes and takes connections'
// channels and requests apart; its session handler is not used. That handler lets one
// undrained window change stall every channel of a connection, has one context
// for all of them, rewrites line ends and takes quotes out of commands. A Session
// is an ssh.Session all the same, so that middlewares of wish take it.
package sshd

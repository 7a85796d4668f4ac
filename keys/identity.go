// Package keys turns what a client has proven (a public key, or being a
// process on this machine) into an Identity with its rights.
package keys

import "time"

// Role is what an identity may do at most; each role may all that the ones
// before it may.
type Role int

// The roles, in rising order.
const (
	None      Role = iota
	Viewer         // see, follow, attach read-only
	Responder      // and nudge, ask, respond, interrupt
	Operator       // and input, keys, attach as writer
	Admin          // and keep, access
)

// Kind says how a caller was recognised.
type Kind string

// The kinds of callers.
const (
	KindKey   Kind = "key"   // proved a public key over TCP
	KindLocal Kind = "local" // a process of the server's own user on the local socket
	KindAgent Kind = "agent" // a process inside a session
)

// Identity is who is calling and what they may do. It is a value: rights that
// change make a new Identity.
type Identity struct {
	Kind        Kind
	Name        string // as shown: a key's comment or fingerprint, local:USER, agent:SESSION
	Fingerprint string // SHA256:..., empty for callers on the machine
	Role        Role
	Sessions    []string  // patterns of session names, tag:T for tags; empty is all
	Verbs       []string  // empty is all that the role may; for KindAgent what its session's children widens
	Command     string    // forced command: replaces what the client asked, whole
	NoPTY       bool      // no-pty or restrict
	Expires     time.Time // zero is never
	Source      string    // remote address or unix
	PID         int       // of the peer on the local socket
	Certificate []byte    // that was proven, in wire form; nil for a plain key
	Session     string    // for KindAgent: the id of the session it lives in
	Line        string    // file:line of the key line that let it in

	RoleByDefault bool // the line had no role=
}

// Local is the identity of a process of the server's own user that is inside
// no session.
func Local(user string, pid int, role Role) Identity {
	return Identity{Kind: KindLocal, Name: "local:" + cleanName(user), Role: role, Source: "unix", PID: pid}
}

// Agent is the identity of a process that descends from a session's holder.
// Its rights are those of an agent whatever key it proved, so that it has no
// role. The session is given by its immutable id and its present name.
func Agent(session, name string, pid int) Identity {
	return Identity{Kind: KindAgent, Name: "agent:" + name, Source: "unix", PID: pid, Session: session}
}

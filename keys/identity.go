// Package keys turns what a client has proven (a public key, or that it is a process on this machine)
// into an Identity with its rights.
//
// Store reads the key files, the revocations and the guests, and watches them; each reading makes a
// new, immutable Set. sshd looks keys up at each login and reviews connections when Store.Changed is
// closed. commands and sessions ask an Identity for its rights (May, Sees, SeesSession). All methods
// of Store and Set may be called from any goroutine.
package keys

import "time"

// Role is the most that an identity may do. Each role includes the earlier ones.
type Role int

// The roles, in rising order.
const (
	None      Role = iota
	Viewer         // see, follow, attach read-only
	Responder      // and nudge, ask, respond, interrupt
	Operator       // and input, keys, attach as writer
	Admin          // and keep, access
)

// Kind says how a caller was identified.
type Kind string

// The kinds of callers.
const (
	KindKey   Kind = "key"   // proved a public key over TCP
	KindLocal Kind = "local" // a process of the server's own user on the local socket
	KindAgent Kind = "agent" // a process inside a session
)

// Identity is a caller and its rights. It is a value: changed rights make a new Identity.
type Identity struct {
	Kind        Kind
	Name        string // as shown: a key's comment or fingerprint, local:USER, agent:SESSION
	Fingerprint string // SHA256:..., empty for callers on the machine
	Role        Role
	Sessions    []string  // patterns of session names, tag:T for tags; empty is all
	Verbs       []string  // empty is all that the role may; for KindAgent what its session's children widens
	Command     string    // forced command: replaces the client's command
	NoPTY       bool      // no-pty or restrict
	NoForward   bool      // no-port-forwarding, restrict or permitopen=
	Prefixes    string    // prefix keys of attached terminals, as control characters; empty is the server's
	Expires     time.Time // zero is never
	Source      string    // remote address or unix
	PID         int       // of the peer on the local socket
	Certificate []byte    // the proven certificate, in wire form; nil for a plain key
	Session     string    // for KindAgent: the id of its session
	Line        string    // file:line of the key line that admitted it

	RoleByDefault bool // the line had no role=
}

// Share names the identity where what each caller takes is bounded.
func (id Identity) Share() string {
	return string(id.Kind) + " " + id.Name + " " + id.Session + " " + id.Fingerprint
}

// Local is the identity of a process of the server's own user outside of all sessions.
func Local(user string, pid int, role Role) Identity {
	return Identity{Kind: KindLocal, Name: "local:" + cleanName(user), Role: role, Source: "unix", PID: pid}
}

// Agent is the identity of a process that descends from a session's holder. It has an agent's rights,
// and no role, whatever key it proved. The session is given by its immutable id and its current name.
func Agent(session, name string, pid int) Identity {
	return Identity{Kind: KindAgent, Name: "agent:" + name, Source: "unix", PID: pid, Session: session}
}

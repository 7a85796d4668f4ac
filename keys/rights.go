package keys

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"berth/api"
)

var roleNames = [...]string{None: "none", Viewer: "viewer", Responder: "responder", Operator: "operator", Admin: "admin"}

// String is the role as it is written in a key file.
func (r Role) String() string {
	if r < None || int(r) >= len(roleNames) {
		return fmt.Sprintf("role(%d)", int(r))
	}
	return roleNames[r]
}

// ParseRole reads viewer, responder, operator or admin.
func ParseRole(s string) (Role, error) {
	if i := slices.Index(roleNames[:], s); i > int(None) {
		return Role(i), nil
	}
	return None, fmt.Errorf("%s isn't a valid role: use viewer, responder, operator or admin", quote(s))
}

// accessVerbs are the verbs that a narrowed key may never use: they would widen it, or reach beyond its
// sessions.
var accessVerbs = map[string]bool{"access": true, "guest": true, "audit": true, "start-context": true, "notify": true, "init": true, "profile": true, "fleet": true}

// openVerbs are for every key: they show the caller's rights, and nothing of any session. mcp and acp offer what
// verbs do that the caller may use, and have no right of their own.
var openVerbs = map[string]bool{"help": true, "whoami": true, "version": true, "mcp": true, "acp": true}

// agentVerbs are what a process inside a session may use: to look (at its own session, see
// SeesSession), to report, to send and read messages between sessions (which ones, sessions.MayTell
// decides), and verbs that reveal nothing.
var agentVerbs = map[string]bool{
	"ls": true, "state": true, "info": true, "last": true, "report": true, "mcp": true,
	"tell": true, "inbox": true, "message": true,
	"help": true, "schema": true, "version": true, "whoami": true,
}

// childVerbs are what a session's field children may add to these, for sessions started from inside it:
// to follow, to drive and to end. None of them changes rights, attaches, or makes the server run a
// program.
var childVerbs = []string{
	"ask", "explain", "input", "interrupt", "keys", "kill", "nudge", "output", "prompt", "queue", "respond", "restart", "rm",
	"screen", "transcript", "wait", "waiting", "watch",
}

// ChildVerbs are the verbs that a session's field children may name.
func ChildVerbs() []string { return slices.Clone(childVerbs) }

// Itself says whether a process inside a session may use the verb on its own session: to look, never to
// drive, whatever children allows.
func Itself(verb string) bool { return agentVerbs[verb] }

// widened says whether the session's children allow a process inside it to use the verb.
func (id Identity) widened(verb string) bool {
	return slices.Contains(id.Verbs, verb) && (verb == "new" || slices.Contains(childVerbs, verb))
}

// Narrowed says that the key has sessions= or verbs=. Such a key never gets the access verbs,
// start-context, or new with its own command.
func (id Identity) Narrowed() bool { return len(id.Sessions) > 0 || len(id.Verbs) > 0 }

// IsAdmin says that id may see values that can be secret. A process inside a session never may.
func (id Identity) IsAdmin() bool { return id.Kind != KindAgent && id.Role >= Admin }

// SeesAll says that id may see every session, so that counts over all sessions reveal nothing to it.
func (id Identity) SeesAll() bool { return id.Kind != KindAgent && len(id.Sessions) == 0 }

// May checks that id may use verb, which needs at least the role need. The error is DENIED and names the
// missing right. It says nothing about a session: call Sees or SeesSession too.
func (id Identity) May(verb string, need Role) error {
	if id.Kind == KindAgent {
		if agentVerbs[verb] || id.widened(verb) {
			return nil
		}
		return id.denied(verb, "a process inside a session may not use "+verb)
	}
	if openVerbs[verb] && id.Role > None {
		return nil
	}
	if len(id.Verbs) > 0 && !slices.Contains(id.Verbs, verb) {
		return id.denied(verb, fmt.Sprintf("%s may not use %s: the verbs= of its key has only %s", id.Name, verb, strings.Join(id.Verbs, ", "))).
			With("allowed_verbs", id.Verbs)
	}
	if id.Narrowed() && accessVerbs[verb] {
		return id.denied(verb, fmt.Sprintf("%s may not use %s: a key with sessions= or verbs= never may", id.Name, verb))
	}
	if id.Role >= need && id.Role > None {
		return nil
	}
	text := fmt.Sprintf("%s needs the role %s, and %s is %s", verb, need, id.Name, id.Role)
	if id.RoleByDefault {
		text += " (its line has no role=)"
	}
	return id.denied(verb, text).With("role", id.Role.String()).With("needs_role", need.String())
}

// MayNewCommand checks that id may start its own command with new, not only a profile.
func (id Identity) MayNewCommand() error {
	if id.Kind == KindAgent {
		return id.denied("new", "a process inside a session may only start profiles listed in its session's field children, with a name, a size, a ttl and a first message")
	}
	if !id.Narrowed() && id.Role >= Admin {
		return nil
	}
	if id.Narrowed() {
		return id.denied("new", fmt.Sprintf("%s may not start its own command: a key with sessions= or verbs= may only start profiles", id.Name))
	}
	return id.May("new", Admin)
}

func (id Identity) denied(verb, text string) *api.Error {
	return api.Errorf(api.CodeDenied, "%s", text).With("verb", verb).With("identity", id.Name)
}

// Sees says whether a session's name and tags are within id's sessions=. new and rename also check the
// resulting name with it. A process inside a session has no right to a name: use SeesSession.
func (id Identity) Sees(name string, tags []string) bool {
	if id.Kind == KindAgent {
		return false
	}
	if len(id.Sessions) == 0 {
		return true
	}
	for _, p := range id.Sessions {
		if tag, ok := strings.CutPrefix(p, "tag:"); ok {
			if slices.ContainsFunc(tags, func(t string) bool { return matches(tag, t) }) {
				return true
			}
		} else if matches(p, name) {
			return true
		}
	}
	return false
}

// MayForward checks that id may reach a fleet's hosts end to end, by ssh -J. What the host lets the caller's own key
// do there is more than a narrowed key has here, so such a key may not.
func (id Identity) MayForward() error {
	switch {
	case id.Kind != KindKey:
		return id.denied("ssh -J", id.Name+" may not use ssh -J: it takes a key, over the network")
	case id.Narrowed() || id.Command != "" || id.NoForward:
		return id.denied("ssh -J", id.Name+" may not use ssh -J: its key has sessions=, verbs=, command=, restrict, permitopen= or no-port-forwarding, or its certificate lacks permit-port-forwarding")
	case id.Role == None:
		return id.denied("ssh -J", id.Name+" has no role")
	case id.ViaGateway():
		return id.denied("ssh -J", id.Name+" may not use ssh -J: it came through a gateway itself")
	}
	return nil
}

// SeesOn is Sees for a session of a fleet's host: the part of sessions= that is about that host counts.
func (id Identity) SeesOn(host, name string, tags []string) bool {
	if id.Kind == KindAgent || len(id.Sessions) == 0 {
		return id.Sees(name, tags)
	}
	id.Sessions = sessionsOn(id.Sessions, host)
	return len(id.Sessions) > 0 && id.Sees(name, tags)
}

// SeesHost says that id may see sessions of a fleet's host, if it has such.
func (id Identity) SeesHost(host string) bool {
	return id.Kind != KindAgent && (len(id.Sessions) == 0 || len(sessionsOn(id.Sessions, host)) > 0)
}

// SeesSession is Sees for an existing session. A process inside a session sees only that session, by its
// id.
func (id Identity) SeesSession(session, name string, tags []string) bool {
	if id.Kind == KindAgent {
		return id.Session != "" && id.Session == session
	}
	return id.Sees(name, tags)
}

// Denied is the error for a session that id may not see.
func (id Identity) Denied(verb, name string) *api.Error {
	text := fmt.Sprintf("%s has no right to the session %s", id.Name, quote(name))
	if len(id.Sessions) > 0 {
		text += ": the sessions= of its key has only " + strings.Join(id.Sessions, ", ")
	}
	return id.denied(verb, text).With("session", name)
}

func matches(pattern, s string) bool {
	ok, err := path.Match(pattern, s)
	return err == nil && ok
}

// NarrowedTo says that now lacks a right of id, so that what was opened with id must end. Added rights
// and another expiry don't count.
func (id Identity) NarrowedTo(now Identity) bool {
	return now.Kind != id.Kind || now.Role < id.Role ||
		now.Command != id.Command || now.NoPTY && !id.NoPTY ||
		lost(id.Sessions, now.Sessions) || lost(id.Verbs, now.Verbs) ||
		now.Narrowed() && !id.Narrowed()
}

// lost compares two lists of rights; an empty list means all rights.
func lost(before, now []string) bool {
	if len(now) == 0 {
		return false
	}
	if len(before) == 0 {
		return true
	}
	return slices.ContainsFunc(before, func(e string) bool { return !slices.Contains(now, e) })
}

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
	return None, fmt.Errorf("%s is no role: viewer, responder, operator and admin are", quote(s))
}

// accessVerbs are what no narrowed key may: they would widen it.
var accessVerbs = map[string]bool{"access": true, "guest": true, "audit": true, "start-context": true}

// openVerbs are every key's: they say what the caller may do, and nothing of any session.
var openVerbs = map[string]bool{"help": true, "whoami": true, "version": true}

// agentVerbs are what a process inside a session may ask: to look (at itself,
// see SeesSession), to report, and what gives nothing away.
var agentVerbs = map[string]bool{
	"ls": true, "state": true, "info": true, "last": true, "report": true,
	"help": true, "schema": true, "version": true, "whoami": true,
}

// childVerbs are what a session's field children may widen that by, for what was
// started from inside it: to follow, to drive and to end. None of them changes who
// may see or do what, attaches, or makes the server run something.
var childVerbs = []string{
	"ask", "explain", "input", "interrupt", "keys", "kill", "nudge", "output", "prompt", "queue", "respond", "restart", "rm",
	"screen", "transcript", "wait", "waiting", "watch",
}

// ChildVerbs are the verbs that a session's field children may name.
func ChildVerbs() []string { return slices.Clone(childVerbs) }

// Itself says whether a process inside a session may use the verb on that session
// itself: to look, never to drive, whatever its children may be done to.
func Itself(verb string) bool { return agentVerbs[verb] }

// widened says whether the session's children let a process inside it use the verb.
func (id Identity) widened(verb string) bool {
	return slices.Contains(id.Verbs, verb) && (verb == "new" || slices.Contains(childVerbs, verb))
}

// Narrowed says that the key has sessions= or verbs=. Such a key never has
// the access verbs, start-context, or new with a command of its own.
func (id Identity) Narrowed() bool { return len(id.Sessions) > 0 || len(id.Verbs) > 0 }

// IsAdmin says that id is shown values that may be secret. A process inside a
// session never is.
func (id Identity) IsAdmin() bool { return id.Kind != KindAgent && id.Role >= Admin }

// SeesAll says that no session is out of id's sight, so that counts of all of
// them tell it of none that is.
func (id Identity) SeesAll() bool { return id.Kind != KindAgent && len(id.Sessions) == 0 }

// May checks that id may use verb, which needs at least the role need. The
// error is a DENIED that names what is lacking. It says nothing about any one
// session: ask Sees or SeesSession too.
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

// MayNewCommand checks that id may start a command of its own with new, not
// only a profile.
func (id Identity) MayNewCommand() error {
	if id.Kind == KindAgent {
		return id.denied("new", "a process inside a session may start only profiles that the field children of its session names, with a name, a size, a ttl and a first message")
	}
	if !id.Narrowed() && id.Role >= Admin {
		return nil
	}
	if id.Narrowed() {
		return id.denied("new", fmt.Sprintf("%s may not start a command of its own: a key with sessions= or verbs= starts profiles only", id.Name))
	}
	return id.May("new", Admin)
}

func (id Identity) denied(verb, text string) *api.Error {
	return api.Errorf(api.CodeDenied, "%s", text).With("verb", verb).With("identity", id.Name)
}

// Sees says whether the name of a session and its tags are within id's
// sessions=. It is also what new and rename ask about the name that results.
// A process inside a session has a right to no name: ask SeesSession.
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

// SeesSession is Sees for a session that exists. A process inside a session
// sees that session, by its id, and no other.
func (id Identity) SeesSession(session, name string, tags []string) bool {
	if id.Kind == KindAgent {
		return id.Session != "" && id.Session == session
	}
	return id.Sees(name, tags)
}

// Denied is the error for a session that id does not see.
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

// NarrowedTo says that now lacks a right that id has: then what was opened as
// id has to end. Rights that only grew, and another expiry, are no reason.
func (id Identity) NarrowedTo(now Identity) bool {
	return now.Kind != id.Kind || now.Role < id.Role ||
		now.Command != id.Command || now.NoPTY && !id.NoPTY ||
		lost(id.Sessions, now.Sessions) || lost(id.Verbs, now.Verbs) ||
		now.Narrowed() && !id.Narrowed()
}

// lost compares two lists of rights, of which an empty one is all.
func lost(before, now []string) bool {
	if len(now) == 0 {
		return false
	}
	if len(before) == 0 {
		return true
	}
	return slices.ContainsFunc(before, func(e string) bool { return !slices.Contains(now, e) })
}

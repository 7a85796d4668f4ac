package commands

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"berth/api"
	"berth/keys"
	"berth/sessions"
)

// orAll and needsOne are the meanings of an empty list of targets.
const (
	orAll    = true
	needsOne = false
)

// sees says whether the caller may see a session. To the caller, a session that it may not see
// doesn't exist.
func (c *Call) sees(s *sessions.Session) bool {
	id := c.Identity()
	st := s.Status()
	if id.Kind == keys.KindAgent {
		if st.ID == id.Session {
			return keys.Itself(c.verbName())
		}
		return c.Sessions.Descends(st.ID, id.Session)
	}
	return id.Sees(st.Name, st.Tags)
}

// Seen are the sessions that the caller may see, by name.
func (s *Service) Seen(r Request) []*sessions.Session {
	c := &Call{Service: s, Request: r}
	if c.Identity().May("ls", keys.Viewer) != nil {
		return nil
	}
	return slices.DeleteFunc(s.Sessions.All(), func(one *sessions.Session) bool { return !c.sees(one) })
}

// session finds the session that a word names, by name, by id, or by the id of its agent's conversation.
func (c *Call) session(word string) (*sessions.Session, error) {
	s, ok := c.Sessions.Find(word)
	if !ok {
		var err error
		if s, err = c.inConversation(word); err != nil {
			return nil, err
		}
		ok = s != nil
	}
	if id := c.Identity(); ok && id.Kind == keys.KindAgent && s.ID() == id.Session && !c.sees(s) {
		return nil, id.Denied(c.verbName(), s.Status().Name)
	}
	if !ok || !c.sees(s) {
		names := []string{}
		for _, s := range c.Seen(c.Request) {
			names = append(names, s.Status().Name)
		}
		return nil, api.Errorf(api.CodeNotFound, "there is no session %s: %sls lists the sessions", api.Quote(word), didYouMean(word, names)).With("session", word)
	}
	return s, nil
}

// conversationID is the form of the ids of conversations that name their sessions: a UUID, or one of opencode's. An
// agent can report any id as its own, and must not take the words that people type, such as the name of a session
// that has gone, or the user name that ssh sends by itself.
var conversationID = regexp.MustCompile(`^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|ses_[0-9A-Za-z]{16,64})$`)

// inConversation finds the session whose agent is in the conversation with that id; nil for none. A running
// session comes before ended ones, and of these the one that was made last.
func (c *Call) inConversation(word string) (*sessions.Session, error) {
	if !conversationID.MatchString(word) {
		return nil, nil
	}
	var found *sessions.Session
	for _, s := range c.Sessions.All() {
		st := s.Status()
		if st.Talk() != word || !c.sees(s) {
			continue
		}
		if found == nil {
			found = s
			continue
		}
		other := found.Status()
		switch {
		case st.Running() && other.Running():
			return nil, api.Errorf(api.CodeBadRequest, "the sessions %s and %s are both in the conversation %s: name one of them", other.Name, st.Name, api.Quote(word))
		case st.Running(), !other.Running() && st.Created.After(other.Created.Time):
			found = s
		}
	}
	return found, nil
}

// targets finds the sessions that words name: a name, an id, tag:T or all. Each session is
// listed once, in the order of the words and then by name.
func (c *Call) targets(list []string, emptyIsAll bool) ([]*sessions.Session, error) {
	if len(list) == 0 {
		if !emptyIsAll {
			return nil, api.Errorf(api.CodeUsage, "name a session, tag:TAG or all")
		}
		list = []string{"all"}
	}
	var found []*sessions.Session
	seen := map[string]bool{}
	add := func(s *sessions.Session) {
		if id := s.Status().ID; !seen[id] {
			seen[id] = true
			found = append(found, s)
		}
	}
	for _, word := range list {
		tag, isTag := strings.CutPrefix(word, "tag:")
		if isPattern(word) && !isTag && c.Fleet.name() != "" { // the rest of HOST/PATTERN
			for _, s := range c.Sessions.All() {
				if ok, err := path.Match(word, s.Status().Name); ok && err == nil && c.sees(s) {
					add(s)
				}
			}
			continue
		}
		if word != "all" && !isTag {
			s, err := c.session(word)
			if err != nil {
				return nil, err
			}
			add(s)
			continue
		}
		for _, s := range c.Sessions.All() {
			if c.sees(s) && (!isTag || s.Status().HasTag(tag)) {
				add(s)
			}
		}
	}
	if c.tree() {
		found = c.withBelow(found)
	}
	if len(found) == 0 && !emptyIsAll {
		return nil, api.Errorf(api.CodeNotFound, "no session matches %s", api.Quote(strings.Join(list, " ")))
	}
	return found, nil
}

// tree says whether --tree was given.
func (c *Call) tree() bool {
	if c.flags == nil || c.flags.Lookup("tree") == nil {
		return false
	}
	tree, _ := c.flags.GetBool("tree")
	return tree
}

// withBelow adds the sessions below those of a list, each after its parent.
func (c *Call) withBelow(list []*sessions.Session) []*sessions.Session {
	list = slices.Clone(list)
	listed := map[string]bool{}
	for _, s := range list {
		listed[s.ID()] = true
	}
	for more := true; more; { // once for each generation
		more = false
		for _, s := range c.Sessions.All() {
			if !listed[s.ID()] && listed[s.Status().Parent] && c.sees(s) {
				list, listed[s.ID()], more = append(list, s), true, true
			}
		}
	}
	return sessions.Families(list, (*sessions.Session).ID, func(s *sessions.Session) string { return s.Status().Parent })
}

// named are the ids of the sessions that the words name one by one, not by all or tag:T.
func (c *Call) named(list []string) map[string]bool {
	ids := map[string]bool{}
	for _, word := range list {
		if word == "all" || strings.HasPrefix(word, "tag:") {
			continue
		}
		if s, err := c.session(word); err == nil {
			ids[s.ID()] = true
		}
	}
	return ids
}

// allowed checks the caller's right to use the verb. The sessions are checked where they are
// found, and again at each write.
func (c *Call) allowed(v *Verb) error {
	return c.Identity().May(v.Name, v.Need)
}

// stillAllowed repeats the check when standard input has ended. That may be long after the verb
// started; a client whose access was revoked also ends its input.
func (c *Call) stillAllowed() error {
	return c.allowed(Lookup(c.verbName()))
}

// actor is the caller as sessions and events record it.
func (c *Call) actor() sessions.Actor {
	return sessions.Actor{Identity: c.Identity(), Client: c.Client}
}

package commands

import (
	"maps"
	"slices"

	"berth/keys"
	"berth/sessions"
)

// Rights are the verbs that the caller may use now, by the same rules as Run. Seen says on which
// sessions.
func (s *Service) Rights(r Request) map[string]bool {
	id := r.Identity()
	may := map[string]bool{}
	for _, v := range verbs() {
		if id.May(v.Name, v.Need) == nil {
			may[v.Name] = true
		}
	}
	return may
}

// MayType says whether the caller may write to terminals.
func (s *Service) MayType(r Request) bool { return r.Identity().May("attach", keys.Operator) == nil }

// SeenByID is the session with this id, if the caller may see it.
func (s *Service) SeenByID(r Request, id string) (*sessions.Session, bool) {
	c := &Call{Service: s, Request: r}
	one, ok := s.Sessions.Find(id)
	if !ok || one.ID() != id || !c.sees(one) {
		return nil, false
	}
	return one, true
}

// MayStart says what the caller may start sessions from: which profiles, and whether a command
// of its own.
func (s *Service) MayStart(r Request) (profiles []string, own bool) {
	id := r.Identity()
	if id.May("new", keys.Admin) != nil {
		return nil, false
	}
	return slices.Sorted(maps.Keys(s.Specs().Profiles)), s.mayOwnCommand(r) == nil
}

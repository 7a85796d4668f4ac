package sessions

import (
	"slices"
	"strings"

	"berth/api"
	"berth/keys"
)

// Children says what an agent inside a session may start, and what it may do to
// what it started. The zero value is nothing.
type Children struct {
	Profiles []string `json:"profiles"` // that it may start
	Max      int      `json:"max"`      // so many that run at once, made by this session itself
	Verbs    []string `json:"verbs"`    // that it may use on them and what they start, beside looking
}

// likeParent gives a child the user that its parent runs as, unless its profile
// names one: an agent never becomes more than it is by what was left out there.
func (r *Registry) likeParent(spec Spec, by Actor) Spec {
	if by.Identity.Kind != keys.KindAgent || spec.User != "" {
		return spec
	}
	if parent, ok := r.Find(by.Identity.Session); ok {
		spec.User = parent.Status().User
	}
	return spec
}

// child makes a spec that an agent asks for one of its session's children, or says
// why there will be none. Whose child it is comes from where the caller descends
// from, never from what it says. r.children is held.
func (r *Registry) child(spec Spec, by Actor) (Spec, error) {
	no := func(format string, args ...any) (Spec, error) {
		return spec, api.Errorf(api.CodeDenied, format, args...).With("verb", "new").With("identity", by.Identity.Name)
	}
	parent, ok := r.Find(by.Identity.Session)
	if !ok || by.Identity.Session == "" {
		return no("%s is in no session that may have children", by.Identity.Name)
	}
	st := parent.Status()
	may := st.Children
	switch {
	case len(may.Profiles) == 0:
		return no("the session %s may start no other: its field children has no profiles", st.Name)
	case spec.Profile == "" || !slices.Contains(may.Profiles, spec.Profile):
		return no("the session %s may start the profiles %s: give one with --profile", st.Name, strings.Join(may.Profiles, ", "))
	case !st.Running():
		return no("the session %s has ended", st.Name)
	case st.Depth+1 > maxDepth:
		return no("the session %s is at depth %d, and %d is the deepest there is", st.Name, st.Depth, maxDepth)
	case spec.Name != "" && !strings.HasPrefix(spec.Name, st.Name+"-") && !strings.HasPrefix(spec.Name, st.Name+"."):
		return no("a child of %s is called %s-... or %s.... : give it such a name, or none", st.Name, st.Name, st.Name)
	}
	n := 0
	for _, s := range r.All() {
		if one := s.Status(); one.Parent == st.ID && one.Running() {
			n++
		}
	}
	if n >= may.Max {
		return spec, api.Errorf(api.CodeLimit, "%d children of %s run, and no more may: wait until one has ended", n, st.Name).With("session", st.Name)
	}
	spec.Parent, spec.Depth = st.ID, st.Depth+1
	return spec, nil
}

// verbs are those that a process of the session may use beside what all such may.
func (c Children) verbs() []string {
	if len(c.Profiles) == 0 {
		return nil
	}
	return append([]string{"new"}, c.Verbs...)
}

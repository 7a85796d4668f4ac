package sessions

import (
	"cmp"
	"slices"
	"strings"

	"berth/api"
	"berth/keys"
)

// root is the session that the lineage of a session begins with: itself, where
// no agent made it. Its numbers bind all that descend from it, also when those
// in between have been removed.
func (r *Registry) root(s Spec) string {
	for range maxDepth {
		if s.Root != "" || s.Parent == "" {
			break
		}
		parent, ok := r.Find(s.Parent) // s was made before roots were kept
		if !ok {
			return s.Parent
		}
		s = parent.Status().Spec
	}
	return cmp.Or(s.Root, s.ID)
}

// ofRoot is what the session that a lineage begins with says of it. One that was
// removed says nothing.
func (r *Registry) ofRoot(id string) Children {
	if s, ok := r.Find(id); ok {
		return s.Status().Children
	}
	return Children{}
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
// from, never from what it says. r.births.end follows where there may be one.
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
	run := func() (ids []string) {
		for _, s := range r.All() {
			if one := s.Status(); one.Parent == st.ID && one.Running() {
				ids = append(ids, one.ID)
			}
		}
		return ids
	}
	spec.Parent, spec.Root, spec.Depth = st.ID, r.root(st.Spec), st.Depth+1
	if err := r.births.begin(r.now(), spec, run, may.Max, r.ofRoot(spec.Root).starts()); err != nil {
		return spec, api.Errorf(api.CodeLimit, "%s: %w", st.Name, err).With("session", st.Name)
	}
	return spec, nil
}

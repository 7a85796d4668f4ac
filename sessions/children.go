package sessions

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

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

// takesFrom is a session that takes messages from one with that name, though none from the parent; nil for none. An agent
// that chose such a name for its child would choose what that session is sent in the name.
func (r *Registry) takesFrom(name string, parent *Session) *Session {
	for _, s := range r.All() {
		if name != "" && slices.Contains(s.Status().Peers, name) && s.ID() != parent.ID() && !r.MayTell(parent, s) {
			return s
		}
	}
	return nil
}

// child makes a spec that an agent asks for one of its session's children, or says
// why there will be none. Whose child it is comes from where the caller descends
// from, never from what it says. r.births.end follows where there may be one.
func (r *Registry) child(ctx context.Context, spec Spec, by Actor) (Spec, error) {
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
	if to := r.takesFrom(spec.Name, parent); to != nil {
		return no("no child of %s may be called %s: the session %s has that name in its peers, and takes no messages from %s", st.Name, spec.Name, to.Status().Name, st.Name)
	}
	if spec.CwdReal != "" { // the agent may have put a link there since its right to the folder was checked
		real, ok := r.folderOf(parent, spec.Cwd)
		if !ok {
			return no("the session %s may not name the folder %s for a child: its field children has no such cwd", st.Name, api.Quote(spec.Cwd))
		}
		spec.Cwd, spec.CwdReal = real, real
	}
	spec.Parent, spec.Root, spec.Depth = st.ID, r.root(st.Spec), st.Depth+1
	spec.Ends = st.Ends // no session outlives what was allowed above it
	if may.LifetimeMS > 0 {
		if ends := r.now().Add(time.Duration(may.LifetimeMS) * time.Millisecond); st.Ends.IsZero() || ends.Before(st.Ends.Time) {
			spec.Ends = api.At(ends)
		}
	}
	born, err := r.begin(spec, false, st.Name)
	if err != nil {
		return spec, err
	}
	if err := r.keepBorn(ctx, born); err != nil {
		r.births.end(spec.ID)
		return spec, err
	}
	return spec, nil
}

// childAgain counts a child that an agent starts again, or says why it isn't. r.births.end follows where it is.
func (r *Registry) childAgain(s *Session, by Actor) error {
	spec := s.Status().Spec
	spec.Root = r.root(spec)
	_, err := r.begin(spec, true, strings.TrimPrefix(by.Identity.Name, "agent:"))
	return err
}

// begin is births.begin for a child that the agent of the session by starts.
func (r *Registry) begin(spec Spec, again bool, by string) (map[string]int, error) {
	born, err := r.births.begin(r.now(), spec, again, func() []ancestor { return r.above(spec) }, r.ofRoot(spec.Root).starts())
	if err != nil {
		return nil, api.Errorf(api.CodeLimit, "%s: %w", by, err).With("session", by)
	}
	return born, nil
}

// above are the sessions above one that is to be made or started again, from its parent on. Of removed ones only the last is
// missed: the root is known by its id.
func (r *Registry) above(spec Spec) (list []ancestor) {
	seen := map[string]bool{}
	add := func(id string) (next string) {
		s, ok := r.Find(id)
		if !ok || seen[id] {
			return ""
		}
		seen[id] = true
		st := s.Status()
		a := ancestor{id: st.ID, name: st.Name, depth: st.Depth, may: st.Children, born: st.Born}
		for _, one := range r.All() {
			if o := one.Status(); o.Running() && o.ID != spec.ID && (r.Descends(o.ID, st.ID) || o.Root == st.ID) {
				a.run = append(a.run, o.ID)
			}
		}
		list = append(list, a)
		return st.Parent
	}
	for id := spec.Parent; id != ""; {
		id = add(id)
	}
	add(spec.Root)
	return list
}

// keepBorn writes the numbers of sessions that were started below others, so that the next server knows
// them. They are written before the session starts: a kill in between counts one too many, never too few.
func (r *Registry) keepBorn(ctx context.Context, born map[string]int) error {
	for id, n := range born {
		s, ok := r.Find(id)
		if !ok || s.Status().Children.Total == 0 {
			continue
		}
		err := s.change(ctx, func(c *core) error {
			if c.spec.Born >= n {
				return nil
			}
			return c.changeSpec(func(spec *Spec) { spec.Born = n }, func() {})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// MayWorkIn says whether a process inside a session may name a folder for the session that it starts.
func (r *Registry) MayWorkIn(session, dir string) bool {
	s, ok := r.Find(session)
	if !ok {
		return false
	}
	_, ok = r.folderOf(s, dir)
	return ok
}

// folderOf is the path without links of a folder, if a process inside a session may name that folder for a
// session that it starts.
func (r *Registry) folderOf(s *Session, dir string) (real string, ok bool) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(real) {
		return "", false
	}
	return real, slices.ContainsFunc(s.Status().Children.Cwd, func(listed string) bool {
		if listed, err = filepath.EvalSymlinks(listed); err != nil {
			return false
		}
		within, err := filepath.Rel(listed, real)
		return err == nil && within != ".." && !strings.HasPrefix(within, "../")
	})
}

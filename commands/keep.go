package commands

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/keys"
	"berth/sessions"
	"berth/terminal"
)

// Kept is the answer of the verbs that change a session as a whole.
type Kept struct {
	Session string            `json:"session"`
	ID      string            `json:"id"`
	State   string            `json:"state"`
	PID     int               `json:"pid"`
	Exit    *api.Exit         `json:"exit"`
	Tags    []string          `json:"tags"`
	Meta    map[string]string `json:"meta"`
}

func (c *Call) kept(s *sessions.Session, format string, args ...any) error {
	return c.answer(keptOf(s), func(w io.Writer) { fmt.Fprintf(w, format+"\n", args...) })
}

func keptOf(s *sessions.Session) Kept {
	st := s.Status()
	k := Kept{Session: st.Name, ID: st.ID, State: string(st.Now), PID: st.PID, Exit: st.Exit, Tags: emptyNotNull(st.Tags), Meta: map[string]string{}}
	for key, v := range st.Meta {
		k.Meta[key] = v
	}
	return k
}

func killVerb() *Verb {
	return &Verb{
		Name: "kill", Group: "keep", Synopsis: "TARGET... [--tree] [--grace 10s]", Short: "end a session's program: SIGHUP, then SIGKILL to the whole process tree",
		Examples: []Example{
			{"kill beta", "end its program; the session stays"},
			{"kill tag:web --grace 1s", "of all with a tag"},
		},
		Need: keys.Admin, MinArgs: 1, MaxArgs: -1, Targets: true, Answer: Kept{}, Run: kill,
		Flags: func(f *pflag.FlagSet) { f.Duration("grace", sessions.EndGrace, "time between SIGHUP and SIGKILL") },
	}
}

func kill(ctx context.Context, c *Call) error {
	list, err := c.targets(c.Args, needsOne)
	if err != nil {
		return err
	}
	done := map[string]bool{}
	for range killRounds {
		if err := c.killAll(ctx, list); err != nil || !c.tree() {
			return err
		}
		for _, s := range list {
			done[s.ID()] = true
		}
		if list, err = c.targets(c.Args, orAll); err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(s *sessions.Session) bool { return done[s.ID()] || !s.Status().Running() })
		if len(list) == 0 {
			return nil
		}
	}
	return api.Errorf(api.CodeLimit, "sessions were started below it all the time: kill --tree again")
}

// killRounds bounds how often kill --tree looks for sessions that were started in the meantime. A session that
// has ended starts no more, so each round goes a generation deeper at most.
const killRounds = 8

func (c *Call) killAll(ctx context.Context, list []*sessions.Session) error {
	grace, _ := c.flags.GetDuration("grace")
	if grace < 0 || grace > time.Minute {
		return api.Errorf(api.CodeUsage, "kill: --grace must be a time of at most 1m, such as 10s")
	}
	// All programs get SIGHUP before the call waits for any: ten sessions take at most 10 s, not
	// 100 s.
	ended := make([]<-chan error, len(list))
	for i, s := range list {
		ended[i] = s.End(ctx, c.actor(), grace)
	}
	var failed error // of the first session that couldn't be ended; the others still get SIGHUP
	for i, s := range list {
		if err := awaitEnd(ctx, ended[i]); err != nil {
			if ctx.Err() != nil {
				return err
			}
			failed = cmp.Or(failed, err)
			continue
		}
		if err := c.kept(s, "%s ended", s.Status().Name); err != nil {
			return err
		}
	}
	return failed
}

func awaitEnd(ctx context.Context, end <-chan error) error {
	select {
	case err := <-end:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func restartVerb() *Verb {
	return &Verb{
		Name: "restart", Group: "keep", Synopsis: "S [--env K=V]... [--limit K=V]... [--gate M] [--meta K=V]... [--config -]",
		Short: "end a session's program and start it again in the same session, changed if fields are given",
		Examples: []Example{
			{"restart alpha", "end its program and start it again"},
			{"restart alpha --env API_KEY=other", "with another value in its environment; attached clients stay"},
		},
		Need: keys.Admin, MinArgs: 1, MaxArgs: 1, Answer: Kept{}, Run: restart,
		Flags: func(f *pflag.FlagSet) {
			f.StringArray("env", nil, "K=V for the program's environment, from this start on")
			launchFlags(f)
		},
	}
}

func restart(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	docs, err := c.documents(ctx, true)
	if err != nil {
		return err
	}
	change, err := c.changeOf(docs, s.Status().Limits)
	if err == nil {
		err = c.may("restart", keys.Admin, s) // as it is after the document was read
	}
	if err != nil {
		return err
	}
	if err := c.Sessions.RestartChanged(ctx, s, change, c.actor()); err != nil {
		return err
	}
	return c.kept(s, "%s started again (pid %d)", s.Status().Name, s.Status().PID)
}

func renameVerb() *Verb {
	return &Verb{
		Name: "rename", Group: "keep", Synopsis: "S NAME", Short: "rename a session; its id stays the same",
		Examples: []Example{
			{"rename beta web-tests", "its id stays"},
		},
		Need: keys.Admin, MinArgs: 2, MaxArgs: 2, Answer: Kept{}, Run: rename,
	}
}

func rename(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	to := c.Args[1]
	if err := api.CheckName(to); err != nil {
		return err
	}
	if id := c.Identity(); !id.Sees(to, s.Status().Tags) {
		return id.Denied("rename", to)
	}
	if err := c.mayName(to); err != nil {
		return err
	}
	from := s.Status().Name
	if err := c.Sessions.Rename(ctx, s, to, c.actor()); err != nil {
		return err
	}
	return c.kept(s, "%s is now %s", from, to)
}

func rmVerb() *Verb {
	return &Verb{
		Name: "rm", Group: "keep", Synopsis: "TARGET... [--force] [--discard]",
		Short: "remove ended sessions with their screen and output; a worktree with work in it stays",
		Examples: []Example{
			{"rm alpha --force", "remove it, ending its program first"},
			{"rm alpha --force --discard", "remove it and its worktree, with the work in it"},
			{"rm tag:done", "remove all ended ones with a tag"},
		},
		Need: keys.Admin, MinArgs: 1, MaxArgs: -1, Targets: true, Answer: Removed{}, Run: rm,
		Flags: func(f *pflag.FlagSet) {
			f.Bool("force", false, "end the program first if it is running")
			f.Bool("discard", false, "remove the worktree with uncommitted changes and commits that no other branch has")
		},
	}
}

// Removed is the answer of rm.
type Removed struct {
	kept
	Worktree *sessions.TreeEnd `json:"worktree"` // null: the session had none
}

// kept is embedded under a name that isn't one of its fields, see listed.
type kept = Kept

func rm(ctx context.Context, c *Call) error {
	list, err := c.targets(c.Args, needsOne)
	if err != nil {
		return err
	}
	force, _ := c.flags.GetBool("force")
	discard, _ := c.flags.GetBool("discard")
	for _, s := range list {
		if s.Status().Running() && !force {
			return api.Errorf(api.CodeBadRequest, "%s is running: kill it first, or rm --force", s.Status().Name)
		}
	}
	for _, s := range list {
		if force { // otherwise a session that restarted in the meantime is refused, not ended
			if err := awaitEnd(ctx, s.End(ctx, c.actor(), sessions.EndGrace)); err != nil {
				return err
			}
		}
		tree, err := c.Sessions.Remove(ctx, s, c.actor(), discard)
		if err != nil {
			return err
		}
		gone := Removed{keptOf(s), tree}
		if err := c.answer(gone, func(w io.Writer) { fmt.Fprintln(w, gone.text()) }); err != nil {
			return err
		}
	}
	return nil
}

// text says what became of the session and of its worktree.
func (r Removed) text() string {
	switch t := r.Worktree; {
	case t == nil:
		return r.Session + " removed"
	case t.Removed:
		return r.Session + " and its worktree removed"
	default:
		return fmt.Sprintf("%s removed. Its worktree %s stays: %s. worktree diff %s shows the work, worktree rm %s --discard throws it away",
			r.Session, t.Path, *t.Why, r.ID, r.ID)
	}
}

func tagVerb() *Verb {
	return &Verb{
		Name: "tag", Group: "keep", Synopsis: "S [TAG|-TAG]... [--remove TAG]...", Short: "add tags, or remove one with -TAG; without arguments, list the tags",
		Examples: []Example{
			{"tag alpha web urgent", "add two tags"},
			{"tag alpha -urgent", "remove one"},
			{"tag alpha", "list them"},
		},
		Need: keys.Admin, MinArgs: 1, MaxArgs: -1, Answer: Kept{}, Run: tag,
		Flags:   func(f *pflag.FlagSet) { f.StringArray("remove", nil, "a tag to remove") },
		Rewrite: dashRemoves,
	}
}

// dashRemoves turns -TAG into --remove=TAG; otherwise it would be parsed as an option.
func dashRemoves(list []string) []string {
	list = slices.Clone(list)
	for i := 2; i < len(list); i++ { // after "tag" and the session
		if list[i] == "--" {
			break
		}
		if name, off := strings.CutPrefix(list[i], "-"); off && name != "" && name[0] != '-' && name != "h" {
			list[i] = "--remove=" + name
		}
	}
	return list
}

func tag(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	remove, _ := c.flags.GetStringArray("remove")
	var add []string
	for _, word := range c.Args[1:] {
		if name, off := strings.CutPrefix(word, "-"); off {
			remove = append(remove, name)
			continue
		}
		if err := api.CheckTag(word); err != nil {
			return err
		}
		add = append(add, word)
	}
	if err := c.mayTag(add); err != nil {
		return err
	}
	if len(add)+len(remove) > 0 {
		if err := s.Retag(ctx, c.actor(), add, remove); err != nil {
			return err
		}
	}
	return c.kept(s, "%s: %s", s.Status().Name, orDash(strings.Join(s.Status().Tags, " ")))
}

func metaVerb() *Verb {
	return &Verb{
		Name: "meta", Group: "keep", Synopsis: "S [KEY=VALUE|KEY=]...", Short: "set key-value pairs, or remove one with an empty value; without arguments, list the pairs",
		Examples: []Example{
			{"meta alpha ticket=1234", "keep a value with the session"},
			{"meta alpha ticket=", "remove it"},
			{"meta alpha", "list them"},
		},
		Need: keys.Admin, MinArgs: 1, MaxArgs: -1, Answer: Kept{}, Run: meta,
	}
}

func meta(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	change := map[string]string{}
	for _, word := range c.Args[1:] {
		k, v, ok := strings.Cut(word, "=")
		if !ok {
			return api.Errorf(api.CodeUsage, "meta: %s has no value: give KEY=VALUE", api.Quote(word))
		}
		if err := api.CheckMeta(k, v); err != nil {
			return err
		}
		change[k] = v
	}
	if len(change) > 0 {
		if err := s.SetMeta(ctx, c.actor(), change); err != nil {
			return err
		}
	}
	pairs := pairsOf(s.Status().Meta)
	return c.kept(s, "%s: %s", s.Status().Name, orDash(terminal.Printable(strings.Join(pairs, " "))))
}

// pairsOf lists the map as NAME=VALUE, sorted by name.
func pairsOf(m map[string]string) []string {
	pairs := make([]string, 0, len(m))
	for k, v := range m {
		pairs = append(pairs, k+"="+v)
	}
	slices.Sort(pairs)
	return pairs
}

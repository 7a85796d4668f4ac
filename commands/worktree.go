package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/keys"
	"berth/sessions"
	"berth/sessions/worktree"
)

func worktreeVerb() *Verb {
	return &Verb{
		Name: "worktree", Group: "see", Parts: []string{"ls", "diff", "rm"}, Synopsis: "ls | diff S | rm S [--discard]",
		Short: "git worktrees of sessions, also of removed ones: list them, show the work in one, or remove one",
		Examples: []Example{
			{"worktree ls", "all of them, with commits ahead of the base and changed files"},
			{"worktree diff api", "the commits, changes and new files of a session's worktree"},
			{"worktree rm api", "remove a clean worktree whose commits another branch has"},
			{"worktree rm api --discard", "remove it with the work in it"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: 2, Answer: []sessions.TreeRow{}, Run: worktrees,
		Others:  map[string]any{"ls": []sessions.TreeRow{}, "diff": TreeDiff{}, "rm": TreeRemoved{}},
		Changes: func(args []string) bool { return len(args) > 0 && args[0] == "rm" },
		Flags: func(f *pflag.FlagSet) {
			f.Bool("discard", false, "of rm: also with uncommitted changes and commits that no other branch has")
		},
	}
}

// TreeDiff is the answer of worktree diff.
type TreeDiff struct {
	Session     string            `json:"session"`
	ID          string            `json:"id"`
	Path        string            `json:"path"`
	Base        string            `json:"base"`
	Commits     []worktree.Commit `json:"commits"`   // since the base, newest first
	Committed   string            `json:"committed"` // what they change, as a patch
	Uncommitted string            `json:"uncommitted"`
	NewFiles    []string          `json:"new_files"` // neither committed nor ignored
	New         string            `json:"new"`       // their contents, as a patch
	Cut         bool              `json:"cut"`       // something is too long and was left out
}

// TreeRemoved is the answer of worktree rm.
type TreeRemoved struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	Path    string `json:"path"`
	Branch  string `json:"branch"`
}

func worktrees(ctx context.Context, c *Call) error {
	verb := Lookup("worktree")
	discard, _ := c.flags.GetBool("discard")
	switch part := c.Args[0]; {
	case !slices.Contains(verb.Parts, part):
		return verb.usage(fmt.Errorf("%s isn't ls, diff or rm", api.Quote(part)))
	case part != "rm" && discard:
		return verb.usage(errors.New("--discard is an option of rm"))
	case part == "ls" && len(c.Args) > 1:
		return verb.usage(fmt.Errorf("unexpected argument %s", api.Quote(c.Args[1])))
	case part == "ls":
		return c.treeList(ctx)
	case len(c.Args) < 2:
		return verb.usage(errMissing)
	case part == "rm":
		if err := c.Identity().May("worktree", keys.Admin); err != nil {
			return err
		}
	}
	w, err := sessions.FindWorktree(c.trees(), c.Args[1])
	if err != nil {
		return err
	}
	if c.Args[0] == "diff" {
		return c.treeDiff(ctx, w)
	}
	if err := c.Sessions.RemoveWorktree(ctx, w, c.actor(), discard); err != nil {
		return err
	}
	gone := TreeRemoved{w.Session, w.ID, w.Tree.Path, w.Tree.Branch}
	return c.answer(gone, func(out io.Writer) {
		fmt.Fprintf(out, "the worktree %s of %s removed\n", gone.Path, gone.Session)
	})
}

// trees are the worktrees that the caller may see. Those of removed sessions are judged by the
// session's last name and tags; a process inside a session sees none of them.
func (c *Call) trees() []sessions.Worktree {
	id := c.Identity()
	return slices.DeleteFunc(c.Sessions.Worktrees(), func(w sessions.Worktree) bool {
		if w.Live != nil {
			return !c.sees(w.Live)
		}
		return !id.Sees(w.Session, w.Tags)
	})
}

// treeListWithin bounds how long worktree ls waits for git, which may run programs of an agent's (filters).
const treeListWithin = 10 * time.Second

func (c *Call) treeList(ctx context.Context) error {
	all := c.trees()
	rows := c.Sessions.TreeRows(ctx, all, treeListWithin)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return c.answer(rows, func(w io.Writer) {
		if len(rows) == 0 {
			fmt.Fprintln(w, "no worktrees; make one with: new NAME --cwd REPOSITORY --worktree")
			return
		}
		lines := [][]string{{"SESSION", "STATE", "BRANCH", "BASE", "AHEAD", "BEHIND", "CHANGED", "SIZE", "CREATED", "PATH"}}
		for _, r := range rows {
			state, branch, base := "removed", "-", r.Base
			if r.State != nil {
				state = *r.State
			}
			if r.Branch != nil {
				branch = *r.Branch
			}
			if len(base) >= 40 {
				base = base[:10] // a commit
			}
			size := "-"
			if r.SizeBytes != nil {
				size = sizeWords(*r.SizeBytes)
			}
			lines = append(lines, []string{r.Session, state, branch, base, number(r.Ahead), number(r.Behind), number(r.ChangedFiles), size, ago(c.Now(), r.CreatedAt.Time), r.Path})
		}
		table(w, lines)
	})
}

func number(n *int) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

// sizeWords is a size with two digits or more, such as 12MiB.
func sizeWords(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB"}
	for len(units) > 1 && n >= 10<<10 {
		n, units = n>>10, units[1:]
	}
	return fmt.Sprint(n, units[0])
}

func (c *Call) treeDiff(ctx context.Context, w sessions.Worktree) error {
	d, err := c.Sessions.TreeDiff(ctx, w)
	if err != nil {
		return err
	}
	out := TreeDiff{
		Session: w.Session, ID: w.ID, Path: w.Tree.Path, Base: w.Tree.Onto(), Commits: d.Commits, Committed: d.Committed,
		Uncommitted: d.Uncommitted, NewFiles: d.NewFiles, New: d.New, Cut: d.Cut,
	}
	return c.answer(out, func(w io.Writer) { out.text(w) })
}

// text has the patches with blanks in place of tabs, which a terminal's text can't have.
func (d TreeDiff) text(w io.Writer) {
	fmt.Fprintf(w, "%s: %d commits since %s\n", d.Session, len(d.Commits), d.Base)
	for _, one := range d.Commits {
		fmt.Fprintf(w, "  %.10s %s (%s)\n", one.Commit, one.Subject, one.Author)
	}
	for _, part := range []struct{ title, patch string }{{"Committed:", d.Committed}, {"Not committed:", d.Uncommitted}, {"New files:", d.New}} {
		if part.patch != "" {
			fmt.Fprintf(w, "\n%s\n%s", part.title, strings.ReplaceAll(part.patch, "\t", "    "))
		}
	}
	if d.Cut {
		fmt.Fprintln(w, "(cut: the rest is too long; use git in "+d.Path+")")
	}
}

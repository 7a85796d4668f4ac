package worktree

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	runs = flag.Int("runs", 25, "random lives of a worktree in TestNothingIsLost")
	seed = flag.Uint64("seed", 1, "of the first of them")
)

// life is a worktree to which random things happen. Each piece of work has a word of its own. A
// word is lost if neither a file nor a commit of a branch has it afterwards.
type life struct {
	*repo
	rnd   *rand.Rand
	tree  Tree
	n     int
	words []string
	trace []string
}

func (l *life) word() string {
	l.n++
	w := fmt.Sprintf("word-%d-%d", l.rnd.Uint32(), l.n)
	l.words = append(l.words, w)
	return w
}

// steps are what an agent and a person do. git may refuse a step.
var steps = []struct {
	name string
	do   func(l *life, at string)
}{
	{"edit", func(l *life, at string) { l.write(at, "a.txt", l.word()+"\n") }},
	{"new file", func(l *life, at string) { l.write(at, fmt.Sprintf("n%d/f.txt", l.rnd.IntN(3)), l.word()+"\n") }},
	{"ignored file", func(l *life, at string) { l.write(at, "x.o", "ignored\n") }},
	{"commit", func(l *life, at string) {
		l.write(at, fmt.Sprintf("c%d.txt", l.n), l.word()+"\n")
		l.try(at, "add", "-A")
		l.try(at, "commit", "-qm", "work")
	}},
	{"detach", func(l *life, at string) { l.try(at, "checkout", "-q", "--detach") }},
	{"branch", func(l *life, at string) { l.try(at, "checkout", "-q", "-b", fmt.Sprint("other-", l.n, l.rnd.Uint32())) }},
	{"back", func(l *life, at string) { // not from a detached commit: git itself gives that up
		if _, err := l.try(at, "symbolic-ref", "-q", "HEAD"); err == nil {
			l.try(at, "checkout", "-q", l.tree.Branch)
		}
	}},
	{"merge", func(l *life, at string) {
		if head, err := l.try(at, "rev-parse", "HEAD"); err == nil {
			if _, err := l.try(l.dir, "merge", "-q", "--no-edit", head); err != nil {
				l.try(l.dir, "merge", "--abort")
			}
		}
	}},
	{"take main", func(l *life, at string) {
		if _, err := l.try(at, "merge", "-q", "--no-edit", "main"); err != nil {
			l.try(at, "merge", "--abort")
		}
	}},
	{"push", func(l *life, at string) { l.try(at, "update-ref", fmt.Sprint("refs/remotes/o/", l.n), "HEAD") }},
	{"stash", func(l *life, at string) { l.try(at, "stash", "-q", "-u") }},
	{"hide", func(l *life, at string) {
		if _, err := l.try(at, "update-index", "--assume-unchanged", "a.txt"); err == nil {
			l.write(at, "a.txt", l.word()+"\n")
		}
	}},
	{"rename", func(l *life, at string) { l.try(at, "branch", "-m", fmt.Sprint("named-", l.n, l.rnd.Uint32())) }},
	{"alias", func(l *life, at string) { l.try(at, "symbolic-ref", "refs/heads/alias", "refs/heads/"+l.tree.Branch) }},
}

// lost are the words that are nowhere.
func (l *life) lost() (lost []string) {
	var have strings.Builder
	have.WriteString(l.git(l.dir, "log", "-p", "-m", "--format=", "--all")) // branches, remotes, the stash
	_ = filepath.Walk(l.root, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			data, _ := os.ReadFile(path)
			have.Write(data)
		}
		return nil
	})
	if list, err := l.try(l.dir, "worktree", "list", "--porcelain"); err == nil {
		for line := range strings.Lines(list) { // a detached HEAD of a worktree keeps its commits
			if head, ok := strings.CutPrefix(strings.TrimSpace(line), "HEAD "); ok {
				more, _ := l.try(l.dir, "log", "-p", "-m", "--format=", head)
				have.WriteString(more)
			}
		}
	}
	for _, w := range l.words {
		if !strings.Contains(have.String(), w) {
			lost = append(lost, w)
		}
	}
	return lost
}

// TestNothingIsLost runs random lives of two worktrees of a repository, with removals in between:
// what is there before a removal is there after it, and a removed worktree leaves nothing in git.
// -runs 1000 is for changes of the rules.
func TestNothingIsLost(t *testing.T) {
	removed, kept := 0, 0
	for i := 0; i < *runs; i += lives {
		runLives(t, *seed+uint64(i), min(lives, *runs-i), &removed, &kept)
	}
	t.Logf("%d lives: %d removals, %d times the worktree stayed", *runs, removed, kept)
	if removed == 0 || kept == 0 {
		t.Error("one of the two never happened")
	}
}

// lives is how many random lives happen in one repository. With more, its log takes too long to read.
const lives = 5

func runLives(t *testing.T, seed uint64, n int, removed, kept *int) {
	t.Helper()
	r := newRepo(t)
	for i := range n {
		rnd := rand.New(rand.NewPCG(seed+uint64(i), 7))
		trace := []string{fmt.Sprint("seed ", seed+uint64(i))}
		both := []*life{{repo: r, rnd: rnd, trace: trace}, {repo: r, rnd: rnd, trace: slices.Clone(trace)}}
		for j, l := range both {
			want := Tree{}
			if j == 1 && rnd.IntN(3) == 0 {
				want.From = both[0].tree.Branch // both may have the only commits
			}
			l.tree = r.make(fmt.Sprintf("s%d-%d", i, j), want)
		}
		for range 1 + rnd.IntN(8) {
			l := both[rnd.IntN(2)]
			step := steps[rnd.IntN(len(steps))]
			if _, err := os.Lstat(l.tree.Path); err != nil {
				continue
			}
			if step.name == "edit" { // an edit replaces what was there: that isn't a removal's fault
				if out, _ := l.try(l.tree.Path, "status", "--porcelain", "a.txt"); out != "" {
					continue
				}
			}
			l.trace = append(l.trace, step.name)
			step.do(l, l.tree.Path)
			if rnd.IntN(4) == 0 {
				l.words = without(l.words, l.lost()) // a step itself may have lost some
				l.remove(t, removed, kept)
			}
		}
		for _, l := range both {
			l.words = without(l.words, l.lost())
		}
		for _, l := range both {
			l.remove(t, removed, kept)
		}
		for _, l := range both {
			if lost := l.lost(); len(lost) > 0 {
				t.Fatalf("%v lost %v", l.trace, lost)
			}
		}
		for _, l := range both { // the rest is thrown away
			if err := plain.Discard(t.Context(), l.tree); err != nil {
				t.Fatalf("%v: %v", l.trace, err)
			}
		}
	}
	if list := r.git(r.dir, "worktree", "list"); strings.Contains(list, "\n") {
		t.Errorf("git still lists:\n%s", list)
	}
	if left := r.git(r.dir, "for-each-ref", "refs/heads/berth"); left != "" {
		t.Errorf("branches are left:\n%s", left)
	}
	if entries, err := os.ReadDir(filepath.Join(r.dir, ".git/worktrees")); err == nil && len(entries) > 0 {
		t.Errorf("%d entries are left in git", len(entries))
	}
}

func (l *life) remove(t *testing.T, removed, stayed *int) {
	t.Helper()
	err := plain.Remove(t.Context(), l.tree)
	var kept *Kept
	switch {
	case err == nil:
		*removed++
		l.trace = append(l.trace, "REMOVED")
		if _, err := os.Lstat(l.tree.Path); err == nil {
			t.Fatalf("%v: the folder is left", l.trace)
		}
	case errors.As(err, &kept):
		*stayed++
		l.trace = append(l.trace, "STAYED: "+kept.Why)
	default:
		t.Fatalf("%v: %v", l.trace, err)
	}
	if lost := l.lost(); len(lost) > 0 {
		t.Fatalf("%v lost %v", l.trace, lost)
	}
}

func without(words, gone []string) (rest []string) {
	for _, w := range words {
		found := false
		for _, g := range gone {
			found = found || g == w
		}
		if !found {
			rest = append(rest, w)
		}
	}
	return rest
}

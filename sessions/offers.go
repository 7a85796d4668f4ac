package sessions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/oklog/ulid/v2"

	"berth/agent"
	"berth/keys"
	"berth/sessions/account"
	"berth/sessions/command"
	"berth/terminal"
)

// Installed is an agent whose program is on the PATH of a new session's user.
type Installed struct {
	Agent   string
	Version string // empty if it isn't known
}

// Bounds of what a form for a new session may ask.
const (
	mostEntries   = 10_000 // entries of a folder that are read
	mostFolders   = 50     // folders that are listed
	versionWithin = 5 * time.Second
)

// Installed lists the agents that a session made from spec could run, by name. With ask it runs each
// program that it doesn't know the version of with --version, as a session would run it.
func (r *Registry) Installed(ctx context.Context, spec Spec, ask bool) []Installed {
	list := []Installed{}
	for name, driver := range r.drivers() {
		l, ok := driver.(agent.Launcher)
		if !ok {
			continue
		}
		spec.ID, spec.Cwd, spec.Command = ulid.Make().String(), "", l.Command() // the id is of no session: the program has no rights here
		prog, err := r.options.Environment.resolveWith(spec, false)
		if err != nil {
			continue // it isn't installed
		}
		list = append(list, Installed{Agent: name, Version: r.version(ctx, spec, prog, ask)})
	}
	slices.SortFunc(list, func(a, b Installed) int { return strings.Compare(a.Agent, b.Agent) })
	return list
}

// versionNumber matches the version in what a program prints.
var versionNumber = regexp.MustCompile(`\d+(\.\d+)+[\w.+-]*`)

func (r *Registry) version(ctx context.Context, spec Spec, prog program, ask bool) string {
	info, err := account.As(ctx, prog.user, func() (os.FileInfo, error) { return os.Stat(prog.path) })
	if err != nil {
		return ""
	}
	key := strings.Join([]string{spec.User, prog.path, info.ModTime().String(), strconv.FormatInt(info.Size(), 10)}, "\x00")
	v := &r.versions
	if said, ok := v.known(key); ok || !ask {
		return said
	}
	leave, err := v.turns.enter(ctx, uidOf(prog.user), 1)
	if err != nil {
		return ""
	}
	defer leave()
	if said, ok := v.known(key); ok {
		return said // another caller asked it meanwhile
	}
	res, err := r.runFor(ctx, spec, command.Command{
		Path: prog.path, Argv: append(slices.Clone(prog.argv), "--version"), Env: prog.env, Dir: prog.cwd,
		Most: 4 << 10, Within: versionWithin, As: prog.user.Credential(),
	})
	if ctx.Err() != nil {
		return ""
	}
	said := ""
	if err == nil {
		said = terminal.Printable(string(versionNumber.Find(res.Output)))
	}
	v.keep(key, said)
	return said
}

// Folder is a folder where a new session may start.
type Folder struct {
	Path string // begins with what was typed
	Repo bool   // the top of a git working tree
}

// Folders is what completes a typed folder.
type Folders struct {
	Found  []Folder // repositories first, each by name
	Exists bool     // the typed folder itself exists
	Repo   bool     // and is in a git repository
}

// Folders completes the folder that a person types for a new session made from spec. It looks with the
// rights of the session's user. Without a typed folder it is the spec's.
func (r *Registry) Folders(ctx context.Context, spec Spec, by keys.Identity, typed string) (Folders, error) {
	user, err := r.options.Environment.account(spec)
	if err != nil {
		return Folders{}, err
	}
	home := r.options.Environment.Home
	if user != nil {
		home = user.Home
	}
	itself := typed
	if itself == "" {
		itself = spec.Cwd
	}
	if typed == "~" {
		typed = "~/"
	}
	base, prefix := typed[:strings.LastIndexByte(typed, '/')+1], typed[strings.LastIndexByte(typed, '/')+1:]
	asker := folderAsker{by.Share(), uidOf(user)}
	return answered(ctx, &r.trees.folders, asker, user, func() (Folders, error) {
		var out Folders
		itself := belowHome(itself, home)
		if info, err := os.Stat(itself + "/."); err == nil && info.IsDir() {
			out.Exists = true
			out.Repo, _ = inRepository(itself) // a folder that can't be read is in none
		}
		dir := belowHome(base, home)
		for _, name := range foldersIn(dir, prefix) {
			_, err := os.Lstat(filepath.Join(dir, name, ".git"))
			out.Found = append(out.Found, Folder{Path: base + name, Repo: err == nil})
		}
		slices.SortStableFunc(out.Found, func(a, b Folder) int {
			switch {
			case a.Repo == b.Repo:
				return 0
			case a.Repo:
				return -1
			}
			return 1
		})
		out.Found = out.Found[:min(len(out.Found), mostFolders)]
		return out, nil
	})
}

// answered is account.As with a bound on the wait, which account.As has for another user's files only. A
// file system that hangs keeps its slot and its goroutine until it answers.
func answered[T any](ctx context.Context, of *slots[folderAsker], by folderAsker, user *account.User, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	done := make(chan result, 1)
	leave, err := of.enter(ctx, by, foldersAtOnce)
	if err != nil {
		return none, fmt.Errorf("the folder doesn't answer: %w", err)
	}
	go func() {
		defer leave()
		value, err := account.As(ctx, user, work)
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return none, fmt.Errorf("the folder doesn't answer: %w", ctx.Err())
	}
}

// foldersIn lists the folders in dir whose names begin with prefix, by name. Hidden ones need a prefix
// that says so. Names that can't be typed are left out.
func foldersIn(dir, prefix string) (names []string) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0) // it may be anything by now
	if err != nil {
		return nil
	}
	defer f.Close()
	for left := mostEntries; left > 0; {
		entries, err := f.ReadDir(min(left, 1000))
		left -= len(entries)
		for _, e := range entries {
			name := e.Name()
			if !strings.HasPrefix(name, prefix) || name[0] == '.' && prefix == "" || terminal.Printable(name) != name {
				continue
			}
			isDir := e.IsDir()
			if e.Type()&os.ModeSymlink != 0 {
				info, err := os.Stat(filepath.Join(dir, name))
				isDir = err == nil && info.IsDir()
			}
			if isDir {
				names = append(names, name)
			}
		}
		if err != nil { // io.EOF at the end; after another error the rest can't be read
			break
		}
	}
	slices.Sort(names)
	return names
}

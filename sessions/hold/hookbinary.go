package hold

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

const (
	// HookBinary is the name of the program that agents' hooks run.
	HookBinary = "berth-hold"
	// sharedBinary begins the name of the copy that the sessions share where
	// exe itself cannot be linked to.
	sharedBinary = ".berth-"
)

// copying keeps two callers from making or deleting the copy at once: one
// server alone works in a folder of sessions.
var copying sync.Mutex

// LinkProgram makes name a hard link to exe in a session's folder and returns its path,
// for the agent's settings and commands: it stays what it is when exe is replaced
// or removed. Where exe is on another file system, or the system allows no link
// to it, the folder above gets one copy for all its sessions. Where nothing in
// the folder may be run, the path is exe's own. For others, who are not the
// server's user, a copy is made of an exe that only that user may run. Any
// goroutine may call it.
func LinkProgram(dir, exe, name string, others bool) (path string, err error) {
	real, err := filepath.EvalSymlinks(exe)
	if err != nil {
		return "", fmt.Errorf("link to %s: %w", exe, err)
	}
	if !mayRun(dir) {
		return real, nil
	}
	path = filepath.Join(dir, name)
	if !others || openToAll(real) {
		if err := relink(real, path); err == nil {
			return path, nil
		}
	}
	copying.Lock()
	defer copying.Unlock()
	shared, err := shareCopy(filepath.Dir(dir), real)
	if err == nil {
		err = relink(shared, path)
	}
	if err != nil {
		return "", fmt.Errorf("link to %s: %w", exe, err)
	}
	return path, nil
}

// relink makes path a link to file, in place of what it was.
func relink(file, path string) error {
	aside := path + ".new"
	os.Remove(aside)
	if err := os.Link(file, aside); err != nil {
		return err
	}
	// Renaming one link to another of the same file does nothing: aside stays.
	defer os.Remove(aside)
	return os.Rename(aside, path)
}

// shareCopy gives the copy of exe in folder dir, and deletes those of other
// versions that no session has a link to.
func shareCopy(dir, exe string) (string, error) {
	info, err := os.Stat(exe)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("%s%x-%x", sharedBinary, info.Size(), info.ModTime().UnixNano())
	dropCopies(dir, name)
	path := filepath.Join(dir, name)
	if openToAll(path) {
		return path, nil
	}
	from, err := os.Open(exe)
	if err != nil {
		return "", err
	}
	defer from.Close()
	to, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o700)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, from)
	if err == nil {
		err = to.Chmod(allMayRun) // whatever the umask
	}
	if closed := to.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		os.Remove(path + ".new")
		return "", err
	}
	return path, nil
}

// allMayRun is the mode of a program that every user may read and run.
const allMayRun = 0o755

func openToAll(exe string) bool {
	info, err := os.Stat(exe)
	return err == nil && info.Mode().Perm()&0o555 == 0o555
}

// dropCopies deletes the copies except one without links.
func dropCopies(dir, but string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), sharedBinary) || e.Name() == but {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink == 1 {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
				return
			}
		}
	}
}

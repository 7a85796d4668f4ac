package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"berth/config"
	"berth/keys"
)

// checkState looks at the state folder without making or mending it.
func checkState(_ context.Context, e *examination) []Result {
	found := checkFolder("state folder", e.Config.StateDir, "state_dir")
	if found[0].Status != OK {
		return found
	}
	if _, err := config.ReadStateVersion(e.Config.StateDir); err != nil {
		return one(Error, err.Error(), "install the release that wrote it")
	}
	return found
}

func checkRuntime(_ context.Context, e *examination) []Result {
	dir := e.Config.RuntimeDir
	if !config.SocketsFit(dir) {
		return one(Error, "the path of the runtime folder "+dir+" is too long for sockets in it", "set runtime_dir to a shorter path")
	}
	return checkFolder("runtime folder", dir, "runtime_dir")
}

func checkFolder(what, dir, field string) []Result {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return ok(fmt.Sprintf("the %s %s doesn't exist yet: the server makes it", what, dir))
	}
	if err != nil {
		return one(Error, err.Error(), "choose another folder with "+field)
	}
	if !info.IsDir() {
		return one(Error, fmt.Sprintf("the %s %s isn't a folder", what, dir), "move the file away, or choose another folder with "+field)
	}
	st, known := info.Sys().(*syscall.Stat_t)
	if known && int(st.Uid) != os.Geteuid() {
		return one(Error, fmt.Sprintf("the %s %s belongs to uid %d, and this is uid %d", what, dir, st.Uid, os.Geteuid()),
			"run this as the server's user, or choose another folder with "+field)
	}
	if perm := info.Mode().Perm(); perm&0o022 != 0 {
		return one(Error, fmt.Sprintf("the %s %s can be written by others (mode %04o)", what, dir, perm), "check what is in it, then run: chmod 700 "+dir)
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		return one(Error, fmt.Sprintf("the %s %s can't be written: %v", what, dir, err), "mount its file system for writing, or choose another folder with "+field)
	}
	return ok(fmt.Sprintf("the %s %s is the server's alone", what, dir))
}

// Bounds of a disk that is nearly full: below the first part no new session is made.
const (
	noSession = 0.05
	scarce    = 0.10
)

func checkDisk(_ context.Context, e *examination) []Result {
	dir := e.Config.StateDir
	for {
		if _, err := os.Stat(dir); err == nil || dir == "/" {
			break
		}
		dir = filepath.Dir(dir)
	}
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return one(Warning, "the disk of the state folder can't be looked at: "+err.Error(), "see df "+dir)
	}
	free := part(s.Bavail, s.Blocks)
	size := fmt.Sprintf("%.0f %% of the state folder's disk are free (%d MB)", 100*free, uint64(s.Bavail)*uint64(s.Bsize)/1e6)
	remedy := "remove ended sessions (berth ls --state exited, berth rm), lower retention in berth.yaml, or make room on the disk of " + dir
	switch inodes := part(s.Ffree, s.Files); {
	case free < noSession:
		return one(Error, size+": no new session is made", remedy)
	case s.Files > 0 && inodes < noSession:
		return one(Error, fmt.Sprintf("%.0f %% of the inodes of the state folder's disk are free: files can't be made soon", 100*inodes), remedy)
	case free < scarce:
		return one(Warning, size, remedy)
	case s.Files > 0 && inodes < scarce:
		return one(Warning, fmt.Sprintf("%.0f %% of the inodes of the state folder's disk are free", 100*inodes), remedy)
	}
	return ok(size)
}

// part is how much is free; a file system without the figure has enough.
func part(free, total uint64) float64 {
	if total == 0 {
		return 1
	}
	return float64(free) / float64(total)
}

// clockSlack is how far a file's time may be ahead of the clock.
const clockSlack = time.Minute

// checkClock compares the clock with files that the server wrote: a clock that was set back makes
// certificates and leases last too long and events run backwards.
func checkClock(_ context.Context, e *examination) []Result {
	now := e.Now()
	if now.Year() < oldest {
		return one(Error, "the clock says "+now.UTC().Format(time.RFC3339), "set it: timedatectl set-ntp true")
	}
	var ahead time.Time
	for _, pattern := range []string{"events/*", "audit/*", "lock"} {
		files, err := filepath.Glob(filepath.Join(e.Config.StateDir, pattern))
		if err != nil {
			continue // the patterns are fixed
		}
		for _, f := range files {
			if info, err := os.Stat(f); err == nil && info.ModTime().After(ahead) {
				ahead = info.ModTime()
			}
		}
	}
	if ahead.Sub(now) > clockSlack {
		return one(Error, fmt.Sprintf("the clock says %s, but the server has written files at %s", now.UTC().Format(time.RFC3339), ahead.UTC().Format(time.RFC3339)),
			"set it: timedatectl set-ntp true; if the files are wrong, they are so until that time")
	}
	return ok("the clock agrees with the server's files")
}

// oldest is the first year of Berth.
const oldest = 2026

func checkKeys(_ context.Context, e *examination) []Result {
	store, err := keys.OpenStore(keys.StoreOptions{
		Files: e.Config.AuthorizedKeys, Authorize: e.Config.Authorize, Revoked: e.Config.RevokedKeys,
		Guests: filepath.Join(e.Config.StateDir, "guests.json"), GuestAuthority: filepath.Join(e.Config.StateDir, "guest_authority"), Now: e.Now,
	})
	if err != nil {
		return one(Error, err.Error(), "name a file with a public key")
	}
	var found []Result
	for _, p := range store.Problems() {
		status, remedy := Warning, p.Remedy
		switch p.Kind {
		case keys.Refused:
			status = Error
		case keys.Absent:
			continue
		}
		if remedy == "" {
			remedy = "mend or remove the line"
		}
		p.Remedy = ""
		found = append(found, Result{Status: status, Message: p.String(), Remedy: remedy})
	}
	if store.Empty() && !e.Inside && e.server == nil {
		found = append(found, Result{Status: Warning, Message: "no key may log in by the key files",
			Remedy: "put a public key into " + e.Config.AuthorizedKeys[0] + "; berth up admits your own"})
	}
	if len(found) > 0 {
		return found
	}
	return ok("the key files are valid")
}

func checkHostKeys(_ context.Context, e *examination) []Result {
	paths := e.Config.HostKeys
	if len(paths) == 0 {
		paths = keys.HostKeyPaths(e.Config.StateDir)
	}
	if _, err := os.Lstat(paths[0]); errors.Is(err, fs.ErrNotExist) {
		return ok("the host key doesn't exist yet: the server makes it")
	}
	loaded, err := keys.LoadOrCreateHostKeys(paths...)
	if err != nil {
		return one(Error, err.Error(), "close the file to others with chmod 600, or restore it from a backup: with another key clients refuse this host")
	}
	return ok(fmt.Sprintf("host keys: %d", len(loaded)))
}

// checkAudit looks whether the log can be written: while it can't, hardly any verb changes anything.
func checkAudit(_ context.Context, e *examination) []Result {
	dir := filepath.Join(e.Config.StateDir, "audit")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return ok("the audit log begins with the first start")
	}
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return one(Error, fmt.Sprintf("the audit log's folder %s can't be written: %v", dir, err), "make it the server's: chown and chmod 700 "+dir)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return one(Error, err.Error(), "look at "+dir)
	}
	for _, f := range files {
		if err := unix.Access(f, unix.R_OK|unix.W_OK); err != nil {
			return one(Error, fmt.Sprintf("the audit log's file %s can't be written: %v", f, err), "make it the server's: chown and chmod 600 "+f)
		}
	}
	return ok("the audit log can be written; berth audit verify checks its chain")
}

// inPath finds a program in a PATH.
func inPath(path, name string) (string, bool) {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() && unix.Access(file, unix.X_OK) == nil {
			return file, true
		}
	}
	return "", false
}

func list(words []string) string { return strings.Join(words, ", ") }

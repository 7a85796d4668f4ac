package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// maxSocketPath keeps socket paths below what every system takes: 104 bytes
// with the final NUL on macOS, 108 on Linux.
const maxSocketPath = 100

// MaxSocketName is the longest name, in bytes, of a socket in the runtime folder. MakeRuntimeDir
// refuses a folder whose path is too long for it.
const MaxSocketName = 32

// stateDir is the default state folder:
// $STATE_DIRECTORY, which systemd sets; $XDG_STATE_HOME/berth;
// ~/.local/state/berth; without a home folder /var/lib/berth.
func stateDir(getenv func(string) string) string {
	// systemd separates several folders with colons; the first is Berth's.
	if d, _, _ := strings.Cut(getenv("STATE_DIRECTORY"), ":"); filepath.IsAbs(d) {
		return filepath.Clean(d)
	}
	// The XDG specification says to ignore relative paths.
	if d := getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "berth")
	}
	if home := homeDir(getenv); home != "" {
		return filepath.Join(home, ".local", "state", "berth")
	}
	return "/var/lib/berth"
}

// ownFolder says that dir exists and belongs to uid. After su, the variable may still name the
// folder of the user that logged in.
func ownFolder(dir string, uid int) bool {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == uid
}

// runtimeDir is the folder of the sockets of the server with that state folder:
// $RUNTIME_DIRECTORY, which systemd sets; else $XDG_RUNTIME_DIR/berth, with a short hash of the
// state folder unless it is the default one; else a folder in the temp folder, named by uid and
// that hash. It creates nothing.
func runtimeDir(getenv func(string) string, uid int, owned func(string, int) bool, state string) string {
	if d, _, _ := strings.Cut(getenv("RUNTIME_DIRECTORY"), ":"); filepath.IsAbs(d) {
		return filepath.Clean(d)
	}
	sum := sha256.Sum256([]byte(filepath.Clean(state)))
	hash := hex.EncodeToString(sum[:4])
	if d := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(d) && owned(d, uid) {
		name := "berth"
		if filepath.Clean(state) != stateDir(getenv) {
			name += "-" + hash
		}
		if dir := filepath.Join(d, name); SocketsFit(dir) {
			return dir
		}
	}
	name := "berth-" + strconv.Itoa(uid) + "-" + hash
	if d := getenv("TMPDIR"); filepath.IsAbs(d) {
		if dir := filepath.Join(d, name); SocketsFit(dir) {
			return dir
		}
	}
	return filepath.Join("/tmp", name)
}

// SocketsFit says whether the paths of sockets in dir are short enough for every system.
func SocketsFit(dir string) bool { return len(dir)+1+MaxSocketName <= maxSocketPath }

// MakeRuntimeDir makes the folder of the sockets with mode 0700, or checks that the existing one
// is only ours: any user can make a folder in the temp folder under our name.
func MakeRuntimeDir(dir string) error {
	if !SocketsFit(dir) {
		return fmt.Errorf("the runtime folder %s is %d bytes long, and socket paths in it would not fit; %d is the most: set runtime_dir",
			dir, len(dir), maxSocketPath-1-MaxSocketName)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("make the runtime folder: %w", err)
	}
	return makePrivate("runtime folder", dir)
}

// MakeStateDir makes the state folder with mode 0700, or checks the existing one.
func MakeStateDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("make the state folder: %w", err)
	}
	return makePrivate("state folder", dir)
}

// throughMode lets other users pass to files that they know by name and may use. Only root has
// sessions of other users.
const throughMode = 0o711

// makePrivate makes dir with mode 0700. An existing folder must be ours. If others could have
// written into it, it is refused, because of what they may have left there. If others could only
// read it, its mode is changed.
func makePrivate(what, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the %s: %w", what, err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at the %s: %w", what, err)
	}
	if info.Mode()&fs.ModeSymlink != 0 && what == "state folder" {
		// A link that the operator made; its target is checked.
		if info, err = os.Stat(dir); err != nil {
			return fmt.Errorf("look at the %s: %w", what, err)
		}
	}
	if !info.IsDir() {
		return fmt.Errorf("the %s %s isn't a folder", what, dir)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if uid := os.Geteuid(); !ok || int(st.Uid) != uid {
		return fmt.Errorf("the %s %s doesn't belong to uid %d; choose another folder or chown it", what, dir, uid)
	}
	if perm := info.Mode().Perm(); perm&0o022 != 0 {
		return fmt.Errorf("the %s %s can be written by others (mode %04o); check what is in it, then run: chmod 700 %s", what, dir, perm, dir)
	} else if perm == throughMode && os.Geteuid() == 0 {
		return nil // sessions of other users have their own in it; see docs/security.md
	} else if perm != 0o700 {
		if err := os.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("close the %s to others: %w", what, err)
		}
	}
	return nil
}

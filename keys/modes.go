package keys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// maxFile is the largest key file that is read, in bytes: some 20,000 keys.
const maxFile = 4 << 20

// ModeError says that another user could have written a file.
type ModeError struct {
	Path   string // the file, or the folder above it, that is too open
	Text   string
	Remedy string
}

func (e *ModeError) Error() string { return e.Path + " " + e.Text + "; " + e.Remedy }

// checkTrusted refuses a file or folder that others could have changed, by its owner and mode. A
// sticky folder, such as /tmp, may be writable by others: they can't replace our files in it.
func checkTrusted(path string, info fs.FileInfo) error {
	return checkClosed(path, info, os.Geteuid(), 0o022)
}

// checkClosed is checkTrusted for files of the user uid, with the mode bits that let others write.
func checkClosed(path string, info fs.FileInfo, uid int, open fs.FileMode) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return &ModeError{path, "has no readable owner", "use a local file system"}
	}
	if st.Uid != 0 && int(st.Uid) != uid {
		return &ModeError{path, fmt.Sprintf("belongs to uid %d", st.Uid), fmt.Sprintf("it must be root's or uid %d's: chown it", uid)}
	}
	sticky := info.IsDir() && info.Mode()&fs.ModeSticky != 0
	if perm := info.Mode().Perm(); perm&open != 0 && !sticky {
		return &ModeError{path, fmt.Sprintf("can be written by others (mode %04o)", perm), "run: chmod go-w " + path}
	}
	return nil
}

// CheckRun refuses a program, or a file that names programs to run, if another user could have
// changed or replaced it. It checks owner and mode of the file and of each folder on the path.
// A group without another member may write: many systems create users' files like that.
func CheckRun(path string) error {
	name := "" // unknown: no group is the user's own
	if who, err := user.Current(); err == nil {
		name = who.Username
	}
	return CheckFor(path, os.Geteuid(), name)
}

// CheckFor is CheckRun for a file or a folder that the user uid, called name, relies on.
func CheckFor(path string, uid int, name string) error {
	check := func(p string, info fs.FileInfo) error {
		open := fs.FileMode(0o022)
		if st, ok := info.Sys().(*syscall.Stat_t); ok && ownGroup(name, int(st.Gid)) {
			open = 0o002
		}
		return checkClosed(p, info, uid, open)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := check(path, info); err != nil {
		return err
	}
	return checkWay(path, uid, check)
}

// ownGroup says whether a group is the user's own: it has the user's name and no other member.
func ownGroup(name string, gid int) bool {
	groups, err := os.ReadFile("/etc/group")
	return err == nil && name != "" && soleMember(string(groups), name, gid)
}

// soleMember says whether a table such as /etc/group gives the group the user's name and no other
// member.
func soleMember(groups, name string, gid int) bool {
	for line := range strings.Lines(groups) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) == 4 && f[0] == name && f[2] == strconv.Itoa(gid) {
			return f[3] == "" || f[3] == name
		}
	}
	return false
}

// readTrusted reads a file that decides who may log in. The file, each folder above it and each
// folder above a link to it must belong to us or root and not be writable by others. Owner and mode
// are those of the open file.
func readTrusted(path string) ([]byte, error) {
	return read(path, func(resolved string, info fs.FileInfo) error {
		if err := checkTrusted(resolved, info); err != nil {
			return err
		}
		return checkWay(path, os.Geteuid(), checkTrusted)
	})
}

// readRegular reads a regular file without checking who can write it.
func readRegular(path string) ([]byte, error) {
	return read(path, func(string, fs.FileInfo) error { return nil })
}

func read(path string, check func(resolved string, info fs.FileInfo) error) ([]byte, error) {
	resolved, err := resolve(path)
	if err != nil {
		return nil, err
	}
	// O_NONBLOCK, so that a pipe in the file's place can't block.
	f, err := os.OpenFile(resolved, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s isn't a regular file", path)
	}
	if err := check(resolved, info); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s is longer than %d bytes", path, maxFile)
	}
	return data, err
}

func resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// stamp changes when a file, or the owner or mode of anything above it, does.
func stamp(path string) string {
	resolved, err := resolve(path)
	if err != nil {
		return "absent: " + path
	}
	var b strings.Builder
	for p := resolved; ; p = filepath.Dir(p) {
		info, err := os.Stat(p)
		if err != nil {
			return "absent: " + p
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return "unreadable: " + p
		}
		fmt.Fprintf(&b, "%s %d %d %o;", p, st.Ino, st.Uid, info.Mode())
		if p == resolved {
			fmt.Fprintf(&b, "%d %d;", info.Size(), info.ModTime().UnixNano())
		}
		if p == filepath.Dir(p) {
			return b.String()
		}
	}
}

// problemOf turns an error about a whole file into a Problem.
func problemOf(path string, err error) Problem {
	p := Problem{File: path, Kind: Refused, Text: err.Error()}
	var mode *ModeError
	var pathErr *fs.PathError
	switch {
	case errors.As(err, &mode):
		p.Text, p.Remedy = "file refused: "+mode.Path+" "+mode.Text, mode.Remedy
	case errors.Is(err, fs.ErrNotExist):
		// Neither an attack nor a mistake: the other files may be enough.
		p.Kind, p.Text, p.Remedy = Absent, "the file doesn't exist", "create it, with one public key a line; the server reads it as soon as it exists"
	case errors.As(err, &pathErr):
		p.Text = "file refused: " + pathErr.Err.Error()
	}
	return p
}

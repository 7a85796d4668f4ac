package sessions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"berth/api"
	"berth/sessions/account"
)

// throughMode lets others through a folder to what they know by name, and has
// them neither list it nor change it.
const throughMode = 0o711

// openWays lets the session's user reach what is that user's own, and makes sure
// of it.
func (s *Session) openWays(user *account.User) error {
	if user == nil {
		return nil
	}
	if err := s.letThrough(); err != nil {
		return err
	}
	o := s.reg.options
	for dir, field := range map[string]string{s.dir: "state_dir", o.RuntimeDir: "runtime_dir"} {
		if err := user.Reach(dir); err != nil {
			return api.Errorf(api.CodeBadRequest, "%w: set %s to a folder that others may go through to, such as one below /var/lib or /run", err, field)
		}
	}
	return nil
}

// letThrough lets others go through the folders of the sockets and the session.
// The state folder was closed as a whole until then: what lies in it is closed
// first.
func (s *Session) letThrough() error {
	o := s.reg.options
	if err := closeWithin(o.StateDir); err != nil {
		return err
	}
	for _, dir := range []string{o.RuntimeDir, o.StateDir, s.reg.sessionsDir(), s.dir} {
		if err := os.Chmod(dir, throughMode); err != nil {
			return fmt.Errorf("let others through: %w", err)
		}
	}
	return nil
}

// closeWithin takes from others what they could get at in a folder if they were
// let into it.
func closeWithin(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look at what is in %s: %w", dir, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look at what is in %s: %w", dir, err)
		}
		open := info.Mode().Perm() & 0o077
		if info.IsDir() {
			open &^= throughMode
		}
		if open == 0 || info.Mode()&fs.ModeSymlink != 0 {
			continue
		}
		if err := os.Chmod(filepath.Join(dir, e.Name()), info.Mode().Perm()&^0o077); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("close to others: %w", err)
		}
	}
	return nil
}

// agentDir is the folder in the session's that belongs to another user.
const agentDir = "agent"

func agentName(user *account.User) string {
	if user == nil {
		return ""
	}
	return agentDir
}

// agentFolder is where the agent's files of Berth's are: the session's folder,
// and for another user's agent one in it that is that user's alone. It is made
// before anything of that user is in the way.
func (s *Session) agentFolder(user *account.User) (string, error) {
	if user == nil {
		return s.dir, nil
	}
	dir := filepath.Join(s.dir, agentDir)
	if _, err := os.Lstat(dir); err == nil {
		return dir, owned(dir, user.UID)
	}
	aside := dir + ".new" // a kill may have left one
	_ = os.Remove(aside)
	err := errors.Join(os.Mkdir(aside, 0o700), os.Lchown(aside, user.UID, user.GID), os.Rename(aside, dir))
	if err != nil {
		return "", fmt.Errorf("make the agent's folder: %w", err)
	}
	return dir, nil
}

// owned makes sure that a folder is still the user's.
func owned(dir string, uid int) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at the agent's folder: %w", err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || int(st.Uid) != uid {
		return fmt.Errorf("%s isn't a folder of uid %d", dir, uid)
	}
	return nil
}

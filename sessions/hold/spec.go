package hold

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// Limits that apply where a Spec says nothing.
const (
	DefaultOutputLimit  = 64 << 20
	DefaultControlLimit = 8 << 20
	DefaultGrace        = 10 * time.Second
)

// MaxInput is the most bytes one Input may carry.
const MaxInput = 4 << 20

// maxMark bounds the JSON a caller may attach to one message.
const maxMark = 4 << 10

// A Spec says what a holder is to run and where it keeps its journal.
type Spec struct {
	// Dir is the session's folder: it exists, mode 0700. A journal already
	// there is continued: offsets and record numbers go on.
	Dir string `json:"dir"`
	// Socket is the path to listen on, short enough for a socket address.
	Socket string `json:"socket"`
	// HookSocket is the path on which to listen for hooks, as short, in a
	// folder of mode 0700. Empty is none. What runs in the session finds it as
	// HookSocketEnv in its environment.
	HookSocket string `json:"hook_socket,omitempty"`
	// Argv, Env and Path are the program: Path is what is executed.
	Argv []string `json:"argv"`
	Env  []string `json:"env"`
	Path string   `json:"path"`
	Cwd  string   `json:"cwd"`
	// CwdReal is the path without links that Cwd must have when the program starts. Empty is any.
	CwdReal string `json:"cwd_real,omitempty"`
	// Cols and Rows are the first size, in cells.
	Cols int `json:"cols"`
	Rows int `json:"rows"`
	// OutputLimit and ControlLimit bound the two halves of the journal, in
	// bytes. 0 is the default.
	OutputLimit  int64 `json:"output_limit"`
	ControlLimit int64 `json:"control_limit"`
	// Grace is what the rest of the process tree gets between SIGHUP and
	// SIGKILL once the program itself has ended. 0 is the default.
	Grace time.Duration `json:"grace"`
	// Record and Offset are where the server's reading of the journal ended. The journal goes on after them also
	// where its files end before: a holder before this one may have been killed with records and output that a full
	// disk didn't take, and a number must never be another record's.
	Record uint64 `json:"record,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	// As is the user of the program. nil is the holder's own: a program of
	// another one can neither signal nor trace the holder, nor touch its files.
	As *User `json:"as,omitempty"`
	// Cgroup is the folder of the cgroup that the program runs in, without the holder: a limit that the
	// program has reached never stops the holder, which reports that. Empty is the holder's own. The
	// holder removes it when the program has ended.
	Cgroup string `json:"cgroup,omitempty"`
}

// User is an OS user to run a program as.
type User struct {
	UID    int   `json:"uid"`
	GID    int   `json:"gid"`
	Groups []int `json:"groups"`
}

// complete checks the spec and fills in what was left out.
func (s *Spec) complete() error {
	if s.Dir == "" || s.Socket == "" || s.Path == "" || len(s.Argv) == 0 {
		return errors.New("a holder needs a folder, a socket, a program and its arguments")
	}
	for _, p := range []string{s.Dir, s.Socket, s.Path} {
		if !filepath.IsAbs(p) {
			return fmt.Errorf("path %q is not absolute", p)
		}
	}
	if s.HookSocket != "" && !filepath.IsAbs(s.HookSocket) {
		return fmt.Errorf("path %q is not absolute", s.HookSocket)
	}
	if err := checkSize(s.Cols, s.Rows); err != nil {
		return err
	}
	if s.OutputLimit <= 0 {
		s.OutputLimit = DefaultOutputLimit
	}
	if s.ControlLimit <= 0 {
		s.ControlLimit = DefaultControlLimit
	}
	if s.Grace <= 0 {
		s.Grace = DefaultGrace
	}
	return nil
}

// checkSize refuses what a winsize cannot carry.
func checkSize(cols, rows int) error {
	if cols < 1 || rows < 1 || cols > 0xffff || rows > 0xffff {
		return fmt.Errorf("size %dx%d is not a terminal's", cols, rows)
	}
	return nil
}

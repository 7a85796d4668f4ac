package hold

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// enterWord is the one argument of a process that becomes a command of a session.
const enterWord = "enter"

// Such a process reads an entering from enterFD, and says on failedFD why it
// cannot become that command.
const (
	enterFD  = 3
	failedFD = 4
)

// entering is the command that such a process becomes.
type entering struct {
	Session string   `json:"session"`
	Path    string   `json:"path"`
	Argv    []string `json:"argv"`
	Env     []string `json:"env"`
	Dir     string   `json:"dir"`
	As      *User    `json:"as"`
}

// An Entry is a command on its way into a session.
type Entry struct {
	what        entering
	give, taken *os.File // the two ends on which it gets what it becomes
	failed, say *os.File // those on which it says why it does not
}

// Enter has cmd, which is not started yet, run with the mark of a session: a
// process cannot be marked from outside before it runs. exe is berth-hold, which
// marks itself and becomes the command. Begin comes when cmd is started, Close
// in any case.
func Enter(cmd *exec.Cmd, exe, session string) (*Entry, error) {
	e := &Entry{what: entering{Session: session, Path: cmd.Path, Argv: cmd.Args, Env: cmd.Env, Dir: cmd.Dir}}
	if sys := cmd.SysProcAttr; sys != nil && sys.Credential != nil {
		e.what.As = &User{UID: int(sys.Credential.Uid), GID: int(sys.Credential.Gid)}
		for _, g := range sys.Credential.Groups {
			e.what.As.Groups = append(e.what.As.Groups, int(g))
		}
		sys.Credential = nil
	}
	var err1, err2 error
	e.taken, e.give, err1 = os.Pipe()
	e.failed, e.say, err2 = os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		e.Close()
		return nil, fmt.Errorf("start a command of session %s: %w", session, err)
	}
	// Its environment is the session's user's, who may be another than ours.
	cmd.Path, cmd.Args, cmd.Env, cmd.Dir = exe, []string{exe, enterWord}, []string{}, "/"
	cmd.ExtraFiles = []*os.File{e.taken, e.say}
	return e, nil
}

// Begin lets the started process become the command, and returns when it has.
func (e *Entry) Begin() error {
	e.taken.Close()
	e.say.Close()
	err := json.NewEncoder(e.give).Encode(e.what)
	e.give.Close()
	var why started
	if said := json.NewDecoder(e.failed).Decode(&why); said == nil && why.Error != "" {
		return &StartError{Message: why.Error, Errno: syscall.Errno(why.Errno)}
	}
	if err != nil {
		return fmt.Errorf("start a command of session %s: %w", e.what.Session, err)
	}
	return nil
}

// Close closes what is open still.
func (e *Entry) Close() {
	for _, f := range []*os.File{e.give, e.taken, e.failed, e.say} {
		if f != nil {
			f.Close()
		}
	}
}

// EnterMain is `berth enter`: it becomes a command of a session. It returns,
// with the exit status, only where it cannot.
func EnterMain() int {
	runtime.LockOSThread() // whose keyrings are the command's
	unix.CloseOnExec(enterFD)
	unix.CloseOnExec(failedFD)
	err := become(os.NewFile(enterFD, "command"))
	tellStarter(os.NewFile(failedFD, "failed"), err)
	return 126
}

func become(from io.Reader) error {
	var e entering
	if err := json.NewDecoder(from).Decode(&e); err != nil {
		return fmt.Errorf("read what to run: %w", err)
	}
	if err := markSelf(e.Session); err != nil {
		return err
	}
	if e.As != nil {
		e.As.part()
		if err := errors.Join(syscall.Setgroups(e.As.Groups), syscall.Setgid(e.As.GID), syscall.Setuid(e.As.UID)); err != nil {
			return fmt.Errorf("run as user %d: %w", e.As.UID, err)
		}
	}
	if err := os.Chdir(e.Dir); err != nil {
		return err
	}
	if err := syscall.Exec(e.Path, e.Argv, e.Env); err != nil {
		return fmt.Errorf("run %s: %w", e.Path, err)
	}
	return nil
}

package hold

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"berth/api"
)

// Program is what berth-hold version prints: which protocol versions its holders
// speak.
type Program struct {
	Version     string `json:"version"`
	MinProtocol int    `json:"min_protocol"`
	MaxProtocol int    `json:"max_protocol"`
	Cgroups     bool   `json:"cgroups"` // its holders start programs in a Spec's Cgroup
}

// ThisProgram describes the holders of this build.
func ThisProgram() Program {
	return Program{Version: api.ThisBuild().Version, MinProtocol: minVersion, MaxProtocol: maxVersion, Cgroups: true}
}

// versionWithin bounds how long berth-hold may take to say its version. It takes
// some milliseconds.
const versionWithin = 10 * time.Second

// CheckProgram says why holders started from exe could not be served by this build:
// it does not run, it is another program, or it speaks no protocol version that
// this build does. It runs exe, and is called once, before any session is started.
func CheckProgram(ctx context.Context, exe string) error {
	p, err := askProgram(ctx, exe, nil)
	if err != nil {
		return err
	}
	if !p.spoken() {
		return fmt.Errorf("%s (%s) speaks protocol versions %d to %d, this server %d to %d: install berth and berth-hold of one release",
			exe, p.Version, p.MinProtocol, p.MaxProtocol, minVersion, maxVersion)
	}
	return nil
}

// CheckRunning says why this build could not serve the running holder of a session's folder. It
// asks the file that the process was started from, and so leaves the holder alone. The file is
// opened first: after the holder's end its pid can be a process's of an agent, whose file must not
// be run.
func CheckRunning(ctx context.Context, dir string, holder Survivor) error {
	file, err := os.Open(programOf(dir, holder.PID))
	if err != nil {
		return fmt.Errorf("open the program of holder %d: %w", holder.PID, err)
	}
	defer file.Close()
	if !alive(holder.PID, holder.Start) {
		return fmt.Errorf("holder %d: %w", holder.PID, ErrGone)
	}
	exe := runnable(file)
	if name, err := os.Readlink(exe); err == nil && strings.TrimSuffix(filepath.Base(name), " (deleted)") == "berth" {
		return checkFirst()
	}
	p, err := askProgram(ctx, exe, nil)
	if err != nil {
		return err
	}
	if !p.spoken() {
		return fmt.Errorf("its holder (%s) speaks protocol versions %d to %d, this release %d to %d", p.Version, p.MinProtocol, p.MaxProtocol, minVersion, maxVersion)
	}
	return nil
}

// checkFirst is about a holder from before berth-hold, when berth itself was the holder: it speaks
// version 1 and doesn't say so.
func checkFirst() error {
	if first := (Program{MinProtocol: 1, MaxProtocol: 1}); !first.spoken() {
		return fmt.Errorf("its holder speaks protocol version 1, this release %d to %d", minVersion, maxVersion)
	}
	return nil
}

// CheckCgroup says why holders started from exe can't start programs in a cgroup. It runs exe there.
func CheckCgroup(ctx context.Context, exe, path string) error {
	sys := &syscall.SysProcAttr{}
	close, err := intoCgroup(path, sys)
	if err != nil {
		return err
	}
	defer close()
	p, err := askProgram(ctx, exe, sys)
	if err == nil && !p.Cgroups {
		err = fmt.Errorf("%s (%s) knows no cgroups: install berth and berth-hold of one release", exe, p.Version)
	}
	return err
}

func (p Program) spoken() bool { return p.MaxProtocol >= minVersion && p.MinProtocol <= maxVersion }

func askProgram(ctx context.Context, exe string, sys *syscall.SysProcAttr) (p Program, err error) {
	ctx, cancel := context.WithTimeout(ctx, versionWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, "version")
	cmd.SysProcAttr = sys
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &said, time.Second // another program's children may keep its output open
	if err := cmd.Run(); err != nil {
		return p, fmt.Errorf("run %s version: %w %s", exe, err, strings.TrimSpace(said.String()))
	}
	if err := json.Unmarshal(out.Bytes(), &p); err != nil || p.MaxProtocol == 0 {
		return p, fmt.Errorf("%s isn't berth-hold: its version is %.80q", exe, out.String())
	}
	return p, nil
}

package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"

	"berth/agent"
	"berth/agent/drivers"
	"berth/sessions/hold"
)

func checkHold(ctx context.Context, e *examination) []Result {
	const remedy = "install berth and berth-hold of one release side by side, or name the file with hold in berth.yaml"
	if _, err := os.Stat(e.Hold); err != nil {
		return one(Error, err.Error(), remedy)
	}
	if err := hold.CheckProgram(ctx, e.Hold); err != nil {
		return one(Error, err.Error(), remedy)
	}
	return ok(e.Hold + " runs")
}

// checkHolders asks the program of each living holder whether this release can take up its session.
func checkHolders(ctx context.Context, e *examination) []Result {
	var found []Result
	sessions, err := Holders(ctx, e.Config.StateDir)
	if err != nil {
		return one(Warning, err.Error(), "run this as the server's user")
	}
	for _, s := range sessions {
		if s.Err != nil {
			found = append(found, Result{Status: Warning, Message: fmt.Sprintf("the session %s can't be taken up by this release: %v", s.Session, s.Err),
				Remedy: "end it with berth kill " + s.Session + " before an upgrade, or keep the release that started it"})
		}
	}
	if len(found) > 0 {
		return found
	}
	return ok(fmt.Sprintf("sessions whose program runs: %d, all of them usable by this release", len(sessions)))
}

// Holder is a running session as its folder shows it.
type Holder struct {
	Session string // id
	PID     int
	Err     error // why this release can't take it up
}

// Holders lists the running sessions of a state folder, and says of each whether this release speaks
// its holder's protocol. It runs the holders' program, so it refuses another user's state folder: that
// user, and their agents, chose what it names.
func Holders(ctx context.Context, stateDir string) (all []Holder, err error) {
	if err := OwnFolder(stateDir); err != nil {
		return nil, err
	}
	folders, err := filepath.Glob(filepath.Join(stateDir, "sessions", "*"))
	if err != nil {
		return nil, err
	}
	for _, dir := range folders {
		survivor, alive := hold.FindSurvivor(dir)
		if !alive {
			continue
		}
		h := Holder{Session: filepath.Base(dir), PID: survivor.PID}
		if survivor.PID == 0 {
			h.Err = fmt.Errorf("its %s can't be read", "holder.json")
		} else {
			h.Err = hold.CheckRunning(ctx, dir, survivor)
		}
		all = append(all, h)
	}
	return all, nil
}

// OwnFolder returns an error if the state folder is another user's.
func OwnFolder(stateDir string) error {
	info, err := os.Stat(stateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the state folder: %w", err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("the state folder %s is another user's: what it names may be chosen by their agents", stateDir)
	}
	return nil
}

func checkPath(_ context.Context, e *examination) []Result {
	if e.pathErr != nil {
		return one(Warning, e.pathErr.Error(), "run your login shell by hand: its startup files print an error or hang")
	}
	// What is configured to run must be there.
	var found []Result
	look := func(where string, command []string, pathOfItsOwn bool) {
		if len(command) == 0 || filepath.IsAbs(command[0]) || pathOfItsOwn {
			return
		}
		if _, there := inPath(e.path, command[0]); !there {
			found = append(found, Result{Status: Error, Message: fmt.Sprintf("%s runs %s, which isn't on the PATH of sessions (%s)", where, command[0], e.path),
				Remedy: "install it, name its path in command, or set PATH in the login shell's startup files or in env"})
		}
	}
	for name, p := range e.Config.Profiles {
		_, own := p.Env["PATH"]
		look("the profile "+name, commandOf(p.Command, p.Agent), own || p.User != "")
	}
	for _, s := range e.Config.Sessions {
		whole, err := e.Config.Resolve(s)
		if err != nil {
			continue // config says so
		}
		_, own := whole.Env["PATH"]
		look("the session "+s.Name, commandOf(whole.Command, whole.Agent), own || whole.User != "")
	}
	if len(found) > 0 {
		slices.SortFunc(found, func(a, b Result) int { return compare(a.Message, b.Message) })
		return found
	}
	return ok("sessions have the PATH " + e.path)
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// commandOf is what a session runs: its command, else its agent's.
func commandOf(command []string, name string) []string {
	if len(command) > 0 || name == "" {
		return command
	}
	if l, launches := drivers.ByName()[name].(agent.Launcher); launches {
		return l.Command()
	}
	return nil
}

// number matches the version in what a program prints.
var number = regexp.MustCompile(`\d+(\.\d+)+[\w.+-]*`)

func checkAgents(ctx context.Context, e *examination) []Result {
	var found []Result
	var missing []string
	for _, name := range drivers.Names() {
		driver := drivers.ByName()[name]
		l, launches := driver.(agent.Launcher)
		if !launches {
			continue
		}
		program, there := inPath(e.path, l.Command()[0])
		if !there {
			missing = append(missing, name)
			continue
		}
		found = append(found, agentFound(driver, program, number.FindString(e.Version(ctx, program))))
	}
	if len(found) == 0 {
		return one(Warning, "no agent is on the PATH of sessions: "+list(missing)+" were looked for",
			"install one; if it is installed, add its folder to PATH in your login shell's startup files")
	}
	return found
}

func agentFound(driver agent.Driver, program, version string) Result {
	r := Result{Status: OK, Message: fmt.Sprintf("%s %s at %s", driver.Name(), version, program)}
	v, lists := driver.(agent.VersionLister)
	switch {
	case version == "":
		r.Status, r.Message = Error, fmt.Sprintf("%s at %s doesn't say its version: it may not run", driver.Name(), program)
		r.Remedy = "run it by hand: " + program + " --version"
	case lists && !slices.Contains(v.MeasuredVersions(), version):
		r.Status = Warning
		r.Message += ", which Berth was not measured with (" + list(v.MeasuredVersions()) + ")"
		r.Remedy = "it may work: berth explain SESSION shows sources that disagree; install a measured version where states are wrong"
	}
	return r
}

// checkPrograms looks for what some verbs run.
func checkPrograms(_ context.Context, e *examination) []Result {
	if _, there := inPath(e.Getenv("PATH"), "git"); !there {
		return one(Warning, "git isn't on the server's PATH: new --worktree doesn't work, and ls shows no branches", "install git")
	}
	return ok("git is installed")
}

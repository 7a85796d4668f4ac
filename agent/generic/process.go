package generic

import (
	"path"
	"strconv"
	"strings"

	"berth/agent"
)

// Process: a shell is idle while it is its terminal's foreground process group, and works while
// another group is. Of any other program it shows only that it runs.
func (d Driver) Process(p agent.Process) []agent.Fact {
	f := agent.Fact{
		Kind: agent.LevelIs, Source: agent.SourceProcess, Cause: "process:running", Evidence: p.Program,
		Level: agent.LevelUnknown,
	}
	if !d.shell {
		return []agent.Fact{f}
	}
	if p.Foreground == 0 {
		return nil
	}
	f.Level, f.Cause, f.Text = agent.LevelIdle, "process:foreground", strconv.Itoa(p.Foreground)
	if p.Foreground != p.Leader {
		f.Level, f.Cause = agent.LevelBusy, "process:foreground:"+p.Program
	}
	return []agent.Fact{f}
}

var shells = map[string]bool{
	"sh": true, "bash": true, "dash": true, "zsh": true, "fish": true, "ksh": true, "mksh": true,
	"ash": true, "tcsh": true, "csh": true, "nu": true, "elvish": true, "xonsh": true,
}

// IsShell reports whether argv starts an interactive shell: a known shell without a command (-c)
// and without a script.
func IsShell(argv []string) bool {
	if len(argv) == 0 || !shells[strings.TrimPrefix(path.Base(argv[0]), "-")] {
		return false
	}
	for _, arg := range argv[1:] {
		if !strings.HasPrefix(arg, "-") {
			return false
		}
		if !strings.HasPrefix(arg, "--") && strings.Contains(arg, "c") {
			return false
		}
	}
	return true
}

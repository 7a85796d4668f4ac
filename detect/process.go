// Package detect turns what sources report into a session's state. It is
// pure: values in, values out, the clock passed in.
package detect

import (
	"path"
	"strings"

	"berth/agent"
)

// Process is what the operating system says of a session's program.
type Process struct {
	Running    bool   // the holder has not said exited
	Asked      bool   // the holder could be asked
	Shell      bool   // the session's own program is a shell
	Leader     int    // process group of the session's own program
	Foreground int    // foreground process group of its terminal; 0 when not known
	Program    string // name of the foreground program
}

// Verdict is a state with the evidence for it.
type Verdict struct {
	State agent.State
	Tier  int
	Cause string
}

// FromProcess judges by tier 4 alone: a shell is idle while it is its
// terminal's foreground group and working while another is; of any other
// program only its end can be known.
func FromProcess(p Process) Verdict {
	switch {
	case !p.Running:
		return Verdict{agent.Exited, agent.TierProcess, "process:exit"}
	case !p.Asked:
		return Verdict{agent.Unknown, agent.TierProcess, "process:no-answer"}
	case !p.Shell:
		return Verdict{agent.Unknown, agent.TierProcess, "process:running"}
	case p.Foreground == 0:
		return Verdict{agent.Starting, agent.TierProcess, "process:start"}
	case p.Foreground == p.Leader:
		return Verdict{agent.Idle, agent.TierProcess, "process:foreground"}
	default:
		return Verdict{agent.Working, agent.TierProcess, "process:foreground:" + p.Program}
	}
}

var shells = map[string]bool{
	"sh": true, "bash": true, "dash": true, "zsh": true, "fish": true, "ksh": true, "mksh": true,
	"ash": true, "tcsh": true, "csh": true, "nu": true, "elvish": true, "xonsh": true,
}

// IsShell says whether argv starts an interactive shell: a known shell that is
// given neither a command (-c) nor a script.
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

// Reportable are the states that a session judged by FromProcess can ever be in.
func Reportable(shell bool) map[agent.State]bool {
	can := map[agent.State]bool{agent.Unknown: true, agent.Exited: true, agent.Starting: true, agent.Restarting: true}
	if shell {
		can[agent.Idle], can[agent.Working] = true, true
	}
	return can
}

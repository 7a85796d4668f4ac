package detect

import (
	"strings"
	"testing"

	"berth/agent"
)

func TestFromProcess(t *testing.T) {
	for name, c := range map[string]struct {
		in   Process
		want Verdict
	}{
		"ended":                  {Process{Asked: true, Shell: true}, Verdict{agent.Exited, 4, "process:exit"}},
		"cannot be asked":        {Process{Running: true}, Verdict{agent.Unknown, 4, "process:no-answer"}},
		"any program":            {Process{Running: true, Asked: true, Foreground: 5, Leader: 5}, Verdict{agent.Unknown, 4, "process:running"}},
		"shell before its group": {Process{Running: true, Asked: true, Shell: true, Leader: 5}, Verdict{agent.Starting, 4, "process:start"}},
		"shell at its prompt":    {Process{Running: true, Asked: true, Shell: true, Leader: 5, Foreground: 5}, Verdict{agent.Idle, 4, "process:foreground"}},
		"shell runs something":   {Process{Running: true, Asked: true, Shell: true, Leader: 5, Foreground: 9, Program: "make"}, Verdict{agent.Working, 4, "process:foreground:make"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := FromProcess(c.in); got != c.want {
				t.Fatalf("got %+v, want %+v", got, c.want)
			}
			if got := FromProcess(c.in); !Reportable(c.in.Shell)[got.State] {
				t.Fatalf("%s was reported but is not reportable", got.State)
			}
		})
	}
}

func TestIsShell(t *testing.T) {
	for line, want := range map[string]bool{
		"bash":            true,
		"/bin/bash -l":    true,
		"-zsh":            true,
		"bash --norc":     true,
		"bash -c true":    false,
		"sh -ec true":     false,
		"sh build.sh":     false,
		"vim":             false,
		"/usr/bin/python": false,
	} {
		if got := IsShell(strings.Fields(line)); got != want {
			t.Errorf("IsShell(%q) = %v, want %v", line, got, want)
		}
	}
	if IsShell(nil) {
		t.Error("no command is no shell")
	}
}

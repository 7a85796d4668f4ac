package generic

import (
	"strings"
	"testing"

	"berth/agent"
)

func TestProcess(t *testing.T) {
	for name, c := range map[string]struct {
		shell bool
		in    agent.Process
		want  agent.Level // empty: nothing is said
		cause string
	}{
		"any program":            {false, agent.Process{Foreground: 5, Leader: 5}, agent.LevelUnknown, "process:running"},
		"shell before its group": {true, agent.Process{Leader: 5}, "", ""},
		"shell at its prompt":    {true, agent.Process{Leader: 5, Foreground: 5}, agent.LevelIdle, "process:foreground"},
		"shell runs something":   {true, agent.Process{Leader: 5, Foreground: 9, Program: "make"}, agent.LevelBusy, "process:foreground:make"},
	} {
		t.Run(name, func(t *testing.T) {
			facts := Driver{shell: c.shell}.Process(c.in)
			if c.want == "" {
				if len(facts) > 0 {
					t.Fatalf("it says %+v", facts)
				}
				return
			}
			if f := facts[0]; f.Level != c.want || f.Cause != c.cause || f.Source != agent.SourceProcess {
				t.Fatalf("got %+v", f)
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
		t.Error("an empty command isn't a shell")
	}
}

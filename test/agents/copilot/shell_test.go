//go:build agents

package copilot

import (
	"os"
	"path/filepath"
	"testing"

	"berth/test/agents/testbed"
)

// TestInAShell starts Copilot CLI in a shell, as a person does, without Berth's hooks and with those of init.
func TestInAShell(t *testing.T) {
	for name, hooks := range map[string]bool{"plain": false, "init": true} {
		t.Run(name, func(t *testing.T) {
			l := prepare(t, Ready())
			env, err := l.home.Env(l.API.URL())
			check(t, err)
			env["PATH"] = filepath.Dir(programs.Agent) + ":" + os.Getenv("PATH")
			if hooks {
				env["COPILOT_HOME"] = filepath.Join(l.Dir, ".copilot")
				check(t, os.Rename(l.home.Files, env["COPILOT_HOME"]))
				l.Call("init", "copilot", "--install")
			}
			testbed.Shell{Env: env, Command: "copilot", Hooks: hooks}.InAShell(l.Lab, &agent)
		})
	}
}

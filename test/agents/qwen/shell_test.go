//go:build agents

package qwen

import (
	"os"
	"path/filepath"
	"testing"

	"berth/test/agents/testbed"
)

// TestInAShell starts Qwen Code in a shell, as a person does, without Berth's hooks and with those of init.
func TestInAShell(t *testing.T) {
	for name, hooks := range map[string]bool{"plain": false, "init": true} {
		t.Run(name, func(t *testing.T) {
			l := prepare(t, Ready())
			check(t, l.Host.Start())
			env := l.home.Env(l.API.URL(), programs.Agent)
			env["PATH"] = filepath.Dir(programs.Agent) + ":" + env["PATH"]
			if hooks {
				env["QWEN_HOME"] = filepath.Join(l.Dir, ".qwen")
				check(t, os.Rename(l.home.Files, env["QWEN_HOME"]))
				l.Call("init", "qwen", "--install")
			}
			testbed.Shell{Env: env, Command: "qwen", Hooks: hooks}.InAShell(l.Lab, &agent)
		})
	}
}

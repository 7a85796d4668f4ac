//go:build agents

package codex

import (
	"os"
	"path/filepath"
	"testing"

	"berth/test/agents/testbed"
)

// TestInAShell starts Codex in a shell, as a person does, without Berth's hooks and with those of init.
func TestInAShell(t *testing.T) {
	for name, hooks := range map[string]bool{"plain": false, "init": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newHost(t, Ready(), nil)
			env := l.home.Env(l.API.URL())
			if hooks { // into the home of the server's user, where the agent then has its files
				env["CODEX_HOME"] = filepath.Join(l.Dir, ".codex")
				check(t, os.Rename(l.home.Config, env["CODEX_HOME"]))
				l.Call("init", "codex", "--install")
			}
			env["PATH"] = filepath.Dir(programs.Agent) + ":" + l.Dir + ":" + os.Getenv("PATH")
			check(t, os.WriteFile(filepath.Join(l.Dir, "wrap"), []byte("#!/bin/sh\nexec codex \"$@\"\n"), 0o700))
			check(t, os.WriteFile(filepath.Join(l.Dir, "codex.js"), []byte("require('child_process').spawnSync('codex', process.argv.slice(2), {stdio: 'inherit'})\n"), 0o700))
			testbed.Shell{
				Env: env, Command: "codex --no-daemon", Quit: "/quit", Hooks: hooks,
				Others: map[string]string{"wrapper": "wrap --no-daemon", "env": "env A=1 codex --no-daemon", "node": "node " + l.Dir + "/codex.js --no-daemon", "zsh": "codex --no-daemon"},
			}.InAShell(l.Lab, &agent)
		})
	}
}

// TestByOthersInAShell starts Codex in a shell by npx, and as another OS user.
func TestByOthersInAShell(t *testing.T) {
	for name, hooks := range map[string]bool{"plain": false, "init": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newHost(t, Ready(), nil)
			env := l.home.Env(l.API.URL())
			if hooks {
				env["CODEX_HOME"] = filepath.Join(l.Dir, ".codex")
				check(t, os.Rename(l.home.Config, env["CODEX_HOME"]))
				l.Call("init", "codex", "--install")
			}
			testbed.Shell{Env: env, Command: "codex --no-daemon", Quit: "/quit", Hooks: hooks}.
				ByOthers(l.Lab, &agent, programs.Agent, "@openai/codex", env["CODEX_HOME"])
		})
	}
}

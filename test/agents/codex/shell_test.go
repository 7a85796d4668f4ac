//go:build agents

package codex

import (
	"math/rand"
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
			l, env := shellHost(t, hooks)
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

// TestNudgesInAShell gives messages of 1 byte to 10 KB to a Codex in a shell.
func TestNudgesInAShell(t *testing.T) {
	for name, hooks := range map[string]bool{"plain": false, "init": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, env := shellHost(t, hooks)
			env["PATH"] = filepath.Dir(programs.Agent) + ":" + os.Getenv("PATH")
			r := rand.New(rand.NewSource(1))
			testbed.Shell{Env: env, Command: "codex --no-daemon", Hooks: hooks}.Nudges(l.Lab, &agent, messages(), func(i int) (string, string) { return message(r, i) })
			if l.Made("ran.txt") {
				t.Error("a message ran as a command")
			}
		})
	}
}

// shellHost is a host for Codex in shells, with the hooks of init where the server's user has its files, or without.
func shellHost(t *testing.T, hooks bool) (l *lab, env map[string]string) {
	t.Helper()
	l = newHost(t, Ready(), nil)
	env = l.home.Env(l.API.URL())
	if hooks {
		env["CODEX_HOME"] = filepath.Join(l.Dir, ".codex")
		check(t, os.Rename(l.home.Config, env["CODEX_HOME"]))
		l.Call("init", "codex", "--install")
	}
	return l, env
}

// TestByOthersInAShell starts Codex in a shell by npx, and as another OS user.
func TestByOthersInAShell(t *testing.T) {
	for name, hooks := range map[string]bool{"plain": false, "init": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, env := shellHost(t, hooks)
			testbed.Shell{Env: env, Command: "codex --no-daemon", Quit: "/quit", Hooks: hooks}.
				ByOthers(l.Lab, &agent, programs.Agent, "@openai/codex", env["CODEX_HOME"])
		})
	}
}

//go:build agents

package gemini

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"berth/test/agents/testbed"
)

// TestInAShell starts Gemini CLI in a shell, as a person does, without Berth's hooks and with those of init.
func TestInAShell(t *testing.T) {
	for name, hooks := range map[string]bool{"plain": false, "init": true} {
		t.Run(name, func(t *testing.T) {
			l, env, _ := shellHost(t, hooks)
			env["PATH"] = filepath.Dir(programs.Agent) + ":" + l.Dir + ":" + os.Getenv("PATH")
			check(t, os.WriteFile(filepath.Join(l.Dir, "wrap"), []byte("#!/bin/sh\ngemini \"$@\"\ntrue\n"), 0o700))
			testbed.Shell{
				Env: env, Command: "gemini", Quit: "/quit", Other: "Compresses the context", Hooks: hooks,
				Others: map[string]string{"wrapper": "wrap", "env": "env A=1 gemini", "node": "node --no-warnings " + programs.Agent, "zsh": "gemini"},
			}.InAShell(l.Lab, &agent)
		})
	}
}

// TestNudgesInAShell gives messages of 1 byte to 10 KB to a Gemini CLI in a shell.
func TestNudgesInAShell(t *testing.T) {
	for name, hooks := range map[string]bool{"plain": false, "init": true} {
		t.Run(name, func(t *testing.T) {
			l, env, _ := shellHost(t, hooks)
			env["PATH"] = filepath.Dir(programs.Agent) + ":" + os.Getenv("PATH")
			random := rand.New(rand.NewPCG(1, 2))
			testbed.Shell{Env: env, Command: "gemini", Hooks: hooks}.Nudges(l.Lab, &agent, messages(), func(i int) (string, string) {
				text := message(random, i)
				return text, text
			})
		})
	}
}

// shellHost is a host for Gemini CLI in shells, with the hooks of init where the server's user has its files, or
// without. files are those of Gemini.
func shellHost(t *testing.T, hooks bool) (l *lab, env map[string]string, files string) {
	t.Helper()
	l = prepare(t, Ready())
	check(t, l.Host.Start())
	env, files = l.env(nil), l.home.Files
	env["GEMINI_CLI_HOME"] = l.home.Dir
	if hooks {
		files = filepath.Join(l.Dir, ".gemini")
		check(t, os.Rename(l.home.Files, files))
		env["GEMINI_CLI_HOME"] = l.Dir
		l.Call("init", "gemini", "--install")
	}
	return l, env, files
}

// TestByOthersInAShell starts Gemini CLI in a shell by npx, and as another OS user.
func TestByOthersInAShell(t *testing.T) {
	for name, hooks := range map[string]bool{"plain": false, "init": true} {
		t.Run(name, func(t *testing.T) {
			l, env, files := shellHost(t, hooks)
			testbed.Shell{Env: env, Command: "gemini", Quit: "/quit", Other: "Compresses the context", Hooks: hooks}.
				ByOthers(l.Lab, &agent, programs.Agent, "@google/gemini-cli", files)
		})
	}
}

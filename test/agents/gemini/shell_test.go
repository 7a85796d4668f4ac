//go:build agents

package gemini

import (
	"os"
	"path/filepath"
	"testing"

	"berth/test/agents/testbed"
)

// TestInAShell starts Gemini CLI in a shell, as a person does, without Berth's hooks and with those of init.
func TestInAShell(t *testing.T) {
	for name, hooks := range map[string]bool{"plain": false, "init": true} {
		t.Run(name, func(t *testing.T) {
			l := prepare(t, Ready())
			check(t, l.Host.Start())
			env := l.env(nil)
			if hooks { // into the home of the server's user, where the agent then has its files
				check(t, os.Rename(l.home.Files, filepath.Join(l.Dir, ".gemini")))
				env["GEMINI_CLI_HOME"] = l.Dir
				l.Call("init", "gemini", "--install")
			}
			env["PATH"] = filepath.Dir(programs.Agent) + ":" + l.Dir + ":" + os.Getenv("PATH")
			check(t, os.WriteFile(filepath.Join(l.Dir, "wrap"), []byte("#!/bin/sh\ngemini \"$@\"\ntrue\n"), 0o700))
			testbed.Shell{
				Env: env, Command: "gemini", Quit: "/quit", Other: "Compresses the context", Hooks: hooks,
				Others: map[string]string{"wrapper": "wrap", "env": "env A=1 gemini", "node": "node --no-warnings " + programs.Agent, "zsh": "gemini"},
			}.InAShell(l.Lab, &agent)
		})
	}
}

// TestByOthersInAShell starts Gemini CLI in a shell by npx, and as another OS user.
func TestByOthersInAShell(t *testing.T) {
	for name, hooks := range map[string]bool{"plain": false, "init": true} {
		t.Run(name, func(t *testing.T) {
			l := prepare(t, Ready())
			check(t, l.Host.Start())
			env := l.env(nil)
			env["GEMINI_CLI_HOME"] = l.home.Dir
			files := l.home.Files
			if hooks {
				files = filepath.Join(l.Dir, ".gemini")
				check(t, os.Rename(l.home.Files, files))
				env["GEMINI_CLI_HOME"] = l.Dir
				l.Call("init", "gemini", "--install")
			}
			testbed.Shell{Env: env, Command: "gemini", Quit: "/quit", Other: "Compresses the context", Hooks: hooks}.
				ByOthers(l.Lab, &agent, programs.Agent, "@google/gemini-cli", files)
		})
	}
}

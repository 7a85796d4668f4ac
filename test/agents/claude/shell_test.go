//go:build agents

package claude

import (
	"os"
	"path/filepath"
	"testing"

	"berth/test/agents/testbed"
)

// TestInAShell starts Claude Code in a shell, as a person does, without Berth's hooks and with those of init.
func TestInAShell(t *testing.T) {
	t.Parallel()
	for name, hooks := range map[string]bool{"plain": false, "init": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := prepare(t, Ready())
			check(t, l.Host.Start())
			env := l.home.Env(l.API.URL())
			env["CLAUDE_CODE_MAX_RETRIES"], env["CLAUDE_CODE_DISABLE_AGENT_VIEW"] = "1", "1"
			if hooks { // into the home of the server's user, where the agent then has its files
				config := filepath.Join(l.Dir, ".claude")
				check(t, os.Rename(l.home.Config, config))
				env["CLAUDE_CONFIG_DIR"] = config
				l.Call("init", "claude", "--install")
			}
			bin := filepath.Dir(programs.Agent)
			env["PATH"] = bin + ":" + l.Dir + ":" + os.Getenv("PATH")
			check(t, os.WriteFile(filepath.Join(l.Dir, "wrap"), []byte("#!/bin/sh\n"+"claude \"$@\"\ntrue\n"), 0o700))
			check(t, os.WriteFile(filepath.Join(l.Dir, "start.js"), []byte("require('child_process').spawnSync('claude', process.argv.slice(2), {stdio: 'inherit'})\n"), 0o700))
			const flags = " --permission-mode default"
			testbed.Shell{
				Env: env, Command: "claude" + flags, Quit: "/exit", Other: "/add-dir", Hooks: hooks,
				Others: map[string]string{"wrapper": "wrap" + flags, "env": "env A=1 claude" + flags, "node": "node " + l.Dir + "/start.js" + flags, "zsh": "claude" + flags},
			}.InAShell(l.Lab, &agent)
		})
	}
}

// TestByOthersInAShell starts Claude Code in a shell by npx, and as another OS user.
func TestByOthersInAShell(t *testing.T) {
	t.Parallel()
	for name, hooks := range map[string]bool{"plain": false, "init": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := prepare(t, Ready())
			check(t, l.Host.Start())
			env := l.home.Env(l.API.URL())
			env["CLAUDE_CODE_MAX_RETRIES"], env["CLAUDE_CODE_DISABLE_AGENT_VIEW"] = "1", "1"
			if hooks {
				env["CLAUDE_CONFIG_DIR"] = filepath.Join(l.Dir, ".claude")
				check(t, os.Rename(l.home.Config, env["CLAUDE_CONFIG_DIR"]))
				l.Call("init", "claude", "--install")
			}
			testbed.Shell{Env: env, Command: "claude --permission-mode default", Quit: "/exit", Other: "/add-dir", Hooks: hooks, Install: "@anthropic-ai/claude-code/bin/claude.exe"}.
				ByOthers(l.Lab, &agent, programs.Agent, "@anthropic-ai/claude-code", env["CLAUDE_CONFIG_DIR"])
		})
	}
}

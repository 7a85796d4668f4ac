//go:build agents

package opencode

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"berth/test/agents/testbed"
)

// TestInAShell starts opencode in a shell, as a person does, without Berth's plugin and with that of init.
func TestInAShell(t *testing.T) {
	for name, hooks := range map[string]bool{"plain": false, "init": true} {
		t.Run(name, func(t *testing.T) {
			l, env := prepare(t)
			if hooks { // the plugin is where the server's user has its settings
				testbed.Check(t, os.CopyFS(filepath.Join(l.Dir, ".config"), os.DirFS(env["XDG_CONFIG_HOME"])))
				env["XDG_CONFIG_HOME"] = filepath.Join(l.Dir, ".config")
				l.Call("init", "opencode", "--install")
			}
			env["PATH"] = filepath.Dir(programs.Agent) + ":" + l.Dir + ":" + os.Getenv("PATH")
			testbed.Check(t, os.WriteFile(filepath.Join(l.Dir, "wrap"), []byte("#!/bin/sh\nopencode \"$@\"\ntrue\n"), 0o700))
			s := testbed.Shell{Env: env, Command: "opencode", Quit: "exit", Hooks: hooks, Others: map[string]string{"wrapper": "wrap", "env": "env A=1 opencode"}}
			s.InAShell(l, &agent)
			l.Call("rm", "bash")
			s.Nudges(l, &agent, 5, func(i int) (string, string) {
				text := fmt.Sprintf("message %d\n\nof three lines", i)
				return text, text + " " // its mark for a paste adds the blank; Berth's own sessions turn that off
			})
		})
	}
}

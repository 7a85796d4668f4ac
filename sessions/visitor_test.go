package sessions

import (
	"testing"

	"berth/agent/claude"
)

// TestVisitorsFiles: the files of an agent in a shell are where its environment says, below its account's home without
// HOME, and not known when the system doesn't tell the environment. None is below the server's own folder.
func TestVisitorsFiles(t *testing.T) {
	own := &core{s: &Session{reg: &Registry{options: Options{Environment: Environment{Home: "/home/own"}}}}}
	other := &core{s: own.s, spec: Spec{User: "bob", UID: 7}}
	for _, c := range []struct {
		name      string
		core      *core
		env       []string
		stateFile string
	}{
		{"with HOME", own, []string{"HOME=/home/x"}, "/home/x/.claude/sessions/%d.json"},
		{"without HOME", own, []string{"A=b"}, "/home/own/.claude/sessions/%d.json"},
		{"of another user without HOME", other, []string{"A=b"}, ""},
		{"with a relative folder", own, []string{"HOME=/home/x", "CLAUDE_CONFIG_DIR=conf"}, ""},
		{"without an environment", own, nil, ""},
	} {
		running, ok := runningAgent(claude.Driver{}, []string{"claude"}, c.core.visitorEnv(c.env))
		if got := absolute(running.StateFile); !ok || got != c.stateFile {
			t.Errorf("%s: the state file is %q, want %q", c.name, got, c.stateFile)
		}
	}
}

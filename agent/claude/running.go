package claude

import (
	"path/filepath"
	"strconv"

	"berth/agent"
	"berth/agent/hooks"
)

// Running has Claude's live state file and session logs. A command that only prints, and one without
// a conversation, isn't followed.
func (Driver) Running(argv []string, env map[string]string) (r agent.Running, ok bool) {
	if isSubcommand(argv) || parseOptions(argv).has("--print") {
		return r, false
	}
	if env != nil {
		config := configDir(env)
		r.StateFile = filepath.Join(config, "sessions", "%d.json")
		r.LogFiles = filepath.Join(config, "projects", "*", "%s.jsonl")
	}
	return r, true
}

// UserHooks are all of Berth's hooks, in the user's settings.json. Only the hooks of permissions and forms wait
// for an answer: gates and start contexts are for sessions whose own program is Claude.
func (Driver) UserHooks(u agent.UserSettings) ([]agent.UserFile, error) {
	var list []hooks.Group
	for _, e := range events {
		one := hookCommand{Type: "command", Command: hooks.InSession(u.Hook, "--tell "+e), Timeout: hookSeconds}
		if e == "PermissionRequest" || e == "Elicitation" {
			hold := strconv.Itoa(int(askHold.Hours())) + "h"
			one.Command, one.Timeout = hooks.InSession(u.Hook, "--ask "+hold+" "+hold+" "+e), int(askHold.Seconds())
		}
		list = append(list, hooks.Group{Event: e, Hooks: hookGroup{[]hookCommand{one}}})
	}
	file, err := hooks.UserFile(u.Disk, filepath.Join(configDir(u.Env), "settings.json"), "{}", list)
	return []agent.UserFile{file}, err
}

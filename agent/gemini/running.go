package gemini

import (
	"path/filepath"

	"berth/agent"
	"berth/agent/forks"
	"berth/agent/hooks"
)

// Running has Gemini's session logs. A command that only prints, and one without a conversation, isn't
// followed.
func (Driver) Running(argv []string, env map[string]string) (r agent.Running, ok bool) {
	if forks.Subcommand(argv, subcommands) || forks.Prints(argv) {
		return r, false
	}
	if env != nil {
		r.LogFiles = filepath.Join(usersHome(env), filesName, "tmp", "*", "chats", "session-*-%.8s.jsonl")
	}
	return r, true
}

// UserHooks are all of Berth's hooks, in the user's settings.json. They only report.
func (Driver) UserHooks(u agent.UserSettings) ([]agent.UserFile, error) {
	var list []hooks.Group
	for _, e := range events {
		one := hookCommand{Type: "command", Name: "berth", Command: hooks.InSession(u.Hook, "--tell "+e), Timeout: int(hooks.ReportLimit.Milliseconds())}
		list = append(list, hooks.Group{Event: e, Hooks: hookGroup{[]hookCommand{one}}})
	}
	file, err := hooks.UserFile(u.Disk, filepath.Join(usersHome(u.Env), filesName, settingsName), list)
	return []agent.UserFile{file}, err
}

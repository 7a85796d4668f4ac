package gemini

import (
	"path/filepath"

	"berth/agent"
	"berth/agent/forks"
)

// Running has Gemini's session logs.
func (Driver) Running(argv []string, env map[string]string) (agent.Running, bool) {
	return forks.Running(argv, subcommands, env, func(env map[string]string) string { return logFiles(usersHome(env)) })
}

// logFiles are the chat files of a home.
func logFiles(home string) string {
	return filepath.Join(home, filesName, "tmp", "*", "chats", "session-*-%.8s.jsonl")
}

// UserHooks are all of Berth's hooks, in the user's settings.json. They only report.
func (Driver) UserHooks(u agent.UserSettings) ([]agent.UserFile, error) {
	return ours.InUsers(u, filepath.Join(usersHome(u.Env), filesName, settingsName), "{}")
}

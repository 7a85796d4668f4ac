package codex

import (
	"path/filepath"

	"berth/agent"
	"berth/agent/hooks"
)

// Running has Codex's session logs. A command that prints, and one without a conversation, isn't
// followed.
func (Driver) Running(argv []string, env map[string]string) (r agent.Running, ok bool) {
	if isSubcommand(argv) {
		return r, false
	}
	if env != nil {
		r.LogFiles = userHome(env) + logPattern
	}
	return r, true
}

// UserHooks are all of Berth's hooks, in the user's hooks.json, and the trust in them in config.toml.
// They only report: outside of a session of its own Berth can't turn off that a call asks for more than
// its hook reports, so a permission is answered at its dialog.
func (Driver) UserHooks(u agent.UserSettings) ([]agent.UserFile, error) {
	home := userHome(u.Env)
	var list []hooks.Group
	for _, e := range events {
		one := map[string]string{"type": "command", "command": hooks.InSession(u.Hook, "--tell "+e)}
		list = append(list, hooks.Group{Event: e, Hooks: map[string]any{"hooks": []any{one}}})
	}
	file, err := hooks.UserFile(u.Disk, filepath.Join(home, hooksName), "{}", list)
	if err != nil {
		return nil, err
	}
	var trust []trusted
	for _, g := range list {
		at, err := hooks.Position(file.After, g.Event)
		if err != nil {
			return nil, err
		}
		hash, err := Trust(g.Event, hooks.InSession(u.Hook, "--tell "+g.Event))
		if err != nil {
			return nil, err
		}
		trust = append(trust, trusted{hookKey(home, g.Event, at) + ":0", hash})
	}
	settings := agent.UserFile{Path: filepath.Join(home, configName)}
	if settings.Before, err = read(u.Disk, settings.Path); err != nil {
		return nil, err
	}
	settings.After = config(agent.Start{}, string(settings.Before), trust)
	return []agent.UserFile{file, settings}, nil
}

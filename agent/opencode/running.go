package opencode

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"berth/agent"
	"berth/agent/forks"
	"berth/agent/hooks"
)

// Running has no files: opencode keeps its conversations in a database. A subcommand isn't followed.
func (Driver) Running(argv []string, _ map[string]string) (r agent.Running, ok bool) {
	return r, !forks.Subcommand(argv, subcommands)
}

// pluginHead starts the plugin's file, and recognizes it. The constant says where the plugin runs; see plugin.js.
const pluginHead = "const berth = "

func pluginFile(constant map[string]string) []byte {
	value, _ := hooks.Encode(constant) // texts always encode
	return slices.Concat([]byte(pluginHead), value, []byte("\n"), plugin)
}

// UserHooks is the plugin, among those of the user.
func (Driver) UserHooks(u agent.UserSettings) ([]agent.UserFile, error) {
	config := cmp.Or(u.Env["XDG_CONFIG_HOME"], filepath.Join(u.Env["HOME"], ".config"))
	file, err := hooks.Before(u.Disk, filepath.Join(config, Name, "plugins", pluginName))
	switch {
	case err != nil:
		return nil, err
	case file.Before != nil && !bytes.HasPrefix(file.Before, []byte(pluginHead)):
		return nil, fmt.Errorf("%w: %s isn't Berth's plugin: rename it", agent.ErrStart, file.Path)
	}
	file.After = pluginFile(map[string]string{"hook": u.Hook, "user": "yes"})
	return []agent.UserFile{file}, nil
}

package gemini

import (
	"io/fs"
	"path/filepath"

	"berth/agent"
	"berth/agent/forks"
	"berth/agent/userfiles"
)

// homeVariable names the folder that has Gemini's .gemini. It overrides HOME.
const homeVariable = "GEMINI_CLI_HOME"

// Files of that folder.
const (
	filesName    = ".gemini"
	settingsName = "settings.json"
	rootName     = ".project_root" // in the folder of a project's chats: its path
)

// shared are the files of a login. A session's own home has them too.
var shared = []string{"gemini-credentials.json", "oauth_creds.json", "google_accounts.json"}

// home is the session's own home, and the user's.
type home struct {
	disk       fs.FS
	own, users string
}

func usersHome(env map[string]string) string {
	if dir := env[homeVariable]; dir != "" {
		return dir
	}
	return env["HOME"]
}

// make creates the home: links to the user's files, and the session's own settings.
func (h home) make(l *agent.Launch, s agent.Start) error {
	dir := filepath.Join(h.own, filesName)
	l.Folders = []string{h.own, dir}
	l.Links = forks.Links(dir, filepath.Join(h.users, filesName), h.toLink(s.Isolate == agent.IsolateFull))
	file := ""
	if s.Isolate != agent.IsolateFull {
		file = filepath.Join(h.users, filesName, settingsName)
	}
	all, err := ours.Settings(s, file, "GEMINI_API_KEY", "gemini-api-key")
	if err != nil {
		return err
	}
	return forks.Write(l, map[string]any{filepath.Join(dir, settingsName): all})
}

// toLink are the user's files that the session shares: all of them, or only the login's.
func (h home) toLink(full bool) []string {
	if full {
		return shared
	}
	if h.disk == nil {
		return nil
	}
	entries, err := fs.ReadDir(h.disk, userfiles.Name(filepath.Join(h.users, filesName)))
	if err != nil {
		return nil // the user has no .gemini yet
	}
	var names []string
	for _, e := range entries {
		if e.Name() != settingsName {
			names = append(names, e.Name())
		}
	}
	return names
}

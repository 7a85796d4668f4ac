package gemini

import (
	"os"
	"path/filepath"

	"berth/test/agents/host"
)

// Seed is the state of a home when Gemini first starts there. Each false field leaves a dialog to answer.
type Seed struct {
	Authenticated bool // how to log in is chosen
	Trusted       bool // the workspace
	NoHooks       bool // the user has turned hooks off

	Settings map[string]any    // the user's further settings
	Hooks    map[string]string // the user's own: commands by event
}

// Ready is the seed of a home that goes straight to the prompt.
func Ready() Seed { return Seed{Authenticated: true, Trusted: true} }

// Home is a home folder with Gemini's own files and a workspace.
type Home struct {
	Dir       string // $HOME
	Files     string // its .gemini
	Workspace string // where it starts
	Key       string // the API key, which only looks like one
}

// NewHome makes a home below dir, which exists.
func NewHome(dir string, seed Seed) (*Home, error) {
	dir, err := filepath.EvalSymlinks(dir) // folders are trusted by their real path
	if err != nil {
		return nil, err
	}
	h := &Home{
		Dir: filepath.Join(dir, "home"), Files: filepath.Join(dir, "home", ".gemini"), Workspace: filepath.Join(dir, "ws"),
		Key: "lab-key-0123456789-abcdefghijklmnop",
	}
	for _, d := range []string{h.Dir, h.Files, h.Workspace} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(h.Workspace, "sample.txt"), []byte("hello\n"), 0o644); err != nil {
		return nil, err
	}
	return h, h.seed(seed)
}

func (h *Home) seed(seed Seed) error {
	settings := map[string]any{
		"general":   map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"privacy":   map[string]any{"usageStatisticsEnabled": false},
		"telemetry": map[string]any{"enabled": false},
	}
	if seed.Authenticated {
		settings["security"] = map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}}
	}
	if seed.NoHooks {
		settings["hooksConfig"] = map[string]any{"enabled": false}
	}
	hooks := map[string]any{}
	for event, command := range seed.Hooks {
		hooks[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command}}}}
	}
	if len(hooks) > 0 {
		settings["hooks"] = hooks
	}
	for name, value := range seed.Settings {
		settings[name] = value
	}
	if err := host.WriteJSON(filepath.Join(h.Files, "settings.json"), settings); err != nil {
		return err
	}
	if seed.Trusted {
		return host.WriteJSON(filepath.Join(h.Files, "trustedFolders.json"), map[string]string{h.Workspace: "TRUST_FOLDER"})
	}
	return nil
}

// Env is the environment to add for Gemini: its home, the model API in place of
// Google's, and no traffic beside it. What it tries nonetheless goes to the model
// API as to a proxy, which refuses it and records it for the test.
func (h *Home) Env(api string) map[string]string {
	return map[string]string{
		"HOME": h.Dir, "TMPDIR": h.Dir,
		"GEMINI_API_KEY": h.Key, "GOOGLE_GEMINI_BASE_URL": api,
		"HTTPS_PROXY": api, "HTTP_PROXY": api, "NO_PROXY": "127.0.0.1,localhost",
		"LANG": "C.UTF-8",
	}
}

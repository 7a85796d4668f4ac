package qwen

import (
	"os"
	"path/filepath"

	"berth/test/agents/host"
)

// Seed is the state of a home when Qwen Code first starts there.
type Seed struct {
	Authenticated bool           // how to log in is chosen
	Settings      map[string]any // the user's further settings
}

// Ready is the seed of a home that goes straight to the prompt.
func Ready() Seed { return Seed{Authenticated: true} }

// Home is a home folder with Qwen Code's own files and a workspace.
type Home struct {
	Dir       string // $HOME
	Files     string // its .qwen
	Workspace string // where it starts
	Key       string // the API key, which only looks like one
}

// NewHome makes a home below dir, which exists.
func NewHome(dir string, seed Seed) (*Home, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	h := &Home{
		Dir: filepath.Join(dir, "home"), Files: filepath.Join(dir, "home", ".qwen"), Workspace: filepath.Join(dir, "ws"),
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
	settings := map[string]any{
		"general": map[string]any{"enableAutoUpdate": false},
		"privacy": map[string]any{"usageStatisticsEnabled": false},
		"tools":   map[string]any{"approvalMode": "default"},
		"ui":      map[string]any{"enableFollowupSuggestions": false},
		"memory":  map[string]any{"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
	}
	if seed.Authenticated {
		settings["security"] = map[string]any{"auth": map[string]any{"selectedType": "openai"}}
	}
	for name, value := range seed.Settings {
		settings[name] = value
	}
	return h, host.WriteJSON(filepath.Join(h.Files, "settings.json"), settings)
}

// Env is the environment to add for Qwen Code: its home, its Node.js, the model
// API, and no traffic beside it. What it tries nonetheless goes to the model
// API as to a proxy, which refuses it and records it for the test.
func (h *Home) Env(api, exe string) map[string]string {
	node := filepath.Dir(nodeOf(filepath.Dir(filepath.Dir(filepath.Dir(exe)))))
	return map[string]string{
		"HOME": h.Dir, "TMPDIR": h.Dir, "PATH": node + ":" + os.Getenv("PATH"),
		"OPENAI_API_KEY": h.Key, "OPENAI_BASE_URL": api + "/v1", "OPENAI_MODEL": "mock-model",
		"HTTPS_PROXY": api, "HTTP_PROXY": api, "NO_PROXY": "127.0.0.1,localhost",
		"LANG": "C.UTF-8",
	}
}

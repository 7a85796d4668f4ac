package opencode

import (
	"os"
	"path/filepath"

	"berth/test/agents/host"
)

// Home is a home folder with opencode's settings and a workspace.
type Home struct {
	Dir       string // $HOME
	Workspace string // where it starts
}

// NewHome makes a home below dir, which exists. Its settings name the model of the API on loopback, and ask
// before commands, changes of files and web pages.
func NewHome(dir, api string) (*Home, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	h := &Home{Dir: filepath.Join(dir, "home"), Workspace: filepath.Join(dir, "ws")}
	config := filepath.Join(h.Dir, ".config", "opencode")
	for _, d := range []string{config, h.Workspace} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(h.Workspace, "sample.txt"), []byte("hello\n"), 0o644); err != nil {
		return nil, err
	}
	model := map[string]any{"name": "Mock Model", "tool_call": true, "limit": map[string]any{"context": 128000, "output": 4096}}
	return h, host.WriteJSON(filepath.Join(config, "opencode.json"), map[string]any{
		"autoupdate": false, "share": "disabled", "model": "mock/mock-model", "small_model": "mock/mock-model", "enabled_providers": []any{"mock"},
		"permission": map[string]any{"bash": "ask", "edit": "ask", "webfetch": "ask"},
		"provider": map[string]any{"mock": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "options": map[string]any{"baseURL": api + "/v1", "apiKey": "lab-key"},
			"models": map[string]any{"mock-model": model},
		}},
	})
}

// Env is the environment to add for opencode: its home, and no traffic beside the model API. What it tries
// nonetheless goes to the model API as to a proxy, which refuses it.
func (h *Home) Env(api string) map[string]string {
	share := filepath.Join(h.Dir, ".local", "share")
	return map[string]string{
		"HOME": h.Dir, "TMPDIR": h.Dir, "LANG": "C.UTF-8",
		"XDG_CONFIG_HOME": filepath.Join(h.Dir, ".config"), "XDG_DATA_HOME": share, "XDG_STATE_HOME": filepath.Join(h.Dir, ".local", "state"),
		"XDG_CACHE_HOME":              filepath.Join(h.Dir, ".cache"),
		"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
		"HTTPS_PROXY":                      api, "HTTP_PROXY": api, "NO_PROXY": "127.0.0.1,localhost",
	}
}

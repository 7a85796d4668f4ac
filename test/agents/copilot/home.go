package copilot

import (
	"os"
	"path/filepath"

	"berth/test/agents/host"
)

// Seed is the state of a home when Copilot first starts there.
type Seed struct {
	Trusted bool // the workspace; else a dialog asks
}

// Ready is the seed of a home that goes straight to the composer.
func Ready() Seed { return Seed{Trusted: true} }

// Home is a home folder with Copilot's own files and a workspace.
type Home struct {
	Dir       string // $HOME
	Files     string // its .copilot
	Workspace string // where it starts
}

// NewHome makes a home below dir, which exists.
func NewHome(dir string, seed Seed) (*Home, error) {
	dir, err := filepath.EvalSymlinks(dir) // folders are trusted by their real path
	if err != nil {
		return nil, err
	}
	h := &Home{Dir: filepath.Join(dir, "home"), Files: filepath.Join(dir, "home", ".copilot"), Workspace: filepath.Join(dir, "ws")}
	for _, d := range []string{h.Dir, h.Files, h.Workspace} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(h.Workspace, "sample.txt"), []byte("hello\nworld\n"), 0o644); err != nil {
		return nil, err
	}
	if err := host.WriteJSON(filepath.Join(h.Files, "settings.json"), map[string]any{"banner": "never"}); err != nil {
		return nil, err
	}
	if !seed.Trusted {
		return h, nil
	}
	return h, host.WriteJSON(filepath.Join(h.Files, "config.json"), map[string]any{"trustedFolders": []string{h.Workspace}})
}

// Env is the environment to add for Copilot: its home, the model API in place of GitHub's, and no
// traffic beside it. What it tries nonetheless goes to the model API as to a proxy, which refuses it
// and records it for the test. The cache is shared: the program unpacks itself there.
func (h *Home) Env(api string) (map[string]string, error) {
	cache, err := os.UserCacheDir()
	return map[string]string{
		"HOME": h.Dir, "TMPDIR": h.Dir, "LANG": "C.UTF-8",
		"COPILOT_CACHE_HOME": filepath.Join(cache, "berth-test-agents", "copilot-cache"),
		"COPILOT_OFFLINE":    "true", "COPILOT_AUTO_UPDATE": "false",
		"COPILOT_PROVIDER_BASE_URL": api + "/v1", "COPILOT_PROVIDER_API_KEY": "lab-key", "COPILOT_MODEL": "mock-model",
		"HTTPS_PROXY": api, "HTTP_PROXY": api, "NO_PROXY": "127.0.0.1,localhost",
	}, err
}

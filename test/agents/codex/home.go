package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Model is the name of the lab's model: one that Codex does not know.
const Model = "mock-model"

// Seed is the state of a home when Codex first starts there. The zero
// value leaves no dialog but the trust in the folder, which is one only where
// it is a git repository.
type Seed struct {
	Trusted bool   // the workspace
	Git     bool   // the workspace is a git repository
	Login   bool   // the API wants a sign-in, and there is none
	Update  bool   // a newer version is known
	Model   string // an old model, so that Codex may offer a newer one; empty: the lab's
	Hooks   string // the user's own hooks.json

	Top      string // more of config.toml, before the first table
	Features string // the same, of its features
	Config   string // the same, after all other lines
}

// Ready is the seed of a home that goes straight to the composer.
func Ready() Seed { return Seed{Trusted: true} }

// Home is a home folder with Codex's own files and a workspace.
type Home struct {
	Dir       string // $HOME
	Config    string // $CODEX_HOME
	Workspace string // where it starts
	Key       string // the API key, which only looks like one
}

// NewHome makes a home below dir, which exists, of a Codex that asks the model
// API at that URL.
func NewHome(dir, api string, seed Seed) (*Home, error) {
	dir, err := filepath.EvalSymlinks(dir) // folders are known by their real path
	if err != nil {
		return nil, err
	}
	h := &Home{
		Dir: filepath.Join(dir, "home"), Config: filepath.Join(dir, "config"), Workspace: filepath.Join(dir, "ws"),
		Key: "sk-lab-0123456789-abcdefghijklmnopqrst",
	}
	for _, d := range []string{h.Dir, h.Config, h.Workspace, filepath.Join(h.Config, "sessions")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
	}
	if seed.Git {
		if err := os.MkdirAll(filepath.Join(h.Workspace, ".git"), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(h.Workspace, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
			return nil, err
		}
	}
	return h, h.seed(api, seed)
}

func (h *Home) seed(api string, seed Seed) error {
	if seed.Model == "" {
		seed.Model = Model
	}
	auth := "env_key = \"LAB_API_KEY\""
	if seed.Login {
		auth = "requires_openai_auth = true"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "model = %q\nmodel_provider = \"lab\"\napproval_policy = \"on-request\"\nsandbox_mode = \"workspace-write\"\n", seed.Model)
	if !seed.Update {
		b.WriteString("check_for_update_on_startup = false\n")
	}
	b.WriteString(seed.Top)
	fmt.Fprintf(&b, `
[model_providers.lab]
name = "lab"
base_url = "%s/v1"
wire_api = "responses"
%s
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false

[otel]
exporter = "none"

[tui]
show_tooltips = false

[features]
plugins = false
apps = false
%s`, api, auth, seed.Features)
	if seed.Trusted {
		fmt.Fprintf(&b, "\n[projects.%q]\ntrust_level = \"trusted\"\n", h.Workspace)
	}
	b.WriteString(seed.Config)
	files := map[string]string{"config.toml": b.String(), "hooks.json": seed.Hooks}
	if seed.Update {
		files["version.json"] = `{"latest_version":"9.9.9","last_checked_at":"2100-01-01T00:00:00Z"}`
	}
	for name, text := range files {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(h.Config, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("seed a home: %w", err)
		}
	}
	return nil
}

// Env is the environment to add for Codex: its home and the model API's key.
// What it tries to reach beside the API goes to it as to a proxy, which refuses
// it and records it for the test.
func (h *Home) Env(api string) map[string]string {
	return map[string]string{
		"CODEX_MANAGED_BY_NPM": "1", // as what npm installs to start it says: else it offers no update
		"HOME":                 h.Dir, "CODEX_HOME": h.Config, "LAB_API_KEY": h.Key, "TMPDIR": h.Dir,
		"HTTPS_PROXY": api, "HTTP_PROXY": api, "NO_PROXY": "127.0.0.1,localhost", "LANG": "C.UTF-8",
	}
}

package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSeed checks what a home is prepared with: the last characters of the key,
// and the workspace by its real path.
func TestSeed(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	h, err := NewHome(link, Ready())
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(h.Config, ".claude.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"hasCompletedOnboarding": true`, `"` + h.Key[len(h.Key)-20:] + `"`, `"` + h.Workspace + `"`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %s in %s", want, data)
		}
	}
	if strings.HasPrefix(h.Workspace, link) {
		t.Errorf("%s has a symbolic link", h.Workspace)
	}
	env := h.Env("http://127.0.0.1:1")
	if env["HTTPS_PROXY"] != env["ANTHROPIC_BASE_URL"] || env["CLAUDE_CONFIG_DIR"] != h.Config {
		t.Errorf("%v", env)
	}
}

// TestEmptySeed leaves the home as new.
func TestEmptySeed(t *testing.T) {
	h, err := NewHome(t.TempDir(), Seed{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(h.Config, ".claude.json")); !os.IsNotExist(err) {
		t.Errorf("an empty home has .claude.json: %v", err)
	}
}

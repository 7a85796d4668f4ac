package sessions

import (
	"os"
	"path/filepath"
	"testing"

	"berth/agent"
	"berth/api"
)

// TestInstallUserFile: the settings are written, links stay links, and the user's other files stay as they are.
func TestInstallUserFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, mode := range map[string]os.FileMode{"settings.json": 0o640, "settings.json.new": 0o600, "real.json": 0o604} {
		if err := os.WriteFile(at(name), []byte(name), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(at(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link.json": "real.json", "dangling.json": "nowhere.json"} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	r := &Registry{}
	for _, name := range []string{"settings.json", "link.json", "new/settings.json"} {
		if err := r.InstallUserFile(agent.UserFile{Path: at(name), After: []byte("{}")}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.InstallUserFile(agent.UserFile{Path: at("dangling.json"), After: []byte("{}")}); err == nil || api.AsError(err).Code != api.CodeBadRequest {
		t.Errorf("a dangling link: %v", err)
	}
	for name, want := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"settings.json": {"{}", 0o640}, "settings.json.new": {"settings.json.new", 0o600}, "real.json": {"{}", 0o604}, "new/settings.json": {"{}", 0o600},
	} {
		data, err := os.ReadFile(at(name))
		if err != nil || string(data) != want.text {
			t.Errorf("%s is %q %v", name, data, err)
		}
		if info, err := os.Stat(at(name)); err != nil || info.Mode().Perm() != want.mode {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	for _, name := range []string{"link.json", "dangling.json"} {
		if _, err := os.Readlink(at(name)); err != nil {
			t.Errorf("%s isn't a link any more: %v", name, err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 6 {
		t.Errorf("%d files in the folder, %v", len(files), err)
	}
}

package hold

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFolderThatAnAgentChose: the program starts in the folder that was meant, or not at all, also where another user's
// program does.
func TestFolderThatAnAgentChose(t *testing.T) {
	users := map[string]*User{"the holder's user": nil}
	if os.Geteuid() == 0 {
		users["another user"] = &User{UID: 65534, GID: 65534}
	}
	for name, as := range users {
		t.Run(name, func(t *testing.T) {
			top, err := os.MkdirTemp("", "folder")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(top) })
			if top, err = filepath.EvalSymlinks(top); err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{top + "/chosen", top + "/other", top} {
				if err := os.Mkdir(dir, 0o755); err != nil && !os.IsExist(err) {
					t.Fatal(err)
				}
				if err := os.Chmod(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			spec := testSpec(t, "/bin/sh", "-c", "pwd -P; read -r line")
			spec.Cwd, spec.CwdReal, spec.As = top+"/chosen", top+"/chosen", as
			follow(start(t, spec), 0).untilText(t, top+"/chosen\r\n")

			if err := os.Rename(top+"/chosen", top+"/away"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("other", top+"/chosen"); err != nil {
				t.Fatal(err)
			}
			spec = testSpec(t, "/bin/sh", "-c", "pwd -P; read -r line")
			spec.Cwd, spec.CwdReal, spec.As = top+"/chosen", top+"/chosen", as
			if _, err := Start(t.Context(), exe(t), spec, nil); err == nil || !strings.Contains(err.Error(), "leads to "+top+"/other now") {
				t.Errorf("a link in its place: %v", err)
			}
			spec.CwdReal = top + "/other"
			follow(start(t, spec), 0).untilText(t, top+"/other\r\n")
		})
	}
}

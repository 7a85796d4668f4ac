package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The server runs the programs that berth.yaml names. So no other user may be able to write or
// replace the file.
func TestFileThatOthersCouldHaveWritten(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(dir, file string) error
		says  string
	}{
		"ours":               {func(string, string) error { return nil }, ""},
		"others may write":   {func(_, f string) error { return os.Chmod(f, 0o646) }, "can be written by others (mode 0646); run: chmod go-w "},
		"its folder is open": {func(d, _ string) error { return os.Chmod(d, 0o777) }, "can be written by others (mode 0777); run: chmod go-w "},
		"another user's":     {func(_, f string) error { return os.Chown(f, 12345, -1) }, "belongs to uid 12345; "},
		"another's folder":   {func(d, _ string) error { return os.Chown(d, 12345, -1) }, "belongs to uid 12345; "},
		"another's link": {func(d, f string) error {
			return errors.Join(os.Rename(f, f+".own"), os.Symlink(f+".own", f), os.Lchown(f, 12345, -1))
		}, "is another user's link; name the file itself"},
		"another group's": {func(_, f string) error { return errors.Join(os.Chown(f, -1, 12345), os.Chmod(f, 0o664)) }, "can be written by others"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, "another") && os.Geteuid() != 0 {
				t.Skip("SKIPPED: not root: no file can be given to another user")
			}
			dir := filepath.Join(t.TempDir(), "d")
			path := filepath.Join(dir, "berth.yaml")
			if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(path, []byte("prefix: Ctrl-a\n"), 0o644), c.spoil(dir, path)); err != nil {
				t.Fatal(err)
			}
			_, err := Load(Source{Path: path, Environ: []string{"HOME=/h"}})
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), path+": file refused: ") || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("a start: %v", err)
			}
			if found := Check(path); (c.says == "") != (len(found) == 0) || c.says != "" && !strings.Contains(found[0].String(), c.says) {
				t.Errorf("config check: %v", found)
			}
		})
	}
}

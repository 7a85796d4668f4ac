package keys

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinksOfOthers: a path must not use a link in another user's folder, even if the target and
// the target's folder are ours. That user could point the link at any file.
func TestLinksOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: not root: no folder can be given to another user")
	}
	dir := t.TempDir()
	_, text := newKey(t)
	for _, name := range []string{"ours", "theirs"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "ours", "authorized_keys")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	links := map[string]string{ // target by link
		"ours/link": file, "ours/relative": "../ours/./authorized_keys", "ours/folder": filepath.Join(dir, "ours"),
		"theirs/link": file, "theirs/folder": filepath.Join(dir, "ours"),
		"ours/through": filepath.Join(dir, "theirs", "link"), "ours/loop": filepath.Join(dir, "ours", "loop"),
	}
	for link, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(filepath.Join(dir, "theirs"), 12345, -1); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(dir, "open") // like /tmp
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ours", "theirs"} {
		if err := os.Symlink(file, filepath.Join(open, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Lchown(filepath.Join(open, "theirs"), 12345, -1); err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]bool{
		"ours/authorized_keys": true, "ours/link": true, "ours/relative": true, "ours/folder/authorized_keys": true, "open/ours": true,
		"theirs/link": false, "theirs/folder/authorized_keys": false, "ours/through": false, "ours/loop": false, "open/theirs": false,
	} {
		data, err := readTrusted(filepath.Join(dir, name))
		if (err == nil && strings.Contains(string(data), "ssh-")) != in {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

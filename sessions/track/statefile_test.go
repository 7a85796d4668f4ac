package track

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestReadSmall(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	for size, ok := range map[int64]bool{0: true, 1: true, stateFileMost: true, stateFileMost + 1: false, 1 << 40: false} {
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, size)); err != nil {
			t.Fatal(err)
		}
		data, err := readSmall(name, os.Geteuid(), stateFileMost)
		if (err == nil) != ok || ok && int64(len(data)) != size {
			t.Errorf("%d bytes: %d, %v", size, len(data), err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(name, []byte("{}"), 0o600), os.Symlink(name, link)); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{dir, os.DevNull, link, filepath.Join(dir, "none")} {
		if _, err := readSmall(other, os.Geteuid(), stateFileMost); err == nil {
			t.Errorf("%s was read", other)
		}
	}
	if _, err := readSmall(name, os.Geteuid()+1, stateFileMost); err == nil {
		t.Error("a file of another user's than the agent's was read")
	}
}

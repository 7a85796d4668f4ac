package sessions

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCopyOfAnEndlessFile: an agent makes the file that its next start copies longer than any disk.
func TestCopyOfAnEndlessFile(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	if err := os.WriteFile(from, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := copyFile(to, from); err != nil {
		t.Error(err)
	}
	if err := os.Truncate(from, diskMost+1); err != nil {
		t.Fatal(err)
	}
	if err := copyFile(to+"2", from); err == nil {
		t.Error("it was copied")
	}
	if left, err := filepath.Glob(to + "2*"); err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
}

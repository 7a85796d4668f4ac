package config

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestMigrateState(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // a second start changes nothing
		if err := MigrateState(dir); err != nil {
			t.Fatal(err)
		}
		if v, err := ReadStateVersion(dir); v != StateVersion || err != nil {
			t.Fatalf("version %d, %v", v, err)
		}
	}
	file := filepath.Join(dir, versionFile)
	if err := os.WriteFile(file, []byte("99\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var newer *NewerStateError
	if err := MigrateState(dir); !errors.As(err, &newer) || newer.Version != 99 {
		t.Errorf("a newer folder: %v", err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "99\n" {
		t.Errorf("the refused folder's version is %q now, %v", text, err)
	}
	if err := os.WriteFile(file, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MigrateState(dir); err == nil {
		t.Error("a version that isn't a number was taken")
	}
}

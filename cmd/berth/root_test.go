package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Another user can make the folder of our server's socket before the server does, and
// listen in it: root takes that for its server no more than others do.
func TestSocketOfAnotherUsersFolder(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give a folder to another user")
	}
	dir := filepath.Join(t.TempDir(), "run")
	for name, value := range map[string]string{"BERTH_SOCKET": "", "BERTH_STATE_DIR": t.TempDir(), "BERTH_RUNTIME_DIR": dir} {
		t.Setenv(name, value)
	}
	want := filepath.Join(dir, socketName)
	for _, there := range []bool{false, true} {
		if there {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if socket, err := localSocket(); socket != want || err != nil {
			t.Errorf("our own, there %v: %s %v", there, socket, err)
		}
	}
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if socket, err := localSocket(); err == nil {
		t.Errorf("another user's: %s", socket)
	}
}

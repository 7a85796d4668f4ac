package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/config"
)

// TestTour holds what serve --demo prints to 80 columns, with a key of ~/.ssh and with a new one.
func TestTour(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	state := filepath.Join(home, ".local", "state", "berth")
	for _, key := range []string{filepath.Join(home, ".ssh", "id_ed25519"), filepath.Join(state, "user_key")} {
		if err := os.MkdirAll(filepath.Dir(key), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(key, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		text := tour(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 65535}, &config.Config{StateDir: state, Authorize: []string{key + ".pub"}})
		for line := range strings.Lines(text) {
			if len(strings.TrimSuffix(line, "\n")) > 80 {
				t.Errorf("a line of %d columns: %s", len(line)-1, line)
			}
		}
	}
}

// Package together has the tests of several real agents on one server, and of the clients that other
// people wrote. The agents ask model APIs on loopback.
package together

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"

	"berth/test/agents/npm"
)

//go:embed pin
var pin embed.FS

// ACPX is a client of the Agent Client Protocol for the command line.
var ACPX = npm.Package{Name: "acpx", Version: "0.19.1", Pin: pin, Program: acpx}

func acpx(dir string) (string, error) {
	exe := filepath.Join(dir, "node_modules", ".bin", "acpx")
	if _, err := os.Stat(exe); err != nil {
		return "", fmt.Errorf("there is no acpx in %s", dir)
	}
	return exe, nil
}

// Package copilot has the real GitHub Copilot CLI of a pinned version for tests: it is installed from
// npm into a cache, and given a home of its own that only talks to a model API on loopback.
package copilot

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"

	"berth/test/agents/npm"
)

// Version is the version under test.
var Version = npm.Version("1.0.102")

//go:embed pin/package.json pin/package-lock.json
var pin embed.FS

// Install gives the path of the copilot program, which node starts; without npm its error is
// npm.ErrNone.
func Install(ctx context.Context) (string, error) { return Package.Install(ctx) }

// Package is what npm installs.
var Package = npm.Package{Name: "@github/copilot", Version: Version, Pin: pin, Program: program}

func program(dir string) (string, error) {
	exe := filepath.Join(dir, "node_modules", ".bin", "copilot")
	if _, err := os.Stat(exe); err != nil {
		return "", fmt.Errorf("there is no Copilot CLI in %s", dir)
	}
	return exe, nil
}

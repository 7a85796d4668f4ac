// Package gemini has the real Gemini CLI of a pinned version for tests: it is
// installed from npm into a cache, and given a home of its own, prepared as far
// as a test wants, that only talks to a model API on loopback.
package gemini

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"

	"berth/test/agents/npm"
)

// Version is the version under test.
var Version = npm.Version("0.61.0")

//go:embed pin/package.json pin/package-lock.json
var pin embed.FS

// Install gives the path of the gemini program, which node runs; without npm
// its error is npm.ErrNone.
func Install(ctx context.Context) (string, error) { return Package.Install(ctx) }

// Package is what npm installs.
var Package = npm.Package{Name: "@google/gemini-cli", Version: Version, Pin: pin, Program: program}

func program(dir string) (string, error) {
	exe := filepath.Join(dir, "node_modules", ".bin", "gemini")
	if _, err := os.Stat(exe); err != nil {
		return "", fmt.Errorf("there is no Gemini CLI in %s", dir)
	}
	return exe, nil
}

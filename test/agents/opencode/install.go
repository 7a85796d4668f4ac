// Package opencode has the real opencode of a pinned version for tests: it is installed from npm into a
// cache, and given a home of its own that only talks to a model API on loopback.
package opencode

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/cpu"

	"berth/test/agents/npm"
)

// Version is the version under test.
var Version = npm.Version("1.18.33")

//go:embed pin/package.json pin/package-lock.json
var pin embed.FS

// Install gives the path of the opencode program; without npm its error is npm.ErrNone.
func Install(ctx context.Context) (string, error) { return Package.Install(ctx) }

// Package is what npm installs.
var Package = npm.Package{Name: "opencode-ai", Version: Version, Pin: pin, Program: program}

// program is the native program in the package of this platform. No script of a package runs, so
// opencode's own choice between its two programs is made here.
func program(dir string) (string, error) {
	name := "opencode-" + runtime.GOOS + "-" + runtime.GOARCH
	if runtime.GOARCH == "amd64" {
		name = "opencode-" + runtime.GOOS + "-x64"
		if !cpu.X86.HasAVX2 {
			name += "-baseline"
		}
	}
	exe := filepath.Join(dir, "node_modules", name, "bin", "opencode")
	if _, err := os.Stat(exe); err != nil {
		return "", fmt.Errorf("there is no opencode in %s", dir)
	}
	return exe, nil
}

// Package codex has the real Codex CLI of a pinned version for tests: it is
// installed from npm into a cache, and given a home of its own, prepared as far
// as a test wants, that only talks to a model API on loopback.
package codex

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"berth/test/agents/npm"
)

// Version is the version under test.
var Version = npm.Version("0.169.0")

// pin holds package.json and the lock file with the checksums of all that npm
// may install.
//
//go:embed pin/package.json pin/package-lock.json
var pin embed.FS

// Install gives the path of the codex program, installing it when it is not
// there yet; npm.ErrNone where npm does not give it.
//
// The program is the native one that npm brings as an optional package for
// each platform; the package's own script needs node, and only starts it.
func Install(ctx context.Context) (string, error) { return Package.Install(ctx) }

// Package is what npm installs.
var Package = npm.Package{Name: "@openai/codex", Version: Version, Pin: pin, Program: program}

// targets are the platforms by their names with npm and with Codex itself.
var targets = map[string][2]string{
	"linux/amd64":  {"linux-x64", "x86_64-unknown-linux-musl"},
	"linux/arm64":  {"linux-arm64", "aarch64-unknown-linux-musl"},
	"darwin/amd64": {"darwin-x64", "x86_64-apple-darwin"},
	"darwin/arm64": {"darwin-arm64", "aarch64-apple-darwin"},
}

// program finds the native program of this platform.
func program(dir string) (string, error) {
	target := targets[runtime.GOOS+"/"+runtime.GOARCH]
	exe := filepath.Join(dir, "node_modules", "@openai", "codex-"+target[0], "vendor", target[1], "bin", "codex")
	if _, err := os.Stat(exe); err != nil {
		return "", fmt.Errorf("there is no Codex for %s on %s in %s: %w", runtime.GOOS, runtime.GOARCH, dir, err)
	}
	return exe, nil
}

// Package claude has the real Claude Code of a pinned version for tests. It installs
// Claude Code from npm into a cache. Each test gets a home of its own, prepared as far as
// the test wants. Claude Code there reaches only a model API on loopback.
package claude

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"berth/test/agents/npm"
)

// Version is the Claude Code under test.
var Version = npm.Version("2.1.197")

//go:embed pin
var pins embed.FS

// Package is what npm installs.
//
// The program is the native one that npm brings as an optional package for
// each platform; the package's own script, which would only copy it, is not run.
var Package = npm.Package{Name: "@anthropic-ai/claude-code", Version: Version, Pin: pins, Folder: "pin/" + Version, Program: program}

// Install returns the path of the claude program; without npm its error is
// npm.ErrNone.
func Install(ctx context.Context) (string, error) { return Package.Install(ctx) }

// program finds the native program of this platform.
func program(dir string) (string, error) {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	for _, libc := range []string{"", "-musl"} {
		exe := filepath.Join(dir, "node_modules", "@anthropic-ai", "claude-code-"+runtime.GOOS+"-"+arch+libc, "claude")
		if _, err := os.Stat(exe); err == nil {
			return exe, nil
		}
	}
	return "", fmt.Errorf("there is no Claude Code for %s on %s in %s", runtime.GOOS, runtime.GOARCH, dir)
}

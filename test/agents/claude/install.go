// Package claude has the real Claude Code of a pinned version for tests: it is
// installed from npm into a cache, and given a home of its own, prepared as far
// as a test wants, that talks to nobody but a model API on loopback.
package claude

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Version is the Claude Code that the tests were measured with.
const Version = "2.1.197"

// ErrNoNPM says that npm is missing or its registry does not answer: the tests
// cannot run here, and nothing is wrong with Berth.
var ErrNoNPM = errors.New("npm does not give Claude Code " + Version)

// pin holds package.json and the lock file with the checksums of all that npm
// may install.
//
//go:embed pin/package.json pin/package-lock.json
var pin embed.FS

// Bounds of npm's work: a question, and some 80 MB of download.
const (
	askTimeout     = 30 * time.Second
	installTimeout = 5 * time.Minute
)

// Install gives the path of the claude program, installing it into the user's
// cache folder when it is not there yet. Several processes may call it at once.
//
// The program is the native one that npm brings as an optional package for
// each platform; the package's own script, which would only copy it, is not run.
func Install(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	cache = filepath.Join(cache, "berth-test-agents")
	dir := filepath.Join(cache, "claude-code-"+Version)
	if exe, err := program(dir); err == nil {
		return exe, nil
	}
	if err := answers(ctx); err != nil {
		return "", err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	aside, err := os.MkdirTemp(cache, "installing-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(aside)
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := pin.ReadFile("pin/" + name)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(aside, name), data, 0o644); err != nil {
			return "", err
		}
	}
	if _, err := npm(ctx, installTimeout, "ci", "--prefix", aside, "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
		return "", fmt.Errorf("install Claude Code: %w", err)
	}
	if _, err := program(aside); err != nil {
		return "", err
	}
	// Whoever comes second finds the folder there and uses it.
	if err := os.Rename(aside, dir); err != nil && !errors.Is(err, os.ErrExist) && !strings.Contains(err.Error(), "not empty") {
		return "", fmt.Errorf("keep the installed Claude Code: %w", err)
	}
	return program(dir)
}

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

// answers asks npm for the version, as a question that is quickly answered or not.
func answers(ctx context.Context) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return fmt.Errorf("%w: %w", ErrNoNPM, err)
	}
	out, err := npm(ctx, askTimeout, "view", "--fetch-retries=0", "@anthropic-ai/claude-code@"+Version, "version")
	if err != nil || strings.TrimSpace(out) != Version {
		return fmt.Errorf("%w: it says %q: %v", ErrNoNPM, strings.TrimSpace(out), err)
	}
	return nil
}

func npm(ctx context.Context, most time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "npm", args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("npm %s: %w: %s", args[0], err, reason(stderr.String()))
	}
	return stdout.String(), nil
}

// reason is what npm says of a failure before it goes into detail.
func reason(said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "npm error "); ok && len(lines) < 4 {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "; ")
}

// Package npm installs the agents for the tests, each at its pinned
// version, into the user's cache folder.
package npm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// ErrNone: npm is missing or its registry doesn't answer. The tests can't run here, which isn't a fault of Berth.
var ErrNone = errors.New("npm does not give it")

// Package is a program that npm installs.
type Package struct {
	Name    string // as npm has it: @scope/name
	Version string
	// Pin holds package.json and package-lock.json, with the checksums of all that
	// npm may install, in Folder; empty: in pin. They count for the version that they name.
	// Another version is installed as npm gives it.
	Pin    fs.FS
	Folder string
	// Program finds the program below the folder that it is installed in.
	Program func(dir string) (string, error)
}

// Version is the version of an agent under test: the pinned one, or the one that AGENT_VERSION names.
func Version(pinned string) string { return cmp.Or(os.Getenv("AGENT_VERSION"), pinned) }

// Newest asks npm for the newest version of the package.
func (p Package) Newest(ctx context.Context) (string, error) {
	out, err := run(ctx, askTimeout, "view", "--fetch-retries=0", p.Name, "version")
	if err != nil {
		return "", fmt.Errorf("%s: %w: %w", p.Name, ErrNone, err)
	}
	return strings.TrimSpace(out), nil
}

// Time limits of npm: for a query, and for up to 100 MB of download.
const (
	askTimeout     = 30 * time.Second
	installTimeout = 5 * time.Minute
)

// Install returns the path of the program, and installs it if it is missing. Several processes may call it at once. No script of a package is run.
func (p Package) Install(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	cache = filepath.Join(cache, "berth-test-agents")
	dir := filepath.Join(cache, path.Base(p.Name)+"-"+p.Version)
	if exe, err := p.Program(dir); err == nil {
		return exe, nil
	}
	if err := p.answers(ctx); err != nil {
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
	words, err := p.install(aside)
	if err != nil {
		return "", err
	}
	if _, err := run(ctx, installTimeout, append(words, "--prefix", aside, "--ignore-scripts", "--no-audit", "--no-fund")...); err != nil {
		return "", fmt.Errorf("install %s: %w", p.Name, err)
	}
	if _, err := p.Program(aside); err != nil {
		return "", err
	}
	// If another process was first, the folder exists and is used.
	if err := os.Rename(aside, dir); err != nil && !errors.Is(err, os.ErrExist) && !strings.Contains(err.Error(), "not empty") {
		return "", fmt.Errorf("keep the installed %s: %w", p.Name, err)
	}
	return p.Program(dir)
}

// install prepares the folder and returns npm's words for it.
func (p Package) install(dir string) ([]string, error) {
	pinned, err := p.Pinned()
	if err != nil {
		return nil, err
	}
	if !pinned {
		return []string{"install", "--no-save", p.Name + "@" + p.Version}, nil
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := fs.ReadFile(p.Pin, p.pin(name))
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return nil, err
		}
	}
	return []string{"ci"}, nil
}

func (p Package) pin(name string) string { return path.Join(cmp.Or(p.Folder, "pin"), name) }

// Pinned says whether the checksums are those of this version.
func (p Package) Pinned() (bool, error) {
	data, err := fs.ReadFile(p.Pin, p.pin("package.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var file struct{ Dependencies map[string]string }
	if err := json.Unmarshal(data, &file); err != nil {
		return false, fmt.Errorf("%s: %w", p.pin("package.json"), err)
	}
	return file.Dependencies[p.Name] == p.Version, nil
}

// answers checks that npm can reach its registry, by a quick query for the version.
func (p Package) answers(ctx context.Context) error {
	what := p.Name + "@" + p.Version
	if _, err := exec.LookPath("npm"); err != nil {
		return fmt.Errorf("%s: %w: %w", what, ErrNone, err)
	}
	out, err := run(ctx, askTimeout, "view", "--fetch-retries=0", what, "version")
	if err != nil || strings.TrimSpace(out) != p.Version {
		return fmt.Errorf("%s: %w: it says %q: %v", what, ErrNone, strings.TrimSpace(out), err)
	}
	return nil
}

func run(ctx context.Context, most time.Duration, args ...string) (string, error) {
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

// reason is the first lines of npm's error report.
func reason(said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "npm error "); ok && len(lines) < 4 {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "; ")
}

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The binaries under test, and the program their sessions run.
var (
	checked string // berth, with the race detector if the tests have it
	fast    string // berth as released
	program string
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "faults")
		if err != nil {
			fmt.Fprintln(os.Stderr, "faults:", err)
			return 1
		}
		defer os.RemoveAll(dir)
		if err := buildAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, "faults:", err)
			return 1
		}
		return m.Run()
	}())
}

func buildAll(dir string) error {
	fast, program = filepath.Join(dir, "berth"), filepath.Join(dir, "program")
	checked = fast
	if err := build(fast, "berth/cmd/berth"); err != nil {
		return err
	}
	if err := build(filepath.Join(dir, "berth-hold"), "berth/cmd/berth-hold"); err != nil {
		return err
	}
	if raced {
		checked = filepath.Join(dir, "berth-race")
		if err := build(checked, "berth/cmd/berth", "-race"); err != nil {
			return err
		}
	}
	return build(program, "berth/test/faults/program")
}

func build(to, what string, flags ...string) error {
	cmd := exec.Command("go", append(append([]string{"build", "-o", to}, flags...), what)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", what, err, out)
	}
	return nil
}

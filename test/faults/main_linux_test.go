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
	if err := build(dir+"/", "berth/cmd/berth", "berth/cmd/berth-hold"); err != nil {
		return err
	}
	if raced {
		checked = filepath.Join(dir, "berth-race")
		if err := run(exec.Command("go", "build", "-race", "-o", checked, "berth/cmd/berth")); err != nil {
			return err
		}
	}
	return build(program, "berth/test/faults/program")
}

// build builds as the Makefile does, so that what make has compiled isn't compiled again.
func build(to string, what ...string) error {
	cmd := exec.Command("go", append([]string{"build", "-trimpath", "-buildvcs=false", "-o", to}, what...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return run(cmd)
}

func run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%q: %w\n%s", cmd.Args, err, out)
	}
	return nil
}

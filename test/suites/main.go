// Command suites runs Berth against programs of other projects, and prints a table of what they say.
// With -update it writes the table into docs/conformance.md. What isn't installed is in the table as
// such. It starts servers of its own in a temporary folder, on loopback, and ends them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// wholeTime limits a run.
const wholeTime = 20 * time.Minute

// outcome is what a suite found.
type outcome struct {
	figure string // what was counted
	failed bool
	absent bool // what it needs isn't installed
}

// suite is one program, or several of one kind.
type suite struct {
	name string
	of   string // the version, by a command
	run  func(context.Context, *bench) outcome
}

// bench is what suites work with.
type bench struct {
	berth string // the binary
	dir   string // a temporary folder
}

func main() {
	berth := flag.String("berth", "bin/berth", "the binary to test")
	update := flag.Bool("update", false, "write the table into docs/conformance.md")
	only := flag.String("only", "", "run only the suite of this name")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, wholeTime)
	defer cancel()
	failed, err := run(ctx, *berth, *only, *update)
	if err != nil {
		fmt.Fprintln(os.Stderr, "suites:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

func run(ctx context.Context, berth, only string, update bool) (failed bool, err error) {
	dir, err := os.MkdirTemp("/tmp", "bs")
	if err != nil {
		return false, fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	b := &bench{berth: berth, dir: dir}
	rows := "| suite | version | result |\n| --- | --- | --- |\n"
	for _, s := range suites {
		if only != "" && only != s.name {
			continue
		}
		o := s.run(ctx, b)
		if o.absent {
			o.figure = "not installed"
		}
		if o.failed {
			o.figure, failed = "**failed**: "+o.figure, true
		}
		row := fmt.Sprintf("| %s | %s | %s |\n", s.name, versionOf(ctx, s.of), o.figure)
		fmt.Print(row)
		rows += row
	}
	if !update || only != "" {
		return failed, nil
	}
	return failed, writeTable("docs/conformance.md", rows)
}

// Marks of the table in the page.
const (
	begin = "<!-- table: make suites writes it -->\n"
	end   = "<!-- end of the table -->\n"
)

func writeTable(file, rows string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no marks of the table", file)
	}
	if err := os.WriteFile(file, []byte(before+begin+"\n"+rows+"\n"+end+after), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

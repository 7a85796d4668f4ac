// Command bench measures Berth side by side with OpenSSH's server and tmux on
// the same machine and prints ratios. It starts servers of its own in a
// temporary folder, on loopback, and ends them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// wholeTime limits a run.
const wholeTime = 290 * time.Second

func main() {
	if len(os.Args) > 2 && os.Args[1] == "program" {
		os.Exit(program(os.Args[2:]))
	}
	berth := flag.String("berth", "bin/berth", "the binary to measure")
	only := flag.String("only", "", "measure only the rows whose name matches this regular expression")
	rounds := flag.Float64("rounds", 1, "how many times the usual number of rounds")
	list := flag.Bool("list", false, "print the names of the rows and exit")
	flag.Parse()
	if *list {
		for _, r := range rows {
			fmt.Println(r.name)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, *berth, *only, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// rows are the rows in the order of the table.
var rows = []struct {
	name string
	run  func(*bench) ([]result, error)
}{
	{"command", commandRow},
	{"mux", muxRow},
	{"verbs", verbsRow},
	{"picture", pictureRow},
	{"echo", echoRow},
	{"log", logRow},
	{"emulator", emulatorRow},
	{"hook", hookRow},
	{"idle", idleRow},
	{"crowd", crowdRow},
	{"wall", wallRow},
	{"holder", holderRow},
}

func run(ctx context.Context, berth, only string, rounds float64) (err error) {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, wholeTime, fmt.Errorf("the run took longer than %s", wholeTime))
	defer cancel()
	b, err := newBench(ctx, berth, rounds)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	fmt.Printf("%s, %d cores, %s; load before: %s\n\n", runtime.Version(), runtime.NumCPU(), versions(ctx), load())
	fmt.Println(tableHead)
	var failed []error
	for _, r := range rows {
		if !pattern.MatchString(r.name) {
			continue
		}
		results, err := r.run(b)
		for _, res := range results {
			fmt.Println(res)
		}
		if ctx.Err() != nil {
			return errors.Join(append(failed, context.Cause(ctx))...)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", r.name, err))
		}
	}
	fmt.Printf("\nload after: %s\n", load())
	return errors.Join(failed...)
}

func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(data))[:1], " ")
}

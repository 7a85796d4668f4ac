// Record runs the real Claude Code through a script against the lab's model API
// and writes what can be known of it, as fixtures for detection:
//
//	go run ./test/agents/record -out DIR -name 05_permission SCRIPT [-- claude's arguments]
//
// writes NAME.cast (asciicast v2, with input), NAME.hooks.jsonl ({"t","payload"}
// a line), NAME.log.jsonl (the session log), NAME.sessions-dir.json ([t, file,
// content] for each change of the live state files) and NAME.screen.txt (the
// screen whenever the script had seen what it waited for). Times are seconds
// since the program started. SCRIPT is a file, or - for standard input: see the
// commands in play.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"berth/test/agents/claude"
	"berth/test/agents/modelapi"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "hook" {
		os.Exit(hook(os.Args[2], os.Stdin)) // claude calls us for each of its hooks
	}
	out := flag.String("out", ".", "folder of the recording, which exists")
	name := flag.String("name", "recording", "name of the recording's files")
	size := flag.String("size", "120x40", "COLSxROWS")
	empty := flag.String("without", "", "what the home is not prepared for, of: onboarding,key,trust,bypass")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := record(ctx, *out, *name, *size, *empty, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func record(ctx context.Context, out, name, size, without string, args []string) (err error) {
	if len(args) == 0 {
		return errors.New("no script: give a file, or -")
	}
	script, err := readScript(args[0])
	if err != nil {
		return err
	}
	args = args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	var cols, rows int
	if _, err := fmt.Sscanf(size, "%dx%d", &cols, &rows); err != nil {
		return fmt.Errorf("%q isn't a valid size: %w", size, err)
	}
	seed, err := seedWithout(without)
	if err != nil {
		return err
	}
	exe, err := claude.Install(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "berth-record-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	home, err := claude.NewHome(dir, seed)
	if err != nil {
		return err
	}
	api, err := modelapi.Start(ctx)
	if err != nil {
		return err
	}
	defer api.Close()
	socket := filepath.Join(dir, "hooks.sock")
	settings, err := hookSettings(dir, socket)
	if err != nil {
		return err
	}
	r := &recording{prefix: filepath.Join(out, name), title: name, cols: cols, rows: rows}
	if err := r.open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	p, err := start(r, home, api.URL(), exe, append([]string{"--settings", settings}, args...))
	if err != nil {
		return err
	}
	stopHooks, err := r.listen(socket)
	if err != nil {
		return errors.Join(err, p.end())
	}
	stopWatch := r.watch(filepath.Join(home.Config, "sessions"))
	played := p.play(ctx, script)
	ended := p.end()
	stopWatch()
	stopHooks()
	return errors.Join(played, ended, r.copyLogs(filepath.Join(home.Config, "projects")))
}

func readScript(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}

// settle is how long the program is watched after its end, for hooks in flight.
const settle = 300 * time.Millisecond

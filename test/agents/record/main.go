// Record runs real agents through scripts against the lab's model API
// and writes what can be known of it, as fixtures for detection:
//
//	go run ./test/agents/record -out DIR SCRIPT..
//
// writes for each script and each of its sizes NAME.cast (asciicast v2, with input),
// NAME.hooks.jsonl ({"t","payload"} a line), NAME.log.jsonl (the session log),
// NAME.sessions-dir.json ([t, file, content] for each change of the live state files),
// NAME.states.jsonl (the truth, from the script's commands now) and NAME.screen.txt (the
// screen whenever the script had seen what it waited for). Of Codex and Gemini CLI it records the
// screen alone. NAME.shots.txtar has the screens that the script takes with shot. Times are seconds since the
// program started. See the commands in play.go; AGENT_VERSION names another version.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	if len(os.Args) >= 3 && os.Args[1] == "hook" {
		os.Exit(hook(os.Args[2], os.Args[3:], os.Stdin, os.Stdout)) // claude calls us for each of its hooks
	}
	out := flag.String("out", ".", "folder of the recordings, which exists")
	only := flag.String("size", "", "COLSxROWS: at this size alone")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := all(ctx, *out, *only, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

// all plays the scripts at their sizes. One that fails doesn't keep the others from being recorded.
func all(ctx context.Context, out, only string, files []string) error {
	if len(files) == 0 {
		return errors.New("no script is given")
	}
	var errs []error
	for _, file := range files {
		s, err := readScript(file)
		if err != nil {
			return err
		}
		for _, size := range s.sizes {
			if only != "" && only != size {
				continue
			}
			name := strings.TrimSuffix(filepath.Base(file), ".script") + "_" + size
			if err := record(ctx, out, name, size, s); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// script is what is played, and how the agent is started for it.
type script struct {
	agent   string // claude, codex or gemini
	sizes   []string
	without string // what the home is not prepared for; claude's, of: onboarding,key,trust,bypass,account; codex's: trust or login; gemini's: trust or auth
	allows  string // after how long claude's PermissionRequest hooks allow; empty: they say nothing
	form    bool   // claude has the MCP server whose tools ask
	args    []string
	play    []byte
}

// readScript reads a script. Its first lines say how the agent is started: "agent NAME",
// "sizes COLSxROWS..", "without WORDS", "allows DURATION", "form", "args WORDS". Without a name it is claude.
func readScript(file string) (s script, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	s.agent, s.play = "claude", data
	for line := range strings.Lines(string(data)) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "agent":
			s.agent = rest
		case "sizes":
			s.sizes = strings.Fields(rest)
		case "without":
			s.without = rest
		case "allows":
			s.allows = rest
		case "form":
			s.form = true
		case "args":
			s.args = strings.Fields(rest)
		}
	}
	if len(s.sizes) == 0 {
		return s, fmt.Errorf("%s: it names no sizes", file)
	}
	return s, nil
}

func record(ctx context.Context, out, name, size string, s script) (err error) {
	var cols, rows int
	if _, err := fmt.Sscanf(size, "%dx%d", &cols, &rows); err != nil {
		return fmt.Errorf("%q isn't a valid size: %w", size, err)
	}
	dir, err := os.MkdirTemp("", "berth-record-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	a, err := prepare(ctx, dir, s)
	if err != nil {
		return err
	}
	defer a.api.Close()
	r := &recording{prefix: filepath.Join(out, name), title: name, agent: s.agent, cols: cols, rows: rows}
	if err := r.open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	p, err := start(r, a, s.args)
	if err != nil {
		return err
	}
	stopHooks, err := r.listen(a.socket)
	if err != nil {
		return errors.Join(err, p.end())
	}
	stopWatch := r.watch(a.live)
	played := p.play(ctx, s.play)
	ended := p.end()
	stopWatch()
	stopHooks()
	return errors.Join(played, ended, r.copyLogs(a.logs))
}

// settle is how long the program is watched after its end, for hooks in flight.
const settle = 300 * time.Millisecond

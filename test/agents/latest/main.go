// Latest runs the tests of the real agents at the newest versions that npm gives, and
// reports what differs from the pinned ones: the tests that fail, each with the first
// thing that it missed. A newest version that fails is a report, so the status is 0.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"time"

	"berth/test/agents/claude"
	"berth/test/agents/codex"
	"berth/test/agents/copilot"
	"berth/test/agents/gemini"
	"berth/test/agents/npm"
	"berth/test/agents/opencode"
	"berth/test/agents/qwen"
)

// agents are the agents by the folders of their tests.
var agents = []struct {
	Name    string
	Package npm.Package
}{
	{"claude", claude.Package},
	{"codex", codex.Package},
	{"gemini", gemini.Package},
	{"opencode", opencode.Package},
	{"copilot", copilot.Package},
	{"qwen", qwen.Package},
}

func main() {
	one := flag.String("agent", "", "only this `agent`")
	tests := flag.String("run", "", "only the tests that match this `pattern`")
	parallel := flag.Int("parallel", 3, "tests of an agent at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed := false
	for _, a := range agents {
		if *one != "" && *one != a.Name {
			continue
		}
		version := os.Getenv("AGENT_VERSION")
		if version == "" {
			var err error
			if version, err = a.Package.Newest(ctx); err != nil {
				fmt.Println("SKIPPED:", err)
				continue
			}
		}
		r, err := run(ctx, a.Name, version, *tests, *parallel)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s %s: %v\n", a.Name, version, err)
			failed = true
			continue
		}
		fmt.Print(r.text(a.Name, version, a.Package.Version))
	}
	if failed {
		os.Exit(1)
	}
}

// event is a line of go test -json.
type event struct {
	Action, Test, Output string
	Elapsed              float64
}

// report is what became of the tests at the top and of their parts.
type report struct {
	passed, skipped int
	failed          []string
	missed          map[string]string // by test: the first line that it reported
	took            time.Duration
}

func run(ctx context.Context, agent, version, tests string, parallel int) (*report, error) {
	words := []string{"test", "-json", "-tags", "agents", "-count=1", "-timeout", "40m", "-parallel", fmt.Sprint(parallel)}
	if tests != "" {
		words = append(words, "-run", tests)
	}
	cmd := exec.CommandContext(ctx, "go", append(words, "./test/agents/"+agent)...)
	cmd.Env = append(os.Environ(), "AGENT_VERSION="+version)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run the tests: %w", err)
	}
	r, err := read(out)
	_ = cmd.Wait() // status 1: tests failed, which the report says
	r.took = time.Since(begun)
	if err == nil && r.passed+r.skipped+len(r.failed) == 0 {
		err = fmt.Errorf("no test ran")
	}
	return r, err
}

// where is the file and line that a failed test reports.
var where = regexp.MustCompile(`^\s*[a-z_0-9]+_test\.go:\d+: `)

// read makes the report. A test whose part failed is not listed beside it.
func read(in io.Reader) (*report, error) {
	r := &report{missed: map[string]string{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Test == "" {
			continue // what the build says, or the package's own end
		}
		switch e.Action {
		case "output":
			if _, has := r.missed[e.Test]; !has && where.MatchString(e.Output) {
				r.missed[e.Test] = strings.TrimSpace(where.ReplaceAllString(e.Output, ""))
			}
		case "pass":
			r.passed++
		case "skip":
			r.skipped++
		case "fail":
			part := func(name string) bool { return strings.HasPrefix(name, e.Test+"/") }
			if !slices.ContainsFunc(r.failed, part) {
				r.failed = append(r.failed, e.Test)
			}
		}
	}
	return r, lines.Err()
}

// text is the report for people, and for a page of docs.
func (r *report) text(agent, newest, pinned string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s (pinned: %s): %d passed, %d failed, %d skipped in %v\n",
		agent, newest, pinned, r.passed, len(r.failed), r.skipped, r.took.Round(time.Second))
	const width = 160 // of a line that a test reports
	for _, name := range r.failed {
		missed := []rune(r.missed[name])
		fmt.Fprintf(&b, "  %s: %s\n", name, string(missed[:min(len(missed), width)]))
	}
	return b.String()
}

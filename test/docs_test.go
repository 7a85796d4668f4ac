package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// notRun is the number of blocks of commands in the pages that no test can run. TestDocs lists them,
// each with its reason.
const notRun = 12

// noCommands are the pages whose commands other tests run, or that have lines that only look like commands.
var noCommands = map[string]string{
	"docs/install.md":       "the tests of the packages install them on a machine",
	"docs/fleet.md":         "TestFleet types them to a gateway and its hosts",
	"docs/architecture.md":  "drawings",
	"docs/verbs.md":         "the script examples types the verbs' examples",
	"docs/agents/adding.md": "they need a recording",
}

// TestDocs runs the commands of the README and of the pages in docs, each page as one new user with a
// server of their own, and compares what they print. A page has them like this:
//
//	```console
//	$ berth ls          # a command, run by sh in the folder that the one before it left
//	NAME  AGENT ...     # what it prints; "..." is any text, on a line of its own any lines
//	$ berth up          # without such lines, it only has to succeed
//	```
//
// Commands have a terminal, so berth answers in text. A command must end with status 0, unless the page
// shows the status: $ ...; echo $?. Comments before a block say what else the test does:
//
//	<!-- test: COMMANDS -->           run these, which the reader doesn't need
//	<!-- sees: REGEXP types: TEXT --> once the block's command shows that, type that, as in a Go string
//	<!-- file: PATH -->               the block is that file
//	<!-- not run: REASON -->          the block isn't run
func TestDocs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: the pages are for servers on Linux, and readers get addresses of their own in 127.0.0.0/8")
	}
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	ofAgents, err := filepath.Glob("../docs/agents/*.md")
	if err != nil {
		t.Fatal(err)
	}
	left := []string{}
	for _, page := range append(append(pages, ofAgents...), "../README.md") {
		name := strings.TrimPrefix(page, "../")
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		steps, stray := readPage(string(text))
		for _, line := range stray {
			if noCommands[name] == "" {
				t.Errorf("%s: %q is a command that no test runs: put it into a console block", name, line)
			}
		}
		if noCommands[name] != "" && len(stray) == 0 {
			t.Errorf("%s has no commands outside of console blocks: remove it from noCommands", name)
		}
		for _, s := range steps {
			if s.reason != "" {
				left = append(left, fmt.Sprintf("%s:%d: %s", name, s.line, s.reason))
			}
		}
		if slices.ContainsFunc(steps, func(s docStep) bool { return s.command != "" && !s.hidden }) {
			t.Run(strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), ".md"), func(t *testing.T) {
				t.Parallel()
				runPage(t, name, steps)
			})
		}
	}
	t.Logf("blocks that no test runs: %d\n%s", len(left), strings.Join(left, "\n"))
	if len(left) != notRun {
		t.Errorf("%d blocks aren't run, and notRun is %d", len(left), notRun)
	}
}

// docStep is a step of a page: a command, a file, or a block that isn't run.
type docStep struct {
	line    int
	command string
	hidden  bool // it is in a comment
	want    []string
	file    string // its name; want has its lines
	reason  string // why the block isn't run
	typed   []typedText
}

// typedText is what to type once the terminal shows something.
type typedText struct{ sees, types string }

var (
	hiddenCommands = regexp.MustCompile(`(?s)^<!-- test: (.*)-->$`)
	atTerminal     = regexp.MustCompile(`^<!-- sees: (.*) types: (.*) -->$`)
	ofFile         = regexp.MustCompile(`^<!-- file: (.*) -->$`)
	withReason     = regexp.MustCompile(`^<!-- not run: (.*) -->$`)
	mistaken       = regexp.MustCompile(`^<!-- ?(tests?|sees?|types?|files?|not run)\b`) // it was meant to be one of these
	looksRun       = regexp.MustCompile(`^\s*(\$ |(sudo |exec )?(ssh|scp|sftp|berth|make|git|sudo|systemctl|tar|apt-get|curl|echo|cat) \S)`)
)

// readPage reads a page's steps, and lines that look like commands and are in no block that is run.
func readPage(text string) (steps []docStep, stray []string) {
	lines := strings.Split(text, "\n")
	var next docStep // what comments say about the next block
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case strings.HasPrefix(line, "<!--"):
			comment, start := line, i+1
			for !strings.HasSuffix(comment, "-->") && i+1 < len(lines) {
				i++
				comment += "\n" + lines[i]
			}
			if m := hiddenCommands.FindStringSubmatch(comment); m != nil {
				steps = append(steps, docStep{line: start, command: strings.TrimSpace(m[1]), hidden: true})
			} else if m := atTerminal.FindStringSubmatch(comment); m != nil {
				next.typed = append(next.typed, typedText{m[1], m[2]})
			} else if m := ofFile.FindStringSubmatch(comment); m != nil {
				next.file = m[1]
			} else if m := withReason.FindStringSubmatch(comment); m != nil {
				next.reason = m[1]
			} else if mistaken.MatchString(comment) {
				stray = append(stray, comment)
			}
		case strings.HasPrefix(line, "```"):
			start := i + 1
			var body []string
			for i++; i < len(lines) && !strings.HasPrefix(lines[i], "```"); i++ {
				body = append(body, lines[i])
			}
			next.line = start
			switch {
			case next.reason != "":
				steps = append(steps, next)
			case next.file != "":
				next.want = body
				steps = append(steps, next)
			case line == "```console":
				steps = append(steps, readBlock(body, next)...)
			default:
				stray = append(stray, commandsAmong(body)...)
			}
			next = docStep{}
		case strings.HasPrefix(line, "    "):
			stray = append(stray, commandsAmong([]string{line})...)
		}
	}
	return steps, stray
}

func commandsAmong(lines []string) (found []string) {
	for _, l := range lines {
		if looksRun.MatchString(l) {
			found = append(found, strings.TrimSpace(l))
		}
	}
	return found
}

// readBlock splits a block into its commands and what they print. What is typed goes to the last one.
func readBlock(lines []string, block docStep) (steps []docStep) {
	for i, l := range lines {
		switch command, ok := strings.CutPrefix(l, "$ "); {
		case ok:
			steps = append(steps, docStep{line: block.line + 1 + i, command: command})
		case len(steps) == 0:
		case strings.HasPrefix(l, "> ") && len(steps[len(steps)-1].want) == 0:
			steps[len(steps)-1].command += "\n" + l[2:]
		default:
			steps[len(steps)-1].want = append(steps[len(steps)-1].want, l)
		}
	}
	if len(steps) > 0 {
		steps[len(steps)-1].typed = block.typed
	}
	return steps
}

// reader is who follows a page: a user with a home, a key and the agents on the PATH.
type reader struct {
	*stage
	home, listen string // listen is an address of the reader's own, so the port is that of the pages
}

// readers counts them.
var readers atomic.Int32

func newReader(t *testing.T) *reader {
	dir, err := os.MkdirTemp("/tmp", "be")
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	r := &reader{home: home, stage: &stage{t: t, dir: dir, state: filepath.Join(home, ".local/state/berth"), runtime: filepath.Join(dir, "run"), running: map[string]*client{}}}
	t.Cleanup(r.leave)
	pid := os.Getpid()
	r.listen = fmt.Sprintf("127.%d.%d.%d:2222", 1+pid>>8&0x7f, pid&0xff, readers.Add(1))
	for _, d := range []string{"bin", ".ssh", ".config/berth", "keys"} {
		if err := os.MkdirAll(filepath.Join(home, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	agent, err := filepath.Abs("testdata/docs/agent")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(home, "bin")
	links := map[string]string{"claude": agent, "codex": agent, "gemini": agent, "berth": berth, "berth-hold": filepath.Join(filepath.Dir(berth), "berth-hold")}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]string{
		".profile":                 "PATH=" + bin + ":$PATH\n",
		".config/berth/berth.yaml": "# so that no file of the machine counts\n",
		".ssh/config":              "",
		// A page's own settings come first.
		".ssh/all":   "Include " + home + "/.ssh/config\nHost *\n  BatchMode yes\n  StrictHostKeyChecking accept-new\n  LogLevel ERROR\n  GlobalKnownHostsFile /dev/null\n  IdentityAgent none\n  UserKnownHostsFile " + home + "/.ssh/known_hosts\n  IdentityFile " + home + "/.ssh/id_ed25519\n",
		".gitconfig": "[user]\n\tname = Alice\n\temail = alice@example.org\n[color]\n\tui = false\n",
	}
	for _, program := range []string{"ssh", "scp", "sftp"} { // they don't look at HOME
		path, err := exec.LookPath(program)
		if err != nil {
			t.Fatal(err)
		}
		options := " -F " + home + "/.ssh/all"
		if program != "ssh" {
			options += " -S " + bin + "/ssh"
		}
		files["bin/"+program] = "#!/bin/sh\nexec " + path + options + ` "$@"` + "\n"
	}
	files["bin/serve-host"] = `#!/bin/sh
# Starts a server that ssh reaches as agents@host.
berth up "$@" > /dev/null && sed '/^Host berth-tty/,$d; s/^Host .*/Host host/' ~/.local/state/berth/ssh_config >> ~/.ssh/config
`
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.call(t, `ssh-keygen -q -t ed25519 -N '' -C alice@laptop -f ~/.ssh/id_ed25519`)
	return r
}

// leave ends what the reader has started, and reports what is left running.
func (r *reader) leave() {
	for _, words := range []string{"kill all --grace 0s", "down"} {
		if out, err := r.command("berth " + words).CombinedOutput(); err != nil && r.sessionsLeft() {
			r.t.Logf("berth %s: %v\n%s", words, err, out)
		}
	}
	log, _ := os.ReadFile(filepath.Join(r.state, "server.log")) // a page may start no server
	if bytes.Contains(log, []byte("DATA RACE")) || bytes.Contains(log, []byte("panic")) || r.t.Failed() {
		r.t.Errorf("the server's log:\n%s", log[max(0, len(log)-4000):])
	}
	r.tearDown()
}

func (r *reader) command(line string) *exec.Cmd {
	// The folder is kept from one command to the next.
	cmd := exec.Command("sh", "-c", `cd "$(cat "$HOME/../cwd" 2> /dev/null)"; eval "$LINE"; s=$?; pwd > "$HOME/../cwd"; exit $s`)
	cmd.Dir = r.home
	cmd.Env = []string{
		"LINE=" + line, "HOME=" + r.home, "PATH=" + filepath.Join(r.home, "bin") + ":" + os.Getenv("PATH"), "SHELL=/bin/sh", "USER=alice", "LOGNAME=alice",
		"LANG=C.UTF-8", "TERM=xterm-256color", "NO_COLOR=1", "TMPDIR=" + r.dir, "XDG_STATE_HOME=" + filepath.Join(r.home, ".local/state"),
		"BERTH_RUNTIME_DIR=" + r.runtime, "BERTH_LISTEN=" + r.listen, "GORACE=atexit_sleep_ms=0",
	}
	return cmd
}

// call runs a command of the test's own, which must succeed.
func (r *reader) call(t *testing.T, line string) {
	t.Helper()
	if out, err := r.command("set -e\n" + line).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

func runPage(t *testing.T, page string, steps []docStep) {
	r := newReader(t)
	for _, s := range steps {
		at := page + ":" + strconv.Itoa(s.line)
		switch {
		case s.reason != "":
		case s.file != "":
			path := filepath.Join(r.home, strings.TrimPrefix(s.file, "~/"))
			text := strings.Join(s.want, "\n") + "\n"
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
				t.Fatalf("%s: %v", at, err)
			}
		case s.hidden:
			if out, err := r.atTerminal(s); err != nil {
				t.Fatalf("%s: %s: %v\n%s", at, s.command, err, out)
			}
		default:
			out, err := r.atTerminal(s)
			if err != nil {
				t.Fatalf("%s: $ %s: %v\n%s", at, s.command, err, out)
			}
			t.Logf("$ %s\n%s", s.command, out)
			if !shows(s.want).MatchString(out) {
				t.Fatalf("%s: $ %s\nprints\n%s\nand the page says\n%s", at, s.command, out, strings.Join(s.want, "\n"))
			}
		}
	}
}

// shows matches what a page says that a command prints.
func shows(want []string) *regexp.Regexp {
	for len(want) > 0 && want[len(want)-1] == "" {
		want = want[:len(want)-1]
	}
	if len(want) == 0 {
		return regexp.MustCompile("")
	}
	var b strings.Builder
	for i, l := range want {
		switch {
		case strings.TrimSpace(l) != "...":
		case i == len(want)-1: // what leaves a terminal's alternate screen may end without a line's end
			b.WriteString(`(?s:.*)`)
			continue
		default:
			b.WriteString(`(.*\n)*`)
			continue
		}
		parts := strings.Split(l, "...")
		for i := range parts {
			parts[i] = spaces.ReplaceAllString(regexp.QuoteMeta(parts[i]), " +")
		}
		b.WriteString(strings.Join(parts, ".*") + `\n`)
	}
	return regexp.MustCompile(`^` + b.String() + `$`)
}

// escapes are sequences that move the cursor and set colours.
var escapes = regexp.MustCompile(`\x1b\[[0-9;?<>=]*[ -/]*[@-~]`)

// spaces: columns are as wide as what is in them.
var spaces = regexp.MustCompile(` +`)

// atTerminal runs a command in a terminal of 100x30 and returns what it prints. It types what the step
// says.
func (r *reader) atTerminal(s docStep) (string, error) {
	line := s.command
	if s.hidden {
		line = "set -e\n" + line
	}
	cmd := r.command(line)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 100, Rows: 30})
	if err != nil {
		return "", err
	}
	defer tty.Close()
	shot := time.AfterFunc(patienceSeconds*time.Second, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer shot.Stop()
	var out []byte
	typed := s.typed
	seen := 0
	for buf := make([]byte, 64<<10); ; {
		n, err := tty.Read(buf)
		out = append(out, buf[:n]...)
		for len(typed) > 0 {
			shown := escapes.ReplaceAll(out, nil)
			at := regexp.MustCompile(typed[0].sees).FindIndex(shown[min(seen, len(shown)):])
			if at == nil {
				break
			}
			text, err := strconv.Unquote(`"` + typed[0].types + `"`)
			if err == nil {
				_, err = tty.WriteString(text)
			}
			if err != nil {
				return string(out), err
			}
			seen, typed = seen+at[1], typed[1:]
		}
		if err != nil { // the terminal has no more readers
			break
		}
	}
	err = cmd.Wait()
	if err == nil && len(typed) > 0 {
		err = fmt.Errorf("the terminal never showed %s", typed[0].sees)
	}
	text := strings.ReplaceAll(string(out), "\r\n", "\n")
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \r")
	}
	return strings.Join(lines, "\n"), err
}

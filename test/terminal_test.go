package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// tmux runs a command of the script's own tmux server. Its panes are the terminals of people.
func (s *stage) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-f", "/dev/null", "-S", filepath.Join(s.dir, "tmux")}, args...)...)
	cmd.Env = s.environ("PS1=prompt$ ", "TERM=xterm-256color")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// terminalCommand is what a person does and sees at a terminal:
//
//	terminal open NAME COLSxROWS   a shell in a terminal of that size
//	terminal bright NAME           its background is white
//	terminal keys NAME KEY...      press keys, named as for tmux send-keys
//	terminal packet NAME QUOTED    send a Go string's bytes at once, as a fast typist's terminal does
//	terminal run NAME WORDS...     a command line and Enter, when the shell is ready
//	terminal count NAME N          N keys were pressed at all terminals since they were last counted
//	terminal size NAME COLSxROWS   its window changes
//	terminal kill NAME             kill -9 of what it runs (exec makes that ssh)
//	terminal pipe NAME FILE        all that its programs print from now on goes into a file too
//	terminal clipboard NAME TEXT   wait until the clipboard of the terminals has that text; \n ends a line
//	terminal shows NAME REGEXP     wait until its screen or history matches; with ! until neither does
//	terminal golden NAME FILE      wait until its screen equals testdata/dashboard/FILE; with -e, colours too
//	terminal is NAME FORMAT VALUE  wait until a format of tmux, such as #{mouse_any_flag}, has that value
func terminalCommand(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if len(args) < 3 && (len(args) < 2 || args[0] != "bright" && args[0] != "kill") {
		ts.Fatalf("usage: terminal open|bright|keys|run|size|kill|pipe|clipboard|shows|golden|is NAME ...")
	}
	what, name, rest := args[0], args[1], args[2:]
	do := func(args ...string) {
		if out, err := s.tmux(args...); err != nil {
			ts.Fatalf("tmux %q: %v\n%s", args, err, out)
		}
	}
	switch what {
	case "open":
		cols, rows, _ := strings.Cut(rest[0], "x")
		do("new-session", "-d", "-s", name, "-x", cols, "-y", rows, "sh", ";", "set", "-g", "status", "off", ";", "set", "-s", "set-clipboard", "on")
	case "bright":
		do("set-option", "-w", "-t", name, "window-style", "fg=#000000,bg=#ffffff")
	case "keys":
		do(append([]string{"send-keys", "-t", name}, rest...)...)
		s.pressed += len(rest)
	case "packet":
		b, err := strconv.Unquote(`"` + rest[0] + `"`)
		ts.Check(err)
		s.send(ts, name, b)
	case "count":
		if n := strconv.Itoa(s.pressed); n != rest[0] {
			ts.Fatalf("%s keys were pressed, not %s", n, rest[0])
		}
		s.pressed = 0
	case "run":
		// The terminal drops what is typed while ssh restores its modes.
		poll(ts, func() (bool, string) {
			out, err := s.tmux("display-message", "-p", "-t", name, "#{pane_current_command}")
			return err == nil && strings.TrimSpace(out) == "sh", "it runs " + out
		})
		do("send-keys", "-t", name, strings.Join(rest, " "), "Enter")
	case "size":
		cols, rows, _ := strings.Cut(rest[0], "x")
		do("resize-window", "-t", name, "-x", cols, "-y", rows)
	case "kill":
		out, err := s.tmux("display-message", "-p", "-t", name, "#{pane_pid}")
		ts.Check(err)
		pid, err := strconv.Atoi(strings.TrimSpace(out))
		ts.Check(err)
		ts.Check(syscall.Kill(pid, syscall.SIGKILL))
	case "pipe":
		do("pipe-pane", "-O", "-t", name, "exec cat >> "+rest[0])
	case "clipboard":
		want := strings.ReplaceAll(rest[0], `\n`, "\n")
		poll(ts, func() (bool, string) {
			out, err := s.tmux("show-buffer")
			return err == nil && (out == want) != neg, fmt.Sprintf("it has %q", out)
		})
	case "shows":
		s.terminalShows(ts, neg, name, rest[0])
	case "golden":
		s.terminalGolden(ts, name, rest)
	case "is":
		poll(ts, func() (bool, string) {
			out, err := s.tmux("display-message", "-p", "-t", name, rest[0])
			return err == nil && (strings.TrimSuffix(out, "\n") == rest[1]) != neg, fmt.Sprintf("%s is %s", rest[0], out)
		})
	default:
		ts.Fatalf("terminal does not know %s", what)
	}
}

// send has a terminal send bytes at once.
func (s *stage) send(ts *testscript.TestScript, name, text string) {
	words := []string{"send-keys", "-t", name, "-H"}
	for _, b := range []byte(text) {
		words = append(words, fmt.Sprintf("%02x", b))
	}
	if out, err := s.tmux(words...); err != nil {
		ts.Fatalf("tmux: %v\n%s", err, out)
	}
}

func (s *stage) terminalShows(ts *testscript.TestScript, neg bool, name, pattern string) {
	re := regexp.MustCompile("(?m)" + pattern)
	look := func() (bool, string) {
		out, err := s.tmux("capture-pane", "-p", "-t", name, "-S", "-1000")
		return err == nil && re.MatchString(out), strings.TrimRight(out, "\n")
	}
	poll(ts, func() (bool, string) {
		found, shown := look()
		return found != neg, shown
	})
}

// update writes golden screens anew: BERTH_UPDATE=1 go test -run TestScripts/dashboard ./test
var update = os.Getenv("BERTH_UPDATE") != ""

// terminalGolden compares a screen with one that a person has checked. Ages depend on the clock, so they
// are all "now". ESC is written ^[.
func (s *stage) terminalGolden(ts *testscript.TestScript, name string, args []string) {
	capture := []string{"capture-pane", "-p", "-t", name}
	if args[0] == "-e" {
		capture, args = append(capture, "-e"), args[1:]
	}
	file := filepath.Join(goldens, args[0])
	look := func() string {
		out, err := s.tmux(capture...)
		ts.Check(err)
		lines := strings.Split(ages.ReplaceAllString(strings.ReplaceAll(out, "\x1b", "^["), "${1}${2}${3}now"), "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " ")
		}
		return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
	}
	if update {
		shown := ""
		poll(ts, func() (bool, string) { // until the dashboard is drawn and unchanged
			before := shown
			time.Sleep(300 * time.Millisecond)
			shown = look()
			return shown == before && strings.Contains(shown, "berth"), shown
		})
		ts.Check(os.WriteFile(file, []byte(shown), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	ts.Check(err)
	poll(ts, func() (bool, string) {
		shown := look()
		return shown == string(want), fmt.Sprintf("it shows\n%s\nand %s has\n%s", shown, args[0], want)
	})
}

// ages matches the ages in lists, with the blank that fills them to three columns. They come after a blank or
// after a sequence that sets a colour.
var ages = regexp.MustCompile(`(?:(\s) \d| ((?:\^\[\[[\d;]*m)+)\d|(\s|\^\[\[[\d;]*m)\d\d)[sm]\b`)

// goldens is the folder of the screens, wherever scripts run.
var goldens = func() string {
	dir, err := filepath.Abs(filepath.Join("testdata", "dashboard"))
	if err != nil {
		panic(err)
	}
	return dir
}()

// closeTerminals ends the script's tmux server if it has one.
func (s *stage) closeTerminals() {
	if _, err := os.Stat(filepath.Join(s.dir, "tmux")); err == nil {
		if out, err := s.tmux("kill-server"); err != nil && !strings.Contains(out, "no server running") {
			s.t.Logf("close the terminals: %v\n%s", err, out)
		}
	}
}

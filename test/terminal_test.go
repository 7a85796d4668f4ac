package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// tmux runs a command of the script's own tmux server, whose panes are the
// terminals that people sit at.
func (s *stage) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-f", "/dev/null", "-S", filepath.Join(s.dir, "tmux")}, args...)...)
	cmd.Env = s.environ("PS1=prompt$ ", "TERM=xterm-256color")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// terminalCommand is what happens at a terminal:
//
//	terminal open NAME COLSxROWS   a shell in a terminal of that size
//	terminal keys NAME KEY...      as tmux send-keys takes them
//	terminal run NAME WORDS...     a command line and Enter
//	terminal size NAME COLSxROWS   its window changes
//	terminal shows NAME REGEXP     wait until it does, history included; ! until it does not
//	terminal is NAME FORMAT VALUE  wait until a format of tmux, such as #{mouse_any_flag}, has that value
func terminalCommand(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if len(args) < 3 {
		ts.Fatalf("usage: terminal open|keys|run|size|shows|is NAME ...")
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
		do("new-session", "-d", "-s", name, "-x", cols, "-y", rows, "sh", ";", "set", "-g", "status", "off")
	case "keys":
		do(append([]string{"send-keys", "-t", name}, rest...)...)
	case "run":
		do("send-keys", "-t", name, strings.Join(rest, " "), "Enter")
	case "size":
		cols, rows, _ := strings.Cut(rest[0], "x")
		do("resize-window", "-t", name, "-x", cols, "-y", rows)
	case "shows":
		s.terminalShows(ts, neg, name, rest[0])
	case "is":
		poll(ts, func() (bool, string) {
			out, err := s.tmux("display-message", "-p", "-t", name, rest[0])
			return err == nil && strings.TrimSuffix(out, "\n") == rest[1], fmt.Sprintf("%s is %s", rest[0], out)
		})
	default:
		ts.Fatalf("terminal does not know %s", what)
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

// closeTerminals ends the script's tmux server if it has one.
func (s *stage) closeTerminals() {
	if _, err := os.Stat(filepath.Join(s.dir, "tmux")); err == nil {
		if out, err := s.tmux("kill-server"); err != nil && !strings.Contains(out, "no server running") {
			s.t.Logf("close the terminals: %v\n%s", err, out)
		}
	}
}

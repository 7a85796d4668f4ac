package terminal

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tmuxServer is a tmux with a socket of its own: a terminal that others wrote.
type tmuxServer struct {
	t      *testing.T
	folder string
	panes  int
}

func newTmux(t *testing.T) *tmuxServer {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("SKIPPED: needs tmux, as a client that others wrote")
	}
	s := &tmuxServer{t: t, folder: t.TempDir()}
	s.file("conf", []byte("set -g status off\nset -g history-limit 1000\nset -g exit-empty off\n"))
	s.run("start-server")
	t.Cleanup(func() { s.run("kill-server") })
	return s
}

func (s *tmuxServer) file(name string, content []byte) string {
	path := filepath.Join(s.folder, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *tmuxServer) run(args ...string) string {
	command := exec.Command("tmux", append([]string{"-u", "-S", filepath.Join(s.folder, "socket"), "-f", filepath.Join(s.folder, "conf")}, args...)...)
	command.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TMUX=")
	out, err := command.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// show begins a pane that is written content, and gives its name.
func (s *tmuxServer) show(cols, rows int, content []byte) string {
	s.panes++
	name := fmt.Sprintf("p%d", s.panes)
	path := s.file(name, content)
	s.run("new-session", "-d", "-s", name, "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows),
		"stty raw -echo && cat '"+path+"' && exec sleep 60")
	return name
}

// sees says how a pane differs from want once it has had time to be like it.
// Below the screen is what tmux says for format.
func (s *tmuxServer) sees(name, format string, want []string) string {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(30 * time.Second); ; <-ticker.C {
		got := strings.Split(s.run("capture-pane", "-p", "-t", name, ";", "display-message", "-p", "-t", name, format), "\n")
		diff := ""
		for y, line := range want {
			if y >= len(got) || strings.TrimRight(got[y], " ") != line {
				diff = fmt.Sprintf("row %d of %q, want %q", y, got, line)
				break
			}
		}
		if diff == "" || time.Now().After(deadline) {
			return diff
		}
	}
}

// simple says whether terminals agree about the widths in s.
func simple(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return isPictograph(r) && !(r >= 0x2500 && r < 0x2600) || r == emojiSelector || isRegional(r)
	})
}

// TestTmuxShowsRepaintsAndStreams gives recordings of full-screen programs to a
// client that is not of our making: half as a repaint over a used screen, half
// as the stream from there on.
func TestTmuxShowsRepaintsAndStreams(t *testing.T) {
	server := newTmux(t)
	type pane struct {
		name, stream string
		want         []string
	}
	var panes []pane
	for _, s := range append(corpus(t, "tui"), corpus(t, "esc")...) {
		term := s.terminal()
		if len(s.Resize) > 0 || strings.HasPrefix(s.Name, "w-cjk-") { // of a wide cell cut in two, tmux keeps the half
			continue
		}
		term.SetPass(true)
		half := len(s.Bytes) / 2
		term.Write(s.Bytes[:half])
		term.TakePass()
		out := append([]byte("\x1b[?1049h\x1b[3;5rsomething\x1b[?6h\x1b[41m\x1b7"), term.Repaint(RepaintOptions{})...)
		term.Write(s.Bytes[half:])
		out = append(out, term.TakePass()...)
		screen := term.Snapshot(0)
		if !simple(strings.Join(screen.Text(), "")) {
			continue
		}
		place := fmt.Sprintf("%d,%d", term.scr.y, term.scr.x)
		if !term.modes.wrap {
			place = fmt.Sprintf("%d,%d", term.scr.y, screen.Cursor.Col)
		}
		panes = append(panes, pane{server.show(term.cols, term.rows, out), s.Name, append(screen.Text(), place)})
	}
	for _, p := range panes {
		if diff := server.sees(p.name, "#{cursor_y},#{cursor_x}", p.want); diff != "" {
			t.Errorf("%s: %s", p.stream, diff)
		}
	}
	t.Logf("%d streams", len(panes))
}

// TestRepaintLeavesScrollbackAlone: what the user had above the screen, and no
// more, is there after repaints of either screen.
func TestRepaintLeavesScrollbackAlone(t *testing.T) {
	server := newTmux(t)
	term := New(Options{Cols: 40, Rows: 10, Scrollback: 10})
	term.Write([]byte("one\r\ntwo\r\nthree"))
	out := []byte(strings.Repeat("the user's own\r\n", 30))
	out = append(out, term.Repaint(RepaintOptions{})...)
	term.Write([]byte("\x1b[?1049hfull"))
	out = append(out, term.Repaint(RepaintOptions{})...)
	term.Write([]byte("\x1b[?1049l"))
	out = append(out, term.Repaint(RepaintOptions{})...)
	want := append(term.Snapshot(0).Text(), "21 lines above")
	if diff := server.sees(server.show(40, 10, out), "#{history_size} lines above", want); diff != "" {
		t.Error(diff)
	}
}

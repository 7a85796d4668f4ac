package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// menus are the parts of vttest that need no eyes and no keyboard: each shows screens, one after the
// other, and goes on at Enter.
var menus = []struct{ choice, of string }{
	{"1", "cursor movements"},
	{"2", "screen features"},
	{"8", "VT102 features"},
}

// known are the screens that differ on purpose, by menu and number, with the reason.
var known = map[string]string{
	"cursor movements 3": "Berth has no 132 columns and ignores DECCOLM, as xterm does by default; tmux clears the screen",
	"cursor movements 4": "as 3",
	"screen features 11": "the line that should be at the bottom is there; tmux has it at the top",
	"screen features 15": "tmux's text has the letters that line drawing is made of",
}

// side is a terminal that runs vttest.
type side interface {
	send(ctx context.Context, keys string) error // Enter is \r
	screen(ctx context.Context) (string, error)
}

// vttest runs vttest in Berth and in tmux, and compares the screens as text.
func vttest(ctx context.Context, b *bench) outcome {
	for _, program := range []string{"vttest", "tmux"} {
		if _, err := exec.LookPath(program); err != nil {
			return outcome{absent: true}
		}
	}
	compared, differ, err := runVttest(ctx, b)
	switch {
	case err != nil:
		return outcome{failed: true, figure: err.Error()}
	case len(differ) > 0:
		return outcome{failed: true, figure: fmt.Sprintf("%d of %d screens differ from tmux's: %s", len(differ), compared, strings.Join(differ, ", "))}
	}
	return outcome{figure: fmt.Sprintf("%d screens as in tmux, %d others for a known reason", compared-len(known), len(known))}
}

func runVttest(ctx context.Context, b *bench) (compared int, differ []string, err error) {
	host, err := startHost(ctx, b)
	if err != nil {
		return 0, nil, err
	}
	defer host.stop()
	mux := &muxSide{socket: filepath.Join(b.dir, "tmux")}
	defer mux.stop()
	for _, m := range menus {
		if err := host.start(ctx); err != nil {
			return 0, nil, err
		}
		if err := mux.start(ctx); err != nil {
			return 0, nil, err
		}
		mine, err := screens(ctx, host, m.choice)
		if err != nil {
			return 0, nil, fmt.Errorf("berth: %w", err)
		}
		theirs, err := screens(ctx, mux, m.choice)
		if err != nil {
			return 0, nil, fmt.Errorf("tmux: %w", err)
		}
		if len(mine) != len(theirs) {
			return 0, nil, fmt.Errorf("%s: %d screens, and %d in tmux", m.of, len(mine), len(theirs))
		}
		for i := range mine {
			name := fmt.Sprintf("%s %d", m.of, i+1)
			if compared++; mine[i] != theirs[i] && known[name] == "" {
				differ = append(differ, name)
				fmt.Fprintf(os.Stderr, "%s\n--- berth\n%s\n--- tmux\n%s\n", name, mine[i], theirs[i])
			}
		}
	}
	return compared, differ, nil
}

// mostScreens bounds a menu.
const mostScreens = 60

// screens goes through one menu and returns each screen that waits for Enter.
func screens(ctx context.Context, s side, choice string) (list []string, err error) {
	if _, err := settled(ctx, s, ""); err != nil {
		return nil, err
	}
	last, err := s.screen(ctx)
	if err != nil {
		return nil, err
	}
	keys := choice + "\r"
	for len(list) < mostScreens {
		if err := s.send(ctx, keys); err != nil {
			return nil, err
		}
		if last, err = settled(ctx, s, last); err != nil {
			return nil, err
		}
		if len(list) > 0 && strings.Contains(last, "Enter choice number (0 - 12):") {
			return list, nil
		}
		list = append(list, last)
		keys = "\r"
	}
	return nil, fmt.Errorf("the menu %s has more than %d screens", choice, mostScreens)
}

// columns says that the terminal stays at 80 columns, as both do.
const columns = "24x80.80"

const (
	look    = 50 * time.Millisecond
	steady  = 8  // equal looks in a row: vttest draws without a pause but for its own of a fraction of a second
	still   = 30 // likewise, of a screen with the text of the one before, such as that in reverse video
	mostFor = 30 * time.Second
)

// settled waits until the screen no longer changes: vttest says nothing else when it waits for a key.
func settled(ctx context.Context, s side, was string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, mostFor)
	defer cancel()
	last, same := "", 0
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		now, err := s.screen(ctx)
		if err != nil {
			return "", err
		}
		if now == last && strings.TrimSpace(now) != "" {
			same++
		} else {
			last, same = now, 0
		}
		if now != was && same >= steady || same >= still {
			return now, nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("wait for the next screen after\n%s: %w", was, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// trimmed is a screen without blanks at the ends of its lines and of itself.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \r")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// muxSide is a tmux server of its own.
type muxSide struct {
	socket string
	starts int // each has a server of its own: the one before may still be ending
}

func (m *muxSide) tmux(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "tmux", append([]string{"-S", fmt.Sprint(m.socket, m.starts), "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return string(out), nil
}

func (m *muxSide) start(ctx context.Context) error {
	m.stop()
	m.starts++
	_, err := m.tmux(ctx, "new-session", "-d", "-x", "80", "-y", "24", "-s", "v", "vttest", columns, ";", "set", "status", "off", ";", "resize-window", "-x", "80", "-y", "24")
	return err
}

func (m *muxSide) stop() { _, _ = m.tmux(context.Background(), "kill-server") } // none may run

func (m *muxSide) send(ctx context.Context, keys string) error {
	for _, k := range keys {
		name := string(k)
		if k == '\r' {
			name = "Enter"
		}
		if _, err := m.tmux(ctx, "send-keys", "-t", "v", name); err != nil {
			return err
		}
	}
	return nil
}

func (m *muxSide) screen(ctx context.Context) (string, error) {
	out, err := m.tmux(ctx, "capture-pane", "-p", "-t", "v")
	return trimmed(out), err
}

// hostSide is a Berth server of its own.
type hostSide struct {
	berth  string
	env    []string
	server *exec.Cmd
}

// startHost starts the server and waits until it answers.
func startHost(ctx context.Context, b *bench) (*hostSide, error) {
	key := filepath.Join(b.dir, "key")
	if out, err := exec.CommandContext(ctx, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a key: %w: %s", err, out)
	}
	berth, err := filepath.Abs(b.berth)
	if err != nil {
		return nil, err
	}
	h := &hostSide{berth: berth, env: append(os.Environ(), "BERTH_STATE_DIR="+filepath.Join(b.dir, "state"), "BERTH_RUNTIME_DIR="+filepath.Join(b.dir, "run"))}
	h.server = exec.Command(berth, "serve", "--listen", "127.0.0.1:0", "--authorize", key+".pub")
	h.server.Env, h.server.Stderr = h.env, os.Stderr
	if err := h.server.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	for {
		if _, err := h.call(ctx, "ls"); err == nil {
			return h, nil
		}
		select {
		case <-ctx.Done():
			h.stop()
			return nil, fmt.Errorf("wait for the server: %w", context.Cause(ctx))
		case <-time.After(look):
		}
	}
}

func (h *hostSide) call(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, h.berth, args...)
	cmd.Env = h.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("berth %s: %w: %s", args[0], err, out)
	}
	return string(out), nil
}

func (h *hostSide) start(ctx context.Context) error {
	_, _ = h.call(ctx, "rm", "v", "--force") // none may be there
	_, err := h.call(ctx, "new", "v", "--size", "80x24", "--", "vttest", columns)
	return err
}

func (h *hostSide) stop() {
	_, _ = h.call(context.Background(), "rm", "v", "--force")
	_ = h.server.Process.Signal(os.Interrupt)
	_ = h.server.Wait()
}

func (h *hostSide) send(ctx context.Context, keys string) error {
	text, enter := strings.CutSuffix(keys, "\r")
	args := []string{"input", "v"}
	if enter {
		args = append(args, "--enter")
	}
	if text == "" {
		args = []string{"keys", "v", "Enter"}
	} else {
		args = append(args, text)
	}
	_, err := h.call(ctx, args...)
	return err
}

func (h *hostSide) screen(ctx context.Context) (string, error) {
	out, err := h.call(ctx, "screen", "v", "--text")
	return trimmed(out), err
}

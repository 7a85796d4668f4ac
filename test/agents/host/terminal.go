package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"

	"berth/terminal"
)

// Terminal is a person's terminal that runs ssh: it has a screen, answers queries, and takes keys. Only one goroutine
// may use it.
type Terminal struct {
	pty   *os.File
	cmd   *exec.Cmd
	fresh chan struct{} // holds one signal: the screen may have changed
	ended chan struct{}

	mu    sync.Mutex
	shown *terminal.Terminal
}

// Window is the size and the background of a person's terminal.
type Window struct {
	Cols, Rows int
	Light      bool // a light background
}

// Sit starts ssh with words in a terminal; without words that is the dashboard.
func (h *Host) Sit(w Window, words ...string) (*Terminal, error) {
	// The command has no context: Close ends it, as closing a window would.
	cmd := exec.Command("ssh", append([]string{"-F", filepath.Join(h.dir, "ssh_config"), apart, "-t", "berth"}, words...)...)
	cmd.Env, cmd.Dir = h.environ(), h.dir
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(w.Cols), Rows: uint16(w.Rows)})
	if err != nil {
		return nil, fmt.Errorf("start ssh in a terminal: %w", err)
	}
	t := &Terminal{pty: f, cmd: cmd, fresh: make(chan struct{}, 1), ended: make(chan struct{})}
	o := terminal.Options{Cols: w.Cols, Rows: w.Rows, Handlers: terminal.Handlers{
		Reply: func(reply []byte, _ int64) { _, _ = f.Write(reply) }, // fails only if ssh has ended
	}}
	if w.Light {
		o.Foreground, o.Background = terminal.RGB(0, 0, 0), terminal.RGB(255, 255, 255)
	}
	t.shown = terminal.New(o)
	go func() {
		defer close(t.ended)
		var buf [16 << 10]byte
		for {
			n, err := f.Read(buf[:])
			t.mu.Lock()
			_, _ = t.shown.Write(buf[:n]) // never fails
			t.mu.Unlock()
			select {
			case t.fresh <- struct{}{}:
			default:
			}
			if err != nil { // ssh has ended
				_ = cmd.Wait()
				return
			}
		}
	}()
	return t, nil
}

// Picture is the current screen.
func (t *Terminal) Picture() *terminal.Snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown.Snapshot(0)
}

// Screen is the text of the current screen.
func (t *Terminal) Screen() string { return strings.Join(t.Picture().Text(), "\n") }

// See waits until a pattern matches a line of the screen.
func (t *Terminal) See(ctx context.Context, most time.Duration, pattern string) error {
	re := regexp.MustCompile("(?m)" + pattern)
	return t.until(ctx, most, "shows no "+pattern, re.MatchString)
}

func (t *Terminal) until(ctx context.Context, most time.Duration, otherwise string, is func(string) bool) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		screen := t.Screen()
		if is(screen) {
			return nil
		}
		select {
		case <-t.fresh:
		case <-ctx.Done():
			return fmt.Errorf("the terminal %s: %w\n%s", otherwise, ctx.Err(), screen)
		}
	}
}

// Type types text.
func (t *Terminal) Type(text string) error {
	_, err := t.pty.WriteString(text)
	return err
}

// early is a part of the dashboard's message for a key that came too early at a card.
const early = "press again"

// Answer types a key at a card that shows a pattern, and waits until another pattern is shown. If the key came too
// early, it types the key again.
func (t *Terminal) Answer(ctx context.Context, most time.Duration, card, key, then string) error {
	if err := t.See(ctx, most, card); err != nil {
		return err
	}
	for {
		if err := t.Type(key); err != nil {
			return err
		}
		if err := t.See(ctx, most, "(?:"+then+")|"+early); err != nil || !strings.Contains(t.Screen(), early) {
			return err
		}
		// A key that does nothing removes the message, so that it isn't read again.
		if err := t.Type("g"); err != nil {
			return err
		}
		if err := t.until(ctx, most, "still says "+early, func(screen string) bool { return !strings.Contains(screen, early) }); err != nil {
			return err
		}
	}
}

// Close ends ssh, if it has not ended.
func (t *Terminal) Close() error {
	err := t.cmd.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	<-t.ended
	return errors.Join(err, t.pty.Close())
}

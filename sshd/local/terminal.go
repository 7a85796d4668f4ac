package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/term"
)

// ErrNoTerminal says that a verb needs a terminal and there is none.
var ErrNoTerminal = errors.New("standard input and output are not a terminal")

// openTerminal gives the session our terminal and makes it raw. The returned function restores it; it
// may be called more than once.
func openTerminal(ctx context.Context, session *gossh.Session, stdin io.Reader, stdout io.Writer) (restore func(), err error) {
	in, out := descriptor(stdin), descriptor(stdout)
	if in < 0 || out < 0 {
		return nil, ErrNoTerminal
	}
	// Before the size is read, so that no change of it is missed.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGWINCH, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	defer func() {
		if err != nil {
			signal.Stop(signals)
		}
	}()
	cols, rows, err := term.GetSize(out)
	if err != nil {
		return nil, fmt.Errorf("ask the terminal's size: %w", err)
	}
	for _, name := range []string{"LANG", "LC_ALL", "LC_CTYPE", "COLORTERM", "NO_COLOR", "BERTH_PREFIX"} {
		if v := os.Getenv(name); v != "" {
			_ = session.Setenv(name, v)
		}
	}
	if err := session.RequestPty(os.Getenv("TERM"), rows, cols, gossh.TerminalModes{}); err != nil {
		return nil, fmt.Errorf("open a terminal on the server: %w", err)
	}
	before, err := term.MakeRaw(in)
	if err != nil {
		return nil, fmt.Errorf("make the terminal raw: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	var once sync.Once
	var watching sync.WaitGroup
	back := func() { once.Do(func() { _ = term.Restore(in, before) }) }
	watching.Go(func() { watch(ctx, signals, session, out, back) })
	return func() {
		cancel()
		back()
		watching.Wait()
	}, nil
}

// watch passes size changes on, and restores the terminal before a signal ends the program.
func watch(ctx context.Context, signals chan os.Signal, session *gossh.Session, out int, back func()) {
	defer signal.Stop(signals)
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-signals:
			if s == syscall.SIGWINCH {
				if cols, rows, err := term.GetSize(out); err == nil {
					_ = session.WindowChange(rows, cols)
				}
				continue
			}
			back()
			signal.Reset(s)
			_ = syscall.Kill(os.Getpid(), s.(syscall.Signal))
		}
	}
}

// descriptor is the file descriptor of a terminal, or -1.
func descriptor(stream any) int {
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return -1
	}
	return int(f.Fd())
}

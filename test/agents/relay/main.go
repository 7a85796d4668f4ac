// Command relay runs a program on a terminal of its own and passes on output and input. Tests use it as a slow line
// between a terminal and an agent, or as a terminal where there is none.
//
//	relay [-enter DELAY] PROGRAM [ARGUMENT...]
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

func main() {
	enter := flag.Duration("enter", 0, "how much later an Enter that comes alone arrives")
	flag.Parse()
	if err := relay(flag.Args(), *enter); err != nil {
		fmt.Fprintln(os.Stderr, "relay:", err)
		os.Exit(1)
	}
}

func relay(argv []string, enter time.Duration) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 40})
	if err != nil {
		return err
	}
	defer terminal.Close()
	if state, err := term.MakeRaw(int(os.Stdin.Fd())); err == nil { // otherwise stdin isn't a terminal, and no one types
		defer func() { _ = term.Restore(int(os.Stdin.Fd()), state) }()
	}
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	go func() {
		for range resized {
			_ = pty.InheritSize(os.Stdin, terminal) // the next one sets it right
		}
	}()
	resized <- syscall.SIGWINCH
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := os.Stdin.Read(buf)
			if err != nil {
				return
			}
			if bytes.Equal(buf[:n], []byte("\r")) {
				time.Sleep(enter)
			}
			if _, err := terminal.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	_, _ = io.Copy(os.Stdout, terminal) // ends with the program, as an error on Linux
	return cmd.Wait()
}

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/term"
)

// program is the program in the measured sessions.
func program(args []string) int {
	n := 0
	if len(args) > 1 {
		n, _ = strconv.Atoi(args[1])
	}
	switch args[0] {
	case "page": // a full screen, then nothing
		page()
	case "log": // at each key, n bytes of log
		logAtKey(n)
	case "tick": // a line each n ms between SIGUSR1 and SIGUSR2
		tick(time.Duration(n) * time.Millisecond)
	case "print": // n bytes in pieces of 4 KiB
		print4k(n)
	case "hooks": // run hooks of the named binary
		return runHooks(args[1])
	default:
		return 2
	}
	return 0
}

// lastLine is the last text that page draws.
const lastLine = "the-last-line-of-the-screen"

func page() {
	out := bufio.NewWriter(os.Stdout)
	for i := range 10 * rws {
		fmt.Fprintf(out, "\x1b[3%dmline %d\x1b[0m of the screen from before the client attached\n", 1+i%7, i)
	}
	fmt.Fprint(out, lastLine)
	out.Flush()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// ready is what programs print when they read keys.
const ready = "ready-to-go"

// raw turns the terminal's own echo off.
func raw() {
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(ready)
}

// logLine is one numbered line of log.
func logLine(b []byte, i int) []byte {
	b = append(b, "2026-11-20T10:00:00.000Z INFO request="...)
	b = strconv.AppendInt(b, int64(i), 10)
	return append(b, " the agent reads a file and writes a patch for the server"[:20+i*7%37]...)
}

// endOfLog starts the line after a log. The number of the last line follows, and the time of this line
// in nanoseconds.
const endOfLog = "end-of-log"

func logAtKey(n int) {
	raw()
	key := make([]byte, 1)
	for {
		if _, err := os.Stdin.Read(key); err != nil {
			return
		}
		i := 0
		var b []byte
		for written := 0; written < n; written += len(b) {
			for b = b[:0]; len(b) < 32<<10; i++ {
				b = append(logLine(b, i), '\r', '\n')
			}
			_, _ = os.Stdout.Write(b) // the reader notices an error
		}
		fmt.Printf("%s %d %d.\r\n", endOfLog, i-1, time.Now().UnixNano())
	}
}

// tick starts to print at SIGUSR1 and pauses at SIGUSR2.
func tick(every time.Duration) {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGUSR1, syscall.SIGUSR2)
	fmt.Println(ready)
	var line []byte
	var due <-chan time.Time
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for i := 0; ; i++ {
		select {
		case <-due:
			line = append(logLine(line[:0], i), '\n')
			_, _ = os.Stdout.Write(line)
		case s := <-told:
			due = nil
			if s == syscall.SIGUSR1 {
				due = ticker.C
			}
		}
	}
}

func print4k(n int) {
	piece := make([]byte, 4<<10)
	for i := range piece {
		piece[i] = byte('a' + i%26)
		if i%80 == 79 {
			piece[i] = '\n'
		}
	}
	for ; n > 0; n -= len(piece) {
		if _, err := os.Stdout.Write(piece); err != nil {
			return
		}
	}
}

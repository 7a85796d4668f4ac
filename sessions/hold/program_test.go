package hold

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// testProgram is what tests run under a holder.
func testProgram(args []string) int {
	n := 0
	if len(args) > 1 {
		n, _ = strconv.Atoi(args[1])
	}
	switch args[0] {
	case "serve", "paste":
		return serverProgram(args)
	case "count": // n numbered lines, or for ever
		return count(n)
	case "pastes": // framed pastes of 64 KiB, each checked
		return readPastes()
	case "sum": // n bytes of raw input, then their sum
		return sumInput(n)
	case "burst": // n bytes at once, then the end
		os.Stdout.Write(make([]byte, n))
		return 7
	case "print": // n bytes in pieces of 4 KiB, or for ever
		return print4k(n)
	case "echo": // what cat does, on a terminal that does not echo
		raw()
		fmt.Print("ready\n")
		io.Copy(os.Stdout, os.Stdin)
	case "deaf": // never reads, and ends at SIGUSR1 only
		ask := make(chan os.Signal, 1)
		signal.Notify(ask, syscall.SIGUSR1)
		signal.Ignore(syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT)
		raw()
		fmt.Println("deaf")
		<-ask
		return 9
	case "dial": // tries to drive its own holder
		_, err := Dial(context.Background(), args[1])
		fmt.Println("dial:", err, errors.Is(err, ErrRefused))
		time.Sleep(time.Hour)
	}
	return 0
}

func count(n int) int {
	w := bufio.NewWriterSize(os.Stdout, 4096)
	for i := 0; n == 0 || i < n; i++ {
		if _, err := fmt.Fprintf(w, "%d\n", i); err != nil {
			return 1
		}
	}
	w.Flush()
	return 0
}

func print4k(n int) int {
	raw()
	piece := bytes.Repeat([]byte("0123456789abcdef"), 256)
	for i := 0; n == 0 || i < n; i += len(piece) {
		if _, err := os.Stdout.Write(piece); err != nil {
			return 1
		}
	}
	return 0
}

// raw makes the terminal pass bytes through.
func raw() {
	termios, err := unix.IoctlGetTermios(0, getTermios)
	if err != nil {
		panic(err)
	}
	termios.Iflag, termios.Lflag = 0, 0
	termios.Oflag &^= unix.OPOST
	termios.Cc[unix.VMIN], termios.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(0, setTermios, termios); err != nil {
		panic(err)
	}
}

const pasteSize = 64 << 10

// readPastes reads 'S', a letter over and over, 'E' and tells of each paste
// whether it was whole.
func readPastes() int {
	raw()
	fmt.Print("ready\n")
	r := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		paste := make([]byte, pasteSize)
		if _, err := io.ReadFull(r, paste); err != nil {
			return 0
		}
		ok := paste[0] == 'S' && paste[pasteSize-1] == 'E'
		for _, b := range paste[1 : pasteSize-1] {
			ok = ok && b == paste[1]
		}
		if !ok {
			fmt.Print("CUT\n")
			return 1
		}
		fmt.Print("whole\n")
	}
}

func sumInput(n int) int {
	raw()
	fmt.Print("ready\n")
	h := sha256.New()
	if _, err := io.CopyN(h, os.Stdin, int64(n)); err != nil {
		return 1
	}
	fmt.Printf("sum %x\n", h.Sum(nil))
	io.Copy(io.Discard, os.Stdin)
	return 0
}

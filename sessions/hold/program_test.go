package hold

import (
	"bufio"
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
	case "count": // n numbered lines, or for ever
		return count(n)
	case "pastes": // framed pastes of 64 KiB, each checked
		return readPastes()
	case "sum": // n bytes of raw input, then their sum
		return sumInput(n)
	case "burst": // n bytes at once, then the end
		os.Stdout.Write(make([]byte, n))
		return 7
	case "flood": // writes for ever
		piece := make([]byte, 4096)
		for i := range piece {
			piece[i] = 'x'
		}
		for {
			if _, err := os.Stdout.Write(piece); err != nil {
				return 1
			}
		}
	case "deaf": // never reads, dies of nothing milder than SIGKILL but USR1
		signal.Ignore(syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT)
		raw()
		fmt.Println("deaf")
		time.Sleep(time.Hour)
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
	return 0
}

package hold

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
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
	case "agent": // runs what it is asked to on a socket
		return agentProgram(args[1])
	case "storm": // n events, one after the other
		return storm(n)
	case "tells": // n times `berth hook --tell`, each timed
		return runHooks(n, args[2])
	case "waits": // n hooks that wait
		return waits(n)
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

// readPastes reads 'S', a letter over and over, 'E' and reports each paste
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

// handOver speaks as `berth hook` does.
func handOver(head hookHead, payload string) (net.Conn, uint64, error) {
	c, err := net.Dial("unix", os.Getenv(HookSocketEnv))
	if err != nil {
		return nil, 0, err
	}
	body, err := encodeHook(head)
	if err != nil {
		return nil, 0, err
	}
	if _, err := c.Write(appendFrame(nil, frameHook, body, []byte(payload))); err != nil {
		return nil, 0, err
	}
	t, p, err := readFrame(c)
	if err != nil || t != frameTaken {
		return nil, 0, fmt.Errorf("answer %d, %w", t, err)
	}
	n, _, err := decodeNumber(p)
	return c, n, err
}

func storm(n int) int {
	for range n {
		c, _, err := handOver(hookHead{Event: "Storm"}, `{"hook_event_name":"Storm"}`)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		c.Close()
	}
	return 0
}

func waits(n int) int {
	letGo := 0
	var conns []net.Conn
	for i := range n {
		c, _, err := handOver(hookHead{Event: fmt.Sprint("Ask", i%50), Ask: true, HoldMillis: 3600_000, GraceMillis: 3600_000}, `{}`)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		conns = append(conns, c)
		if i >= maxWaiting {
			if t, _, err := readFrame(c); err == nil && t == frameLetGo {
				letGo++
			}
		}
	}
	for _, c := range conns {
		c.Close()
	}
	fmt.Println(letGo, "let go")
	return 0
}

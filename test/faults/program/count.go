package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"
)

// PasteSize is the size of a paste: `{`, eight digits, filler, `}`.
const PasteSize = 64 << 10

// The pace of the count: about 500 KB/s, and a query each 16 ms.
const (
	countEvery = 2 * time.Millisecond
	linesEach  = 12
	queryEach  = 8 // turns
)

// counter prints numbered lines and keeps a copy of its output in DIR/sent. It records its input in
// DIR/read as lines:
//
//	asked N NANOSECONDS     query N was printed
//	place N NANOSECONDS     a cursor report arrived, whose place names query N
//	attributes NANOSECONDS  an answer to DA1 arrived
//	paste ID                a paste arrived whole
//	cut ID AT, stray BYTE   unexpected input
//
// A `!` ends the count. DIR/stopped exists when everything is written.
type counter struct {
	dir  string
	sent *os.File
	mu   sync.Mutex // for read, which both goroutines write
	read *os.File
	stop chan struct{}
}

func count(dir string) error {
	signal.Ignore(syscall.SIGINT)
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		return err
	}
	sent, err := os.Create(filepath.Join(dir, "sent"))
	if err != nil {
		return err
	}
	read, err := os.OpenFile(filepath.Join(dir, "read"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	c := &counter{dir: dir, sent: sent, read: read, stop: make(chan struct{})}
	failed := make(chan error, 2)
	go func() { failed <- c.listen() }()
	go func() { failed <- c.print() }()
	return <-failed
}

func (c *counter) note(format string, args ...any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := fmt.Fprintf(c.read, format+"\n", args...)
	return err
}

// print counts until it is stopped. Then it prints nothing more and keeps running.
func (c *counter) print() error {
	tick := time.NewTicker(countEvery)
	defer tick.Stop()
	for turn := 0; ; turn++ {
		select {
		case <-c.stop:
			if err := os.WriteFile(filepath.Join(c.dir, "stopped"), nil, 0o600); err != nil {
				return err
			}
			select {}
		case <-tick.C:
		}
		if err := c.turn(turn); err != nil {
			return err
		}
	}
}

func (c *counter) turn(turn int) error {
	var out []byte
	for i := range linesEach {
		n := turn*linesEach + i
		out = fmt.Appendf(out, "\x1b[38;5;%dmline %d\x1b[0m größer 日本 \x1b[1;4mof many\x1b[m\r\n", n%256, n)
	}
	if turn%queryEach == 0 {
		n := turn / queryEach
		row, col := Place(n)
		out = fmt.Appendf(out, "\x1b7\x1b[%d;%dH\x1b[6n\x1b[c\x1b8", row, col)
		if err := c.note("asked %d %d", n, time.Now().UnixNano()); err != nil {
			return err
		}
	}
	if _, err := os.Stdout.Write(out); err != nil {
		return err
	}
	_, err := c.sent.Write(out)
	return err
}

// Place is the cursor's place for query n: a cell of an 80x24 screen.
func Place(n int) (row, col int) { return n/80%24 + 1, n%80 + 1 }

// listen reads the input.
func (c *counter) listen() error {
	var in input
	buf := make([]byte, 4096)
	for {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return err
		}
		for _, b := range buf[:n] {
			said, stop := in.take(b)
			if said != "" {
				if err := c.note("%s", said); err != nil {
					return err
				}
			}
			if stop {
				close(c.stop)
			}
		}
	}
}

// input parses the input: replies, pastes and the end.
type input struct {
	reply []byte
	paste []byte
}

func (i *input) take(b byte) (said string, stop bool) {
	switch {
	case i.paste != nil:
		i.paste = append(i.paste, b)
		return i.whole(), false
	case i.reply != nil:
		i.reply = append(i.reply, b)
		return i.answer(), false
	case b == 0x1b:
		i.reply = []byte{b}
	case b == '{':
		i.paste = append(make([]byte, 0, PasteSize), b)
	case b == '!':
		return "", true
	default:
		return fmt.Sprintf("stray %q", b), false
	}
	return "", false
}

// answer records a complete reply.
func (i *input) answer() string {
	last := i.reply[len(i.reply)-1]
	if len(i.reply) < 3 || last < '@' || last > '~' {
		return ""
	}
	text := string(i.reply)
	i.reply = nil
	now := time.Now().UnixNano()
	var row, col int
	if _, err := fmt.Sscanf(text, "\x1b[%d;%dR", &row, &col); err == nil {
		return fmt.Sprintf("place %d %d", (row-1)*80+col-1, now)
	}
	if last == 'c' && text[:3] == "\x1b[?" {
		return fmt.Sprintf("attributes %d", now)
	}
	return fmt.Sprintf("stray %q", text)
}

// whole records that a paste is complete, or was cut.
func (i *input) whole() string {
	n := len(i.paste)
	b := i.paste[n-1]
	good := true
	switch {
	case n <= 9:
		good = b >= '0' && b <= '9'
	case n < PasteSize:
		good = b == 'a'+byte(n%26)
	default:
		good = b == '}'
	}
	if good && n < PasteSize {
		return ""
	}
	id := string(i.paste[1:min(n, 9)])
	i.paste = nil
	if !good {
		return fmt.Sprintf("cut %q %d", id, n)
	}
	return "paste " + id
}

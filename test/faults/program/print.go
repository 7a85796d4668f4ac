package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// printer prints total bytes of log for each line that it reads. It writes into DIR/took how long each
// print took, in nanoseconds, one line each.
func printer(dir string, total int64) error {
	took, err := os.OpenFile(filepath.Join(dir, "took"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	block := logBlock()
	fmt.Print("ready\r\n")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		begun := time.Now()
		for left := total; left > 0; {
			n, err := os.Stdout.Write(block[:min(left, int64(len(block)))])
			if err != nil {
				return err
			}
			left -= int64(n)
		}
		fmt.Printf("\r\ndone %s\r\n", lines.Text())
		if _, err := fmt.Fprintln(took, time.Since(begun).Nanoseconds()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// logBlock is a little over 64 KiB of whole lines, as a build prints them.
func logBlock() []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < 64<<10; i++ {
		fmt.Fprintf(&b, "2026-11-20T15:04:05.%03dZ \x1b[32minfo\x1b[0m  worker %2d: compiled package number %d of the module in %d ms\n", i%1000, i%16, i, i*7%997)
	}
	return b.Bytes()
}

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/creack/pty"

	"berth/sessions/hold"
)

// printBytes is what the program prints in a round.
const printBytes = 64 << 20

// holderRow compares the way from PTY through journal to server with reading the PTY and discarding the
// bytes.
func holderRow(b *bench) ([]result, error) {
	var held, thrown, ratios []float64
	for i := range b.times(9) {
		t, err := b.throwAway()
		if err != nil {
			return nil, err
		}
		h, err := b.throughHolder(filepath.Join(b.dir, fmt.Sprint("holder", i)))
		if err != nil {
			return nil, err
		}
		held, thrown, ratios = append(held, h), append(thrown, t), append(ratios, h/t)
	}
	r := median(ratios)
	return []result{{"PTY to journal to server", fmt.Sprintf("%.0f MB/s", median(held)), fmt.Sprintf("read and thrown away: %.0f MB/s", median(thrown)),
		fmt.Sprintf("%.2f", r), "≥ 0.80", verdictOf(r >= 0.8)}}, nil
}

// printed is the rate in MB/s between the first byte and the last.
func printed(began time.Time) float64 { return printBytes / 1e6 / time.Since(began).Seconds() }

func (b *bench) throwAway() (float64, error) {
	cmd := exec.CommandContext(b.ctx, b.self, "program", "print", strconv.Itoa(printBytes))
	master, err := pty.Start(cmd)
	if err != nil {
		return 0, err
	}
	defer master.Close()
	buf := make([]byte, 64<<10)
	total, err := master.Read(buf)
	began := time.Now()
	for err == nil {
		var n int
		n, err = master.Read(buf)
		total += n
	}
	rate := printed(began)
	_ = cmd.Wait() // its output shows whether it worked
	if total < printBytes {
		return 0, fmt.Errorf("read %d bytes of %d: %w", total, printBytes, err)
	}
	return rate, nil
}

func (b *bench) throughHolder(dir string) (float64, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	link, err := hold.Start(b.ctx, b.holder, hold.Spec{
		Dir: dir, Socket: filepath.Join(dir, "s"), Path: b.self, Argv: []string{b.self, "program", "print", strconv.Itoa(printBytes)},
		Env: b.env(), Cwd: "/", Cols: 80, Rows: 24, Grace: time.Second,
	}, nil)
	if err != nil {
		return 0, err
	}
	defer b.endHolder(link)
	buf := make([]byte, 64<<10)
	var at int64
	var began time.Time
	for at < printBytes {
		select {
		case <-link.Wake():
		case <-b.ctx.Done():
			return 0, context.Cause(b.ctx)
		}
		for {
			n, err := link.ReadOutput(buf, at)
			if n == 0 {
				if err != nil && err != io.EOF || link.Err() != nil && at < printBytes {
					return 0, fmt.Errorf("read %d bytes of %d: %v, %v", at, printBytes, err, link.Err())
				}
				break
			}
			if at == 0 {
				began = time.Now()
			}
			at += int64(n)
		}
		link.Consumed(at)
	}
	return printed(began), nil
}

// endHolder ends the holder and waits for its end.
func (b *bench) endHolder(link *hold.Link) {
	pid := link.Welcome().HolderPID
	_ = link.End(0, nil) // it may have ended already
	select {
	case <-link.Done():
	case <-time.After(5 * time.Second):
	}
	_ = link.Close()
	_ = b.poll("the holder ends", func() bool { return syscall.Kill(pid, 0) != nil })
}

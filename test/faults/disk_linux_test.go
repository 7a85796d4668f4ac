package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// onSmallDisk mounts a small tmpfs as the host's state folder.
func (h *host) onSmallDisk(size string) {
	h.t.Helper()
	if err := unix.Mount("tmpfs", h.state, "tmpfs", 0, "size="+size+",mode=0700"); err != nil {
		h.t.Skipf("SKIPPED: a full disk needs the right to mount a tmpfs: %v", err)
	}
}

// fill fills the disk, and returns the file to remove.
func fill(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "filler")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	must(t, err)
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return name
}

// TestDiskFull fills the disk of the state folder while a program counts.
func TestDiskFull(t *testing.T) {
	h := newHost(t, checked)
	h.onSmallDisk("24m")
	work := h.counts("4MiB")
	h.start()
	dir := h.sessionDirs()[0]
	pid := h.info("count").PID
	k := newTruth(t, dir, filepath.Join(work, "sent"), 120, 40)
	sent := func() int64 {
		info, err := os.Stat(k.sent)
		must(t, err)
		return info.Size()
	}
	look := func() {
		t.Helper()
		k.compare(answer[screen](h, "screen", "count", "--scrollback", fmt.Sprint(scrollback)))
	}

	waitFor(t, "some output", func() bool { return sent() > 200_000 })
	look()
	filler := fill(t, h.state)
	full := sent()
	waitFor(t, "health to tell the loss", func() bool {
		return slices.ContainsFunc(h.health().Problems, func(p string) bool { return strings.HasPrefix(p, "count: ") && strings.Contains(p, "bytes of output") })
	})
	waitFor(t, "the program to print on", func() bool { return sent() > full+1<<20 })
	for range 5 {
		look()
	}
	h.run("input", "count", "--", "x") // the program records it as stray, so input still arrives
	waitFor(t, "input on a full disk", func() bool { return slices.Contains(notes(t, work), `stray 'x'`) })
	t.Logf("while the disk was full: %d bytes printed, health %q", sent()-full, h.health().Problems)

	must(t, os.Remove(filler))
	freed := sent()
	var lost lossEvent
	waitFor(t, "the event of the loss", func() bool {
		for _, line := range h.events() {
			if strings.Contains(line, `"type":"output_lost"`) {
				must(t, json.Unmarshal([]byte(line), &lost))
				return true
			}
		}
		return false
	})
	if lost.From > full+64<<10 || lost.To < freed || lost.Why == "" {
		t.Errorf("the event reports a loss from %d to %d (%s), the disk was full from about %d to %d", lost.From, lost.To, lost.Why, full, freed)
	}
	waitFor(t, "output to be written again", func() bool { return h.info("count").TotalWritten > lost.To+100_000 })
	got, err := os.ReadFile(k.sent)
	must(t, err)
	if last := h.run("output", "count", "--raw", "--limit", "90000", "--offset", fmt.Sprint(lost.To)); string(last) != string(got[lost.To:lost.To+90_000]) {
		t.Error("the output after the loss differs from what the program printed")
	}
	if across := h.run("output", "count", "--raw", "--limit", "90000", "--offset", fmt.Sprint(lost.From-1000)); !bytes.HasPrefix(across, got[lost.From-1000:lost.From]) {
		t.Error("the output before the loss differs from what the program printed")
	}
	look()
	i := h.info("count")
	if i.LostBytes != lost.To-lost.From {
		t.Errorf("info reports %d lost bytes, the event %d", i.LostBytes, lost.To-lost.From)
	}
	t.Logf("reported as lost: %d bytes from %d (%s)", i.LostBytes, lost.From, lost.Why)
	judgeOrder(t, h.events())
	if !alive(pid) {
		t.Error("the program has ended")
	}
}

// lossEvent is the event for output that reached no file.
type lossEvent struct {
	From, To int64
	Why      string
}

// events returns all events.
func (h *host) events() []string {
	h.t.Helper()
	out, _ := h.try(nil, "watch", "--since", "e0", "--timeout", "300ms")
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, `"cursor":`) })
}

// TestStartOnFullDisk kills the server on a full disk. The next one starts, the program still runs, and
// its screen changes.
func TestStartOnFullDisk(t *testing.T) {
	h := newHost(t, checked)
	h.onSmallDisk("24m")
	work := filepath.Join(h.dir, "work")
	must(t, os.Mkdir(work, 0o700))
	h.start()
	h.create("count", "--", program, "count", work)
	h.create("cat", "--", "cat")
	pid := h.info("count").PID
	filler := fill(t, h.state)
	waitFor(t, "health to tell the loss", func() bool { return !h.health().OK })
	h.kill()
	h.start()
	if got := h.info("count"); got.PID != pid || !alive(pid) {
		t.Errorf("the program is %d, was %d", got.PID, pid)
	}
	if h.health().OK {
		t.Error("health reports no problem on a full disk")
	}
	h.run("input", "cat", "--enter", "hello")
	waitFor(t, "a session to answer on a full disk", func() bool {
		return slices.Equal(trimmed(answer[screen](h, "screen", "cat").Lines), []string{"hello", "hello"})
	})
	must(t, os.Remove(filler))
	before := h.info("count").TotalWritten
	waitFor(t, "output to be written again", func() bool { return h.info("count").TotalWritten > before+100_000 })
	waitWithin(t, 10*time.Second, "events to be written again", func() bool {
		return !slices.ContainsFunc(h.health().Problems, func(p string) bool { return strings.Contains(p, "event log cannot be written") })
	})
	judgeOrder(t, h.events())
}

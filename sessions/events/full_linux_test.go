package events

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// small mounts a file system of a few hundred KiB.
func small(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: mounting a small tmpfs needs root")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		if errors.Is(err, syscall.EPERM) {
			t.Skip("SKIPPED: this root may not mount a tmpfs: ", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// stuff fills the file system to its last byte.
func stuff(t *testing.T, dir string) (free func()) {
	t.Helper()
	name := filepath.Join(dir, "ballast")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFullDiskLosesNothingThatFitsIntoMemory(t *testing.T) {
	dir := filepath.Join(small(t), "events")
	l := open(t, dir, Options{})
	r := l.Follow(0)
	fill(t, l, "A", 10)
	free := stuff(t, filepath.Dir(dir))
	fill(t, l, "A", 500)
	if _, err := l.AppendAll(Event{Type: "hook", ID: "A"}, Event{Type: "prompt", ID: "A", Cause: 511}); err != nil {
		t.Fatal(err)
	}
	s := l.Stats()
	if !s.Failing || s.Pending < 450 || s.Dropped != 0 || !errors.Is(s.Err, syscall.ENOSPC) {
		t.Errorf("full: %+v", s)
	}
	for want := uint64(1); want <= 512; want++ {
		if line := next(t, r); line.Cursor != want {
			t.Fatalf("a live follower got %s at %d", line.Raw, want)
		}
	}
	free()
	until(t, "what waited is written", func() bool { return !l.Stats().Failing })
	if s := l.Stats(); s.Pending != 0 || s.Dropped != 0 || s.Written != 512 {
		t.Errorf("free again: %+v", s)
	}
	fill(t, l, "A", 10)
	closeLog(t, l)
	l = open(t, dir, Options{})
	for i, line := range rest(t, l, l.Follow(0)) {
		if line.Cursor != uint64(i+1) || line.Seq != uint64(i+1) || line.Type == TypeGap {
			t.Fatalf("line %d read back is %s", i, line.Raw)
		}
	}
	if l.Head() != 522 || l.LastCause("A") != 521 {
		t.Errorf("head %d, cause %d", l.Head(), l.LastCause("A"))
	}
}

func TestAFullDiskLosesTheRestAndSaysSo(t *testing.T) {
	dir := filepath.Join(small(t), "events")
	l := open(t, dir, Options{})
	slow := l.Follow(5)
	fill(t, l, "A", 10)
	fill(t, l, "B", 10)
	free := stuff(t, filepath.Dir(dir))
	fill(t, l, "A", 100) // the last of A are among the lost
	fill(t, l, "C", 3*tailEvents)
	s := l.Stats()
	if s.Dropped == 0 || s.Pending != tailEvents {
		t.Errorf("full: %+v", s)
	}
	var gap Line
	for gap.Type != TypeGap { // a reader that did not keep up gets it at once
		gap = next(t, slow)
	}
	if uint64(gap.Cursor-gap.From+1) != s.Dropped || !bytes.Contains(gap.Raw, []byte("no space left")) || bytes.Contains(gap.Raw, []byte(dir)) {
		t.Errorf("gap %s, dropped %d", gap.Raw, s.Dropped)
	}
	if line := next(t, slow); line.Cursor != gap.Cursor+1 {
		t.Errorf("then %s", line.Raw)
	}
	head, seqs, causes := l.Head(), map[string]uint64{}, map[string]uint64{}
	for _, id := range []string{"A", "B", "C"} {
		seqs[id], causes[id] = l.LastSeq(id), l.LastCause(id)
	}
	free()
	until(t, "what waited is written", func() bool { return !l.Stats().Failing })
	check := func(l *Log) {
		t.Helper()
		lines, gaps := rest(t, l, l.Follow(0)), 0
		position := uint64(0)
		for _, line := range lines {
			from := line.Cursor
			if line.Type == TypeGap {
				from = line.From
				gaps++
				if line.From != gap.From || line.Cursor != gap.Cursor {
					t.Errorf("gap %s, before %s", line.Raw, gap.Raw)
				}
			}
			if from != position+1 {
				t.Fatalf("%s follows %d", line.Raw, position)
			}
			position = line.Cursor
		}
		if gaps != 1 || position != head || l.Head() != head {
			t.Errorf("%d gaps, read to %d, head %d, want %d", gaps, position, l.Head(), head)
		}
		for id, seq := range seqs {
			if l.LastSeq(id) != seq || l.LastCause(id) != causes[id] {
				t.Errorf("%s at %d/%d, want %d/%d", id, l.LastSeq(id), l.LastCause(id), seq, causes[id])
			}
		}
		if a := rest(t, l, l.FollowSession("A", seqs["A"]-1)); len(a) != 1 || a[0].Type != TypeGap || a[0].Seq != seqs["A"] {
			t.Errorf("the lost of A: %v", a)
		}
	}
	check(l)
	closeLog(t, l)
	check(open(t, dir, Options{}))
}

func TestAReadOnlyFolder(t *testing.T) {
	mount := small(t)
	dir := filepath.Join(mount, "events")
	l := open(t, dir, Options{})
	fill(t, l, "A", 5)
	remount := func(flags uintptr) {
		t.Helper()
		if err := syscall.Mount("tmpfs", mount, "tmpfs", syscall.MS_REMOUNT|flags, "size=256k"); err != nil {
			t.Fatal(err)
		}
	}
	closeLog(t, l) // a file open for writing keeps a mount from becoming read-only
	remount(syscall.MS_RDONLY)
	used := map[uint64]bool{}
	for range 3 { // servers that are killed one after the other
		l := open(t, dir, Options{})
		if s := l.Stats(); !s.Failing || !errors.Is(s.Err, syscall.EROFS) {
			t.Errorf("stats %+v", s)
		}
		r := l.Follow(l.Head())
		for range 20 {
			e := add(t, l, Event{Type: "x", ID: "A"})
			if used[e.Cursor] || e.Cursor < jumpAtLeast || next(t, r).Cursor != e.Cursor {
				t.Fatalf("cursor %d", e.Cursor)
			}
			used[e.Cursor] = true
		}
		if err := l.Close(); err == nil {
			t.Error("closing lost events in silence")
		}
	}
	remount(0)
	l = open(t, dir, Options{})
	lines := rest(t, l, l.Follow(3))
	if len(lines) != 2 || lines[1].Cursor != 5 || strings.Contains(string(lines[1].Raw), TypeGap) {
		t.Errorf("read back %d lines", len(lines))
	}
}

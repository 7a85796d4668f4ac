package hold

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// smallDisk mounts a tmpfs of this many bytes.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("SKIPPED: a full disk needs the right to mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		eventually(t, "unmount", func() bool { return unix.Unmount(dir, 0) == nil })
	})
	return dir
}

// fillUp takes all room there is.
func fillUp(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "filler")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return name
}

// TestFullDisk fills the disk under a program that counts, with a server
// connected: the server sees all of it, the files have a hole, the log says
// which.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, "16m")
	spec := specIn(t, dir+"/s", "sh", "-c", `i=0; while :; do echo "line $i"; i=$((i+1)); sleep 0.002; done`)
	spec.OutputLimit = 1 << 20
	if err := os.Mkdir(spec.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l := start(t, spec)
	t.Cleanup(l.CloseFiles)
	f := follow(l, 0)
	f.untilText(t, "line 20\r\n")
	filler := fillUp(t, dir)
	var controlled []string
	var seen uint64
	control := func() {
		if err := l.ReadControl(seen, func(r Record) error {
			seen = r.N
			controlled = append(controlled, r.Kind)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	onDisk := OpenOutput(spec.Dir)
	defer onDisk.Close()
	f.until(t, "output beyond what the disk has", func() bool {
		_, next, err := onDisk.Range()
		return err == nil && f.off > next+2000
	})
	for range 400 { // more than the slack after the end of the log takes
		if err := l.Note("note", nil); err != nil {
			t.Fatal(err)
		}
	}
	f.until(t, "notes by the socket", func() bool { control(); return strings.Count(strings.Join(controlled, " "), "note") == 400 })
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	f.until(t, "the loss is recorded", func() bool {
		return len(ofKind[LossData](t, spec.Dir, KindLoss)) > 0
	})
	end := f.off + 500
	f.until(t, "writing goes on", func() bool {
		_, next, err := onDisk.Range()
		return err == nil && f.off > end && next >= end
	})
	if f.lost != 0 {
		t.Errorf("the connected server missed %d bytes", f.lost)
	}
	checkLines(t, f.text)
	loss := ofKind[LossData](t, spec.Dir, KindLoss)[0]
	if !strings.Contains(loss.Why, "no space left") || loss.To <= loss.From {
		t.Errorf("loss %+v", loss)
	}
	// The files agree with the record, and the offsets continue after the hole.
	whole := follow(l, 0)
	whole.l.Close()
	whole.read(t)
	if whole.lost != loss.To-loss.From {
		t.Errorf("the files miss %d bytes, the record says %d", whole.lost, loss.To-loss.From)
	}
	if got := whole.text[loss.From:]; !bytes.HasPrefix(f.text[loss.To:], got[:min(len(got), 400)]) {
		t.Errorf("after the hole %q, not %q", got[:40], f.text[loss.To:][:40])
	}
	for i, r := range records(t, spec.Dir) {
		if r.N != uint64(i+1) {
			t.Fatalf("record %d is number %d", i+1, r.N)
		}
	}
}

func checkLines(t *testing.T, text []byte) {
	t.Helper()
	lines := strings.Split(string(text), "\r\n")
	for i, line := range lines[:len(lines)-1] {
		if want := "line " + strconv.Itoa(i); line != want {
			t.Fatalf("line %d is %q", i, line)
		}
	}
}

// TestFullDiskWithNoServer: the program runs on and ends, and its end gets
// into the log once there is room.
func TestFullDiskWithNoServer(t *testing.T) {
	dir := smallDisk(t, "8m")
	spec := specIn(t, dir+"/s", "sh", "-c", `read x; head -c 300000 /dev/zero; exit 4`)
	if err := os.Mkdir(spec.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l := start(t, spec)
	t.Cleanup(l.CloseFiles)
	w := l.Welcome()
	filler := fillUp(t, dir)
	if err := l.Input(t.Context(), []byte("\n"), nil); err != nil {
		t.Fatal(err)
	}
	l.Close()
	eventually(t, "the program ends", func() bool { return !alive(w.ChildPID, w.ChildStart) })
	late := redial(t, spec.Dir)
	t.Cleanup(late.CloseFiles)
	f := follow(late, 0)
	if exit := f.untilEnd(t); exit.Code != 4 {
		t.Errorf("exit %+v", exit)
	}
	if f.lost == 0 || f.off < 300000 {
		t.Errorf("read to %d, lost %d", f.off, f.lost)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the holder ends", func() bool { return !alive(w.HolderPID, w.HolderStart) })
	if exits := ofKind[Exit](t, spec.Dir, KindExit); len(exits) != 1 || exits[0].Code != 4 {
		t.Errorf("exits %+v", exits)
	}
	losses := ofKind[LossData](t, spec.Dir, KindLoss)
	if len(losses) == 0 || losses[len(losses)-1].To < 300000 {
		t.Errorf("losses %+v", losses)
	}
}

// TestIdleHolderIsSmall measures what a holder adds to the machine: pages of
// its own, not the binary's it shares.
func TestIdleHolderIsSmall(t *testing.T) {
	if raceEnabled {
		t.Skip("SKIPPED: the race detector's own memory would be measured")
	}
	l := start(t, own(t, "sum", "3000000"))
	f := follow(l, 0)
	f.untilText(t, "ready")
	t.Logf("fresh: %d KiB", privateMemory(t, l.Welcome().HolderPID)>>10)
	if err := l.Input(t.Context(), make([]byte, 3_000_000), nil); err != nil {
		t.Fatal(err)
	}
	f.untilText(t, "sum")
	eventually(t, "memory is given back", func() bool {
		return privateMemory(t, l.Welcome().HolderPID) < 3<<20
	})
	t.Logf("after 3 MB of input: %d KiB", privateMemory(t, l.Welcome().HolderPID)>>10)
}

// privateMemory is the sum of the process's private pages in bytes.
func privateMemory(t *testing.T, pid int) int64 {
	t.Helper()
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		t.Fatal(err)
	}
	var total int64
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); strings.HasPrefix(line, "Private_") && len(fields) == 3 {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			total += n << 10
		}
	}
	return total
}

func TestReadOnlyFolderIsALoss(t *testing.T) {
	dir := smallDisk(t, "8m")
	o, err := openOutputLog(dir, 1<<20, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	var from, to int64
	o.lost = func(f, e int64, _ string) { from, to = f, e }
	now := time.Now()
	o.write([]byte("12345"), now)
	o.closeFiles()
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if n := o.write([]byte("67890"), now); n != 0 || !o.failing() {
		t.Errorf("wrote %d bytes to a read-only disk", n)
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT, ""); err != nil {
		t.Fatal(err)
	}
	if n := o.write([]byte("ab"), now.Add(retryEvery/2)); n != 0 {
		t.Error("tried again too soon")
	}
	if n := o.write([]byte("cd"), now.Add(retryEvery)); n != 2 || from != 5 || to != 12 {
		t.Errorf("wrote %d, lost %d to %d", n, from, to)
	}
	o.closeFiles()
	buf := make([]byte, 10)
	r := OpenOutput(dir)
	defer r.Close()
	if n, err := r.ReadAt(buf, 12); err != nil || string(buf[:n]) != "cd" {
		t.Errorf("read %q, %v", buf[:n], err)
	}
}

package hold

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestMegabytePasteIntoCat(t *testing.T) {
	l := start(t, testSpec(t, "cat"))
	line := strings.Repeat("x", 99) + "\n"
	text := strings.Repeat(line, 1<<20/len(line)) + "end\n"
	typed := make(chan error, 1)
	go func() { typed <- l.Input(context.Background(), []byte(text), nil) }()
	f := follow(l, 0)
	// cat's copy, and the terminal's own echo of what it had room for.
	f.until(t, "cat prints it all", func() bool {
		return bytes.Count(f.text, []byte("end\r\n")) == 2 || bytes.HasSuffix(f.text, []byte("end\r\n")) && len(f.text) > len(text)
	})
	if err := <-typed; err != nil {
		t.Fatal(err)
	}
}

func TestMegabytesArriveWhole(t *testing.T) {
	const size = 3 << 20
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	l := start(t, own(t, "sum", fmt.Sprint(size)))
	f := follow(l, 0)
	f.untilText(t, "ready")
	if err := l.Input(t.Context(), data, nil); err != nil {
		t.Fatal(err)
	}
	f.untilText(t, fmt.Sprintf("sum %x", sha256.Sum256(data)))
	if err := l.Input(t.Context(), make([]byte, MaxInput+1), nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a message beyond the limit: %v", err)
	}
}

// TestNoWakeIsLost gets each echo by wakes alone, against records that come
// at the same time.
func TestNoWakeIsLost(t *testing.T) {
	l := start(t, own(t, "echo"))
	f := follow(l, 0)
	f.untilText(t, "ready")
	const rounds = 3000
	notes := make(chan error, 1)
	go func() {
		for range rounds / 10 {
			if err := l.Note("noise", nil); err != nil {
				notes <- err
				return
			}
		}
		notes <- nil
	}()
	var seen uint64
	control := func() bool {
		err := l.ReadControl(seen, func(r Record) error { seen = r.N; return nil })
		if err != nil {
			t.Fatal(err)
		}
		return true
	}
	for i := range rounds {
		inputs := make(chan error, 1)
		go func() { inputs <- l.Input(context.Background(), []byte("k"), nil) }()
		want := int64(len("ready\n") + i + 1)
		f.until(t, fmt.Sprintf("echo %d", i), func() bool { return control() && f.off >= want })
		if err := <-inputs; err != nil {
			t.Fatal(err)
		}
	}
	if err := <-notes; err != nil {
		t.Fatal(err)
	}
	if err := l.Note("last", nil); err != nil {
		t.Fatal(err)
	}
	all := uint64(1 + rounds + rounds/10 + 1)
	f.until(t, "every record", func() bool { return control() && seen == all })
}

// TestInputWithoutEchoIsToldOf types into a program that prints nothing: the
// record of it must come by a wake of its own.
func TestInputWithoutEchoIsToldOf(t *testing.T) {
	l := start(t, testSpec(t, "/bin/sh", "-c", "stty -echo; echo ready; exec cat >/dev/null"))
	f := follow(l, 0)
	f.untilText(t, "ready")
	for i := range 3 {
		if err := l.Input(context.Background(), []byte("unseen\n"), nil); err != nil {
			t.Fatal(err)
		}
		f.until(t, fmt.Sprintf("record %d", i), func() bool { _, last := l.Written(); return last == uint64(2+i) })
	}
}

func TestLaggingServerHoldsTheProgramBack(t *testing.T) {
	spec := own(t, "print", "0")
	l := start(t, spec)
	o := OpenOutput(spec.Dir)
	defer o.Close()
	size := func() int64 {
		_, next, err := o.Range()
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	eventually(t, "16 MiB are written", func() bool { return size() >= pauseAhead })
	// Nothing announces that nothing happens: the program could write some
	// 10 MB in each of these times.
	time.Sleep(100 * time.Millisecond)
	stopped := size()
	time.Sleep(100 * time.Millisecond)
	if now := size(); now != stopped {
		t.Errorf("went on from %d to %d", stopped, now)
	}
	if most := l.Welcome().Written + pauseAhead + readSize; stopped > most {
		t.Errorf("wrote to %d, expected at most %d", stopped, most)
	}
	l.Consumed(l.Welcome().Written + 1<<20)
	eventually(t, "the program goes on", func() bool { return size() >= stopped+1<<20-readSize })
	l.Close()
	eventually(t, "nothing holds it back", func() bool { return size() >= 3*pauseAhead })
}

// TestStillServerHoldsNobodyBack has a server that is connected and reads
// nothing, as one that was stopped. The program waits for it for a while, and
// goes on; when it reads again, it is waited for again.
func TestStillServerHoldsNobodyBack(t *testing.T) {
	spec := own(t, "print", "0")
	began := time.Now()
	l := start(t, spec)
	o := OpenOutput(spec.Dir)
	defer o.Close()
	size := func() int64 {
		_, next, err := o.Range()
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	eventually(t, "the program goes on", func() bool { return size() >= 2*pauseAhead })
	if waited := time.Since(began); waited < stillFor {
		t.Errorf("it was held back for %v", waited)
	}
	read := size()
	l.Consumed(read)
	eventually(t, "16 MiB more are written", func() bool { return size() >= read+pauseAhead })
	// Nothing announces that nothing happens: the program could write some
	// 10 MB in each of these times.
	time.Sleep(100 * time.Millisecond)
	stopped := size()
	time.Sleep(100 * time.Millisecond)
	if now := size(); now != stopped {
		t.Errorf("a server that reads again is not waited for: %d, then %d", stopped, now)
	}
}

func TestQueueIsBounded(t *testing.T) {
	l := start(t, own(t, "deaf"))
	follow(l, 0).untilText(t, "deaf")
	piece := make([]byte, 2<<20)
	results := make(chan error, 6)
	for range cap(results) {
		go func() { results <- l.Input(context.Background(), piece, nil) }()
	}
	for range 2 { // 8 MiB hold four of the six
		select {
		case err := <-results:
			if !errors.Is(err, ErrBusy) {
				t.Fatalf("input beyond the queue: %v", err)
			}
		case <-time.After(patience):
			t.Fatal("nothing was refused")
		}
	}
	// A signal goes ahead of unread input.
	if err := l.Signal(syscall.SIGUSR1, nil); err != nil {
		t.Fatal(err)
	}
	select {
	case <-l.Done():
	case <-time.After(patience):
		t.Fatal("the signal did not arrive")
	}
	if exit, _ := l.Exit(); exit.Code != 9 {
		t.Errorf("exit %+v", exit)
	}
	for range 4 {
		if err := <-results; !errors.Is(err, ErrEnded) {
			t.Errorf("queued input at the end: %v", err)
		}
	}
}

func TestQueuedMarksReachTheNextServer(t *testing.T) {
	spec := own(t, "deaf")
	l := start(t, spec)
	follow(l, 0).untilText(t, "deaf")
	for i := range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err := l.Input(ctx, make([]byte, 1<<20), json.RawMessage(fmt.Sprint(i)))
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("input to a deaf program: %v", err)
		}
	}
	if err := l.Note("behind", nil); err != nil { // what was sent before it is taken on
		t.Fatal(err)
	}
	w := redial(t, spec.Dir).Welcome()
	if len(w.Queued) != 2 || string(w.Queued[0]) != "1" || string(w.Queued[1]) != "2" {
		t.Errorf("queued %s", w.Queued)
	}
	if in := ofKind[InputData](t, spec.Dir, KindInput); len(in) != 1 || string(in[0].Mark) != "0" {
		t.Errorf("recorded %+v", in)
	}
}

func TestRepliesAreTypedOnce(t *testing.T) {
	spec := own(t, "echo")
	l := start(t, spec)
	f := follow(l, 0)
	f.untilText(t, "ready\n")
	at := f.off
	l.Reply([]byte("a"), at)
	l.Reply([]byte("b"), at)    // the same query again
	l.Reply([]byte("c"), at-1)  // an earlier one
	l.Reply([]byte("d"), at+99) // one that is not there yet
	f.untilText(t, "ready\na")
	again := redial(t, spec.Dir)
	if w := again.Welcome(); w.LastReply != at {
		t.Errorf("last reply %d, want %d", w.LastReply, at)
	}
	again.Reply([]byte("e"), at) // a new server's replay
	f = follow(again, f.off)
	if err := again.Input(t.Context(), []byte("1"), nil); err != nil {
		t.Fatal(err)
	}
	f.untilText(t, "1")
	old := f.off
	eventually(t, "the output is a second old", func() bool {
		c := redial(t, spec.Dir)
		defer c.Close()
		return c.Welcome().StaleOffset == old
	})
	last := redial(t, spec.Dir)
	last.Reply([]byte("f"), old) // too late
	if err := last.Input(t.Context(), []byte("2"), nil); err != nil {
		t.Fatal(err)
	}
	f = follow(last, 0)
	f.untilText(t, "2")
	if got := string(f.text); got != "ready\na12" {
		t.Errorf("typed %q", got)
	}
	replies := ofKind[ReplyData](t, spec.Dir, KindReply)
	if len(replies) != 1 || replies[0] != (ReplyData{At: at, Bytes: 1}) {
		t.Errorf("reply records %+v", replies)
	}
}

func TestProgramStartsClean(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	// A file the server inherited from its parent.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETFD, 0); err != nil {
		t.Fatal(err)
	}
	spec := testSpec(t, "sh", "-c", `umask; grep SigIgn /proc/self/status; env; sleep 1000`)
	spec.Env = append(spec.Env, "LAST=1")
	l := start(t, spec)
	f := follow(l, 0)
	f.untilText(t, "LAST=1")
	text := string(f.text)
	if !strings.Contains(text, "0027\r\n") {
		t.Errorf("umask is not the server's: %q", text)
	}
	if ignored := ignoredSignals(t, text) &^ ofTheLibrary; ignored != 0 {
		t.Errorf("signals are ignored: %#x in %q", ignored, text)
	}
	w.Close()
	r.SetReadDeadline(time.Now().Add(patience))
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("holder or program keeps the server's files open: %v", err)
	}
	info, err := os.Stat(spec.Socket)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v", info.Mode(), err)
	}
}

// ofTheLibrary are signals 32 and 33, which the C library keeps for itself and
// leaves ignored in what its posix_spawn starts, such as this test below make.
const ofTheLibrary = 1<<31 | 1<<32

// ignoredSignals reads the mask that a program printed of itself.
func ignoredSignals(t *testing.T, text string) uint64 {
	t.Helper()
	_, rest, ok := strings.Cut(text, "SigIgn:\t")
	if !ok {
		t.Fatalf("no SigIgn in %q", text)
	}
	mask, err := strconv.ParseUint(strings.Fields(rest)[0], 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return mask
}

// TestInputWithin: a key whose time is over isn't typed, and what comes after it is.
func TestInputWithin(t *testing.T) {
	l := start(t, testSpec(t, "/bin/sh", "-c", "stty -echo; echo ready; exec cat"))
	f := follow(l, 0)
	f.untilText(t, "ready")
	for _, c := range []struct {
		within time.Duration
		want   error
	}{{-time.Millisecond, ErrLate}, {time.Minute, nil}} {
		typed, err := l.InputWithin(c.within, []byte("within "+c.within.String()+"\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := <-typed; !errors.Is(err, c.want) {
			t.Errorf("within %s: %v, want %v", c.within, err, c.want)
		}
	}
	f.untilText(t, "within 1m0s")
	if text := string(f.text); strings.Contains(text, "within -1ms") {
		t.Errorf("a late key was typed: %q", text)
	}
}

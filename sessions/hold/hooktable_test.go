package hold

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
)

func TestWhenAWaitIsOver(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	for name, c := range map[string]struct {
		since, hold, grace int
		alone              int // second at which the server left, or -1
		end                int
		why                string
	}{
		"a server is there":        {10, 60, 5, -1, 70, GoneHeld},
		"it leaves":                {10, 60, 5, 20, 25, GoneNoServer},
		"it had left":              {10, 60, 5, 2, 15, GoneNoServer},
		"it leaves near the end":   {10, 60, 5, 68, 70, GoneHeld},
		"grace longer than hold":   {10, 15, 99, 11, 25, GoneHeld},
		"no time to wait":          {10, 0, 0, -1, 10, GoneHeld},
		"no grace and no server":   {10, 60, 0, 10, 10, GoneNoServer},
		"the same with server":     {10, 60, 0, -1, 70, GoneHeld},
		"grace as long, and alone": {10, 15, 15, 2, 25, GoneHeld},
	} {
		var table hookTable
		if c.alone >= 0 {
			table.alone = at(c.alone)
		}
		w := &waitingHook{id: 1, since: at(c.since), hold: time.Duration(c.hold) * time.Second, grace: time.Duration(c.grace) * time.Second}
		table.add(w)
		if end, why := table.due(w); !end.Equal(at(c.end)) || why != c.why {
			t.Errorf("%s: over after %v by %s", name, end.Sub(start), why)
		}
		if end, any := table.next(); !any || !end.Equal(at(c.end)) {
			t.Errorf("%s: next is %v, %v", name, end, any)
		}
	}
}

func TestAHookIsTakenOnce(t *testing.T) {
	var table hookTable
	if _, any := table.next(); any {
		t.Error("an empty table waits for something")
	}
	for id := range uint64(5) {
		table.add(&waitingHook{id: id + 1})
	}
	if _, ok := table.take(3); !ok {
		t.Error("hook 3 is not there")
	}
	if _, ok := table.take(3); ok {
		t.Error("hook 3 is there twice")
	}
	var left []uint64
	for _, w := range table.welcome() {
		left = append(left, w.ID)
	}
	if !slices.Equal(left, []uint64{1, 2, 4, 5}) {
		t.Errorf("left: %d", left)
	}
}

func TestHookRate(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	var r hookRate
	taken := func(name string, n int) (count int) {
		for range n {
			if r.take(name, now) {
				count++
			}
		}
		return count
	}
	if got := taken("Flood", hooksASecond+50); got != hooksASecond {
		t.Errorf("%d of a flood", got)
	}
	if got := taken("Stop", namedASecond+3); got != namedASecond {
		t.Errorf("%d beside a flood", got)
	}
	if got := taken("Flood", 1); got != 0 {
		t.Errorf("%d of the flood goes on", got)
	}
	at, due := r.due()
	if !due || !at.Equal(now.Add(time.Second)) {
		t.Errorf("due %v at %v", due, at)
	}
	now = now.Add(time.Second)
	if got := taken("Flood", 1); got != 1 {
		t.Errorf("%d in the next second", got)
	}
	if d := r.flush(); d.Count != 54 || d.Events["Flood"] != 51 || d.Events["Stop"] != 3 {
		t.Errorf("%+v", d)
	}
	if _, due := r.due(); due {
		t.Error("due again")
	}
	// Names without end cost no memory and win nothing.
	got := 0
	for i := range 10_000 {
		got += taken(fmt.Sprint("E", i), 1)
	}
	if most := hooksASecond + hookNames + namedASecond; got > most {
		t.Errorf("%d of made-up names", got)
	}
	if d := r.flush(); len(d.Events) > hookNames+1 || len(r.named) > hookNames+1 {
		t.Errorf("%d and %d names", len(d.Events), len(r.named))
	}
}

func TestLinkProgram(t *testing.T) {
	root := t.TempDir()
	exe := filepath.Join(root, "berth-1")
	session := func(name string) string {
		dir := filepath.Join(root, "sessions", name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	link := func(dir string) string {
		path, err := LinkProgram(dir, filepath.Join(root, "berth"), HookBinary, false)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	says := func(path, want string) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", path, got, err)
		}
	}
	if err := os.WriteFile(exe, []byte("one"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("berth-1", filepath.Join(root, "berth")); err != nil {
		t.Fatal(err)
	}
	a := link(session("a"))
	if again := link(session("a")); again != a {
		t.Errorf("linked at %s, then at %s", a, again)
	}
	from, _ := os.Stat(exe)
	if to, err := os.Lstat(a); err != nil || !os.SameFile(from, to) {
		t.Errorf("no hard link: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(a)); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	// An upgrade replaces the file.
	if err := os.WriteFile(exe+".new", []byte("two!"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(exe+".new", exe); err != nil {
		t.Fatal(err)
	}
	says(a, "one")
	says(link(session("b")), "two!")
	says(link(session("a")), "two!")
	// One that another user could not run is copied for such.
	if err := os.Chmod(exe, 0o700); err != nil {
		t.Fatal(err)
	}
	closed, err := LinkProgram(session("d"), exe, HookBinary, true)
	if info, looked := os.Stat(closed); err != nil || looked != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("for another user: %v, %v, %v", err, looked, info)
	}
	says(closed, "two!")
	if info, err := os.Stat(exe); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the program itself was opened: %v, %v", err, info)
	}
	if _, err := LinkProgram(session("c"), filepath.Join(root, "none"), HookBinary, false); err == nil {
		t.Error("linked to nothing")
	}
}

func TestSharedCopy(t *testing.T) {
	root := t.TempDir()
	exe := filepath.Join(root, "berth")
	dir := filepath.Join(root, "sessions")
	if err := os.MkdirAll(filepath.Join(dir, "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	copies := func() (names []string) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if !e.IsDir() {
				names = append(names, e.Name())
			}
		}
		return names
	}
	for i, text := range []string{"one", "two!", "three"} {
		if err := os.WriteFile(exe, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			shared, err := shareCopy(dir, exe)
			if err != nil {
				t.Fatal(err)
			}
			if i != 1 { // the second is unused
				if err := relink(shared, filepath.Join(dir, "a", fmt.Sprint(i))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if got := copies(); len(got) != 2 {
		t.Errorf("copies: %q", got)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a", "0")); string(got) != "one" {
		t.Errorf("the first is %q, %v", got, err)
	}
}

func TestWholeRunes(t *testing.T) {
	for in, want := range map[string]string{"": "", "a": "a", "é": "é", "\xc3": "", "aé"[:2]: "a", "€"[:2]: "", "x😀"[:4]: "x", "\x80\x80": "\x80\x80", "\xff": "\xff"} {
		if got := wholeRunes([]byte(in)); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}

// FuzzHook reads what an asker may send, to a record and back.
func FuzzHook(f *testing.F) {
	head, _ := encodeHook(hookHead{Event: "Stop", Ask: true, HoldMillis: 15000, GraceMillis: 5000, Bytes: 2})
	f.Add(append(head, `{}`...))
	f.Add(append(head, "{\"a\":\"\xff<\u2028\"}"...))
	f.Add([]byte{0, 0, 0, 2, '{', '}', 0, 1})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, p []byte) {
		q, payload, err := decodeHook(p)
		if err != nil {
			return
		}
		if q.hold() < 0 || q.hold() > maxHold || q.grace() < 0 || q.grace() > maxHold || !plainName(q.Event) {
			t.Fatalf("%+v", q)
		}
		d := describeHook(q, payload, 1)
		raw, err := encodePlain(d)
		if err != nil {
			t.Fatalf("%q: %v", payload, err)
		}
		line, err := encodeRecord(Record{N: 1, Kind: KindHook, Data: raw})
		if err != nil {
			t.Fatalf("%q: %v", payload, err)
		}
		if bytes.IndexByte(line, '\n') != len(line)-1 {
			t.Fatalf("%q is more than a line", line)
		}
		r, err := decodeRecord(line)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		var back HookData
		if err := json.Unmarshal(r.Data, &back); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if back.Malformed == json.Valid(payload) || back.Malformed && !bytes.Equal(back.Raw, payload) {
			t.Fatalf("%q came back as %+v", payload, back)
		}
		if !back.Malformed {
			var was, is bytes.Buffer
			if json.Compact(&was, payload) != nil || json.Compact(&is, back.Payload) != nil || !bytes.Equal(was.Bytes(), is.Bytes()) {
				t.Fatalf("%q came back as %q", payload, back.Payload)
			}
		}
	})
}

// FuzzAnswer reads what a holder may send to an asker.
func FuzzAnswer(f *testing.F) {
	f.Add(encodeAnswer(2, []byte("out")))
	f.Add([]byte{0, 0})
	f.Fuzz(func(t *testing.T, p []byte) {
		status, out, err := decodeAnswer(p)
		if err == nil && !bytes.Equal(encodeAnswer(status, out), p) {
			t.Fatalf("%q is %d, %q", p, status, out)
		}
	})
}

// FuzzHookFrames reads frames as both ends of the hook socket do.
func FuzzHookFrames(f *testing.F) {
	f.Add(appendFrame(nil, frameTaken, encodeNumbers(7)))
	f.Add(appendFrame(appendFrame(nil, frameLetGo), frameDelivered))
	f.Add([]byte(strings.Repeat("\xff", 9)))
	f.Fuzz(func(t *testing.T, data []byte) {
		small, any := bytes.NewReader(data), bytes.NewReader(data)
		for {
			kind, p, err := readSmallFrame(small)
			again, q, err2 := readFrame(any)
			if err != nil {
				return
			}
			if err2 != nil || kind != again || !bytes.Equal(p, q) || len(p) > 4<<10 {
				t.Fatalf("%d %q, or %d %q, %v", kind, p, again, q, err2)
			}
		}
	})
}

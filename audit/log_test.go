package audit

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	gossh "golang.org/x/crypto/ssh"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hostKey is made of a seed, so that each run has the same.
func hostKey(t *testing.T, seed byte) gossh.Signer {
	t.Helper()
	key, err := gossh.NewSignerFromKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

type book struct {
	t    *testing.T
	dir  string
	key  gossh.Signer
	said bytes.Buffer
	*Log
}

func open(t *testing.T, dir string, change func(*Options)) *book {
	t.Helper()
	b := &book{t: t, dir: dir, key: hostKey(t, 1)}
	o := Options{Signer: b.key, Now: func() time.Time { return noon }, Log: slog.New(slog.NewTextHandler(&b.said, nil))}
	if change != nil {
		change(&o)
	}
	l, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	b.Log = l
	return b
}

func (b *book) add(count int) {
	b.t.Helper()
	for range count {
		if _, err := b.Append(Entry{Kind: KindVerb, Admin: true, Identity: "alice", Verb: "nudge", Session: "alpha"}); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *book) close() {
	b.t.Helper()
	if err := b.Close(); err != nil {
		b.t.Fatal(err)
	}
}

func (b *book) verify(kept ...Head) Report {
	b.t.Helper()
	r, err := Verify(b.t.Context(), b.dir, []gossh.PublicKey{b.key.PublicKey()}, kept, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// files are the log's, oldest first.
func files(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestWhatIsWrittenVerifies(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, nil)
	b.add(250)
	head := b.Head()
	b.close()
	// 250 lines, a head after each hundred, and one at the end.
	r := b.verify(head)
	if r.Problem != nil || r.Lines != 253 || r.Heads != 3 || r.Signed != 252 || r.Kept != 1 {
		t.Errorf("%+v %v", r, r.Problem)
	}
	if n := strings.Count(b.said.String(), "audit head"); n != 3 {
		t.Errorf("%d heads were logged", n)
	}
	again := open(t, dir, nil)
	again.add(1)
	again.close()
	if r := again.verify(head); r.Problem != nil || r.Lines != 255 {
		t.Errorf("goes on badly: %+v %v", r, r.Problem)
	}
	if _, err := again.Append(Entry{Kind: KindVerb}); err != ErrClosed {
		t.Errorf("after the end: %v", err)
	}
}

// TestOneChangedByte changes each byte of a log in turn: the line that it is
// in is the one that is named.
func TestOneChangedByte(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, nil)
	b.add(3)
	b.close()
	path := files(t, dir)[0]
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line := uint64(1)
	for i, c := range good {
		bad := bytes.Clone(good)
		bad[i] = c ^ 1
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		r := b.verify()
		at := line
		if c == '\n' {
			line++
		}
		if r.Problem == nil {
			t.Fatalf("byte %d (%q, line %d) was changed and nothing is found", i, c, at)
		}
		if r.Problem.N != at || r.Problem.Row != int(at) {
			t.Errorf("byte %d (%q) of line %d: %v", i, c, at, r.Problem)
		}
	}
}

func TestTailRewritten(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, nil)
	b.add(150)
	kept := b.Head()
	b.add(100)
	b.close()
	path := files(t, dir)[0]
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows := bytes.SplitAfter(data, []byte("\n"))
	rewrite := func(with func(int, *Entry) bool) {
		last := digestOf(bytes.TrimSuffix(rows[119], []byte("\n")))
		out := bytes.Join(rows[:120], nil)
		n := uint64(120)
		for i, row := range rows[120 : len(rows)-1] {
			e, err := parse(bytes.TrimSuffix(row, []byte("\n")))
			if err != nil {
				t.Fatal(err)
			}
			if !with(120+i, &e) {
				continue
			}
			n++
			e.N, e.Prev = n, last.String()
			line, err := e.encode()
			if err != nil {
				t.Fatal(err)
			}
			last = digestOf(line[:len(line)-1])
			out = append(out, line...)
		}
		if err := os.WriteFile(path, out, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Everything after line 120 is rewritten, with correct hashes.
	rewrite(func(i int, e *Entry) bool { e.Identity = "mallory"; return true })
	if r := b.verify(); r.Problem == nil || r.Problem.N != 202 {
		t.Errorf("a head over rewritten lines: %v", r.Problem)
	}
	if r := b.verify(kept); r.Problem == nil || r.Problem.N != 151 {
		t.Errorf("a head that was kept: %v", r.Problem)
	}
	rewrite(func(i int, e *Entry) bool { e.Identity = "mallory"; return e.Kind != KindHead })
	if r := b.verify(); r.Problem == nil || !strings.Contains(r.Problem.Text, "no signed head") {
		t.Errorf("without heads: %v", r.Problem)
	}
	rewrite(func(i int, e *Entry) bool { return i < 130 })
	if r := b.verify(); r.Problem != nil {
		t.Errorf("a shorter log is one too: %v", r.Problem)
	}
	if r := b.verify(kept); r.Problem == nil || !strings.Contains(r.Problem.Text, "were removed") {
		t.Errorf("a tail that was cut off: %v", r.Problem)
	}
}

func TestLinesTakenOut(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, nil)
	b.add(10)
	b.close()
	path := files(t, dir)[0]
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows := bytes.SplitAfter(data, []byte("\n"))
	if err := os.WriteFile(path, append(bytes.Join(rows[:4], nil), bytes.Join(rows[6:], nil)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := b.verify(); r.Problem == nil || r.Problem.Text != "lines 5 to 6 are missing before line 7" || r.Problem.Row != 5 {
		t.Errorf("%v", r.Problem)
	}
}

func TestAnotherHostKey(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, func(o *Options) { o.Signer = hostKey(t, 2) })
	b.add(3)
	b.close()
	if r := b.verify(); r.Problem == nil || r.Problem.N != 4 || !strings.Contains(r.Problem.Text, errUnknownKey.Error()) {
		t.Errorf("%v", r.Problem)
	}
	both := []gossh.PublicKey{b.key.PublicKey(), hostKey(t, 2).PublicKey()}
	if r, err := Verify(t.Context(), dir, both, nil, 0); err != nil || r.Problem != nil || r.Heads != 1 {
		t.Errorf("with the old key: %+v %v", r, err)
	}
}

func TestCutOffByACrash(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, nil)
	b.add(3)
	b.close()
	path := files(t, dir)[0]
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"n":5,"time":"2026-`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if r := b.verify(); r.Problem == nil || r.Problem.N != 5 {
		t.Errorf("a last line without an end: %v", r.Problem)
	}
	again := open(t, dir, nil)
	again.add(1)
	again.close()
	if r := again.verify(); r.Problem != nil || r.Lines != 8 {
		t.Errorf("%+v %v", r, r.Problem)
	}
	data, _ := os.ReadFile(path)
	if !bytes.Contains(data, []byte(`{"n":5,"time":"2026-`+"\n")) {
		t.Error("what was cut off was taken out")
	}
}

func TestFilesOfBoundedSize(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, func(o *Options) { o.Segment, o.Total = 4<<10, 20<<10 })
	for range 400 { // these lines count against no caller's share
		if _, err := b.Append(Entry{Kind: KindKeys, Verb: "added", Fingerprint: "SHA256:abc", Text: "alice@laptop"}); err != nil {
			t.Fatal(err)
		}
	}
	head := b.Head()
	b.close()
	list := files(t, dir)
	var sum int64
	for _, f := range list {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
	}
	if sum > 28<<10 || len(list) < 3 {
		t.Errorf("%d files, %d bytes", len(list), sum)
	}
	r := b.verify(head)
	if r.Problem != nil || r.First == 1 || r.Kept != 1 {
		t.Errorf("%+v %v", r, r.Problem)
	}
	if err := os.Remove(list[1]); err != nil {
		t.Fatal(err)
	}
	if r := b.verify(); r.Problem == nil || !strings.Contains(r.Problem.Text, "are missing before this file") {
		t.Errorf("a file that was taken out: %v", r.Problem)
	}
}

// TestDisturbed changes the file under a log that is open.
func TestDisturbed(t *testing.T) {
	for name, disturb := range map[string]func(path string) error{
		"removed": os.Remove,
		"cut":     func(path string) error { return os.Truncate(path, 100) },
		"added to": func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("{}\n")
			return err
		},
		"replaced": func(path string) error {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path+".new", data, 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			b := open(t, dir, nil)
			b.add(5)
			head := b.Head()
			if err := disturb(files(t, dir)[0]); err != nil {
				t.Fatal(err)
			}
			b.add(2)
			b.close()
			if !strings.Contains(b.said.String(), "was changed by another program") {
				t.Error("nothing was logged")
			}
			r := b.verify(head)
			if name != "replaced" && r.Problem == nil {
				t.Error("nothing is found")
			}
			found := false
			err := Read(context.Background(), dir, Query{}, func(line []byte) error {
				found = found || bytes.Contains(line, []byte(`"kind":"amiss"`))
				return nil
			})
			if err != nil || !found {
				t.Errorf("no line reports it: %v", err)
			}
		})
	}
}

func TestNothingFromOutsideMovesATerminal(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, nil)
	if _, err := b.Append(Entry{Kind: KindRefused, User: "\x1b]0;x\x07\u202eroot", Text: strings.Repeat("é\x00", 5000)}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Append(Entry{Kind: KindEvent, Event: []byte("{\"title\":\"\u009b31m\u202e\u200b\x7f\"}")}); err != nil {
		t.Fatal(err)
	}
	b.close()
	data, err := os.ReadFile(files(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsAny(data, "\x1b\x07\x00\x7f\u009b\u200b\u202e") || len(data) > 8<<10 {
		t.Errorf("%q", data)
	}
	if r := b.verify(); r.Problem != nil {
		t.Error(r.Problem)
	}
}

func TestManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, func(o *Options) { o.Segment = 16 << 10 })
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				if _, err := b.Append(Entry{Kind: KindVerb, Identity: fmt.Sprint("user", i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.close()
	seen := map[string]int{}
	err := Read(context.Background(), dir, Query{Identity: func(e Entry) bool { return e.Identity != "" }}, func(line []byte) error {
		e, err := parse(line)
		seen[e.Identity]++
		return err
	})
	if err != nil || len(seen) != 8 || seen["user3"] != 50 {
		t.Errorf("%v %v", seen, err)
	}
	if r := b.verify(); r.Problem != nil {
		t.Error(r.Problem)
	}
}

func TestReadSince(t *testing.T) {
	dir := t.TempDir()
	now := noon
	b := open(t, dir, func(o *Options) { o.Now = func() time.Time { return now } })
	b.add(2)
	now = now.Add(time.Hour)
	b.add(3)
	b.close()
	count := 0
	q := Query{Since: noon.Add(time.Minute), Session: func(name, _ string) bool { return name == "alpha" }}
	if err := Read(context.Background(), dir, q, func([]byte) error { count++; return nil }); err != nil || count != 3 {
		t.Errorf("%d %v", count, err)
	}
}

func TestCursorIsKept(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, func(o *Options) { o.Segment = 4 << 10 })
	if _, err := b.Append(Entry{Kind: KindEvent, Cursor: "e7"}); err != nil {
		t.Fatal(err)
	}
	b.add(100) // in other files, where each head has it
	b.close()
	again := open(t, dir, nil)
	defer again.close()
	if c := again.Cursor(); c != "e7" {
		t.Error(c)
	}
}

// TestLinesAroundASync: what brings lines to disk disturbs neither those before
// nor those after it, and ends with the log, which the bubble waits for. That the
// disk has them no test shows: it would take the machine's own end.
func TestLinesAroundASync(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := open(t, dir, nil)
		b.add(1)
		time.Sleep(2 * syncWithin) // of the bubble's clock
		b.add(1)
		b.close()
		if r := b.verify(); r.Problem != nil || r.Lines != 3 {
			t.Errorf("%+v", r)
		}
	})
}

func TestHeads(t *testing.T) {
	for _, bad := range []string{"", "7", "7:", "0:" + digest{}.String(), "x:" + digest{}.String(), "7:abc"} {
		if _, err := ParseHead(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	h := Head{7, digest{1}.String()}
	if again, err := ParseHead(h.String()); err != nil || again != h {
		t.Error(again, err)
	}
}

// Text of a client's that ends in the middle of an emoji is written so that it
// is read back unchanged: otherwise any caller could make a log that does not verify.
func TestCutTextVerifies(t *testing.T) {
	b := open(t, t.TempDir(), nil)
	for pad := range 24 {
		text := strings.Repeat("x", maxText-24+pad) + strings.Repeat("\U0001f469\u200d", 4) + "\U0001f469"
		if _, err := b.Append(Entry{Kind: KindVerb, Session: text, Verb: "kill"}); err != nil {
			t.Fatal(err)
		}
	}
	b.close()
	if r := b.verify(); r.Problem != nil {
		t.Errorf("%d problems, the first: %v", r.Problems, r.Problem)
	}
}

func FuzzBounded(f *testing.F) {
	f.Add("a\u0301\u0301\u0301\u0301\x01\u0301", 3)
	f.Add("\U0001f469\u200d\U0001f469", 1020)
	f.Add("\xff\u200d\u202e\U0001f469\u200d", 1015)
	f.Fuzz(func(t *testing.T, s string, pad int) {
		s = strings.Repeat("x", max(min(pad, 2000), 0)) + s
		once := bounded(s)
		if again := bounded(once); again != once || len(once) > maxText {
			t.Errorf("%q becomes %q, then %q", s, once, again)
		}
	})
}

// The oldest file is gone, and no line says that it was removed for its age.
func TestOldestFileTakenAway(t *testing.T) {
	b := open(t, t.TempDir(), func(o *Options) { o.Segment = 4 << 10 })
	b.add(60)
	list, err := segments(b.dir)
	if err != nil || len(list) < 3 {
		t.Fatal(list, err)
	}
	if err := os.Remove(list[0].path); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("lines 1 to %d are missing", list[1].first-1)
	running, err := b.Verify(t.Context(), nil)
	if err != nil || running.Problem == nil || !strings.Contains(running.Problem.Text, want) {
		t.Errorf("%+v %v %v", running, running.Problem, err)
	}
	b.close()
	if r := b.verify(); r.Problem == nil || r.Problem.N != 1 || !strings.Contains(r.Problem.Text, want) {
		t.Errorf("%+v %v", r, r.Problem)
	}
}

// Endless refusals of one caller write a bounded number of lines, and the log has their number.
func TestRefusalsWithoutEnd(t *testing.T) {
	now := noon
	b := open(t, t.TempDir(), func(o *Options) { o.Now = func() time.Time { return now } })
	refuse := func(e Entry) {
		t.Helper()
		if err := b.Refuse(e); err != nil {
			t.Fatal(err)
		}
	}
	for range 1000 {
		refuse(Entry{Identity: "viewer", Verb: "input", Text: "no"})
	}
	if got := b.Head().N; got != refusalsEach {
		t.Errorf("%d lines of one caller", got)
	}
	refuse(Entry{Identity: "other", Verb: "input"})
	for i := range 3 * refusalsAll { // and of as many addresses
		refuse(Entry{Source: fmt.Sprintf("10.0.%d.%d:1", i/256, i%256), Verb: "login"})
	}
	if got := b.Head().N; got != refusalsAll+refusalsAll/headEvery {
		t.Errorf("%d lines of all callers", got)
	}
	now = now.Add(refusalsSpan)
	b.add(1)
	var countLine []string
	err := b.Read(t.Context(), Query{}, func(line []byte) error {
		if e, err := parse(line); err == nil && strings.Contains(e.Text, "more refusals") {
			countLine = append(countLine, e.Identity+": "+e.Text)
		}
		return nil
	})
	all := strings.Join(countLine, "\n")
	if err != nil || !strings.Contains(all, "viewer: 970 more refusals within a minute from 2026-11-21T12:00:00.000Z on") || !strings.Contains(all, "of many callers") || len(countLine) > refusalsEach+1 {
		t.Errorf("%v %s", err, all)
	}
	refuse(Entry{Identity: "viewer", Verb: "input"}) // and the next minute begins anew
	b.close()
	if r := b.verify(); r.Problem != nil {
		t.Errorf("%v", r.Problem)
	}
}

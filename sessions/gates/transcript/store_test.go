package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/api"
	"berth/detect/tail"
)

// bench is a store with an agent's folder of logs.
type bench struct {
	t       *testing.T
	dir     string
	logs    string
	records uint64
	*Store
}

func newBench(t *testing.T, most int64) *bench {
	t.Helper()
	root := t.TempDir()
	b := &bench{t: t, dir: filepath.Join(root, "transcripts"), logs: filepath.Join(root, "logs")}
	if err := os.MkdirAll(filepath.Join(b.logs, "ws"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.again(most)
	return b
}

// again is the store of the next server.
func (b *bench) again(most int64) {
	b.Store = Open(b.dir, tail.Below{Folder: b.logs, UID: os.Geteuid()}, most, func() api.Time { return api.At(time.Unix(1_700_000_000, 0)) })
}

func (b *bench) log(name string) string { return filepath.Join(b.logs, "ws", name) }

// write appends lines to a log.
func (b *bench) write(name string, lines ...string) {
	b.t.Helper()
	f, err := os.OpenFile(b.log(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	}
	if err = errors.Join(err, f.Close()); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) hear(w Word) {
	b.t.Helper()
	b.records++
	if w.Record == 0 {
		w.Record = b.records
	}
	if err := b.Observe(w); err != nil {
		b.t.Fatal(err)
	}
}

// all is every line after a line, as N:LINE=TEXT.
func (b *bench) all(n, after int) string {
	b.t.Helper()
	var words []string
	err := b.Since(b.t.Context(), n, after, func(l Line) error {
		words = append(words, fmt.Sprintf("%d:%d=%s", l.N, l.Line, l.Data))
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.Join(words, " ")
}

func (b *bench) want(got, want string) {
	b.t.Helper()
	if got != want {
		b.t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestParts(t *testing.T) {
	b := newBench(t, 0)
	b.hear(Word{Path: b.log("a"), Conversation: "A"}) // before there is a file
	b.want(b.all(1, 0), "")
	b.write("a", "one", "two")
	b.want(b.all(1, 0), "1:1=one 1:2=two")
	b.want(b.all(1, 1), "1:2=two")

	b.hear(Word{Path: b.log("a"), Conversation: "A", Compacts: true})
	b.write("a", "three")
	b.want(b.all(1, 0), "1:1=one 1:2=two 2:1=three")
	b.want(b.all(1, 2), "2:1=three")

	b.hear(Word{Path: b.log("a"), Conversation: "A", Clears: true})
	b.write("a", "late") // after the report, before the next conversation
	b.hear(Word{Path: b.log("b"), Conversation: "B"})
	b.write("b", "four")
	b.want(b.all(1, 0), "1:1=one 1:2=two 2:1=three 2:2=late 3:1=four")

	b.hear(Word{Path: b.log("c"), Conversation: "C"}) // without a report before
	b.again(0)
	b.want(b.all(2, 2), "3:1=four")
	list, err := b.List()
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, p := range list {
		shown = append(shown, fmt.Sprintf("%d %s %s %d/%d %v", p.N, p.Conversation, p.Reason, p.Lines, p.Bytes, p.Live))
	}
	b.want(strings.Join(shown, ", "), "1 A compact 2/8 false, 2 A clear 2/11 false, 3 B left 1/5 false")
}

// TestOnce: a report that comes again saves no second part, even if the server was killed before it wrote the index.
func TestOnce(t *testing.T) {
	b := newBench(t, 0)
	b.hear(Word{Path: b.log("a"), Conversation: "A"})
	b.write("a", "one")
	before, err := os.ReadFile(filepath.Join(b.dir, indexName))
	if err != nil {
		t.Fatal(err)
	}
	word := Word{Record: 7, Path: b.log("a"), Conversation: "A", Compacts: true}
	b.hear(word)
	b.write("a", "two")
	b.hear(word)
	b.again(0)
	b.hear(word)
	b.want(b.all(1, 0), "1:1=one 2:1=two")
	// The server was killed between the part and the index: the part is made again, with the current rest.
	if err := os.WriteFile(filepath.Join(b.dir, indexName), before, 0o600); err != nil {
		t.Fatal(err)
	}
	b.again(0)
	b.hear(word)
	b.want(b.all(1, 0), "1:1=one 1:2=two")
}

// TestLineUnderWay: a line belongs to the part that has its end.
func TestLineUnderWay(t *testing.T) {
	b := newBench(t, 0)
	b.write("a", "one")
	f, err := os.OpenFile(b.log("a"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	half := strings.Repeat("x", 200<<10)
	if _, err := f.WriteString(half); err != nil {
		t.Fatal(err)
	}
	b.hear(Word{Path: b.log("a"), Compacts: true})
	b.want(b.all(1, 0), "1:1=one")
	if _, err := f.WriteString("end\nmore\n"); err != nil {
		t.Fatal(err)
	}
	b.want(b.all(1, 1), "2:1="+half+"end 2:2=more")
}

// TestWrittenAnew: a log that is replaced or truncated is read from its start.
func TestWrittenAnew(t *testing.T) {
	b := newBench(t, 0)
	b.write("a", "one", "two")
	b.hear(Word{Path: b.log("a"), Compacts: true})
	if err := os.WriteFile(b.log("a"), []byte("new\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.want(b.all(1, 2), "2:1=new")
	b.hear(Word{Path: b.log("a"), Compacts: true})
	if err := errors.Join(os.WriteFile(b.log("x"), []byte("another\nfile\n"), 0o600), os.Rename(b.log("x"), b.log("a"))); err != nil {
		t.Fatal(err)
	}
	b.hear(Word{Path: b.log("a"), Compacts: true})
	b.want(b.all(1, 0), "1:1=one 1:2=two 2:1=new 3:1=another 3:2=file")
}

func TestBounds(t *testing.T) {
	b := newBench(t, 20)
	for i := range 5 {
		b.write("a", fmt.Sprintf("line %d", i)) // 7 bytes
		b.hear(Word{Path: b.log("a"), Compacts: true})
	}
	b.want(b.all(4, 0), "4:1=line 3 5:1=line 4")
	if err := b.Lines(t.Context(), 3, 0, nil); !errors.Is(err, ErrGone) {
		t.Errorf("part 3: %v", err)
	}
	if err := b.Lines(t.Context(), 7, 0, nil); !errors.Is(err, ErrNone) {
		t.Errorf("part 7: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(b.dir, "*.jsonl")); err != nil || len(left) != 2 {
		t.Errorf("left: %v, %v", left, err)
	}
	b.write("a", strings.Repeat("x", 100)) // larger than the limit, but the newest part stays
	b.hear(Word{Path: b.log("a"), Compacts: true})
	if parts, err := b.Saved(); err != nil || len(parts) != 1 || parts[0].Bytes != 101 {
		t.Errorf("%+v, %v", parts, err)
	}
}

// TestEndlessLog: an agent makes its log longer than any disk. It is neither copied nor counted, and the next log is
// saved as ever.
func TestEndlessLog(t *testing.T) {
	b := newBench(t, 0)
	b.write("a", "1")
	b.hear(Word{Path: b.log("a")})
	const size = 1 << 40
	f, err := os.OpenFile(b.log("a"), os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt([]byte("\n"), size-1)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Skipf("SKIPPED: there are no sparse files here: %v", err)
	}
	b.records++
	if err := b.Observe(Word{Record: b.records, Path: b.log("a"), Compacts: true}); api.AsError(err).Code != api.CodeLimit || !b.Observed(Word{Record: b.records}) {
		t.Errorf("saved: %v", err)
	}
	if _, err := b.List(); api.AsError(err).Code != api.CodeLimit {
		t.Errorf("listed: %v", err)
	}
	if files, err := filepath.Glob(filepath.Join(b.dir, "*.jsonl*")); err != nil || len(files) > 0 {
		t.Errorf("%v %v", files, err)
	}
	if err := os.Truncate(b.log("a"), 2); err != nil {
		t.Fatal(err)
	}
	b.hear(Word{Path: b.log("a"), Compacts: true})
	b.want(b.all(1, 0), "1:1=1")
}

// TestForeignFiles: an agent names another user's file as its log, or puts a link in its place. Nothing of that file
// is copied.
func TestForeignFiles(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, prepare := range map[string]func(b *bench) string{
		"outside":              func(*bench) string { return secret },
		"by way of the inside": func(b *bench) string { return b.logs + "/ws/../../../secret" },
		"the folder itself":    func(b *bench) string { return b.logs },
		"relative":             func(*bench) string { return "ws/a" },
		"a link":               func(b *bench) string { link(t, secret, b.log("a")); return b.log("a") },
		"a linked folder": func(b *bench) string {
			link(t, filepath.Dir(secret), filepath.Join(b.logs, "other"))
			return filepath.Join(b.logs, "other", "secret")
		},
		"a folder in its place": func(b *bench) string {
			if err := os.Mkdir(b.log("a"), 0o700); err != nil {
				t.Fatal(err)
			}
			return b.log("a")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 0)
			path := prepare(b)
			b.write("good", "mine")
			for _, w := range []Word{{Record: 1, Path: path, Compacts: true}, {Record: 2, Path: path, Clears: true}} {
				if err := b.Observe(w); err == nil {
					t.Log("Observe returns no error")
				}
			}
			if err := b.Lines(t.Context(), 1, 0, func(l Line) error { t.Errorf("read %q", l.Data); return nil }); err == nil && strings.Contains(name, "link") {
				t.Error("reading it returns no error")
			}
			// A later report about the agent's own log is handled.
			if err := b.Observe(Word{Record: 3, Path: b.log("good")}); err != nil {
				t.Log(err)
			}
			b.want(b.all(1, 0), "1:1=mine")
			if parts, err := b.Saved(); err != nil || len(parts) != 0 {
				t.Errorf("saved: %+v, %v", parts, err)
			}
			files, err := filepath.Glob(filepath.Join(b.dir, "*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if data, err := os.ReadFile(f); err != nil || bytes.Contains(data, []byte("secret\n")) {
					t.Errorf("%s: %q, %v", f, data, err)
				}
			}
		})
	}
}

// TestLinkSwappedIn: the log is a good one, and a link by the time it is copied.
func TestLinkSwappedIn(t *testing.T) {
	b := newBench(t, 0)
	b.write("a", "mine")
	b.hear(Word{Path: b.log("a")})
	b.want(b.all(1, 0), "1:1=mine")
	secret := filepath.Join(t.TempDir(), "secret")
	if err := errors.Join(os.WriteFile(secret, []byte("secret\n"), 0o600), os.Remove(b.log("a"))); err != nil {
		t.Fatal(err)
	}
	link(t, secret, b.log("a"))
	if err := b.Observe(Word{Record: 9, Path: b.log("a"), Compacts: true}); err == nil {
		t.Error("a link was taken for the log")
	}
	if parts, err := b.Saved(); err != nil || len(parts) != 0 {
		t.Errorf("saved: %+v, %v", parts, err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func TestFolderBehindALink(t *testing.T) {
	b := newBench(t, 0)
	other := filepath.Join(t.TempDir(), "config")
	link(t, b.logs, other)
	b.write("a", "one")
	for _, folder := range []string{b.logs, other} {
		s := Open(filepath.Join(t.TempDir(), "x"), tail.Below{Folder: folder, UID: os.Geteuid()}, 0, func() api.Time { return api.Time{} })
		for i, path := range []string{b.log("a"), filepath.Join(folder, "ws", "a")} {
			if err := s.Observe(Word{Record: uint64(i + 1), Path: path}); err != nil {
				t.Errorf("%s below %s: %v", path, folder, err)
			}
		}
	}
}

func TestLongLines(t *testing.T) {
	b := newBench(t, 0)
	b.write("a", "one", strings.Repeat("x", MostLine+1), "three")
	b.hear(Word{Path: b.log("a")})
	var got []string
	err := b.Lines(t.Context(), 1, 0, func(l Line) error { got = append(got, fmt.Sprintf("%d:%s", l.Line, l.Data)); return nil })
	if err != nil || strings.Join(got, " ") != "1:one 2: 3:three" {
		t.Errorf("%.100q, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Lines(ctx, 1, 0, func(Line) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestFullDiskLosesNothing(t *testing.T) {
	b := newBench(t, 0)
	b.write("a", "one")
	b.hear(Word{Path: b.log("a")})
	if err := os.Mkdir(b.name(1)+".new", 0o700); err != nil { // no file can be made there
		t.Fatal(err)
	}
	if err := b.Observe(Word{Record: 5, Path: b.log("a"), Compacts: true}); err == nil {
		t.Fatal("it was saved where nothing can be written")
	}
	b.write("a", "two")
	if err := os.Remove(b.name(1) + ".new"); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	b.hear(Word{Record: 6, Path: b.log("a"), Compacts: true})
	b.write("a", "three")
	b.want(b.all(1, 0), "1:1=one 1:2=two 2:1=three")
}

// A reader that follows the log gets each line once, across borders of parts and through a log that
// grows, and begins with as much as it may.
func TestFollow(t *testing.T) {
	b := newBench(t, 0)
	var at Place
	next := func() string {
		t.Helper()
		var words []string
		var err error
		if at, err = b.After(t.Context(), at, func(l Line) error { words = append(words, fmt.Sprintf("%d=%s", l.N, l.Data)); return nil }); err != nil {
			t.Fatal(err)
		}
		return strings.Join(words, " ")
	}
	b.want(next(), "")
	b.hear(Word{Path: b.log("a"), Conversation: "A"})
	b.want(next(), "")
	b.write("a", "one", "two")
	b.want(next(), "1=one 1=two")
	b.want(next(), "")
	b.write("a", "three")
	b.hear(Word{Path: b.log("a"), Conversation: "A", Compacts: true})
	b.write("a", "four")
	b.want(next(), "1=three 2=four")
	b.hear(Word{Path: b.log("a"), Conversation: "A", Clears: true})
	b.hear(Word{Path: b.log("b"), Conversation: "B"})
	b.write("b", strings.Repeat("x", 100_000), "five")
	b.want(next(), "3="+strings.Repeat("x", 100_000)+" 3=five")
	b.want(next(), "")
	if b.Began(2) || !b.Began(3) {
		t.Errorf("a compaction begins a conversation (%v), or a clear doesn't (%v)", b.Began(2), !b.Began(3))
	}
	for most, want := range map[int64]Place{1 << 20: {N: 1}, 100_020: {N: 2}, 100_006: {N: 3}, 50_000: {N: 3, Offset: 100_001}, 3: {N: 3, Offset: 100_006}} {
		if got, err := b.Recent(most); err != nil || got != want {
			t.Errorf("the last %d bytes begin at %+v, want %+v (%v)", most, got, want, err)
		}
	}
}

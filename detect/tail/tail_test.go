package tail

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// disk is an FS with one file in memory.
type disk struct {
	there bool
	id    int
	data  []byte
}

func (d *disk) info() Info { return Info{ID: fmt.Sprint(d.id), Size: int64(len(d.data))} }

func (d *disk) Stat(string) (Info, error) {
	if !d.there {
		return Info{}, fs.ErrNotExist
	}
	return d.info(), nil
}

func (d *disk) Open(path string) (File, error) {
	if _, err := d.Stat(path); err != nil {
		return nil, err
	}
	return diskFile{bytes.NewReader(d.data), d.info()}, nil
}

type diskFile struct {
	*bytes.Reader
	i Info
}

func (f diskFile) Info() (Info, error) { return f.i, nil }
func (diskFile) Close() error          { return nil }

// look reads all new lines, in steps of budget bytes.
func look(t testing.TB, tail *Tail, budget int) []string {
	t.Helper()
	var got []string
	for {
		more, err := tail.Look(budget, func(l Line) { got = append(got, string(l.Data)) })
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return got
		}
	}
}

func TestLook(t *testing.T) {
	long := strings.Repeat("x", LineLimit)
	for _, c := range []struct {
		name    string
		steps   []func(d *disk)
		want    []string
		skipped uint64
		renewed uint64
	}{
		{name: "whole lines", steps: []func(*disk){write("a\nb\n"), write("c\n")}, want: []string{"a", "b", "c"}},
		{name: "torn writes", steps: []func(*disk){write("one"), write(" line"), write(" only\ntw"), write("o\n")}, want: []string{"one line only", "two"}},
		{name: "torn within a character", steps: []func(*disk){write("\xe6\xbc"), write("\xa2\n")}, want: []string{"漢"}},
		{name: "CR LF, torn between", steps: []func(*disk){write("a\r"), write("\nb\r\n")}, want: []string{"a", "b"}},
		{name: "blank lines", steps: []func(*disk){write("\n\r\na\n\n")}, want: []string{"a"}},
		{name: "a last line without an end", steps: []func(*disk){write("a\nb")}, want: []string{"a"}},
		{name: "late creation", steps: []func(*disk){gone, write("a\n")}, want: []string{"a"}},
		{name: "cut short", steps: []func(*disk){write("a\nb\n"), cut(0), write("c\n")}, want: []string{"a", "b", "c"}, renewed: 1},
		{name: "cut within a line that was begun", steps: []func(*disk){write("a\nbcd"), cut(3), write("x\n")}, want: []string{"a", "a", "bx"}, renewed: 1},
		{name: "written anew, and longer", steps: []func(*disk){write("a\nb\n"), anew("aaaaaaaaaa\nb\n")}, want: []string{"a", "b", "aaaaaaaaaa", "b"}, renewed: 1},
		{name: "replaced", steps: []func(*disk){write("a\nb"), replace("c\nd\n"), write("e\n")}, want: []string{"a", "c", "d", "e"}, renewed: 1},
		{name: "gone and there again", steps: []func(*disk){write("a\n"), gone, replace("b\n")}, want: []string{"a", "b"}, renewed: 1},
		{name: "too long", steps: []func(*disk){write("a\n" + long + long + "\nb\n")}, want: []string{"a", "b"}, skipped: 1},
		{name: "too long, in pieces", steps: []func(*disk){write(long), write("yy"), write("y\nb\n")}, want: []string{"b"}, skipped: 1},
		{name: "too long by its end", steps: []func(*disk){write(long), write("\nb\n")}, want: []string{"b"}, skipped: 1},
		{name: "as long as may be", steps: []func(*disk){write(long[1:]), write("\nb\n")}, want: []string{long[1:], "b"}},
	} {
		for _, budget := range []int{3, 64 << 10, 1 << 30} {
			if budget == 3 && c.skipped+uint64(len(c.want[0])) > 1000 {
				continue // a million calls
			}
			t.Run(fmt.Sprintf("%s, %d at once", c.name, budget), func(t *testing.T) {
				d := &disk{}
				tail := New(d, "f", nil)
				var got []string
				for _, step := range c.steps {
					step(d)
					got = append(got, look(t, tail, budget)...)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("got %.100q, want %.100q", got, c.want)
				}
				if m := tail.Mark(); m.Skipped != c.skipped || m.Renewed != c.renewed {
					t.Errorf("%+v", m)
				}
			})
		}
	}
}

func write(s string) func(*disk) {
	return func(d *disk) { d.there, d.data = true, append(d.data, s...) }
}
func anew(s string) func(*disk) { return func(d *disk) { d.data = []byte(s) } }
func cut(n int) func(*disk)     { return func(d *disk) { d.data = d.data[:n] } }
func replace(s string) func(*disk) {
	return func(d *disk) { d.there, d.id, d.data = true, d.id+1, []byte(s) }
}
func gone(d *disk) { d.there = false }

// TestMark stops a tail after each call of Look. The next tail continues from the mark: no line is
// lost or read twice.
func TestMark(t *testing.T) {
	d := &disk{}
	m := Mark{Path: "f"}
	var got []string
	for _, piece := range []string{"a\nb", "c\n", "", strings.Repeat("x", LineLimit+5), "x\nd\n", "e"} {
		write(piece)(d)
		tail := Resume(d, m, nil)
		got = append(got, look(t, tail, 64<<10)...)
		m = tail.Mark()
	}
	if want := []string{"a", "bc", "d"}; !slices.Equal(got, want) || m.Skipped != 1 || m.Renewed != 0 {
		t.Errorf("got %.100q, want %q; %+v", got, want, m)
	}
}

// TestBeginning: in a file that existed before, only new lines are read.
func TestBeginning(t *testing.T) {
	old := func(line []byte) bool { return bytes.HasPrefix(line, []byte("old")) }
	filler := strings.Repeat("some line\n", 20_000) // several blocks
	for _, c := range []struct {
		name, before string
		want         []string
	}{
		{"nothing old", "a\nb\n", []string{"a", "b"}},
		{"all old", "old 1\nold 2\n", nil},
		{"old, then new", "old 1\nold 2\nnew\n", []string{"new"}},
		{"new before the last old one", "x\nold\ny\n", []string{"y"}},
		{"a line under way", "old\nne", nil},
		{"many blocks of old", strings.Repeat("old line\n", 100_000) + "new\n", []string{"new"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &disk{}
			write(c.before)(d)
			if got := look(t, New(d, "f", old), 64<<10); !slices.Equal(got, c.want) {
				t.Errorf("got %.100q, want %q", got, c.want)
			}
		})
	}
	d := &disk{}
	write("old\n" + filler + "end\n")(d)
	if got := look(t, New(d, "f", old), 64<<10); len(got) != 20_001 {
		t.Errorf("%d lines after the last old one, want 20001", len(got))
	}
	write(strings.Repeat(filler, 30))(d) // longer than lookBack
	long := New(d, "f", old)
	if got := look(t, long, 64<<10); len(got) < 400_000 || len(got) > 430_000 || got[0] != "some line" || long.Mark().Skipped != 1 {
		t.Errorf("%d lines, the first %.20q; %+v", len(got), got[0], long.Mark())
	}
	d = &disk{}
	write("a\n" + strings.Repeat("x", lookBack+block))(d)
	long = New(d, "f", old)
	got := look(t, long, 64<<10)
	write("y\nb\n")(d)
	if got = append(got, look(t, long, 64<<10)...); !slices.Equal(got, []string{"b"}) || long.Mark().Skipped != 1 {
		t.Errorf("%.20q after a line longer than what is searched; %+v", got, long.Mark())
	}
}

// TestFiles uses the real file system.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	files := Below{Folder: dir, UID: os.Getuid()}
	tail := New(files, path, nil)
	if got := look(t, tail, 100); got != nil {
		t.Errorf("%q from a missing file", got)
	}
	if err := os.WriteFile(path, []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := look(t, tail, 100)
	if err := os.WriteFile(path+".new", []byte("b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	got = append(got, look(t, tail, 100)...)
	if want := []string{"a", "b"}; !slices.Equal(got, want) || tail.Mark().Renewed != 1 {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := New(files, filepath.Join(dir, "folder"), nil).Look(100, nil); err == nil {
		t.Error("a folder was read")
	}
}

// FuzzLook writes, truncates and replaces a file as its input says. The tail returns the same lines
// as reading the file plainly, also when it is resumed from its mark.
func FuzzLook(f *testing.F) {
	f.Add([]byte("\x00hello\n\x00wor\x01\x00ld\n\x02\x00x\n"))
	f.Add([]byte("\x00a\r\nb\r\x03\x00\nc\n\x01"))
	f.Fuzz(func(t *testing.T, script []byte) {
		d := &disk{there: true}
		tail := New(d, "f", nil)
		taken, got, want := 0, []string(nil), []string(nil)
		plain := func() { // the whole lines that weren't read yet
			end := bytes.LastIndexByte(d.data, '\n') + 1
			for line := range bytes.Lines(d.data[min(taken, end):end]) {
				if line = trim(line); len(line) > 0 {
					want = append(want, string(line))
				}
			}
			taken = max(taken, end)
		}
		for len(script) > 0 {
			op := script[0] % 4
			script = script[1:]
			switch op {
			case 0:
				n := min(len(script), 7)
				d.data = append(d.data, script[:n]...)
				script = script[n:]
			case 1:
				d.id++
				d.data, taken = nil, 0
			case 2: // read; the next tail continues from the mark
				tail = Resume(d, tail.Mark(), nil)
			case 3: // truncated: Look notices it only before the file has its old length again
				d.data, taken = nil, 0
				got = append(got, look(t, tail, 3)...)
			}
			if op != 1 {
				got = append(got, look(t, tail, 1+int(op))...)
				plain()
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

var _ io.ReaderAt = diskFile{}

package hold

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/api"
)

func newOutputLog(t *testing.T, dir string, limit int64) *outputLog {
	t.Helper()
	o, err := openOutputLog(dir, limit, 0, func(from, to int64, why string) {
		t.Errorf("lost %d to %d: %s", from, to, why)
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOutputIsBoundedAndGoesOn(t *testing.T) {
	dir := t.TempDir()
	const limit = 1 << 20
	o := newOutputLog(t, dir, limit)
	now := time.UnixMilli(1_000_000)
	piece := bytes.Repeat([]byte("0123456789"), 1000)
	for range 500 {
		now = now.Add(time.Millisecond)
		if n := o.write(piece, now); n != len(piece) {
			t.Fatalf("wrote %d bytes", n)
		}
	}
	r := OpenOutput(dir)
	defer r.Close()
	first, next, err := r.Range()
	if err != nil || next != 5_000_000 {
		t.Fatalf("range %d to %d, %v", first, next, err)
	}
	if kept := next - first; kept < limit || kept > limit+limit/4+int64(len(piece)) {
		t.Errorf("%d bytes are kept", kept)
	}
	var trimmed *TrimmedError
	if _, err := r.ReadAt(make([]byte, 10), 5); !errors.As(err, &trimmed) || trimmed.First != first {
		t.Errorf("reading what is deleted: %v", err)
	}
	got, err := io.ReadAll(io.NewSectionReader(wholeReader{r}, first, next-first))
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range got {
		if want := byte('0' + (first+int64(i))%10); b != want {
			t.Fatalf("byte %d is %q, not %q", first+int64(i), b, want)
		}
	}
	last, marks := int64(0), 0
	err = ReadTimes(dir, func(at time.Time, offset int64) error {
		if offset < first || offset <= last || at.UnixMilli() != 1_000_001+offset/int64(len(piece)) {
			t.Errorf("mark %v %d", at, offset)
		}
		last = offset
		marks++
		return nil
	})
	if err != nil || marks < 10 || marks > 25 {
		t.Errorf("%d marks, %v", marks, err)
	}
	o.closeFiles()
	again := newOutputLog(t, dir, limit)
	again.write([]byte("more"), now)
	buf := make([]byte, 10)
	if n, err := r.ReadAt(buf, next); err != nil || string(buf[:n]) != "more" {
		t.Errorf("read %q, %v", buf[:n], err)
	}
}

func TestReadersFollowAWriterThatDeletes(t *testing.T) {
	dir := t.TempDir()
	o := newOutputLog(t, dir, 256<<10)
	const total = 8 << 20
	var writing sync.WaitGroup
	writing.Go(func() {
		piece := make([]byte, 1000)
		for at := 0; at < total; at += len(piece) {
			for i := range piece {
				piece[i] = byte((at + i) % 251)
			}
			o.write(piece, time.Now())
		}
	})
	r := OpenOutput(dir)
	defer r.Close()
	buf := make([]byte, 3000)
	deadline := time.Now().Add(patience)
	for off := int64(0); off < total; {
		n, err := r.ReadAt(buf, off)
		for i, b := range buf[:n] {
			if want := byte((off + int64(i)) % 251); b != want {
				t.Fatalf("byte %d is %d, not %d", off+int64(i), b, want)
			}
		}
		off += int64(n)
		var trimmed *TrimmedError
		switch {
		case errors.As(err, &trimmed):
			if trimmed.First <= off {
				t.Fatalf("at %d trimmed to %d", off, trimmed.First)
			}
			off = trimmed.First
		case err != nil && !errors.Is(err, io.EOF):
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatalf("still at %d", off)
		}
	}
	writing.Wait()
}

func TestDamagedOutputIsRead(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, outputDir)
	os.Mkdir(out, 0o700)
	for start, text := range map[uint64]string{0: "abc", 10: "klm", 13: "nop"} {
		if err := os.WriteFile(segmentName(out, start, outputExt), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"x.out", "-0000000000000000001.out", "99999999999999999999.out", "probe"} {
		os.WriteFile(filepath.Join(out, name), []byte("no"), 0o600)
	}
	o := OpenOutput(dir)
	defer o.Close()
	buf := make([]byte, 16)
	for off, want := range map[int64]string{0: "abc", 2: "c", 10: "klm", 12: "m", 13: "nop"} {
		if n, err := o.ReadAt(buf, off); err != nil || string(buf[:n]) != want {
			t.Errorf("at %d: %q, %v", off, buf[:n], err)
		}
	}
	var trimmed *TrimmedError
	if _, err := o.ReadAt(buf, 3); !errors.As(err, &trimmed) || trimmed.First != 10 {
		t.Errorf("in a hole: %v", err)
	}
	for _, off := range []int64{16, 17, 1 << 40} {
		if _, err := o.ReadAt(buf, off); !errors.Is(err, io.EOF) {
			t.Errorf("at %d: %v", off, err)
		}
	}
	if _, err := OpenOutput(dir+"/none").ReadAt(buf, 0); !errors.Is(err, io.EOF) {
		t.Errorf("no folder: %v", err)
	}
}

func newControlLog(t *testing.T, dir string, limit int64) *controlLog {
	t.Helper()
	c, err := openControlLog(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestControlLogIsBoundedAndRepaired(t *testing.T) {
	dir := t.TempDir()
	const limit = 1 << 20
	c := newControlLog(t, dir, limit)
	note := strings.Repeat("n", 1000)
	for range 3000 {
		if line, err := c.append("note", note, 5, time.Now()); line != nil || err != nil {
			t.Fatal(line, err)
		}
	}
	if _, err := c.append("note", strings.Repeat("n", limit/4), 5, time.Now()); err == nil {
		t.Error("a record as large as a quarter of the log is taken")
	}
	if _, err := c.append("note", json.RawMessage(`{"half":`), 5, time.Now()); err == nil {
		t.Error("a record that isn't JSON is accepted")
	}
	segments, err := statSegments(c.dir, controlExt)
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	for _, s := range segments {
		size += s.size
	}
	if size > limit || size < limit/2 {
		t.Errorf("%d bytes are kept", size)
	}
	all := records(t, dir)
	if all[len(all)-1].N != 3000 || all[0].N != segments[0].first || len(all) != int(3001-all[0].N) {
		t.Errorf("records %d to %d, %d of them", all[0].N, all[len(all)-1].N, len(all))
	}
	// A torn last line.
	name := segmentName(c.dir, segments[len(segments)-1].first, controlExt)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"n":3001,"kind":"no`)
	f.Close()
	c.closeFile()
	c = newControlLog(t, dir, limit)
	if c.last != 3000 || c.lastOffset != 5 {
		t.Errorf("continues after %d at %d", c.last, c.lastOffset)
	}
	c.append("note", "after", 6, time.Now())
	all = records(t, dir)
	if last := all[len(all)-1]; last.N != 3001 || string(last.Data) != `"after"` {
		t.Errorf("last record %+v", last)
	}
}

func TestControlReaderKeepsItsPlace(t *testing.T) {
	dir := t.TempDir()
	r := OpenControl(dir, 0)
	defer r.Close()
	var seen []uint64
	read := func() {
		t.Helper()
		if err := r.Read(func(rec Record) error { seen = append(seen, rec.N); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	read()
	c := newControlLog(t, dir, 8<<20)
	for i := range 5000 {
		c.append("note", strings.Repeat("n", i), 0, time.Now())
		if i%7 == 0 {
			read()
		}
	}
	read()
	for i, n := range seen {
		if n != uint64(i+1) && i > 0 && n != seen[i-1]+1 {
			t.Fatalf("record %d follows %d", n, seen[i-1])
		}
	}
	if len(seen) != 5000 {
		t.Errorf("%d records", len(seen))
	}
	stop := errors.New("enough")
	if err := ReadControl(dir, 4000, func(r Record) error {
		if r.N != 4001 {
			t.Errorf("first is %d", r.N)
		}
		return stop
	}); !errors.Is(err, stop) {
		t.Errorf("stopped with %v", err)
	}
}

func TestDamagedControlLogIsRead(t *testing.T) {
	dir := t.TempDir()
	control := filepath.Join(dir, controlDir)
	os.Mkdir(control, 0o700)
	line := func(n uint64) string {
		b, _ := encodeRecord(Record{N: n, Time: api.At(time.Now()), Kind: "k"})
		return string(b)
	}
	os.WriteFile(segmentName(control, 1, controlExt), []byte(line(1)+"rubbish\n\x00\x00\n"+line(2)+line(2)+`{"n":3,`), 0o600)
	os.WriteFile(segmentName(control, 5, controlExt), []byte(line(5)+line(6)[:10]), 0o600)
	var seen []uint64
	for _, r := range records(t, dir) {
		seen = append(seen, r.N)
	}
	if fmt.Sprint(seen) != "[1 2 5]" {
		t.Errorf("records %v", seen)
	}
	if c := newControlLog(t, dir, 1<<20); c.last != 5 {
		t.Errorf("continues after %d", c.last)
	}
}

func TestStalenessIsASecond(t *testing.T) {
	var s staleness
	s.reset(100)
	t0 := time.Now()
	if got := s.before(t0); got != 100 {
		t.Errorf("at first %d", got)
	}
	for i := range 3000 {
		s.add(t0.Add(time.Duration(i)*time.Millisecond), int64(101+i))
	}
	now := t0.Add(2999 * time.Millisecond)
	if got := s.before(now); got < 2080 || got > 2110 {
		t.Errorf("a second ago %d", got)
	}
	if len(s.marks) > 110 {
		t.Errorf("%d marks for a second", len(s.marks))
	}
	if got := s.before(now.Add(time.Hour)); got != 3100 {
		t.Errorf("after an hour %d", got)
	}
}

func FuzzFrames(f *testing.F) {
	head, _ := encodeRequest(request{ID: 3, Cols: 80, Rows: 24, Mark: json.RawMessage(`{"a":1}`)})
	f.Add(appendFrame(nil, frameInput, head, []byte("text")))
	f.Add(appendFrame(nil, frameWake, encodeNumbers(1, 2)))
	f.Add(appendFrame(nil, frameAck, encodeAck(1, ackBusy, "no")))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		for {
			kind, p, err := readFrame(r)
			if err != nil {
				return
			}
			if again, q, err := readFrame(bytes.NewReader(appendFrame(nil, kind, p))); again != kind || !bytes.Equal(q, p) || err != nil {
				t.Fatalf("%d %q came back as %d %q, %v", kind, p, again, q, err)
			}
			decodeRequest(p)
			decodeAck(p)
			decodeOffset(p)
		}
	})
}

func FuzzControlLine(f *testing.F) {
	f.Add([]byte(`{"n":1,"time":"2026-01-02T03:04:05.006Z","offset":7,"kind":"input","data":{"bytes":1}}`))
	f.Add([]byte(`{"n":1,"time":null,"offset":0,"kind":"x"}`))
	f.Add([]byte(`{"n":2,"time":"2026-01-02T03:04:05.006Z","offset":7,"kind":"input","data":{"bytes":1,"mark":{"by":{}}}}`))
	f.Add([]byte(`{"n":2,"time":"2026-01-02T03:04:05.006Z","offset":7,"kind":"input","data":{"bytes":1,"mark":1,"mark":2}}`))
	f.Add([]byte(`{"n":2,"time":"2026-01-02T03:04:05.006Z","offset":7,"kind":"input","data":{"bytes":1}},"n":3}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if r, ok := decodeInput(line); ok {
			var want Record
			if err := json.Unmarshal(line, &want); err != nil || !reflect.DeepEqual(r, want) {
				t.Fatalf("%q is read as %+v, want %+v (%v)", line, r, want, err)
			}
			var data InputData
			bad := json.Unmarshal(r.Data, &data)
			if d, err := r.Input(); (err == nil) != (bad == nil) || err == nil && !reflect.DeepEqual(d, data) {
				t.Fatalf("%q has input %+v, want %+v (%v, %v)", line, d, data, err, bad)
			}
		}
		r, err := decodeRecord(line)
		if err != nil {
			return
		}
		out, err := encodeRecord(r)
		if err != nil {
			return // a year that cannot be written
		}
		if bytes.IndexByte(out, '\n') != len(out)-1 {
			t.Fatalf("%q is more than a line", out)
		}
		if again, err := decodeRecord(out); err != nil || again.N != r.N || again.Kind != r.Kind {
			t.Fatalf("%q came back as %+v, %v", out, again, err)
		}
	})
}

func FuzzMark(f *testing.F) {
	f.Add([]byte("1700000000000 42"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if _, offset, ok := parseMark(line); ok && offset < 0 {
			t.Fatalf("%q is offset %d", line, offset)
		}
	})
}

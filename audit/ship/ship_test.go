package ship

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// book is a log of lines numbered from first.
type book struct {
	mu    sync.Mutex
	first uint64
	lines []string
	grew  chan struct{}
}

func (b *book) add(lines ...string) {
	b.mu.Lock()
	b.lines = append(b.lines, lines...)
	b.mu.Unlock()
	select {
	case b.grew <- struct{}{}:
	default:
	}
}

type reader struct {
	b    *book
	next uint64
}

func (r *reader) Close() {}

func (r *reader) Next() (uint64, []byte, error) {
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	r.next = max(r.next, r.b.first)
	if r.next >= r.b.first+uint64(len(r.b.lines)) {
		return 0, nil, io.EOF
	}
	r.next++
	return r.next - 1, []byte(r.b.lines[r.next-1-r.b.first]), nil
}

func (b *book) options(file string, send func(lines [][]byte) error) Options {
	return Options{
		After: func(n uint64) Lines { return &reader{b, n + 1} }, Grew: b.grew, File: file, Log: slog.New(slog.DiscardHandler),
		Send: func(_ context.Context, lines [][]byte) error { return send(lines) },
	}
}

func text(lines [][]byte) (list []string) {
	for _, l := range lines {
		list = append(list, string(l))
	}
	return list
}

// TestShip lets the other side fail twice, and restarts the shipper: each line arrives, in order, and no
// line that was taken comes again.
func TestShip(t *testing.T) {
	file := filepath.Join(t.TempDir(), "position")
	synctest.Test(t, func(t *testing.T) {
		b := &book{first: 1, lines: []string{"a", "b"}, grew: make(chan struct{}, 1)}
		var got [][]string
		fails := 2
		o := b.options(file, func(lines [][]byte) error {
			if fails > 0 {
				fails--
				return errors.New("away")
			}
			got = append(got, text(lines))
			return nil
		})
		s, err := Start(o)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if st := s.Status(); st.Err == nil || st.Sent != 0 {
			t.Errorf("while the other side is away: %+v", st)
		}
		time.Sleep(3 * time.Second) // the two pauses
		synctest.Wait()
		b.add("c")
		synctest.Wait()
		if st := s.Status(); st.Err != nil || st.Sent != 3 {
			t.Errorf("afterwards: %+v", st)
		}
		s.Close()
		b.add("d")
		if s, err = Start(o); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.Close()
		if want := [][]string{{"a", "b"}, {"c"}, {"d"}}; !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("sent %q", got)
		}
	})
}

// TestLost: lines that the log removed before they were sent are counted, but those from before the first
// start aren't.
func TestLost(t *testing.T) {
	file := filepath.Join(t.TempDir(), "position")
	synctest.Test(t, func(t *testing.T) {
		b := &book{first: 5, lines: []string{"e"}, grew: make(chan struct{}, 1)}
		s, err := Start(b.options(file, func([][]byte) error { return nil }))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if st := s.Status(); st.Sent != 5 || st.Lost != 0 {
			t.Errorf("%+v", st)
		}
		s.Close()
		b.first, b.lines = 9, []string{"i"}
		if s, err = Start(b.options(file, func([][]byte) error { return nil })); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.Close()
		if st := s.Status(); st.Sent != 9 || st.Lost != 3 {
			t.Errorf("%+v", st)
		}
	})
}

// TestBegunAgain: a log that was removed or replaced while no server ran is sent from its start.
func TestBegunAgain(t *testing.T) {
	for name, lines := range map[string][]string{"shorter": {"x"}, "replaced": {"x", "y", "z", "w"}} {
		file := filepath.Join(t.TempDir(), "position")
		synctest.Test(t, func(t *testing.T) {
			var got []string
			b := &book{first: 1, lines: []string{"a", "b", "c"}, grew: make(chan struct{}, 1)}
			o := b.options(file, func(lines [][]byte) error { got = append(got, text(lines)...); return nil })
			for range 2 { // the second time it is the same log
				s, err := Start(o)
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				s.Close()
				if s.Status().Begun {
					t.Errorf("%s: the same log is taken for another one", name)
				}
			}
			b.lines, got = lines, nil
			s, err := Start(o)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			s.Close()
			if st := s.Status(); !st.Begun || !slices.Equal(got, lines) {
				t.Errorf("%s: sent %q, %+v", name, got, st)
			}
		})
	}
}

// TestBatches bounds what is sent at once.
func TestBatches(t *testing.T) {
	file := filepath.Join(t.TempDir(), "position")
	synctest.Test(t, func(t *testing.T) {
		b := &book{first: 1, grew: make(chan struct{}, 1)}
		for n := range 3 * mostLines {
			b.add(fmt.Sprint(n))
		}
		var sizes []int
		s, err := Start(b.options(file, func(lines [][]byte) error { sizes = append(sizes, len(lines)); return nil }))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.Close()
		if !slices.Equal(sizes, []int{mostLines, mostLines, mostLines}) {
			t.Errorf("batches of %d lines", sizes)
		}
	})
}

// TestDatagrams sends to a socket as /dev/log is one.
func TestDatagrams(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	in, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := Syslog(path)(t.Context(), [][]byte{[]byte(`{"n":1,"time":"2026-11-23T10:00:00.000Z","kind":"verb"}`)}); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	n, err := in.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	want := fmt.Sprintf(`<86>1 2026-11-23T10:00:00.000Z %s berth %d verb - {"n":1,"time":"2026-11-23T10:00:00.000Z","kind":"verb"}`, host, os.Getpid())
	if string(buf[:n]) != want {
		t.Errorf("it sent %s", buf[:n])
	}
}

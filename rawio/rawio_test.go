package rawio

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// pair is two ends of a connection, and the stream of the first.
func pair(t *testing.T) (c *net.UnixConn, s *Stream, other *net.UnixConn) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s")})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if c, err = net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if other, err = l.AcceptUnix(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	if s, err = New(c); err != nil {
		t.Fatal(err)
	}
	return c, s, other
}

// TestStreamWaits: a read waits for bytes, a write for room, and all bytes arrive in their order.
func TestStreamWaits(t *testing.T) {
	_, s, other := pair(t)
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB: more than a socket holds
	wrote := make(chan error, 1)
	go func() {
		n, err := s.Write(sent)
		if err == nil && n != len(sent) {
			err = io.ErrShortWrite
		}
		wrote <- err
	}()
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(other, got); err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("other bytes arrived, %v", err)
	}
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	go func() {
		other.Write(sent)
		other.CloseWrite()
	}()
	if got, err := io.ReadAll(s); err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("read %d bytes, %v", len(got), err)
	}
	if _, err := s.Read(make([]byte, 1)); err != io.EOF {
		t.Fatalf("after the end: %v", err)
	}
}

// TestTryWriteDoesNotWait: it writes what there is room for, and no more.
func TestTryWriteDoesNotWait(t *testing.T) {
	_, s, other := pair(t)
	sent := make([]byte, 4<<20)
	n, err := s.TryWrite(sent)
	if err != nil || n == 0 || n == len(sent) {
		t.Fatalf("wrote %d of %d, %v", n, len(sent), err)
	}
	if more, err := s.TryWrite(sent); err != nil || more != 0 {
		t.Fatalf("wrote %d more without room, %v", more, err)
	}
	if _, err := io.ReadFull(other, make([]byte, n)); err != nil {
		t.Fatal(err)
	}
	if more, err := s.TryWrite([]byte("x")); err != nil || more != 1 {
		t.Fatalf("wrote %d with room, %v", more, err)
	}
}

// TestDeadlineAndCloseEndAWait: they are those of the connection.
func TestDeadlineAndCloseEndAWait(t *testing.T) {
	c, s, _ := pair(t)
	c.SetDeadline(time.Now().Add(time.Millisecond))
	if _, err := s.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a read past its deadline: %v", err)
	}
	if _, err := s.Write(make([]byte, 4<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a write past its deadline: %v", err)
	}
	c.SetDeadline(time.Time{})
	ended := make(chan error, 1)
	go func() {
		_, err := s.Read(make([]byte, 1))
		ended <- err
	}()
	c.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("a read of a closed connection: %v", err)
	}
}

// TestFiles: what is appended is read, in pieces and up to the end.
func TestFiles(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var want []byte
	for _, size := range []int{1, appendMost, appendMost + 1, 100 << 10} {
		p := bytes.Repeat([]byte{byte('a' + len(want)%26)}, size)
		if n, err := Append(f, p); n != size || err != nil {
			t.Fatalf("appended %d of %d, %v", n, size, err)
		}
		want = append(want, p...)
	}
	var got []byte
	for buf := make([]byte, 4<<10); ; {
		n, err := ReadAt(f, buf, int64(len(got)))
		got = append(got, buf[:n]...)
		if err == io.EOF && n == 0 {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("read %d bytes, which aren't the %d written", len(got), len(want))
	}
	f.Close()
	if _, err := Append(f, []byte("x")); err == nil {
		t.Error("a closed file took bytes")
	}
	if _, err := ReadAt(f, make([]byte, 1), 0); err == nil || err == io.EOF {
		t.Errorf("a closed file was read: %v", err)
	}
}
